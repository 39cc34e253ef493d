package engine

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// guard says why a sync is held that would delete more than its budget; "" when it may go on. What was confirmed is a
// set of objects: another set asks again. An operation that has deleted something is not stopped halfway.
func (r *run) guard(d Decision) string {
	if !d.Prune || d.DryRun || r.passed(d) {
		return ""
	}
	deletions, total := r.deletions(d)
	budget, whose := r.budget()
	why := budget.Exceeds(deletions, total)
	digest := plan.Digest(deletions)
	if why == "" {
		if len(deletions) == 0 {
			return ""
		}
		r.judged(gateGuard, allowed, fmt.Sprintf("deletes %d of %d objects, which the deletion budget %q of the %s allows", len(deletions), total, budget, whose))
		return ""
	}
	if r.app.Annotations[v1alpha1.AnnotationDeletionConfirmed] == digest {
		r.judged(gateGuard, confirmed, fmt.Sprintf("somebody confirmed plan %s, which deletes %d of %d objects", digest, len(deletions), total))
		return ""
	}
	other := r.app.Annotations[v1alpha1.AnnotationDeletionConfirmed]
	if other != "" {
		other = fmt.Sprintf("; the plan that was confirmed, %q, is not this one", object.Brief(other, 2*len(digest)))
	}
	return fmt.Sprintf("held: this sync would delete %d objects (%s), and %s (deletion budget %q of the %s): nothing was changed; "+
		"put the objects back into Git, or confirm with `slipway app confirm %s` (plan %s)%s",
		len(deletions), some(deletions), why, budget, whose, r.app.Name, digest, other)
}

// deletions are the objects that an operation would delete where it prunes, and how many there are in all.
func (r *run) deletions(d Decision) (deletions []object.Key, total int) {
	chosen := selection(d.Operation.Sync)
	for _, c := range r.changes {
		if c.Verb != diff.Create {
			total++
		}
		if c.Verb == diff.Delete && (len(chosen) == 0 || chosen.has(c.Key)) {
			deletions = append(deletions, c.Key)
		}
	}
	return deletions, total
}

// passed reports whether an operation has done something already, so that nothing held it when it began. One that is
// held has no results.
func (r *run) passed(d Decision) bool {
	if !d.Going {
		return false
	}
	if u := r.underway(d); u != nil && len(u.states) > 0 {
		return true
	}
	last := r.app.Status.OperationState
	return last != nil && last.SyncResult != nil && len(last.SyncResult.Resources) > 0
}

// budget finds the deletion budget, and whose it is: that of the Application, of its project, or of the agent.
func (r *run) budget() (plan.Budget, string) {
	for _, from := range []struct{ whose, text string }{
		{"Application", r.app.Annotations[v1alpha1.AnnotationDeletionBudget]}, {"project", r.grant.rules.DeletionBudget()},
	} {
		if from.text == "" {
			continue
		}
		b, err := plan.ParseBudget(from.text)
		if err != nil {
			r.warn(v1alpha1.ConditionUnsupported, []string{fmt.Sprintf("annotation %s of the %s: %v; the agent's --deletion-budget counts", v1alpha1.AnnotationDeletionBudget, from.whose, err)})
			break
		}
		return b, from.whose
	}
	if r.engine.Budget != nil {
		return *r.engine.Budget, "agent"
	}
	return plan.DefaultBudget(), "agent"
}

// some names the first of many objects.
func some(keys []object.Key) string {
	const shown = 8
	names := make([]string, 0, shown)
	for _, k := range keys[:min(len(keys), shown)] {
		names = append(names, k.String())
	}
	if n := len(keys) - shown; n > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}
