package engine

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// DeleteHooks runs the hooks of a deletion's phase, PreDelete or PostDelete, and reports whether they are done. Those
// that are not done cause an event when they are, and it need only be called again then. A hook that failed is an error; it is
// run again once it is deleted.
func (e *Engine) DeleteHooks(ctx context.Context, req Request, phase v1alpha1.HookType) (done bool, err error) {
	t := e.begin(req)
	defer t.keep()
	in := t.specify()
	if err := in.resolve(ctx); err != nil {
		return false, err
	}
	r, err := in.render(ctx)
	if err == nil {
		err = r.load(ctx)
	}
	if err != nil {
		return false, err
	}
	x, err := r.deletion(ctx, phase)
	if err != nil {
		return false, err
	}
	end := x.apply(ctx)
	switch {
	case x.u.away > 0:
		return false, errors.New(end.Message)
	case end.Verb == plan.Wait:
		return false, nil
	case end.Phase != v1alpha1.OperationSucceeded:
		reasons := end.Message
		x.op.Each(func(t plan.Task, s plan.State) {
			if s.Phase == v1alpha1.OperationFailed || s.Phase == v1alpha1.OperationError {
				reasons += "; " + t.Key.String() + ": " + s.Message
			}
		})
		return false, errors.New(string(phase) + " hooks: " + reasons +
			": nothing more is deleted; fix the hook in Git, or delete its object to run it again")
	}
	return true, nil
}

// deletion is the execution of the hooks of a deletion's phase.
func (r *rendering) deletion(ctx context.Context, phase v1alpha1.HookType) (*execution, error) {
	var tasks []plan.Task
	states := map[plan.ID]plan.State{}
	u := &underway{started: r.app.DeletionTimestamp.Time, states: states, written: map[plan.ID]written{}}
	for i, h := range r.want.hooks {
		if !h.Has(phase) {
			continue
		}
		res, err := r.target.Live.Find(ctx, h.key.GroupKind(), "")
		if err == nil {
			err = r.target.Live.Watch(ctx, res)
		}
		if err != nil {
			return nil, err
		}
		t := plan.Task{
			Change: diff.Change{Key: h.key, Version: h.version, Verb: diff.Update, Why: "hook", Phase: v1alpha1.SyncPhase(phase), Wave: h.Wave},
			Hook:   true, Policies: h.Delete, Index: i,
		}
		if t.Key.Name == "" {
			t.Key.Name = h.prefix + hookSuffix(r.Revisions, t.Phase, u.started)
		}
		if rec, ok, _ := r.target.Live.Get(t.Key); ok && rec.App == r.instance && !r.corrected(rec, i) {
			states[t.ID()] = plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning} // made by an earlier turn
		}
		tasks = append(tasks, t)
	}
	return &execution{
		comparison: &comparison{rendering: r}, d: decide.Decision{Go: true}, u: u, pruned: map[object.Key]bool{},
		op: plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{}, states),
	}, nil
}

// corrected reports whether a hook has failed and a newer commit says something else of it: then it runs again.
func (r *rendering) corrected(rec live.Record, i int) bool {
	return rec.Assessed && rec.Health.Status == health.Degraded && rec.Wanted != 0 && i < len(r.hooks) && rec.Wanted != r.hooks[i].Hash()
}

// deleteHooks reports which hooks an Application has for its deletion, as far as its last rendering shows.
func (r *rendering) deleteHooks() []v1alpha1.HookType {
	var out []v1alpha1.HookType
	for _, phase := range []v1alpha1.HookType{v1alpha1.HookPreDelete, v1alpha1.HookPostDelete} {
		for _, h := range r.want.hooks {
			if h.Has(phase) {
				out = append(out, phase)
				break
			}
		}
	}
	return out
}
