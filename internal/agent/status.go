package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
)

// nextStatus makes the status of an Application from what it was and what a reconciliation found. It changes nothing
// that did not change: times move only with what they are about.
func nextStatus(app *v1alpha1.Application, res engine.Result, now time.Time, namespace string) v1alpha1.ApplicationStatus {
	old := app.Status
	next := old
	at := metav1.NewTime(now)
	next.Sync.Status = res.Sync
	multiple := app.Spec.MultipleSources()
	if len(res.Revisions) > 0 {
		next.Sync.Revision, next.Sync.Revisions = "", nil
		if multiple {
			next.Sync.Revisions = res.Revisions
		} else {
			next.Sync.Revision = res.Revisions[0]
		}
	}
	next.Sync.ComparedTo = v1alpha1.ComparedTo{Destination: app.Spec.Destination, IgnoreDifferences: app.Spec.IgnoreDifferences}
	if multiple {
		next.Sync.ComparedTo.Sources = res.Sources
	} else if len(res.Sources) > 0 {
		next.Sync.ComparedTo.Source = res.Sources[0]
	}
	health := v1alpha1.HealthStatusCode(res.Health.Status)
	if health != old.Health.Status || old.Health.LastTransitionTime == nil {
		next.Health = v1alpha1.HealthStatus{Status: health, Message: res.Health.Message, LastTransitionTime: &at}
	}
	next.Health.Message = res.Health.Message
	next.Resources = res.Resources
	next.Summary.Images = res.Images
	next.Summary.IsAppOfApps = slices.ContainsFunc(res.Resources, func(r v1alpha1.ResourceStatus) bool {
		return r.Group == v1alpha1.Group && r.Kind == v1alpha1.KindApplication
	})
	next.SourceType, next.SourceTypes = sourceTypes(res.Tools, multiple)
	next.Conditions = nextConditions(old.Conditions, res.Conditions, at)
	next.ControllerNamespace = namespace
	if res.Operation != nil {
		next.OperationState = res.Operation
		if res.Operation.Phase == v1alpha1.OperationSucceeded {
			next.History = nextHistory(app, res.Operation)
		}
	}
	return next
}

func sourceTypes(tools []string, multiple bool) (v1alpha1.SourceType, []v1alpha1.SourceType) {
	if !multiple {
		if len(tools) == 0 {
			return "", nil
		}
		return v1alpha1.SourceType(tools[0]), nil
	}
	out := make([]v1alpha1.SourceType, 0, len(tools))
	for _, t := range tools {
		out = append(out, v1alpha1.SourceType(t))
	}
	return "", out
}

// nextConditions gives conditions their times: one that was there keeps its own.
func nextConditions(old, fresh []v1alpha1.ApplicationCondition, now metav1.Time) []v1alpha1.ApplicationCondition {
	out := make([]v1alpha1.ApplicationCondition, 0, len(fresh))
	for _, c := range fresh {
		c.LastTransitionTime = &now
		for _, o := range old {
			if o.Type == c.Type && o.Message == c.Message {
				c.LastTransitionTime = o.LastTransitionTime
			}
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// nextHistory adds what was deployed, unless it is what was deployed last: putting drift back is not a deployment.
func nextHistory(app *v1alpha1.Application, op *v1alpha1.OperationState) []v1alpha1.RevisionHistory {
	history := app.Status.History
	if op.Operation.Sync == nil || op.Operation.Sync.DryRun || len(op.Operation.Sync.Resources) > 0 {
		return history
	}
	started := op.StartedAt
	item := v1alpha1.RevisionHistory{
		Revision: op.SyncResult.Revision, Revisions: op.SyncResult.Revisions, Source: op.SyncResult.Source,
		Sources: op.SyncResult.Sources, DeployStartedAt: &started, InitiatedBy: op.Operation.InitiatedBy,
	}
	if op.FinishedAt != nil {
		item.DeployedAt = *op.FinishedAt
	}
	if n := len(history); n > 0 {
		last := history[n-1]
		item.ID = last.ID + 1
		if last.Revision == item.Revision && slices.Equal(last.Revisions, item.Revisions) &&
			sameJSON(last.Source, item.Source) && sameJSON(last.Sources, item.Sources) {
			return history
		}
	}
	limit := int64(v1alpha1.DefaultRevisionHistoryLimit)
	if app.Spec.RevisionHistoryLimit != nil {
		limit = max(0, *app.Spec.RevisionHistoryLimit)
	}
	out := append(slices.Clone(history), item)
	return out[max(0, len(out)-int(limit)):]
}

// statusPatch returns the JSON merge patch that makes an Application's status what next says, clears the refresh
// annotation and a finished operation; nil when there is nothing to write.
func statusPatch(app *v1alpha1.Application, next v1alpha1.ApplicationStatus, now time.Time) ([]byte, error) {
	old, err := json.Marshal(app.Status)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	fresh, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	patch := map[string]any{}
	if !bytes.Equal(old, fresh) {
		diff, err := jsonpatch.CreateMergePatch(old, fresh)
		if err != nil {
			return nil, fmt.Errorf("compare statuses: %w", err)
		}
		patch["status"] = json.RawMessage(diff)
	}
	if app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		patch["metadata"] = map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: nil}}
	}
	if app.Operation != nil && next.OperationState != nil && next.OperationState.Phase.Completed() {
		patch["operation"] = nil
	}
	if len(patch) == 0 {
		return nil, nil
	}
	stamp, err := json.Marshal(map[string]any{"status": map[string]any{"reconciledAt": metav1.NewTime(now)}})
	if err != nil {
		return nil, fmt.Errorf("encode time: %w", err)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("encode patch: %w", err)
	}
	return jsonpatch.MergeMergePatches(raw, stamp)
}

// progressPatch is statusPatch for an operation under way: what was asked for is not taken off yet.
func progressPatch(app *v1alpha1.Application, next v1alpha1.ApplicationStatus) ([]byte, error) {
	old, err := json.Marshal(map[string]any{"status": app.Status})
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	fresh, err := json.Marshal(map[string]any{"status": next})
	if err != nil || bytes.Equal(old, fresh) {
		return nil, err
	}
	return jsonpatch.CreateMergePatch(old, fresh)
}
