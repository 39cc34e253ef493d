package guard

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Member is an object of an Application that is being deleted.
type Member struct {
	Key object.Key
	// Delete and Prune are the sync options of the object itself.
	Delete, Prune object.Consent
	// Outside is why the project does not let the Application touch it; nil where it does.
	Outside error
	// Passed reports that an earlier turn of the same deletion let it go.
	Passed bool
	Loss   Loss // of kinds for which Holds is true
}

// Cascade is what would be deleted with an Application.
type Cascade struct {
	App     string // the name of the Application
	Members []Member
	// Delete and Prune are the sync options of the Application, for members that have none.
	Delete, Prune object.Consent
	Approved      bool   // a person approved the deletions that ask for it, since the deletion began
	Confirmed     string // the digest of what a person confirmed
}

// Kept is an object that stays in the cluster.
type Kept struct {
	Key object.Key
	Why string
}

// String says which object stays, and why.
func (k Kept) String() string { return k.Key.String() + ": " + k.Why }

// Parting is the answer to a Cascade: what stays, what a person must confirm, and the Leave for the rest.
type Parting struct {
	Verdict
	Kept  []Kept
	Asked []object.Key // what must be confirmed
}

// JudgeCascade judges what would be deleted with an Application. Deleting an Application is a person's wish for its own
// objects, however many they are, so that no budget counts. What stays, and what must be confirmed, is for single objects:
//
//   - an object stays by its own or the Application's Delete=false, outside of the project, and a definition stays unless it
//     says Delete=true itself;
//   - an object that holds objects of others, and one that asks by Delete=confirm or Prune=confirm, must be confirmed. Nothing
//     at all is deleted before that.
func JudgeCascade(c Cascade) Parting {
	var p Parting
	var going, holding, asking []object.Key
	var reasons []string
	for _, m := range c.Members {
		if why := c.stays(m); why != "" {
			p.Kept = append(p.Kept, Kept{m.Key, why})
		}
	}
	for _, m := range c.Members {
		if c.stays(m) != "" {
			continue
		}
		going = append(going, m.Key)
		m.Loss = m.Loss.with(p.keptIn(m.Key))
		switch {
		case m.Passed:
		case m.Loss.Any():
			holding = append(holding, m.Key)
			if len(reasons) < shown {
				reasons = append(reasons, fmt.Sprintf("%s holds %s", m.Key, m.Loss))
			}
		case m.Delete.Or(c.Delete) == object.ConsentAsked || m.Prune.Or(c.Prune) == object.ConsentAsked:
			asking = append(asking, m.Key)
		}
	}
	p.Asked = append(append([]object.Key{}, holding...), asking...)
	p.Digest = c.digest(p.Asked)
	p.Confirmed = len(p.Asked) > 0 && c.Confirmed == p.Digest
	if len(p.Asked) == 0 || p.Confirmed || len(holding) == 0 && c.Approved {
		p.Leave = leave(going...)
		return p
	}
	p.Held = c.held(p, reasons, asking)
	return p
}

// digest names what a person confirms. The Application is part of it: what was confirmed for a sync that deletes the same objects
// permits no deletion of the Application.
func (c Cascade) digest(asked []object.Key) string {
	return plan.Digest(append([]object.Key{{Group: "argoproj.io", Kind: "Application", Name: c.App}}, asked...))
}

// keptIn are the objects that are to stay and would go with an object: those in a namespace, and those of the API group of a
// definition, of which the guard does not know the kind.
func (p Parting) keptIn(k object.Key) []object.Key {
	var out []object.Key
	_, group, _ := strings.Cut(k.Name, ".")
	for _, kept := range p.Kept {
		if k.GroupKind() == namespace && kept.Key.Namespace == k.Name || k.GroupKind() == Definition && kept.Key.Group == group {
			out = append(out, kept.Key)
		}
	}
	return out
}

// Keeps reports whether an object stays, whatever it holds.
func (c Cascade) Keeps(m Member) bool { return c.stays(m) != "" }

// stays says why an object is left in the cluster; "" where it goes.
func (c Cascade) stays(m Member) string {
	switch {
	case m.Delete.Or(c.Delete) == object.ConsentDenied:
		return "its sync options keep it (Delete=false)"
	case m.Outside != nil:
		return m.Outside.Error()
	case m.Key.GroupKind() == Definition && m.Delete != object.ConsentGiven && m.Delete != object.ConsentAsked:
		why := "a CustomResourceDefinition stays unless it has the sync option Delete=true itself"
		if m.Loss.Any() {
			why += "; it holds " + m.Loss.String()
		}
		return why
	}
	return ""
}

// held says what must be confirmed, and how. Without objects that hold others the approval of Argo CD is enough, which names
// no plan.
func (c Cascade) held(p Parting, reasons []string, asking []object.Key) string {
	if len(asking) > 0 {
		reasons = append(reasons, fmt.Sprintf("%s must be confirmed before it is deleted (sync option Delete=confirm or Prune=confirm)",
			Names(asking, len(asking))))
	}
	text := fmt.Sprintf("held: nothing was deleted: %s: confirm with `slipway app confirm %s`", strings.Join(reasons, "; "), c.App)
	if len(asking) < len(p.Asked) {
		text += fmt.Sprintf(" (plan %s)", p.Digest)
	}
	return text
}
