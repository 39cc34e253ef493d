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

// hookConflict says why nothing may be done in the name of a hook: the project does not permit it, or what has that name is
// not a hook of this Application. Hooks are deleted by policy and without a person's word, so that one that is called
// like another object must not get at that one. Only what is live counts for this, not the status and the name of a hook.
func (x *execution) hookConflict(key object.Key) error {
	if x.target.Live.Excludes(key.GroupKind()) {
		return fmt.Errorf("%s is left alone: argocd-cm excludes its kind", key)
	}
	if x.rules != nil {
		if err := x.permits(key); err != nil {
			return &ProjectError{err}
		}
	}
	rec, tracked, foreign := x.target.Live.Get(key)
	switch {
	case foreign:
		return fmt.Errorf("%s is there already and belongs to no Application: give the hook another name, or delete that object", key)
	case !tracked, rec.Hook && (rec.App == x.instance || !x.engine.Exists(rec.App)):
		return nil
	case rec.App != x.instance:
		return fmt.Errorf("%s belongs to Application %s: give the hook another name", key, rec.App)
	}
	return fmt.Errorf("%s is there already and is no hook: give the hook another name, or delete that object", key)
}

// releaseHook takes the finalizer off a hook. The error is that of an API server that is away: it is done later.
func (x *execution) releaseHook(ctx context.Context, t plan.Task) error {
	if rec, _, _ := x.target.Live.Get(t.Key); x.foundLate(t, rec) {
		return nil
	}
	if err := x.hookConflict(t.Key); err != nil {
		x.op.Released(t, err.Error())
		return nil
	}
	out := x.target.ReleaseHook(ctx, t.Key)
	if away(out.Err) {
		return out.Err
	}
	x.op.Released(t, troubleOf(out))
	return nil
}

// removeHook deletes a hook, if it still is the one that is known. The error is that of an API server that is away.
func (x *execution) removeHook(ctx context.Context, t plan.Task) error {
	if err := x.hookConflict(t.Key); err != nil {
		x.op.Removed(t, false, err.Error())
		return nil
	}
	var out apply.Outcome
	rec, tracked, _ := x.target.Live.Get(t.Key)
	if x.foundLate(t, rec) {
		return nil
	}
	if tracked {
		leave, err := guard.JudgeHook(t.Key, x.loss(ctx, t.Key))
		if err != nil {
			x.op.Removed(t, false, err.Error())
			return nil
		}
		out = x.target.DeleteHook(ctx, leave, t.Key, rec.UID, propagation(decide.OptionsOf(x.app, x.d.Operation.Sync)))
	}
	if away(out.Err) {
		return out.Err
	}
	_, tracked, foreign := x.target.Live.Get(t.Key)
	x.op.Removed(t, !tracked && !foreign, troubleOf(out))
	return nil
}

// foundLate reports whether what is to make room for a hook is that very hook, which the cluster reported only now: it is
// taken over instead.
func (x *execution) foundLate(t plan.Task, rec live.Record) bool {
	return x.op.State(t).Phase == "" && x.made(t, rec)
}
