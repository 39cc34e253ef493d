package engine

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// trespass says why nothing may be done in the name of a hook: the project does not permit it, or what has that name is
// not a hook of this Application. Hooks are deleted by policy and without a person's word, so that one that is called
// like somebody else's object must not get at it. Status and name of a hook do not count for this: what is live does.
func (r *run) trespass(key object.Key) error {
	if r.target.Live.Excludes(key.GroupKind()) {
		return fmt.Errorf("%s is left alone: argocd-cm excludes its kind", key)
	}
	if r.grant.rules != nil {
		if err := r.permits(key); err != nil {
			return &ProjectError{err}
		}
	}
	rec, tracked, foreign := r.target.Live.Get(key)
	switch {
	case foreign:
		return fmt.Errorf("%s is there already and belongs to no Application: give the hook another name, or delete that object", key)
	case !tracked, rec.Hook && (rec.App == r.instance || !r.engine.Exists(rec.App)):
		return nil
	case rec.App != r.instance:
		return fmt.Errorf("%s belongs to Application %s: give the hook another name", key, rec.App)
	}
	return fmt.Errorf("%s is there already and is no hook: give the hook another name, or delete that object", key)
}

// releaseHook takes the finalizer off a hook. The error is that of an API server that is away: it is done later.
func (r *run) releaseHook(ctx context.Context, op *plan.Operation, u *underway, t plan.Task) error {
	if rec, _, _ := r.target.Live.Get(t.Key); r.foundLate(op, u, t, rec) {
		return nil
	}
	if err := r.trespass(t.Key); err != nil {
		op.Released(t, err.Error())
		return nil
	}
	out := r.target.ReleaseHook(ctx, t.Key)
	if away(out.Err) {
		return out.Err
	}
	op.Released(t, troubleOf(out))
	return nil
}

// removeHook deletes a hook, if it still is the one that is known. The error is that of an API server that is away.
func (r *run) removeHook(ctx context.Context, op *plan.Operation, u *underway, t plan.Task, d decide.Decision) error {
	if err := r.trespass(t.Key); err != nil {
		op.Removed(t, false, err.Error())
		return nil
	}
	var out apply.Outcome
	rec, tracked, _ := r.target.Live.Get(t.Key)
	if r.foundLate(op, u, t, rec) {
		return nil
	}
	if tracked {
		leave, err := guard.JudgeHook(t.Key, r.loss(ctx, t.Key))
		if err != nil {
			op.Removed(t, false, err.Error())
			return nil
		}
		out = r.target.DeleteHook(ctx, leave, t.Key, rec.UID, propagation(decide.OptionsOf(r.app, d.Operation.Sync)))
	}
	if away(out.Err) {
		return out.Err
	}
	_, tracked, foreign := r.target.Live.Get(t.Key)
	op.Removed(t, !tracked && !foreign, troubleOf(out))
	return nil
}

// foundLate reports whether what is to make room for a hook is that very hook, of which the cluster told only now: it is
// taken over instead.
func (r *run) foundLate(op *plan.Operation, u *underway, t plan.Task, rec live.Record) bool {
	return op.State(t).Phase == "" && r.made(u, t, rec)
}
