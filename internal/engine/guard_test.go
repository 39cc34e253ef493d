package engine

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// deleting is a run that would delete objects a, b and c of four, which is more than the agent's budget.
func deleting(t *testing.T, change func(*comparison)) *comparison {
	t.Helper()
	return compared(func(r *comparison) {
		r.app.Name, r.app.Annotations = "web", map[string]string{}
		r.engine.Budget = &plan.Budget{Objects: 2, Percent: 50}
		r.grant.rules = permissive(t, nil)
		r.changes = []diff.Change{{Key: key("d"), Verb: diff.Keep}}
		for _, name := range []string{"a", "b", "c"} {
			r.changes = append(r.changes, diff.Change{Key: key(name), Verb: diff.Delete})
		}
		if change != nil {
			change(r)
		}
	})
}

func TestAHeldOperationIsToldOnceAndNamesNoRevision(t *testing.T) {
	t.Parallel()
	op := asked()
	r := deleting(t, func(r *comparison) {
		r.app.Operation, r.started = &op, moment(2000).Time
		last(r).Operation, last(r).Phase, last(r).FinishedAt, last(r).StartedAt = op, v1alpha1.OperationRunning, nil, moment(1500)
	})
	state := r.held(decide.Decision{Operation: op}, "held: by a budget")
	if !state.StartedAt.Time.Equal(moment(1500).Time) || state.SyncResult.Revision != "" || state.Message != "held: by a budget" || state.FinishedAt != nil {
		t.Errorf("%+v", state)
	}
	if state = r.held(decide.Decision{Operation: automatic()}, ""); !state.StartedAt.Time.Equal(moment(2000).Time) {
		t.Errorf("another operation began when this one did: %s", state.StartedAt)
	}
}
