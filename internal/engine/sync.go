package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// apply carries the plan out.
func (r *run) apply(ctx context.Context, p plan.Plan, d Decision) []apply.Outcome {
	defer r.lap(StageApply)
	p = r.selected(p, d)
	if p.Empty() {
		return nil
	}
	if err := r.content(ctx); err != nil {
		return []apply.Outcome{{Err: err, Message: err.Error()}}
	}
	if err := r.createNamespace(ctx, d); err != nil {
		key := object.Key{Kind: "Namespace", Name: r.app.Spec.Destination.Namespace}
		return []apply.Outcome{{
			Change: diff.Change{Key: key, Version: "v1", Verb: diff.Create}, Err: err, Message: apply.Explain(key, err),
		}}
	}
	return r.target.Run(ctx, p, apply.Options{
		DryRun:      d.DryRun,
		Propagation: propagation(r.options(d)),
		Manifest:    func(k object.Key) (object.Manifest, bool) { m, ok := r.manifests[k]; return m, ok },
		Progress:    r.progress(p, d),
	})
}

// progress tells whoever asked for it how far the operation is.
func (r *run) progress(p plan.Plan, d Decision) func(done, total int) {
	if r.req.Operating == nil {
		return nil
	}
	return func(done, total int) {
		state := r.operationState(d)
		state.Phase = v1alpha1.OperationRunning
		state.Message = fmt.Sprintf("%d of %d objects done (%s)", done, total, p.Counts)
		r.req.Operating(*state)
	}
}

// selected keeps the part of a plan that the operation is about, when it names objects.
func (r *run) selected(p plan.Plan, d Decision) plan.Plan {
	op := d.Operation.Sync
	if op == nil || len(op.Resources) == 0 {
		return p
	}
	var kept []diff.Change
	for _, c := range r.changes {
		if slices.ContainsFunc(op.Resources, func(s v1alpha1.SyncOperationResource) bool {
			return s.Group == c.Key.Group && s.Kind == c.Key.Kind && s.Name == c.Key.Name &&
				(s.Namespace == "" || s.Namespace == c.Key.Namespace)
		}) {
			kept = append(kept, c)
		}
	}
	return plan.Build(kept, d.Prune)
}

// options returns the sync options of an operation, those of the Application where it has none.
func (r *run) options(d Decision) []string {
	if d.Operation.Sync != nil && len(d.Operation.Sync.SyncOptions) > 0 {
		return d.Operation.Sync.SyncOptions
	}
	if r.app.Spec.SyncPolicy != nil {
		return r.app.Spec.SyncPolicy.SyncOptions
	}
	return nil
}

func propagation(options []string) metav1.DeletionPropagation {
	for _, o := range options {
		switch o {
		case "PrunePropagationPolicy=background":
			return metav1.DeletePropagationBackground
		case "PrunePropagationPolicy=orphan":
			return metav1.DeletePropagationOrphan
		case "PrunePropagationPolicy=foreground":
			return metav1.DeletePropagationForeground
		}
	}
	return ""
}

// createNamespace makes the destination namespace where the sync options ask for it. It is not tracked: deleting the
// Application leaves it.
func (r *run) createNamespace(ctx context.Context, d Decision) error {
	name := r.app.Spec.Destination.Namespace
	if name == "" || d.DryRun || !slices.Contains(r.options(d), "CreateNamespace=true") {
		return nil
	}
	key := object.Key{Kind: "Namespace", Name: name}
	if _, ours := r.manifests[key]; ours {
		return nil
	}
	meta := map[string]any{"name": name}
	policy := r.app.Spec.SyncPolicy
	managed := policy != nil && policy.ManagedNamespaceMetadata != nil
	if managed {
		meta["labels"] = stringMap(policy.ManagedNamespaceMetadata.Labels)
		meta["annotations"] = stringMap(policy.ManagedNamespaceMetadata.Annotations)
	}
	res, err := r.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil {
		return err
	}
	m, err := object.NewManifest(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
	if err != nil {
		return err
	}
	if err := r.permits(key); err != nil {
		if _, missing := r.target.Client.Get(ctx, res, key); missing == nil && !managed {
			return nil // it is there, and nothing is asked of it
		}
		return err
	}
	return r.target.Client.Ensure(ctx, res, m)
}

func stringMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// synced is the result after an operation: what it did, and what is true now.
func (r *run) synced(ctx context.Context, d Decision, outcomes []apply.Outcome) Result {
	state := r.operationState(d)
	var failed []string
	for _, o := range outcomes {
		out := v1alpha1.ResourceResult{
			Group: o.Change.Key.Group, Version: o.Change.Version, Kind: o.Change.Key.Kind, Namespace: o.Change.Key.Namespace,
			Name: o.Change.Key.Name, Message: o.Message, SyncPhase: v1alpha1.PhaseSync, Status: v1alpha1.ResultSynced,
		}
		switch {
		case o.Err != nil:
			out.Status = v1alpha1.ResultSyncFailed
			failed = append(failed, o.Message)
		case o.Change.Verb == diff.Delete:
			out.Status = v1alpha1.ResultPruned
		}
		state.SyncResult.Resources = append(state.SyncResult.Resources, out)
	}
	if err := r.compare(ctx); err != nil {
		failed = append(failed, err.Error())
	}
	if !d.DryRun {
		r.forgetPruned(outcomes)
	}
	res := r.result(Decision{})
	switch {
	case ctx.Err() != nil:
		state.Message = "the agent was stopped during the operation: it goes on after the start"
		state.Phase = v1alpha1.OperationRunning
	case len(failed) > 0:
		state.Message = fmt.Sprintf("%d of %d objects could not be synced: %s", len(failed), len(outcomes), strings.Join(failed[:min(len(failed), 5)], "; "))
		r.conclude(state, v1alpha1.OperationFailed, d.Operation.Retry, &res)
	default:
		state.Message = "successfully synced (all tasks run)"
		if d.DryRun {
			state.Message = "dry run: nothing was changed"
		}
		r.conclude(state, v1alpha1.OperationSucceeded, d.Operation.Retry, &res)
	}
	res.Operation = state
	return res
}

// unsynced is the result where no operation runs: there is nothing to do, or what was asked for is refused.
func (r *run) unsynced(d Decision) Result {
	res := r.result(d)
	if d.Refused == "" {
		return res
	}
	state := r.operationState(d)
	state.Message = d.Refused
	r.req.Retries = 0
	r.conclude(state, v1alpha1.OperationError, v1alpha1.RetryStrategy{}, &res)
	res.Operation = state
	return res
}

// forgetPruned leaves objects out of the result that were deleted just now: the watch has not said so yet.
func (r *run) forgetPruned(outcomes []apply.Outcome) {
	gone := map[object.Key]bool{}
	for _, o := range outcomes {
		if o.Err == nil && o.Change.Verb == diff.Delete {
			gone[o.Change.Key] = true
		}
	}
	if len(gone) > 0 {
		r.states = slices.DeleteFunc(r.states, func(s state) bool { return s.prune && gone[s.key] })
	}
}

func (r *run) operationState(d Decision) *v1alpha1.OperationState {
	o := &v1alpha1.OperationState{
		Operation: d.Operation, StartedAt: metav1.NewTime(r.started), RetryCount: r.req.Retries,
		SyncResult: &v1alpha1.SyncOperationResult{},
	}
	if last := r.app.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning && r.req.Retries > 0 {
		o.StartedAt = last.StartedAt
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

// conclude ends an operation, or puts its next attempt off when it failed and may be tried again.
func (r *run) conclude(o *v1alpha1.OperationState, phase v1alpha1.OperationPhase, retry v1alpha1.RetryStrategy, res *Result) {
	now := metav1.NewTime(r.engine.Now())
	if phase != v1alpha1.OperationSucceeded {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: o.Message})
		if retry.Limit < 0 || r.req.Retries < retry.Limit {
			o.RetryCount = r.req.Retries + 1
			res.Retry = RetryDelay(retry, o.RetryCount)
			o.Phase = v1alpha1.OperationRunning
			o.Message += fmt.Sprintf(". Retrying attempt #%d at %s.", o.RetryCount, now.Add(res.Retry).UTC().Format("15:04:05"))
			return
		}
	}
	o.Phase, o.FinishedAt = phase, &now
}
