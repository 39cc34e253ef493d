package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// confirmPause is how soon an operation goes on after what must be stored first could not be.
const confirmPause = time.Second

// confirmed reports whether what hooks came to is stored, so that they may be deleted: a process that takes over finds
// neither the hook nor its end otherwise, and calls it missing.
func (x *execution) confirmed(ctx context.Context, tasks []plan.Task) (bool, plan.Move) {
	if x.req.Confirm == nil || !x.stored { // it is not stored, or is no sync
		return true, plan.Move{}
	}
	gone := map[object.Key]bool{}
	for _, t := range tasks {
		gone[t.Key] = true
	}
	ended := map[plan.ID]bool{}
	x.op.Each(func(t plan.Task, s plan.State) {
		if t.Hook && gone[t.Key] && s.Phase.Completed() { // also as the hook of a phase before
			ended[t.ID()] = true
		}
	})
	if len(ended) == 0 { // they are those of an earlier operation
		return true, plan.Move{}
	}
	stored := func(stored *v1alpha1.OperationState) bool {
		return hasHooks(stored, x.u.started, ended, func(res v1alpha1.ResourceResult) bool { return res.HookPhase.Completed() })
	}
	err := x.req.Confirm(ctx, stored, func() v1alpha1.OperationState { return *x.progressState(0) })
	if err == nil {
		return true, plan.Move{}
	}
	return false, x.again(fmt.Sprintf("hooks are deleted once the status has their results, which could not be written: %v", err))
}

// again has an operation go on a little later, whatever the cluster says until then.
func (x *execution) again(message string) plan.Move {
	x.u.waiting = nil
	x.wakeIn(confirmPause)
	return plan.Move{Verb: plan.Wait, Message: fit.Message(message)}
}

// hasHooks reports whether a stored state of the operation that began at a moment has all these hooks, as f wants them.
func hasHooks(stored *v1alpha1.OperationState, started time.Time, hooks map[plan.ID]bool, f func(v1alpha1.ResourceResult) bool) bool {
	if !decide.Begun(stored) || stored.SyncResult == nil || stored.StartedAt.Unix() != started.Unix() {
		return false
	}
	left := len(hooks)
	for _, res := range stored.SyncResult.Resources {
		if res.HookType != "" && hooks[resultID(res)] && f(res) {
			left--
		}
	}
	return left <= 0
}
