package why

import (
	"regexp"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
)

var placeholder = regexp.MustCompile(`\bAPP\b`)

// lack says what to do instead of a command that the agent does not carry out; "" where it does.
func (t *teller) lack(command string) string {
	for _, l := range t.Lacks {
		if l.Command == command {
			return placeholder.ReplaceAllLiteralString(l.Message, t.Name)
		}
	}
	return ""
}

// instead is the next step that takes a command, or what to do where the agent does not carry the command out.
func (t *teller) instead(command, next string) string {
	if other := t.lack(command); other != "" {
		return other
	}
	return next
}

// Foreign reports whether another engine works on the Application: what Slipway's engine and its commands wrote about rollbacks,
// allowed drift and held syncs has no effect then.
func (f *Facts) Foreign() bool {
	return slices.ContainsFunc(f.Lacks, func(l api.AgentLack) bool { return l.Command == "application."+api.WhyUnpin })
}

// canRollBack reports whether a rollback is accepted: without pins, automated sync would go forward again.
func (t *teller) canRollBack() bool {
	return len(t.app.Status.History) > 1 && (!t.Foreign() || !t.app.Spec.SyncPolicy.AutomatedEnabled())
}

// allowances are those of the drift that the engine leaves alone.
func (t *teller) allowances() ([]v1alpha1.Allowance, error) {
	if t.Foreign() {
		return nil, nil
	}
	return mark.ReadAllowances(t.app)
}

// offer takes away actions that the agent would refuse.
func (t *teller) offer() {
	for i := range t.reasons {
		r := &t.reasons[i]
		r.Actions = slices.DeleteFunc(r.Actions, func(a api.WhyAction) bool { return t.lack(commandOf(a)) != "" })
	}
}

// commandOf is the kind of command that carries out an action.
func commandOf(a api.WhyAction) string {
	if a.Action == api.WhyResourceAction {
		return "resource.action"
	}
	return "application." + a.Action
}
