package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// sync carries an operation out.
func (a *argoCD) sync(ctx context.Context, app *v1alpha1.Application) error {
	op := app.Status.OperationState.Operation.Sync
	source := app.Spec.Source
	if op.Source != nil {
		source = op.Source
	}
	revision, objects, err := a.render(source, op.Revision)
	if err != nil {
		return a.end(ctx, app, v1alpha1.OperationError, err.Error(), nil)
	}
	result := &v1alpha1.SyncOperationResult{Revision: revision, Source: *source}
	for _, obj := range objects {
		if chosen(op, app, obj) {
			result.Resources = append(result.Resources, a.deploy(ctx, app, obj, op.DryRun))
		}
	}
	extra, err := a.extra(ctx, app, objects)
	if err != nil {
		return err
	}
	for _, obj := range extra {
		if chosen(op, app, obj) {
			result.Resources = append(result.Resources, a.prune(ctx, obj, op))
		}
	}
	if slices.ContainsFunc(result.Resources, func(r v1alpha1.ResourceResult) bool { return r.Status == v1alpha1.ResultSyncFailed }) {
		return a.end(ctx, app, v1alpha1.OperationFailed, "one or more objects failed to apply", result)
	}
	if !op.DryRun && len(op.Resources) == 0 {
		if err := a.remember(ctx, app, result); err != nil {
			return err
		}
	}
	return a.end(ctx, app, v1alpha1.OperationSucceeded, "successfully synced (all tasks run)", result)
}

// chosen reports whether an operation is about an object, which has the namespace of the destination where it names none.
func chosen(op *v1alpha1.SyncOperation, app *v1alpha1.Application, obj *unstructured.Unstructured) bool {
	ns := cmp.Or(obj.GetNamespace(), app.Spec.Destination.Namespace)
	return len(op.Resources) == 0 || slices.ContainsFunc(op.Resources, func(r v1alpha1.SyncOperationResource) bool {
		return r.Group == obj.GroupVersionKind().Group && r.Kind == obj.GetKind() && r.Name == obj.GetName() &&
			(r.Namespace == "" || r.Namespace == ns)
	})
}

// render reads the manifests of a revision, and gives them what Argo CD gives them.
func (a *argoCD) render(source *v1alpha1.ApplicationSource, revision string) (string, []*unstructured.Unstructured, error) {
	var repo *repository
	for _, r := range a.s.repos {
		if r.url == source.RepoURL {
			repo = r
		}
	}
	if repo == nil {
		return "", nil, fmt.Errorf("repository %s not found", source.RepoURL)
	}
	if revision == "" {
		revision = source.TargetRevision
	}
	if revision == "" || revision == "HEAD" {
		revision = "main"
	}
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", repo.Dir()}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", revision+"^{commit}")
	if err != nil {
		return "", nil, fmt.Errorf("unable to resolve %q to a commit SHA", revision)
	}
	files, err := git("ls-tree", "--name-only", commit, source.Path+"/")
	if err != nil {
		return "", nil, fmt.Errorf("list %s at %s: %w", source.Path, commit, err)
	}
	var out []*unstructured.Unstructured
	for _, file := range strings.Fields(files) {
		text, err := git("show", commit+":"+file)
		if err != nil {
			return "", nil, fmt.Errorf("read %s at %s: %w", file, commit, err)
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewBufferString(text), 4096)
		for {
			obj := &unstructured.Unstructured{}
			if err := decoder.Decode(&obj.Object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return "", nil, err
			}
			if len(obj.Object) > 0 {
				out = append(out, obj)
			}
		}
	}
	return commit, out, nil
}

// place gives an object the namespace and the mark that Argo CD would.
func (a *argoCD) place(app *v1alpha1.Application, obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	if obj.GetNamespace() == "" {
		obj.SetNamespace(app.Spec.Destination.Namespace)
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.AnnotationTrackingID] = fmt.Sprintf("%s:%s/%s:%s/%s", app.Name, obj.GroupVersionKind().Group, obj.GetKind(), obj.GetNamespace(), obj.GetName())
	obj.SetAnnotations(annotations)
	return obj
}

func resultOf(obj *unstructured.Unstructured, status v1alpha1.ResultCode, message string) v1alpha1.ResourceResult {
	gvk := obj.GroupVersionKind()
	return v1alpha1.ResourceResult{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
		Status: status, Message: message, SyncPhase: v1alpha1.PhaseSync,
	}
}

func dryRun(dry bool) []string {
	if dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// deploy applies an object.
func (a *argoCD) deploy(ctx context.Context, app *v1alpha1.Application, obj *unstructured.Unstructured, dry bool) v1alpha1.ResourceResult {
	obj = a.place(app, obj)
	in, err := a.s.placed(obj)
	var raw []byte
	if err == nil {
		raw, err = json.Marshal(obj.Object)
	}
	if err == nil {
		force := true
		_, err = in.Patch(ctx, obj.GetName(), types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: "argocd-controller", Force: &force, DryRun: dryRun(dry)})
	}
	if err != nil {
		return resultOf(obj, v1alpha1.ResultSyncFailed, err.Error())
	}
	return resultOf(obj, v1alpha1.ResultSynced, strings.ToLower(obj.GetKind())+"/"+obj.GetName()+" configured")
}

// prune deletes an object that is not wanted any more.
func (a *argoCD) prune(ctx context.Context, obj *unstructured.Unstructured, op *v1alpha1.SyncOperation) v1alpha1.ResourceResult {
	if !op.Prune {
		return resultOf(obj, v1alpha1.ResultPruneSkipped, "ignored (requires pruning)")
	}
	in, err := a.s.placed(obj)
	if err == nil {
		err = in.Delete(ctx, obj.GetName(), metav1.DeleteOptions{DryRun: dryRun(op.DryRun)})
	}
	if err != nil {
		return resultOf(obj, v1alpha1.ResultSyncFailed, err.Error())
	}
	return resultOf(obj, v1alpha1.ResultPruned, "pruned")
}

// remember adds a deployment to the history; Argo CD does so before it writes the end of the operation.
func (a *argoCD) remember(ctx context.Context, app *v1alpha1.Application, result *v1alpha1.SyncOperationResult) error {
	history := app.Status.History
	id := int64(0)
	if len(history) > 0 {
		id = history[len(history)-1].ID + 1
	}
	started := app.Status.OperationState.StartedAt
	app.Status.History = append(history, v1alpha1.RevisionHistory{
		ID: id, Revision: result.Revision, Source: result.Source, DeployedAt: metav1.Now(), DeployStartedAt: &started,
		InitiatedBy: app.Status.OperationState.Operation.InitiatedBy,
	})
	return a.patch(ctx, app, map[string]any{"status": map[string]any{"history": app.Status.History}})
}

// live reads an object as it is; nil where it is not there.
func (a *argoCD) live(ctx context.Context, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	in, err := a.s.placed(obj)
	if err != nil {
		return nil, err
	}
	got, err := in.Get(ctx, obj.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return got, err
}

// extra are the live objects that the Application had and Git has no more.
func (a *argoCD) extra(ctx context.Context, app *v1alpha1.Application, wanted []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, r := range app.Status.Resources {
		obj := &unstructured.Unstructured{}
		obj.SetAPIVersion(strings.TrimPrefix(r.Group+"/"+r.Version, "/"))
		obj.SetKind(r.Kind)
		obj.SetNamespace(r.Namespace)
		obj.SetName(r.Name)
		if slices.ContainsFunc(wanted, func(w *unstructured.Unstructured) bool { return w.GetKind() == r.Kind && w.GetName() == r.Name }) {
			continue
		}
		got, err := a.live(ctx, obj)
		if err != nil {
			return nil, err
		}
		if got != nil && strings.HasPrefix(got.GetAnnotations()[v1alpha1.AnnotationTrackingID], app.Name+":") {
			out = append(out, obj)
		}
	}
	return out, nil
}

// compare writes what differs, and how healthy it is; a refresh that was asked for is done then.
func (a *argoCD) compare(ctx context.Context, app *v1alpha1.Application) error {
	status := map[string]any{"reconciledAt": now(), "conditions": nil}
	patch := map[string]any{"status": status, "metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: nil}}}
	comparedTo := map[string]any{"source": app.Spec.Source, "destination": app.Spec.Destination}
	delete(a.stale, app.Name)
	revision, objects, err := a.render(app.Spec.Source, "")
	if err != nil {
		status["sync"] = map[string]any{"status": v1alpha1.SyncStatusUnknown, "comparedTo": comparedTo}
		status["conditions"] = []any{map[string]any{"type": v1alpha1.ConditionComparisonError, "message": err.Error()}}
		return a.patch(ctx, app, patch)
	}
	state, health := v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy
	var resources []v1alpha1.ResourceStatus
	for _, obj := range objects {
		r, err := a.look(ctx, a.place(app, obj))
		if err != nil {
			return err
		}
		resources = append(resources, r)
		if r.Status != v1alpha1.SyncStatusSynced {
			state = v1alpha1.SyncStatusOutOfSync
		}
		if r.Health != nil && r.Health.Status != v1alpha1.HealthHealthy {
			health = r.Health.Status
		}
	}
	extra, err := a.extra(ctx, app, objects)
	if err != nil {
		return err
	}
	for _, obj := range extra {
		gvk := obj.GroupVersionKind()
		resources = append(resources, v1alpha1.ResourceStatus{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
			Status: v1alpha1.SyncStatusOutOfSync, RequiresPruning: true,
		})
		state = v1alpha1.SyncStatusOutOfSync
	}
	status["sync"] = map[string]any{"status": state, "revision": revision, "comparedTo": comparedTo}
	status["resources"], status["sourceType"] = resources, v1alpha1.SourceTypeDirectory
	if app.Status.Health.Status != health {
		status["health"] = map[string]any{"status": health, "lastTransitionTime": now()}
	}
	a.automate(app, state, revision, patch)
	return a.patch(ctx, app, patch)
}

// automate asks for a sync where the policy does, once for each revision.
func (a *argoCD) automate(app *v1alpha1.Application, state v1alpha1.SyncStatusCode, revision string, patch map[string]any) {
	last := app.Status.OperationState
	if state != v1alpha1.SyncStatusOutOfSync || !app.Spec.SyncPolicy.AutomatedEnabled() || app.Operation != nil ||
		last != nil && last.SyncResult != nil && last.SyncResult.Revision == revision && last.Operation.Sync != nil && !last.Operation.Sync.DryRun {
		return
	}
	patch["operation"] = map[string]any{
		"sync": map[string]any{"revision": revision}, "initiatedBy": map[string]any{"automated": true},
	}
}

// look compares one object, by the fields that are wanted.
func (a *argoCD) look(ctx context.Context, want *unstructured.Unstructured) (v1alpha1.ResourceStatus, error) {
	gvk := want.GroupVersionKind()
	r := v1alpha1.ResourceStatus{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: want.GetNamespace(), Name: want.GetName(), Status: v1alpha1.SyncStatusSynced,
	}
	got, err := a.live(ctx, want)
	if err != nil {
		return r, err
	}
	if got == nil {
		r.Status, r.Health = v1alpha1.SyncStatusOutOfSync, &v1alpha1.HealthStatus{Status: v1alpha1.HealthMissing}
		return r, nil
	}
	if !within(want.Object, got.Object) {
		r.Status = v1alpha1.SyncStatusOutOfSync
	}
	if gvk.Kind == "Deployment" {
		r.Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthProgressing}
		ready, _, _ := unstructured.NestedInt64(got.Object, "status", "readyReplicas")
		wanted, _, _ := unstructured.NestedInt64(got.Object, "spec", "replicas")
		if seen, _, _ := unstructured.NestedInt64(got.Object, "status", "observedGeneration"); seen >= got.GetGeneration() && ready == wanted {
			r.Health.Status = v1alpha1.HealthHealthy
		}
	}
	return r, nil
}

// within reports whether all of want is in have.
func within(want, have any) bool {
	switch w := want.(type) {
	case map[string]any:
		h, _ := have.(map[string]any)
		for key, value := range w {
			if !within(value, h[key]) {
				return false
			}
		}
		return true
	case []any:
		h, _ := have.([]any)
		if len(h) != len(w) {
			return false
		}
		for i := range w {
			if !within(w[i], h[i]) {
				return false
			}
		}
		return true
	}
	return sameJSON(want, have)
}

// reviewHealth compares Applications again whose objects were on their way to be healthy.
func (a *argoCD) reviewHealth(ctx context.Context) {
	list, err := a.apps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		app, err := applicationOf(&list.Items[i])
		if err != nil || app.DeletionTimestamp != nil || app.Status.Health.Status != v1alpha1.HealthProgressing && app.Status.Health.Status != v1alpha1.HealthMissing {
			continue
		}
		for _, r := range app.Status.Resources {
			want := &unstructured.Unstructured{}
			want.SetAPIVersion(strings.TrimPrefix(r.Group+"/"+r.Version, "/"))
			want.SetKind(r.Kind)
			want.SetNamespace(r.Namespace)
			want.SetName(r.Name)
			now, err := a.look(ctx, want)
			if err == nil && !sameJSON(now.Health, r.Health) {
				_ = a.compare(ctx, app) // with the next tick, where somebody was faster
				break
			}
		}
	}
}

// remove deletes what an Application has that is to be deleted with it, and lets it go.
func (a *argoCD) remove(ctx context.Context, app *v1alpha1.Application) error {
	if !slices.Contains(app.Finalizers, v1alpha1.FinalizerResources) {
		return nil
	}
	all, err := a.extra(ctx, app, nil)
	if err != nil {
		return err
	}
	for _, obj := range all {
		in, err := a.s.placed(obj)
		if err == nil {
			err = in.Delete(ctx, obj.GetName(), metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	left := slices.DeleteFunc(slices.Clone(app.Finalizers), func(f string) bool { return f == v1alpha1.FinalizerResources })
	return a.patch(ctx, app, map[string]any{"metadata": map[string]any{"finalizers": left}})
}
