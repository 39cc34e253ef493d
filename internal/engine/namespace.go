package engine

import (
	"context"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func (r *run) namespaceKey() object.Key {
	return object.Key{Kind: "Namespace", Name: r.app.Spec.Destination.Namespace}
}

// makesNamespace reports whether an operation makes the destination namespace before all else.
func (r *run) makesNamespace(d Decision) bool { return !d.DryRun && r.lacksNamespace(d) }

// lacksNamespace reports whether the destination namespace comes with an operation: the sync options ask for it, it is
// not among the Application's own objects, and this agent has not seen to it yet.
func (r *run) lacksNamespace(d Decision) bool {
	key := r.namespaceKey()
	if key.Name == "" || !object.AppOptions(r.options(d)).Namespace.Is() {
		return false
	}
	for _, w := range r.memory.wanted {
		if w.key == key {
			return false
		}
	}
	m, err := r.namespaceManifest()
	return err == nil && !r.target.Client.Ensured(m)
}

func (r *run) namespaceManifest() (object.Manifest, error) {
	meta := map[string]any{"name": r.app.Spec.Destination.Namespace}
	if policy := r.app.Spec.SyncPolicy; policy != nil && policy.ManagedNamespaceMetadata != nil {
		meta["labels"] = stringMap(policy.ManagedNamespaceMetadata.Labels)
		meta["annotations"] = stringMap(policy.ManagedNamespaceMetadata.Annotations)
	}
	return object.NewManifest(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
}

// makeNamespace makes the destination namespace. It is not tracked: deleting the Application leaves it.
func (r *run) makeNamespace(ctx context.Context) plan.State {
	key := r.namespaceKey()
	fail := func(err error) plan.State {
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: apply.Explain(key, err)}
	}
	done := plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: "namespace " + key.Name + " is there"}
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
			return done // it is there, and nothing is asked of it
		}
		return fail(err)
	}
	if err := r.target.Client.Ensure(ctx, res, m); err != nil {
		return fail(err)
	}
	return done
}

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
