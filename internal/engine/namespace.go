package engine

import (
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func (r *run) namespaceKey() object.Key {
	return object.Key{Kind: "Namespace", Name: r.app.Spec.Destination.Namespace}
}

// makesNamespace reports whether an operation makes the destination namespace before all else.
func (r *run) makesNamespace(d decide.Decision) bool { return !d.DryRun && r.lacksNamespace(d) }

// lacksNamespace reports whether the destination namespace comes with an operation: the sync options ask for it, it is
// not among the Application's own objects, and this agent has not seen to it yet.
func (r *run) lacksNamespace(d decide.Decision) bool {
	key := r.namespaceKey()
	if key.Name == "" || !object.AppOptions(decide.OptionsOf(r.app, d.Operation.Sync)).Namespace.Is() {
		return false
	}
	if r.wants(key) {
		return false
	}
	m, err := r.namespaceManifest()
	return err == nil && (!r.target.Client.Ensured(m) || r.strayed)
}

// heedNamespace finds out whether the destination namespace has lost metadata that the Application gives it, and asks to hear
// of that. It costs one request, once, since the watch tells the rest.
func (r *run) heedNamespace(ctx context.Context) {
	key, policy := r.namespaceKey(), r.app.Spec.SyncPolicy
	if key.Name == "" || r.engine.Shadow || !r.managesNamespace() || !object.AppOptions(decide.OptionsOf(r.app, nil)).Namespace.Is() || r.wants(key) || r.permits(key) != nil {
		return
	}
	meta := policy.ManagedNamespaceMetadata
	r.strayed, _ = r.target.Live.Heed(key, r.instance, meta.Labels, meta.Annotations)
	res, err := r.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil || r.target.Live.Watch(ctx, res) != nil {
		return // an agent that may not watch namespaces does not see what others do to them
	}
	if _, seen := r.target.Live.Heed(key, r.instance, meta.Labels, meta.Annotations); !seen {
		obj, err := r.target.Client.Get(ctx, res, key)
		if err != nil && !apierrors.IsNotFound(err) {
			return
		}
		r.target.Live.Saw(key, obj)
	}
	r.strayed, _ = r.target.Live.Heed(key, r.instance, meta.Labels, meta.Annotations)
}

// managedBefore is what the last operation gave the namespace.
func (r *run) managedBefore() *v1alpha1.ManagedNamespaceMetadata {
	if last := r.app.Status.OperationState; last != nil && last.SyncResult != nil {
		return last.SyncResult.ManagedNamespaceMetadata
	}
	return nil
}

// wants reports whether an object is among the Application's own.
func (r *run) wants(key object.Key) bool {
	return slices.ContainsFunc(r.want.objects, func(w wantedObject) bool { return w.key == key })
}

func (r *run) namespaceManifest() (object.Manifest, error) {
	meta := map[string]any{"name": r.app.Spec.Destination.Namespace}
	if policy := r.app.Spec.SyncPolicy; policy != nil && policy.ManagedNamespaceMetadata != nil {
		meta["labels"] = stringMap(policy.ManagedNamespaceMetadata.Labels)
		meta["annotations"] = stringMap(policy.ManagedNamespaceMetadata.Annotations)
	}
	return object.NewManifest(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
}

// makeNamespace makes the destination namespace. It is not tracked: deleting the Application leaves it. The error is that
// of an API server that is away.
func (r *run) makeNamespace(ctx context.Context) (plan.State, error) {
	key := r.namespaceKey()
	fail := func(err error) (plan.State, error) {
		if away(err) {
			return plan.State{}, err
		}
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: apply.Explain(key, err)}, nil
	}
	done := func(how string) (plan.State, error) {
		return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: "namespace/" + key.Name + " " + how}, nil
	}
	res, err := r.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil {
		return fail(err)
	}
	m, err := r.namespaceManifest()
	if err != nil {
		return fail(err)
	}
	if err := r.permits(key); err != nil {
		if _, missing := r.target.Client.Get(ctx, res, key); missing == nil && !r.managesNamespace() {
			return done(nsUnchanged) // it is there, and nothing is asked of it
		}
		return fail(err)
	}
	if r.strayed {
		r.target.Client.Missed(key)
	}
	have, err := r.target.Client.Get(ctx, res, key)
	if away(err) {
		return fail(err)
	}
	if owned, _ := diff.OwnedFields(have, live.Manager); err == nil && !r.managesNamespace() && owned.Empty() {
		r.target.Client.Found(m)
		return done(nsUnchanged)
	}
	how := nsApplied
	if apierrors.IsNotFound(err) {
		how = nsCreated
	}
	if err := r.target.Client.Ensure(ctx, res, m); err != nil {
		return fail(err)
	}
	if obj, err := m.Decode(); err == nil {
		r.target.Live.Saw(key, obj)
	}
	return done(how)
}

// Results of the destination namespace in an operation, in the words of Argo CD.
const (
	nsCreated   = "created"
	nsApplied   = "serverside-applied"
	nsUnchanged = "unchanged"
)

// foreseeNamespace says what makeNamespace would do. What cannot be told counts as a change.
func (r *run) foreseeNamespace(ctx context.Context) diff.Verb {
	key := r.namespaceKey()
	res, err := r.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil {
		return diff.Update
	}
	have, err := r.target.Client.Get(ctx, res, key)
	if apierrors.IsNotFound(err) {
		return diff.Create
	}
	m, wrong := r.namespaceManifest()
	if err != nil || wrong != nil {
		return diff.Update
	}
	if r.permits(key) != nil && !r.managesNamespace() {
		return diff.Keep
	}
	then, err := r.target.Client.Apply(ctx, res, m, true)
	if err != nil {
		return diff.Update
	}
	return namespaceVerb(have, then)
}

// namespaceVerb compares what is asked of a namespace: its labels and annotations.
func namespaceVerb(have, then map[string]any) diff.Verb {
	of := func(obj map[string]any, field string) map[string]any {
		meta, _ := obj["metadata"].(map[string]any)
		found, _ := meta[field].(map[string]any)
		return found
	}
	for _, field := range []string{"labels", "annotations"} {
		if !maps.Equal(of(have, field), of(then, field)) { // of texts
			return diff.Update
		}
	}
	return diff.Keep
}

// managesNamespace reports whether labels or annotations of the namespace are asked for.
func (r *run) managesNamespace() bool {
	return r.app.Spec.SyncPolicy != nil && r.app.Spec.SyncPolicy.ManagedNamespaceMetadata != nil
}

func stringMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
