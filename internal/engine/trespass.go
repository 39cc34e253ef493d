package engine

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// trespass says why nothing may be done in the name of a hook: the project does not permit it, or what has that name is
// not a hook of this Application. Hooks are deleted by policy and without a person's word, so that one that is called
// like somebody else's object must not get at it. Status and name of a hook do not count for this: what is live does.
func (r *run) trespass(key object.Key) error {
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

// releaseHook takes the finalizer off a hook.
func (r *run) releaseHook(ctx context.Context, op *plan.Operation, t plan.Task) {
	if err := r.trespass(t.Key); err != nil {
		op.Released(t, err.Error())
		return
	}
	op.Released(t, troubleOf(r.target.ReleaseHook(ctx, t.Key)))
}

// removeHook deletes a hook, if it still is the one that is known.
func (r *run) removeHook(ctx context.Context, op *plan.Operation, t plan.Task, d Decision) {
	if err := r.trespass(t.Key); err != nil {
		op.Removed(t, false, err.Error())
		return
	}
	var out apply.Outcome
	rec, tracked, _ := r.target.Live.Get(t.Key)
	if tracked {
		out = r.target.DeleteHook(ctx, t.Key, rec.UID, propagation(r.options(d)))
	}
	_, tracked, foreign := r.target.Live.Get(t.Key)
	op.Removed(t, !tracked && !foreign, troubleOf(out))
}
