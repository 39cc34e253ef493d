package decide

import (
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// invalid begins the refusal of an operation that concerns objects which may not be applied, in the words of Argo CD.
const invalid = "one or more synchronization tasks are not valid: "

// Invalid reports whether an operation is refused because of objects that may not be applied: others may correct that,
// so it may be tried again.
func (d Decision) Invalid() bool { return strings.HasPrefix(d.Refused, invalid) }

// Bars are the reasons why an operation may not run: those of the objects that it concerns; nil stands for all of them.
func Bars(all []Barred, op *v1alpha1.SyncOperation) (forbidden, unknown []string) {
	chosen, hooks := Selection(op), len(Selection(op)) == 0 && RunsHooks(op)
	for _, b := range all {
		switch {
		case b.Hook && !hooks, !b.Hook && len(chosen) > 0 && !chosen.Has(b.Key):
		case b.Unknown:
			unknown = append(unknown, b.Why)
		default:
			forbidden = append(forbidden, b.Why)
		}
	}
	return forbidden, unknown
}

// unbarred lets a decision stand unless its operation would touch an object that may not be applied: half an application is no
// one's wish. What the policy wants is left until nothing bars it; what was asked for fails, and may be retried.
func (m *decision) unbarred(d Decision) Decision {
	if !d.Go || d.Terminate {
		return d
	}
	forbidden, unknown := Bars(m.Found.Barred, d.Operation.Sync)
	switch {
	case len(forbidden)+len(unknown) == 0:
		return d
	case m.App.Operation == nil:
		return Decision{Operation: d.Operation}
	}
	return Decision{Operation: d.Operation, Refused: invalid + Few(append(forbidden, unknown...))}
}
