package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// confirmPause is how soon hooks are to be deleted again after their ends could not be stored.
const confirmPause = time.Second

// confirmed reports whether what hooks came to is stored, so that they may be deleted: a process that takes over finds
// neither the hook nor its end otherwise, and calls it missing.
func (r *run) confirmed(ctx context.Context, op *plan.Operation, u *underway, d Decision, tasks []plan.Task) (bool, plan.Move) {
	if r.req.Confirm == nil || r.under != u { // nobody stores it, or what goes on is no sync
		return true, plan.Move{}
	}
	ended := map[plan.ID]bool{}
	for _, t := range tasks {
		if op.State(t).Phase.Completed() {
			ended[t.ID()] = true
		}
	}
	if len(ended) == 0 { // they are those of an earlier operation
		return true, plan.Move{}
	}
	told := func(stored *v1alpha1.OperationState) bool { return tellsEnds(stored, u.started, ended) }
	err := r.req.Confirm(ctx, told, func() v1alpha1.OperationState { return *r.progressState(op, u, d, 0) })
	if err == nil {
		return true, plan.Move{}
	}
	u.waiting = nil // there is something to do, whatever the cluster says
	r.wakeIn(confirmPause)
	message := fmt.Sprintf("hooks are deleted once the status says how they ended, which could not be written: %v", err)
	return false, plan.Move{Verb: plan.Wait, Message: clip(message)}
}

// tellsEnds reports whether a stored state of the operation that began at a moment says of all these hooks that they ended.
func tellsEnds(stored *v1alpha1.OperationState, started time.Time, ended map[plan.ID]bool) bool {
	if !begun(stored) || stored.SyncResult == nil || stored.StartedAt.Unix() != started.Unix() {
		return false
	}
	left := len(ended)
	for _, res := range stored.SyncResult.Resources {
		if res.HookType != "" && res.HookPhase.Completed() && ended[resultID(res)] {
			left--
		}
	}
	return left <= 0
}
