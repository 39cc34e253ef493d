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
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/source"
)

// tell says how far an operation is to whoever asked for it; more objects are done than it knows of.
func (r *run) tell(op *plan.Operation, u *underway, d decide.Decision, more int) {
	if r.req.Operating == nil {
		return
	}
	r.req.Operating(func() v1alpha1.OperationState { return *r.progressState(op, u, d, more) })
}

// progressState says how far an operation is, of which more objects are done than it knows of.
func (r *run) progressState(op *plan.Operation, u *underway, d decide.Decision, more int) *v1alpha1.OperationState {
	state := r.operationState(d, u)
	done, total := op.Progress()
	state.Phase = v1alpha1.OperationRunning
	state.Message = fmt.Sprintf("%d of %d objects done (%s)", done+more, total, op.Counts())
	state.SyncResult.Resources = results(op, u, runningRoom)
	return state
}

func propagation(options []string) metav1.DeletionPropagation {
	return apply.PropagationOf(object.AppOptions(options).Propagation)
}

// synced is the result after an operation, or a part of it: what it did, and what is true now.
func (r *run) synced(ctx context.Context, d decide.Decision, op *plan.Operation, u *underway, end plan.Move) Result {
	state := r.operationState(d, u)
	state.SyncResult.ManagedNamespaceMetadata = r.managed(d)
	u.states = op.States()
	var trouble error
	if r.done {
		trouble = r.compare(ctx)
		r.takeOver(ctx)
		r.forgetPruned()
	}
	res := r.result(decide.Decision{})
	most := statusRoom
	if end.Verb == plan.Wait {
		most = runningRoom
	} else {
		u.intended = nil // what was not made by now never is
	}
	state.SyncResult.Resources = results(op, u, room(res.Resources, most))
	state.Message = end.Message
	switch {
	case end.Verb == plan.Wait:
		state.Phase = v1alpha1.OperationRunning
		if limit := r.timeLeft(u); limit > 0 {
			res.Wake = earlier(res.Wake, limit)
		}
	case end.Phase != v1alpha1.OperationSucceeded:
		r.kept.underway = nil
		r.conclude(state, end.Phase, d.Retries(), &res)
	case trouble != nil:
		r.kept.underway = nil
		state.Message = trouble.Error()
		r.conclude(state, v1alpha1.OperationError, d.Operation.Retry, &res)
	default:
		r.kept.underway = nil
		r.conclude(state, v1alpha1.OperationSucceeded, d.Operation.Retry, &res)
		res.Changes = r.changesMade()
	}
	res.Operation = state
	return res
}

// changesMade asks the sources who made what was deployed. History is poorer without it, and that is all.
func (r *run) changesMade() []source.Change {
	var out []source.Change
	for _, f := range r.fetched {
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

// Bounds of what a status says in the words of others: of one message, and of all messages of one list.
const (
	maxWords = 4 << 10
	maxTold  = 256 << 10
)

// clip bounds a message. API servers and webhooks repeat values that can be as long as an object.
func clip(text string) string { return object.Middle(text, maxWords) }

// terse is a message of a list, of which told bytes were said before; "" where it would be too much.
func terse(text string, told *int) string {
	text = clip(text)
	if *told += len(text); *told > maxTold {
		return ""
	}
	return text
}

// managed is what an operation has given the namespace, as its result tells it.
func (r *run) managed(d decide.Decision) *v1alpha1.ManagedNamespaceMetadata {
	switch {
	case d.DryRun: // it has given nothing
		return r.managedBefore()
	case !r.managesNamespace():
		return nil
	}
	return r.app.Spec.SyncPolicy.ManagedNamespaceMetadata
}

// unsynced is the result where no operation runs: there is nothing to do, or what was asked for is refused.
func (r *run) unsynced(d decide.Decision) Result {
	res := r.result(d)
	if decide.MetadataMoved(r.app) {
		res.Sync = v1alpha1.SyncStatusOutOfSync
	}
	if d.Held != "" {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionHeld, Message: d.Held})
		if r.operation() != nil {
			res.Operation = r.held(d, d.Held)
		}
	}
	if d.Waits != "" {
		res.Operation = r.held(d, d.Waits)
	}
	if d.Refused == "" {
		if res.Operation == nil {
			res.Operation = r.abandoned(d)
		}
		return res
	}
	state := r.operationState(d, nil)
	state.Message = d.Refused
	phase, tried := d.Refusal()
	if !tried {
		state.SyncResult = &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: state.SyncResult.ManagedNamespaceMetadata}
	}
	retry := v1alpha1.RetryStrategy{}
	if d.Invalid() { // others may put that right
		retry, state.SyncResult.Resources = d.Operation.Retry, r.barredResults(d.Operation.Sync)
	} else {
		r.req.Retries = 0
	}
	r.conclude(state, phase, retry, &res)
	res.Operation = state
	return res
}

// held is the state of an operation that waits for a person or for a sync window. Before it has begun it names no revisions,
// so that what is put right in Git until then counts.
func (r *run) held(d decide.Decision, why string) *v1alpha1.OperationState {
	last := r.app.Status.OperationState
	if d.Going && d.Waits != "" {
		state := last.DeepCopy()
		state.Message = why
		return state
	}
	state := r.operationState(d, nil)
	if decide.Begun(last) && decide.SameOperation(last.Operation, d.Operation) {
		state.StartedAt = last.StartedAt
	}
	state.Phase, state.Message, state.SyncResult = v1alpha1.OperationRunning, why, &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: r.managedBefore()}
	return state
}

// abandoned ends an operation that nobody goes on with: its revision is not the present one any more and nothing else
// begins, or automated sync was turned off before its next attempt. It returns nil where there is none.
func (r *run) abandoned(d decide.Decision) *v1alpha1.OperationState {
	last := r.app.Status.OperationState
	if last == nil || last.Phase.Completed() || r.operation() != nil || d.Retry > 0 {
		return nil
	}
	why := "the sources have moved on"
	if r.inputs().Same(last) {
		if decide.Automated(r.app) != nil || d.Condition != nil {
			return nil
		}
		why = "automated sync is off"
	}
	now := metav1.NewTime(r.engine.Now())
	state := last.DeepCopy()
	state.Phase, state.FinishedAt, state.Message = v1alpha1.OperationFailed, &now, strings.TrimPrefix(last.Message+": given up, since "+why, ": ")
	r.kept.underway = nil
	return state
}

// forgetPruned leaves objects out of the result that were deleted just now: the watch has not said so yet.
func (r *run) forgetPruned() {
	if len(r.pruned) > 0 {
		r.states = slices.DeleteFunc(r.states, func(s state) bool { return s.prune && r.pruned[s.key] })
	}
}

func (r *run) operationState(d decide.Decision, u *underway) *v1alpha1.OperationState {
	o := &v1alpha1.OperationState{
		Operation: d.Operation, StartedAt: metav1.NewTime(r.started), RetryCount: r.req.Retries,
		SyncResult: &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: r.managedBefore()},
	}
	if last := r.app.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning && (r.req.Retries > 0 || d.Going) {
		o.StartedAt = last.StartedAt
	}
	if u != nil {
		o.StartedAt = metav1.NewTime(u.started)
	}
	if r.app.Spec.MultipleSources() {
		o.SyncResult.Sources, o.SyncResult.Revisions = r.sources, r.revisions
	} else if len(r.sources) == 1 {
		o.SyncResult.Source = r.sources[0]
		if len(r.revisions) == 1 {
			o.SyncResult.Revision = r.revisions[0]
		}
	}
	return o
}

// cause names the first object that was refused, where the message of an operation names none: whoever sees the message
// alone knows where to begin.
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
func (r *run) conclude(o *v1alpha1.OperationState, phase v1alpha1.OperationPhase, retry v1alpha1.RetryStrategy, res *Result) {
	now := metav1.NewTime(r.engine.Now())
	if ahead := o.StartedAt.Sub(now.Time); ahead > 0 && ahead <= LongestAhead {
		now = o.StartedAt
	}
	if phase != v1alpha1.OperationSucceeded {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: o.Message + decide.Causes(o)})
		o.Message += cause(o)
		if retry.Limit < 0 || r.req.Retries < retry.Limit {
			o.RetryCount = r.req.Retries + 1
			res.Retry = decide.RetryDelay(retry, o.RetryCount)
			o.Phase, o.FinishedAt = v1alpha1.OperationRunning, &now // running and finished: it waits for its next attempt
			o.Message += fmt.Sprintf(". Retrying attempt #%d at %s.", o.RetryCount, now.Add(res.Retry).UTC().Format("15:04:05"))
			return
		}
	}
	o.Phase, o.FinishedAt = phase, &now
	if op := o.Operation.Sync; op != nil && len(op.Manifests) > 0 { // they may be large, and are nobody's business later
		short := *op
		short.Manifests = []string{"left out"}
		o.Operation.Sync = &short
	}
}
