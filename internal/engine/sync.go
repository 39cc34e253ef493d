package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/source"
)

// report says how far an operation is to the caller that asked for it; more objects are done than it knows of.
func (x *execution) report(more int) {
	if x.req.Operating == nil {
		return
	}
	x.req.Operating(func() v1alpha1.OperationState { return *x.progressState(more) })
}

// progressState says how far an operation is, of which more objects are done than it knows of.
func (x *execution) progressState(more int) *v1alpha1.OperationState {
	state := x.operationState(x.d, x.u)
	done, total := x.op.Progress()
	state.Phase = v1alpha1.OperationRunning
	state.Message = fmt.Sprintf("%d of %d objects done (%s)", done+more, total, x.op.Counts())
	state.SyncResult.Resources = results(x.op, x.u, fit.MostRunning)
	return state
}

func propagation(options []string) metav1.DeletionPropagation {
	return apply.PropagationOf(object.AppOptions(options).Propagation)
}

// synced is the result after an operation, or a part of it: what it did, and what is true now. trouble is why that is not known.
func (x *execution) synced(ctx context.Context, end plan.Move, now *comparison, trouble error) Result {
	x.u.states = x.op.States()
	if len(x.pruned) > 0 { // the watch has not reported what was deleted just now
		now.states = slices.DeleteFunc(now.states, func(s state) bool { return s.prune && x.pruned[s.key] })
	}
	state := x.operationState(x.d, x.u)
	state.SyncResult.ManagedNamespaceMetadata = x.managed(x.d)
	res := now.result(decide.Decision{})
	most := fit.Most
	if end.Verb == plan.Wait {
		most = fit.MostRunning
	} else {
		x.u.intended = nil // what was not made by now never is
	}
	state.SyncResult.Resources = results(x.op, x.u, fit.Room(res.Resources, most))
	state.Message = end.Message
	switch {
	case end.Verb == plan.Wait:
		state.Phase = v1alpha1.OperationRunning
		if limit := x.timeLeft(x.u); limit > 0 {
			res.Wake = earlier(res.Wake, limit)
		}
	case end.Phase != v1alpha1.OperationSucceeded:
		x.kept.underway = nil
		x.conclude(state, end.Phase, x.d.Retries(), x.d.Attempts, &res)
	case trouble != nil:
		x.kept.underway = nil
		state.Message = trouble.Error()
		x.conclude(state, v1alpha1.OperationError, x.d.Operation.Retry, x.d.Attempts, &res)
	default:
		x.kept.underway = nil
		x.conclude(state, v1alpha1.OperationSucceeded, x.d.Operation.Retry, x.d.Attempts, &res)
		res.Changes = x.changesMade()
	}
	res.Operation = state
	x.account(ctx, now, &res)
	return res
}

// changesMade asks the sources who made what was deployed. History is poorer without it, and that is all.
func (in *inputs) changesMade() []source.Change {
	var out []source.Change
	for _, f := range in.fetched {
		if t, ok := f.Tree.(source.Explained); ok {
			if c, err := t.Change(); err == nil {
				out = append(out, c)
			}
		}
	}
	return out
}

func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b < a {
		return b
	}
	return a
}

// managed is what an operation has given the namespace, as its result says.
func (t *turn) managed(d decide.Decision) *v1alpha1.ManagedNamespaceMetadata {
	switch {
	case d.DryRun: // it has given nothing
		return t.managedBefore()
	case !t.managesNamespace():
		return nil
	}
	return t.app.Spec.SyncPolicy.ManagedNamespaceMetadata
}

// unsynced is the result where no operation runs: there is nothing to do, or what was asked for is refused.
func (c *comparison) unsynced(ctx context.Context, d decide.Decision) Result {
	res := c.result(d)
	if decide.MetadataMoved(c.app) {
		res.Sync = v1alpha1.SyncStatusOutOfSync
	}
	if d.Held != "" {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionHeld, Message: d.Held})
	}
	switch {
	case d.Refused != "":
		c.refuse(d, &res)
	case d.Waits != "":
		res.Operation = c.held(d, d.Waits)
	case d.Held != "" && c.operation() != nil:
		res.Operation = c.held(d, d.Held)
	default:
		res.Operation = c.abandoned(d)
	}
	if a := c.account(d.Verdicts, nil, &res); a != nil {
		c.accountObjects(ctx, a)
		a.Recovered = d.Untold
	}
	return res
}

// refuse ends an operation that was asked for and cannot be done.
func (c *comparison) refuse(d decide.Decision, res *Result) {
	state := c.operationState(d, nil)
	state.Message = d.Refused
	phase, tried := d.Refusal()
	if !tried {
		state.SyncResult = &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: state.SyncResult.ManagedNamespaceMetadata}
	}
	retry := v1alpha1.RetryStrategy{}
	if d.Invalid() { // others may put that right
		retry, state.SyncResult.Resources = d.Operation.Retry, c.barredResults(d.Operation.Sync)
	} else {
		d.Attempts = 0
	}
	c.conclude(state, phase, retry, d.Attempts, res)
	res.Operation = state
}

// held is the state of an operation that waits for a person or for a sync window. Before it has begun it names no revisions,
// so that what is put right in Git until then counts.
func (c *comparison) held(d decide.Decision, why string) *v1alpha1.OperationState {
	last := c.app.Status.OperationState
	if d.Going && d.Waits != "" {
		state := last.DeepCopy()
		state.Message = why
		return state
	}
	state := c.operationState(d, nil)
	if decide.Begun(last) && decide.SameOperation(last.Operation, d.Operation) {
		state.StartedAt = last.StartedAt
	}
	state.Phase, state.Message, state.SyncResult = v1alpha1.OperationRunning, why,
		&v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: c.managedBefore()}
	return state
}

// abandoned ends an operation that does not go on: its revision is not the present one any more and nothing else
// begins, or automated sync was turned off before its next attempt. It returns nil where there is none.
func (c *comparison) abandoned(d decide.Decision) *v1alpha1.OperationState {
	last := c.app.Status.OperationState
	if last == nil || last.Phase.Completed() || c.operation() != nil || d.Retry > 0 {
		return nil
	}
	why := "the sources have moved on"
	if c.Inputs.Same(last) {
		if decide.Automated(c.app) != nil || d.Condition != nil {
			return nil
		}
		why = "automated sync is off"
	}
	now := metav1.NewTime(c.engine.Now())
	state := last.DeepCopy()
	state.Phase, state.FinishedAt, state.Message = v1alpha1.OperationFailed, &now, strings.TrimPrefix(last.Message+": given up, since "+why,
		": ")
	c.kept.underway = nil
	return state
}

func (in *inputs) operationState(d decide.Decision, u *underway) *v1alpha1.OperationState {
	o := &v1alpha1.OperationState{
		Operation: d.Operation, StartedAt: metav1.NewTime(in.started), RetryCount: d.Attempts,
		SyncResult: &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: in.managedBefore()},
	}
	if last := in.app.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning && (d.Attempts > 0 || d.Going) {
		o.StartedAt = last.StartedAt
	}
	if u != nil {
		o.StartedAt = metav1.NewTime(u.started)
	}
	if in.app.Spec.MultipleSources() {
		o.SyncResult.Sources, o.SyncResult.Revisions = in.Sources, in.Revisions
	} else if len(in.Sources) == 1 {
		o.SyncResult.Source = in.Sources[0]
		if len(in.Revisions) == 1 {
			o.SyncResult.Revision = in.Revisions[0]
		}
	}
	return o
}

// cause names the first object that was refused, where the message of an operation names none, so that the message
// alone shows where to begin.
func cause(o *v1alpha1.OperationState) string {
	if o.SyncResult == nil {
		return ""
	}
	refused := func(out v1alpha1.ResourceResult) bool {
		return out.Status == v1alpha1.ResultSyncFailed && out.Message != ""
	}
	i := slices.IndexFunc(o.SyncResult.Resources, refused)
	if i < 0 || slices.ContainsFunc(o.SyncResult.Resources, func(out v1alpha1.ResourceResult) bool {
		return refused(out) && strings.Contains(o.Message, out.Message)
	}) {
		return ""
	}
	return ": " + decide.CauseOf(o.SyncResult.Resources[i])
}

// conclude ends an operation, or puts its next attempt off when it failed and may be tried again.
func (t *turn) conclude(o *v1alpha1.OperationState, phase v1alpha1.OperationPhase, retry v1alpha1.RetryStrategy,
	attempts int64, res *Result,
) {
	now := metav1.NewTime(t.engine.Now())
	if ahead := o.StartedAt.Sub(now.Time); ahead > 0 && ahead <= LongestAhead {
		now = o.StartedAt
	}
	if phase != v1alpha1.OperationSucceeded {
		res.Conditions = append(res.Conditions,
			v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: o.Message + decide.Causes(o)})
		o.Message += cause(o)
		if retry.Limit < 0 || attempts < retry.Limit {
			o.RetryCount = attempts + 1
			res.Retry = decide.RetryDelay(retry, o.RetryCount)
			o.Phase, o.FinishedAt = v1alpha1.OperationRunning, &now // running and finished: it waits for its next attempt
			o.Message += fmt.Sprintf(". Retrying attempt #%d at %s.", o.RetryCount, now.Add(res.Retry).UTC().Format("15:04:05"))
			return
		}
	}
	o.Phase, o.FinishedAt = phase, &now
	if op := o.Operation.Sync; op != nil && len(op.Manifests) > 0 { // they may be large, and are not needed later
		short := *op
		short.Manifests = []string{"left out"}
		o.Operation.Sync = &short
	}
}
