// Package guard judges every deletion of an object in a cluster: what a sync prunes, what goes with an Application, hooks,
// objects that are made again, and single objects that a person names. Nothing is deleted without a Leave, and only this
// package makes one. It is pure: the caller counts what an object takes with it.
package guard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Leave permits the deletion of objects by name. The zero value permits none.
type Leave struct{ keys map[object.Key]bool }

// Covers reports whether an object may be deleted.
func (l Leave) Covers(k object.Key) bool { return l.keys[k] }

// Check returns an error for an object that may not be deleted.
func (l Leave) Check(k object.Key) error {
	if l.keys[k] {
		return nil
	}
	return fmt.Errorf("%s is not deleted: the deletion guard did not permit it", k)
}

// leave permits the deletion of keys.
func leave(keys ...object.Key) Leave {
	l := Leave{keys: make(map[object.Key]bool, len(keys))}
	for _, k := range keys {
		l.keys[k] = true
	}
	return l
}

// Loss is what the deletion of an object takes with it and is not the Application's: the custom resources of a definition,
// the objects of a namespace.
type Loss struct {
	Count    int          // of these objects; what Err hides is not in it
	Examples []object.Key // the first of them
	Err      error        // why it is not known whether there are more; nil where it is
}

// Any reports whether something would be lost, or may be.
func (l Loss) Any() bool { return l.Count > 0 || l.Err != nil }

// with adds objects to a Loss.
func (l Loss) with(keys []object.Key) Loss {
	l.Count += len(keys)
	l.Examples = append(append([]object.Key{}, keys...), l.Examples...)
	return l
}

// shown is how many objects a text names.
const shown = 8

// String names what is lost: "3 objects that would go with it (Widget team-b/one and 2 more)".
func (l Loss) String() string {
	var parts []string
	switch {
	case l.Count == 1:
		parts = append(parts, "1 object that would go with it ("+Names(l.Examples, l.Count)+")")
	case l.Count > 1:
		parts = append(parts, fmt.Sprintf("%d objects that would go with it (%s)", l.Count, Names(l.Examples, l.Count)))
	}
	if l.Err != nil {
		parts = append(parts, fmt.Sprintf("objects that cannot be listed: %v", l.Err))
	}
	return strings.Join(parts, ", and ")
}

// Names lists the first of total objects.
func Names(keys []object.Key, total int) string {
	names := make([]string, 0, shown)
	for _, k := range keys[:min(len(keys), shown)] {
		names = append(names, k.String())
	}
	if n := total - len(names); n > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// Holds reports whether objects of a kind hold others that go with them, so that a Loss must be counted before one is
// deleted.
func Holds(k object.Kind) bool { return k == Definition || k == namespace }

// Definition is the kind of custom resource definitions.
var Definition = object.Kind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"} //nolint:gochecknoglobals // a constant

var namespace = object.Kind{Kind: "Namespace"} //nolint:gochecknoglobals // a constant

// Sync is what a sync would delete.
type Sync struct {
	Deletions []object.Key
	Total     int // objects that are live
	Budget    plan.Budget
	Confirmed string // the digest of the deletions that a person confirmed
	Begun     bool   // the operation has deleted something: it is not stopped halfway
}

// Verdict is the answer to a Sync or a Cascade.
type Verdict struct {
	Leave Leave
	// Held says why nothing is deleted before a person confirms it; "" where the deletions go on.
	Held string
	// Digest names what is to be confirmed, or was.
	Digest string
	// Confirmed reports that a person's confirmation lets the deletions go on.
	Confirmed bool
}

// JudgeSync judges what a sync would delete.
func JudgeSync(s Sync) Verdict {
	v := Verdict{Digest: plan.Digest(s.Deletions), Leave: leave(s.Deletions...)}
	if s.Begun {
		return v
	}
	why := s.Budget.Exceeds(s.Deletions, s.Total)
	if v.Confirmed = why != "" && s.Confirmed == v.Digest; v.Confirmed || why == "" {
		return v
	}
	v.Leave, v.Held = Leave{}, why
	return v
}

// JudgeHook judges the deletion of a hook by its policy. No person confirms that, so a hook which holds objects of others
// stays.
func JudgeHook(k object.Key, l Loss) (Leave, error) {
	if l.Any() {
		return Leave{}, fmt.Errorf("hook %s is not deleted: it holds %s; delete these first, or the hook yourself", k, l)
	}
	return leave(k), nil
}

// JudgeObject judges the deletion of one object that a person named. consent is what the object itself says (sync option
// Delete).
func JudgeObject(k object.Key, consent object.Consent, l Loss) (Leave, error) {
	if l.Any() && consent != object.ConsentGiven {
		return Leave{}, fmt.Errorf("%s is not deleted: it holds %s; delete these first, or set the annotation %s: Delete=true on it",
			k, l, object.SyncOptionsAnnotation)
	}
	return leave(k), nil
}

// JudgeReplacement judges the deletion of an object that is created again from its manifest. The guard never permits it for
// kinds whose objects take data or other objects with them.
func JudgeReplacement(k object.Key) (Leave, error) {
	if !plan.TakesOthers(k.GroupKind()) {
		return leave(k), nil
	}
	loss := "what is in it or of it"
	switch k.GroupKind() {
	case namespace:
		loss = "everything in the namespace"
	case Definition:
		loss = "every object of the kind that it defines"
	case object.Kind{Kind: "PersistentVolume"}, object.Kind{Kind: "PersistentVolumeClaim"}:
		loss = "the data on the volume"
	case object.Kind{Group: "argoproj.io", Kind: "Application"}, object.Kind{Group: "argoproj.io", Kind: "ApplicationSet"}:
		loss = "every object that it deployed"
	}
	return Leave{}, errors.New("the sync option Force does not delete a " + k.Kind + ", for " + loss + " would be lost with it")
}
