package decide

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Guard asks the deletion guard about a decision, whatever the other gates say: it is held, or gets the Leave for what it deletes.
func Guard(c Case, d Decision) Decision {
	m := decision{Case: c}
	d = m.guard(d)
	d.Verdicts = m.verdicts
	return d
}

// guard holds a sync that would delete more than its budget. What was confirmed is a set of objects: another set asks again. An
// operation that has deleted something is not stopped halfway.
func (m *decision) guard(d Decision) Decision {
	if !d.Prune || d.DryRun {
		return d
	}
	deletions, total := Deletions(m.Found.Changes, d.Operation.Sync)
	confirmation, begun := m.App.Annotations[v1alpha1.AnnotationDeletionConfirmed], m.acted(d)
	v := guard.JudgeSync(guard.Sync{Deletions: deletions, Total: total, Budget: m.Gates.Budget, Confirmed: confirmation, Begun: begun})
	d.Leave, d.Warning = v.Leave, m.Gates.Problem
	switch {
	case begun || len(deletions) == 0:
	case v.Confirmed:
		m.judged(GateGuard, Confirmed, fmt.Sprintf("plan %s was confirmed, which deletes %d of %d objects", v.Digest, len(deletions), total))
	case v.Held == "":
		m.judged(GateGuard, Allowed, fmt.Sprintf("deletes %d of %d objects, which the deletion budget %q of the %s allows",
			len(deletions), total, m.Gates.Budget, m.Gates.Whose))
	default:
		d.Go, d.Held = false, m.held(v, deletions, confirmation)
	}
	return d
}

func (m *decision) held(v guard.Verdict, deletions []object.Key, confirmation string) string {
	other, loses := "", ""
	if confirmation != "" {
		other = fmt.Sprintf("; the plan that was confirmed, %q, is not this one", object.Brief(confirmation, 2*len(v.Digest)))
	}
	if m.Gates.Loses != nil {
		loses = m.Gates.Loses(deletions)
	}
	return fmt.Sprintf("held: this sync would delete %d objects (%s), and %s%s (deletion budget %q of the %s): nothing was changed; "+
		"put the objects back into Git, or confirm with `slipway app confirm %s` (plan %s)%s", len(deletions),
		guard.Names(deletions, len(deletions)), v.Held, loses, m.Gates.Budget, m.Gates.Whose, m.App.Name, v.Digest, other)
}

// Deletions are the objects that an operation deletes where it prunes, and how many are live in all.
func Deletions(changes []diff.Change, op *v1alpha1.SyncOperation) (deletions []object.Key, total int) {
	chosen := Selection(op)
	for _, c := range changes {
		if c.Verb != diff.Create {
			total++
		}
		if c.Verb == diff.Delete && (len(chosen) == 0 || chosen.Has(c.Key)) {
			deletions = append(deletions, c.Key)
		}
	}
	return deletions, total
}

// acted reports whether an operation has done something already, so that nothing held it when it began. One that is held has no
// results.
func (m *decision) acted(d Decision) bool {
	if !d.Going {
		return false
	}
	if r := m.Running; r != nil && r.Acted && r.Is(d.Operation, m.Inputs.Revisions) {
		return true
	}
	last := m.App.Status.OperationState
	return last != nil && last.SyncResult != nil && len(last.SyncResult.Resources) > 0
}

// Budget finds the deletion budget, and whose it is: that of the Application, of its project, or of the agent. Where one cannot
// be read, the agent's counts, and problem says so.
func Budget(app *v1alpha1.Application, ofProject string, agent *plan.Budget) (b plan.Budget, whose, problem string) {
	for _, from := range []struct{ whose, text string }{
		{"Application", app.Annotations[v1alpha1.AnnotationDeletionBudget]}, {"project", ofProject},
	} {
		if from.text == "" {
			continue
		}
		b, err := plan.ParseBudget(from.text)
		if err == nil {
			return b, from.whose, ""
		}
		problem = fmt.Sprintf("annotation %s of the %s: %v; the agent's --deletion-budget counts",
			v1alpha1.AnnotationDeletionBudget, from.whose, err)
		break
	}
	if agent != nil {
		return *agent, "agent", problem
	}
	return plan.DefaultBudget(), "agent", problem
}
