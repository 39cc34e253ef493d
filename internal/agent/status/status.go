// Package status makes the status of an Application from what it was and what a turn found, and the patch that writes it. Pure.
package status

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
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Next makes the status of an Application from what it was and what a reconciliation found. It changes nothing
// that did not change: times move only with what they are about.
func Next(app *v1alpha1.Application, res engine.Result, now time.Time, namespace string) v1alpha1.ApplicationStatus {
	old := app.Status
	next := old
	at := metav1.NewTime(now)
	next.Sync = nextSync(app, res)
	health := v1alpha1.HealthStatusCode(res.Health.Status)
	if health != old.Health.Status || old.Health.LastTransitionTime == nil {
		next.Health = v1alpha1.HealthStatus{Status: health, Message: res.Health.Message, LastTransitionTime: &at}
	}
	next.Health.Message = res.Health.Message
	next.Resources = res.Resources
	next.Summary.Images, next.Summary.ExternalURLs = res.Images, Links(app, res.Links)
	next.Summary.IsAppOfApps = slices.ContainsFunc(res.Resources, func(r v1alpha1.ResourceStatus) bool {
		return r.Group == v1alpha1.Group && r.Kind == v1alpha1.KindApplication
	})
	next.SourceType, next.SourceTypes = sourceTypes(res.Tools, app.Spec.MultipleSources())
	next.Conditions = Conditions(old.Conditions, append(slices.Clip(res.Conditions), stillHeld(app, res)...), at)
	next.ControllerNamespace = namespace
	if res.Operation != nil {
		next.OperationState = res.Operation
		if res.Operation.Phase == v1alpha1.OperationSucceeded {
			next.History = History(app, res.Operation)
		}
	}
	return next
}

// PolicyWaits reports whether a requested operation is over and the sync policy has not decided yet about the remaining
// differences: a turn decides about a requested operation or by the policy, not both. After a dry run the policy has something to
// decide only where it held a sync before.
func PolicyWaits(app *v1alpha1.Application, res engine.Result) bool {
	op := res.Operation
	if app.Operation == nil || op == nil || !op.Phase.Completed() || res.Sync == v1alpha1.SyncStatusSynced ||
		!app.Spec.SyncPolicy.AutomatedEnabled() {
		return false
	}
	tried := op.Operation.Sync != nil && op.Operation.Sync.DryRun
	return !tried || slices.ContainsFunc(app.Status.Conditions, isHeld)
}

// stillHeld is the Held condition of the previous status. It stays until the next turn decides by the policy: the end of another
// operation, such as a dry run, does not end it.
func stillHeld(app *v1alpha1.Application, res engine.Result) []v1alpha1.ApplicationCondition {
	if !PolicyWaits(app, res) || slices.ContainsFunc(res.Conditions, isHeld) {
		return nil
	}
	var out []v1alpha1.ApplicationCondition
	for _, c := range app.Status.Conditions {
		if isHeld(c) {
			out = append(out, c)
		}
	}
	return out
}

func isHeld(c v1alpha1.ApplicationCondition) bool { return c.Type == v1alpha1.ConditionHeld }

// Links are the addresses of an Application: those of its objects, and those of its own annotations. They are sorted.
func Links(app *v1alpha1.Application, links []string) []string {
	out := slices.Clone(links)
	for name, value := range app.Annotations {
		if live.IsLink(name, value) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nextSync returns how live objects compare with Git. A deployment of something else leaves what is known of
// Git as it is, and the next comparison provides the rest: a reader of the status in between must not take what was
// deployed for what is in Git.
func nextSync(app *v1alpha1.Application, res engine.Result) v1alpha1.SyncStatus {
	old := app.Status.Sync
	if deployedOther(app, res) {
		if sync := res.Operation.Operation.Sync; sync == nil || !sync.DryRun {
			old.Status = v1alpha1.SyncStatusOutOfSync
		}
		return old
	}
	next := old
	next.Status = res.Sync
	multiple := app.Spec.MultipleSources()
	if len(res.Revisions) > 0 {
		next.Revision, next.Revisions = "", nil
		if multiple {
			next.Revisions = res.Revisions
		} else {
			next.Revision = res.Revisions[0]
		}
	}
	next.ComparedTo = v1alpha1.ComparedTo{Destination: app.Spec.Destination, IgnoreDifferences: app.Spec.IgnoreDifferences}
	if multiple {
		next.ComparedTo.Sources = res.Sources
	} else if len(res.Sources) > 0 {
		next.ComparedTo.Source = res.Sources[0]
	}
	return next
}

// deployedOther reports whether a requested operation deployed other revisions than those that are known to be in Git, or
// that a rollback stands for.
func deployedOther(app *v1alpha1.Application, res engine.Result) bool {
	known := app.Status.Sync.Revisions
	if len(known) == 0 && app.Status.Sync.Revision != "" {
		known = []string{app.Status.Sync.Revision}
	}
	op := res.Operation
	if op == nil || op.Operation.InitiatedBy.Automated || !decide.Overrides(op.Operation.Sync) || len(known) == 0 ||
		slices.Equal(known, res.Revisions) {
		return false
	}
	pin, err := mark.ReadPin(app)
	return err != nil || pin == nil || !slices.Equal(pin.Revisions, res.Revisions)
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

// Conditions gives conditions their times: one that was there keeps its own.
func Conditions(old, fresh []v1alpha1.ApplicationCondition, now metav1.Time) []v1alpha1.ApplicationCondition {
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

// History adds what was deployed, unless it is what was deployed last: putting drift back is not a deployment.
func History(app *v1alpha1.Application, op *v1alpha1.OperationState) []v1alpha1.RevisionHistory {
	history := app.Status.History
	if sync := op.Operation.Sync; sync == nil || sync.DryRun || len(sync.Resources) > 0 || len(sync.Manifests) > 0 {
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
			SameJSON(last.Source, item.Source) && SameJSON(last.Sources, item.Sources) {
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

// Patch returns the JSON merge patch that makes an Application's status what next says, clears the refresh
// annotation and a finished operation; nil when there is nothing to write.
func Patch(app *v1alpha1.Application, next v1alpha1.ApplicationStatus, now time.Time) ([]byte, error) {
	status, err := statusDiff(app.Status, next)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	if app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		patch["metadata"] = map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: nil}}
	}
	if app.Operation != nil && next.OperationState != nil && next.OperationState.Phase.Completed() {
		patch["operation"] = nil
	}
	if len(patch) == 0 && len(status) == 0 {
		return nil, nil
	}
	if status["reconciledAt"], err = json.Marshal(metav1.NewTime(reconciled(next.OperationState, now))); err != nil {
		return nil, fmt.Errorf("encode time: %w", err)
	}
	patch["status"] = status
	onlyThis(app, patch)
	raw, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("encode patch: %w", err)
	}
	return raw, nil
}

// reconciled is when the objects were compared, for a status that is written now. Of operations that begin within one second the
// later one has a start and an end ahead of the clock. A status with that end was compared after it, so its time is no earlier:
// otherwise readers would wait for another comparison, which nothing starts.
func reconciled(op *v1alpha1.OperationState, now time.Time) time.Time {
	if op == nil || op.FinishedAt == nil {
		return now
	}
	if ahead := op.FinishedAt.Sub(now); ahead > 0 && ahead <= engine.LongestAhead {
		return op.FinishedAt.Time
	}
	return now
}

// statusDiff returns the fields of a status that change, as a merge patch has them. Lists are replaced whole, so the
// largest part of a status is compared as text and never decoded.
func statusDiff(old, next v1alpha1.ApplicationStatus) (map[string]json.RawMessage, error) {
	was, err := statusFields(old)
	if err != nil {
		return nil, err
	}
	is, err := statusFields(next)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	for name := range was {
		if _, stays := is[name]; !stays {
			out[name] = json.RawMessage("null")
		}
	}
	for name, fresh := range is {
		have, there := was[name]
		switch {
		case there && bytes.Equal(have, fresh):
		case there && have[0] == '{' && fresh[0] == '{':
			if out[name], err = jsonpatch.CreateMergePatch(have, fresh); err != nil {
				return nil, fmt.Errorf("compare statuses: %w", err)
			}
		default:
			out[name] = fresh
		}
	}
	return out, nil
}

func statusFields(status v1alpha1.ApplicationStatus) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	var fields map[string]json.RawMessage
	if err := strict.Decode(text, &fields, strict.Foreign); err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	return fields, nil
}

// Progress returns the JSON merge patch that says how far an operation under way is, and nothing else; nil when that
// is known.
func Progress(app *v1alpha1.Application, now *v1alpha1.OperationState) ([]byte, error) {
	old, err := json.Marshal(app.Status.OperationState)
	if err != nil {
		return nil, fmt.Errorf("encode operation: %w", err)
	}
	fresh, err := json.Marshal(now)
	if err != nil || bytes.Equal(old, fresh) {
		return nil, err
	}
	patch := fresh
	if app.Status.OperationState != nil {
		if patch, err = jsonpatch.CreateMergePatch(old, fresh); err != nil {
			return nil, fmt.Errorf("compare operations: %w", err)
		}
	}
	whole := map[string]any{"status": map[string]any{"operationState": json.RawMessage(patch)}}
	onlyThis(app, whole)
	return json.Marshal(whole)
}

// onlyThis has a patch refused where the Application was deleted and made again by the same name: that has not done what this
// one has.
func onlyThis(app *v1alpha1.Application, patch map[string]any) {
	if app.UID == "" {
		return
	}
	meta, _ := patch["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		patch["metadata"] = meta
	}
	meta["uid"] = app.UID
}

// Terminating reports whether the end of a running operation was requested.
func Terminating(app *v1alpha1.Application) bool {
	o := app.Status.OperationState
	return o != nil && o.Phase == v1alpha1.OperationTerminating
}

// SameJSON reports whether two values are the same as JSON.
func SameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// UnderWay reports whether an operation has begun and is neither over nor waiting for its next attempt.
func UnderWay(o *v1alpha1.OperationState) bool {
	return o != nil && o.Phase == v1alpha1.OperationRunning && o.FinishedAt == nil
}

// ComparedRevision is the revision of a source that was compared last; "" for none.
func ComparedRevision(app *v1alpha1.Application, source int) string {
	revisions := app.Status.Sync.Revisions
	if len(revisions) == 0 {
		revisions = []string{app.Status.Sync.Revision}
	}
	if source < len(revisions) {
		return revisions[source]
	}
	return ""
}

// Cascade returns the finalizer by which deleting an Application deletes its objects.
func Cascade(app *v1alpha1.Application) (finalizer string, background bool) {
	for _, f := range app.Finalizers {
		switch f {
		case v1alpha1.FinalizerResources, v1alpha1.FinalizerResourcesForeground:
			return f, false
		case v1alpha1.FinalizerResourcesBackground:
			return f, true
		}
	}
	return "", false
}
