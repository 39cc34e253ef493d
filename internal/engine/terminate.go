package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// terminating reports whether the operation under way is to end: that was asked for, or its time is over.
func (t *turn) terminating() bool {
	last := t.app.Status.OperationState
	if last == nil || last.Phase.Completed() {
		return false
	}
	return last.Phase == v1alpha1.OperationTerminating || t.overdue(last)
}

func (t *turn) overdue(last *v1alpha1.OperationState) bool {
	limit := t.engine.timeLimit()
	return limit > 0 && decide.Begun(last) && t.age(last) >= limit
}

// terminate ends the operation under way: hooks that run are deleted, what was applied stays. It needs neither the
// sources nor the manifests.
func (in *inputs) terminate(ctx context.Context) Result {
	last := in.app.Status.OperationState.DeepCopy()
	res := in.standing()
	if err := in.locate(ctx); err != nil {
		res.Err = &StageError{Stage: StageApply, Err: fmt.Errorf("end the operation: %w", err)}
		return res
	}
	if in.kept.wanted == nil {
		in.kept.wanted = &wanted{}
	}
	if last.SyncResult == nil {
		last.SyncResult = &v1alpha1.SyncOperationResult{}
	}
	_ = in.consult() // without a project an operation can still be ended
	if err := in.watchHooks(ctx, last.SyncResult.Resources); err != nil {
		res.Err = &StageError{Stage: StageLive, Err: fmt.Errorf("end the operation: %w", err)}
		return res
	}
	overdue := in.overdue(last)
	x := in.ending(last)
	end := x.apply(ctx)
	if end.Verb == plan.Wait {
		res.Err = &StageError{Stage: StageApply, Err: fmt.Errorf("end the operation: %s", end.Message)}
		return res
	}
	x.op.Each(func(t plan.Task, s plan.State) {
		out := &last.SyncResult.Resources[t.Index]
		out.HookPhase, out.Message = s.Phase, s.Message
	})
	u := in.kept.underway
	in.kept.underway = nil
	last.Message = end.Message
	if overdue {
		last.Message = fmt.Sprintf("%s: it took longer than the limit of %s for a sync", end.Message, in.engine.timeLimit())
	}
	in.conclude(last, end.Phase, v1alpha1.RetryStrategy{}, 0, &res)
	res.Operation = last
	if a := in.account(nil, u, &res); a != nil && u != nil {
		a.Deeds = cutOff(u)
	}
	return res
}

// ending is the execution that ends an operation: all that is left to do is to delete its hooks.
func (in *inputs) ending(last *v1alpha1.OperationState) *execution {
	x := &execution{
		comparison: &comparison{rendering: &rendering{inputs: in, want: in.kept.wanted}}, pruned: map[object.Key]bool{},
		d: decide.Decision{Go: true, Going: true, Terminate: true, Operation: last.Operation},
		u: &underway{
			operation: last.Operation, started: last.StartedAt.Time, since: in.engine.ran() - in.age(last), states: map[plan.ID]plan.State{},
			run: in.hookRun(last.StartedAt.Time, last.RetryCount, decide.RevisionsOf(last.SyncResult)),
		},
	}
	last.SyncResult.Resources = slices.DeleteFunc(last.SyncResult.Resources, func(out v1alpha1.ResourceResult) bool {
		return intended(out) && !x.isHookOf(out)
	})
	var tasks []plan.Task
	for i, out := range last.SyncResult.Resources {
		id := resultID(out)
		if !x.isHookOf(out) {
			continue
		}
		x.u.states[id] = plan.State{Code: out.Status, Phase: out.HookPhase, Message: out.Message}
		tasks = append(tasks, plan.Task{
			Change: diff.Change{Key: id.Key, Version: out.Version, Verb: diff.Update, Phase: id.Phase}, Hook: true,
			Policies: x.policies(id), Index: i,
		})
	}
	x.op = plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{Terminate: true}, x.u.states)
	return x
}

// watchHooks makes sure that live state is complete for the kinds of an operation's hooks.
func (in *inputs) watchHooks(ctx context.Context, results []v1alpha1.ResourceResult) error {
	for _, out := range results {
		if out.HookType == "" || in.outside(resultID(out).Key) {
			continue
		}
		res, err := in.target.Live.Find(ctx, object.Kind{Group: out.Group, Kind: out.Kind}, "")
		if prepare.Unknown(err) {
			continue
		}
		if err == nil {
			err = in.target.Live.Watch(ctx, res)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// policies finds the delete policies of a hook, as far as the last rendering shows.
func (r *rendering) policies(id plan.ID) plan.Policies {
	for _, h := range r.want.hooks {
		named := h.key
		if named.Name == "" && strings.HasPrefix(id.Name, h.prefix) {
			named.Name = id.Name // its operation gave it the rest
		}
		if named == id.Key {
			return h.Delete
		}
	}
	return plan.Policies{}
}
