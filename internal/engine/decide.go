package engine

import (
	"context"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// inputs are what the live objects are compared with.
func (r *run) inputs() decide.Inputs {
	return decide.Inputs{Sources: r.sources, Revisions: r.revisions, Specified: r.specified, Pin: r.rollback, Released: r.released}
}

func (r *run) attempts() decide.Attempts {
	return decide.Attempts{Made: r.req.Retries, Due: r.req.Due, Rest: r.req.Rest}
}

// found is what the comparison found.
func (r *run) found() decide.Found {
	return decide.Found{
		Changes: r.changes, Shared: r.shared, Wanted: len(r.want.objects), Barred: r.want.barred(), Strayed: r.strayed,
		Applied: func(yield func(object.Key, int64) bool) {
			for _, s := range r.states {
				if !yield(s.key, s.applied) {
					return
				}
			}
		},
	}
}

// decisionCase is all that a decision depends on.
func (r *run) decisionCase(ctx context.Context) decide.Case {
	c := decide.Case{App: r.app, Now: r.engine.Now(), Inputs: r.inputs(), Found: r.found(), Attempts: r.attempts()}
	c.Gates.Windows = r.windows()
	c.Gates.Budget, c.Gates.Whose, c.Gates.Problem = decide.Budget(r.app, r.grant.rules.DeletionBudget(), r.engine.Budget)
	c.Gates.Loses = func(deletions []object.Key) string { return r.losing(ctx, deletions) }
	if u := r.kept.underway; u != nil {
		c.Running = &decide.Running{Operation: u.operation, Revisions: u.revisions, Began: r.began(u), Acted: len(u.states) > 0}
	}
	return c
}

// decide says whether to sync now.
func (r *run) decide(ctx context.Context) decide.Decision {
	d := decide.Decide(r.decisionCase(ctx))
	r.req.Retries, r.leave, r.untellable = d.Attempts, d.Leave, d.Untold
	r.warnBudget(d)
	if r.accounts() {
		r.verdicts = append(r.verdicts, d.Verdicts...)
	}
	return d
}

// warnBudget says that a deletion budget cannot be read, where it would have counted.
func (r *run) warnBudget(d decide.Decision) {
	if d.Warning != "" {
		r.warn(v1alpha1.ConditionUnsupported, []string{d.Warning})
	}
}
