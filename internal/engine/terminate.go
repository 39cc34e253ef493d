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
)

// terminating reports whether the operation under way is to end: somebody asked for that, or its time is over.
func (r *run) terminating() bool {
	last := r.app.Status.OperationState
	if last == nil || last.Phase.Completed() {
		return false
	}
	return last.Phase == v1alpha1.OperationTerminating || r.overdue(last)
}

func (r *run) overdue(last *v1alpha1.OperationState) bool {
	limit := r.engine.timeLimit()
	return limit > 0 && decide.Begun(last) && r.age(last) >= limit
}

// terminate ends the operation under way: hooks that run are deleted, what was applied stays. It needs neither the
// sources nor the manifests.
func (r *run) terminate(ctx context.Context) Result {
	last := r.app.Status.OperationState.DeepCopy()
	res := r.standing()
	var err error
	if r.target, err = r.engine.Clusters.Target(ctx, r.app.Spec.ProjectName(), r.app.Spec.Destination); err != nil {
		res.Err = &StageError{Stage: StageApply, Err: fmt.Errorf("end the operation: %w", err)}
		return res
	}
	if r.want == nil {
		r.want = &wanted{}
	}
	if last.SyncResult == nil {
		last.SyncResult = &v1alpha1.SyncOperationResult{}
	}
	_ = r.consult() // without a project an operation can still be ended
	if err := r.watchHooks(ctx, last.SyncResult.Resources); err != nil {
		res.Err = &StageError{Stage: StageLive, Err: fmt.Errorf("end the operation: %w", err)}
		return res
	}
	overdue := r.overdue(last)
	d := decide.Decision{Go: true, Going: true, Terminate: true, Operation: last.Operation}
	u := &underway{operation: last.Operation, started: last.StartedAt.Time, since: r.engine.ran() - r.age(last), states: map[plan.ID]plan.State{}}
	u.run = r.hookRun(u.started, last.RetryCount, decide.RevisionsOf(last.SyncResult))
	last.SyncResult.Resources = slices.DeleteFunc(last.SyncResult.Resources, func(out v1alpha1.ResourceResult) bool {
		return intended(out) && !r.isHookOf(u, out)
	})
	var tasks []plan.Task
	for i, out := range last.SyncResult.Resources {
		id := resultID(out)
		if !r.isHookOf(u, out) {
			continue
		}
		u.states[id] = plan.State{Code: out.Status, Phase: out.HookPhase, Message: out.Message}
		tasks = append(tasks, plan.Task{
			Change: diff.Change{Key: id.Key, Version: out.Version, Verb: diff.Update, Phase: id.Phase}, Hook: true,
			Policies: r.policies(id), Index: i,
		})
	}
	op := plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{Terminate: true}, u.states)
	end := r.apply(ctx, op, u, d)
	if end.Verb == plan.Wait {
		res.Err = &StageError{Stage: StageApply, Err: fmt.Errorf("end the operation: %s", end.Message)}
		return res
	}
	op.Each(func(t plan.Task, s plan.State) {
		out := &last.SyncResult.Resources[t.Index]
		out.HookPhase, out.Message = s.Phase, s.Message
	})
	r.under, r.kept.underway = r.kept.underway, nil
	last.Message = end.Message
	if overdue {
		last.Message = fmt.Sprintf("%s: it took longer than the limit of %s for a sync", end.Message, r.engine.timeLimit())
	}
	r.conclude(last, end.Phase, v1alpha1.RetryStrategy{}, &res)
	res.Operation = last
	return res
}

// watchHooks makes sure that live state is complete for the kinds of an operation's hooks.
func (r *run) watchHooks(ctx context.Context, results []v1alpha1.ResourceResult) error {
	for _, out := range results {
		if out.HookType == "" || r.outside(resultID(out).Key) {
			continue
		}
		res, err := r.target.Live.Find(ctx, object.Kind{Group: out.Group, Kind: out.Kind}, "")
		if unknownKind(err) {
			continue
		}
		if err == nil {
			err = r.target.Live.Watch(ctx, res)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// policies finds the delete policies of a hook, as far as the last rendering tells.
func (r *run) policies(id plan.ID) plan.Policies {
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
