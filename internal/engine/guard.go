package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// guard says why a sync is held that would delete more than its budget; "" when it may go on. What was confirmed is a
// set of objects: another set asks again. An operation that has deleted something is not stopped halfway.
func (r *run) guard(ctx context.Context, d Decision) string {
	if !d.Prune || d.DryRun {
		return ""
	}
	deletions, total := r.deletions(d)
	budget, whose := r.budget()
	confirmation := r.app.Annotations[v1alpha1.AnnotationDeletionConfirmed]
	begun := r.passed(d)
	v := guard.JudgeSync(guard.Sync{Deletions: deletions, Total: total, Budget: budget, Confirmed: confirmation, Begun: begun})
	r.leave = v.Leave
	switch {
	case begun || len(deletions) == 0:
		return ""
	case v.Confirmed:
		r.judged(gateGuard, confirmed, fmt.Sprintf("somebody confirmed plan %s, which deletes %d of %d objects", v.Digest, len(deletions), total))
		return ""
	case v.Held == "":
		r.judged(gateGuard, allowed, fmt.Sprintf("deletes %d of %d objects, which the deletion budget %q of the %s allows", len(deletions), total, budget, whose))
		return ""
	}
	other := ""
	if confirmation != "" {
		other = fmt.Sprintf("; the plan that was confirmed, %q, is not this one", object.Brief(confirmation, 2*len(v.Digest)))
	}
	return fmt.Sprintf("held: this sync would delete %d objects (%s), and %s%s (deletion budget %q of the %s): nothing was changed; "+
		"put the objects back into Git, or confirm with `slipway app confirm %s` (plan %s)%s",
		len(deletions), some(deletions), v.Held, r.losing(ctx, deletions), budget, whose, r.app.Name, v.Digest, other)
}

// losing says what of others the deletion of objects takes with it; "" for nothing.
func (r *run) losing(ctx context.Context, deletions []object.Key) string {
	var out []string
	for _, k := range deletions {
		if l := r.loss(ctx, k); l.Any() && len(out) < shownLosses {
			out = append(out, fmt.Sprintf("%s holds %s", k, l))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, "; ")
}

// shownLosses is how many objects that hold others a message names.
const shownLosses = 3

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
func some(keys []object.Key) string { return guard.Names(keys, len(keys)) }
