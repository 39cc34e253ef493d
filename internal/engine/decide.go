package engine

import (
	"context"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// decide says whether to sync now.
func (c *comparison) decide(ctx context.Context) decide.Decision {
	d := decide.Decide(c.decisionCase(ctx))
	c.warnBudget(d)
	return d
}

// decisionCase is all that a decision depends on.
func (c *comparison) decisionCase(ctx context.Context) decide.Case {
	of := decide.Case{App: c.app, Now: c.engine.Now(), Inputs: c.Inputs, Found: c.found(), Attempts: c.attempts()}
	of.Gates.Windows = c.windows(c.app)
	of.Gates.Budget, of.Gates.Whose, of.Gates.Problem = decide.Budget(c.app, c.rules.DeletionBudget(), c.engine.Budget)
	of.Gates.Loses = func(deletions []object.Key) string { return c.losing(ctx, deletions) }
	if u := c.kept.underway; u != nil {
		of.Running = &decide.Running{Operation: u.operation, Revisions: u.revisions, Began: c.began(u), Acted: len(u.states) > 0}
	}
	return of
}

func (t *turn) attempts() decide.Attempts {
	return decide.Attempts{Made: t.req.Retries, Due: t.req.Due, Rest: t.req.Rest}
}

// found is what the comparison found.
func (c *comparison) found() decide.Found {
	return decide.Found{
		Changes: c.changes, Shared: c.shared, Wanted: len(c.want.objects), Barred: c.want.barred(), NamespaceDrifted: c.drifted,
		Applied: func(yield func(object.Key, int64) bool) {
			for _, s := range c.states {
				if !yield(s.key, s.applied) {
					return
				}
			}
		},
	}
}

// warnBudget says that a deletion budget cannot be read, where it would have counted.
func (c *comparison) warnBudget(d decide.Decision) {
	if d.Warning != "" {
		c.warn(v1alpha1.ConditionUnsupported, []string{d.Warning})
	}
}
