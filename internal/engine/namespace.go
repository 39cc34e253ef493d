package engine

import (
	"context"
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

func (t *turn) namespaceKey() object.Key {
	return object.Key{Kind: "Namespace", Name: t.app.Spec.Destination.Namespace}
}

// lacksNamespace reports whether the destination namespace comes with an operation: the sync options ask for it, it is
// not among the Application's own objects, and this agent has not made it, or it has lost metadata (drifted).
func (r *rendering) lacksNamespace(op *v1alpha1.SyncOperation, drifted bool) bool {
	key := r.namespaceKey()
	if key.Name == "" || !object.AppOptions(decide.OptionsOf(r.app, op)).Namespace.Is() {
		return false
	}
	if r.wants(key) || r.given(key) {
		return false
	}
	m, err := r.namespaceManifest()
	return err == nil && (!r.target.Client.Ensured(m) || drifted)
}

// given reports whether the destination namespace is one that the cluster's Secret names and that cannot be looked at: it is there,
// or applying fails.
func (r *rendering) given(namespace object.Key) bool {
	limits := r.cluster.Limits
	return !limits.Cluster() && limits.Has(namespace.Name) && !r.managesNamespace()
}

// watchNamespace finds out whether the destination namespace has lost metadata that the Application gives it, and asks to hear
// of that. It costs one request, once, since the watch reports the rest.
func (c *comparison) watchNamespace(ctx context.Context) {
	key, policy := c.namespaceKey(), c.app.Spec.SyncPolicy
	if key.Name == "" || c.engine.Shadow || !c.managesNamespace() || !object.AppOptions(decide.OptionsOf(c.app, nil)).Namespace.Is() ||
		c.wants(key) || c.permits(key) != nil {
		return
	}
	meta := policy.ManagedNamespaceMetadata
	c.drifted, _ = c.target.Live.Heed(key, c.instance, meta.Labels, meta.Annotations)
	res, err := c.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil || c.target.Live.Watch(ctx, res) != nil {
		return // an agent that may not watch namespaces does not see what others do to them
	}
	if _, seen := c.target.Live.Heed(key, c.instance, meta.Labels, meta.Annotations); !seen {
		obj, err := c.target.Client.Get(ctx, res, key)
		if err != nil && !apierrors.IsNotFound(err) {
			return
		}
		c.target.Live.Saw(key, obj)
	}
	c.drifted, _ = c.target.Live.Heed(key, c.instance, meta.Labels, meta.Annotations)
}

// managedBefore is what the last operation gave the namespace.
func (t *turn) managedBefore() *v1alpha1.ManagedNamespaceMetadata {
	if last := t.app.Status.OperationState; last != nil && last.SyncResult != nil {
		return last.SyncResult.ManagedNamespaceMetadata
	}
	return nil
}

// wants reports whether an object is among the Application's own.
func (r *rendering) wants(key object.Key) bool {
	return slices.ContainsFunc(r.want.objects, func(w wantedObject) bool { return w.key == key })
}

func (t *turn) namespaceManifest() (object.Manifest, error) {
	meta := map[string]any{"name": t.app.Spec.Destination.Namespace}
	if policy := t.app.Spec.SyncPolicy; policy != nil && policy.ManagedNamespaceMetadata != nil {
		meta["labels"] = stringMap(policy.ManagedNamespaceMetadata.Labels)
		meta["annotations"] = stringMap(policy.ManagedNamespaceMetadata.Annotations)
	}
	return object.NewManifest(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
}

// makeNamespace makes the destination namespace. It is not tracked: deleting the Application leaves it. The error is that
// of an API server that is away.
func (x *execution) makeNamespace(ctx context.Context) (plan.State, error) {
	key := x.namespaceKey()
	fail := func(err error) (plan.State, error) {
		if away(err) {
			return plan.State{}, err
		}
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: apply.Explain(key, err)}, nil
	}
	done := func(how string) (plan.State, error) {
		return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: "namespace/" + key.Name + " " + how}, nil
	}
	res, err := x.target.Live.Find(ctx, key.GroupKind(), "v1")
	if err != nil {
		return fail(err)
	}
	m, err := x.namespaceManifest()
	if err != nil {
		return fail(err)
	}
	if err := x.permits(key); err != nil {
		if _, missing := x.target.Client.Get(ctx, res, key); missing == nil && !x.managesNamespace() {
			return done(nsUnchanged) // it is there, and nothing is asked of it
		}
		return fail(err)
	}
	if x.drifted {
		x.target.Client.Missed(key)
	}
	have, err := x.target.Client.Get(ctx, res, key)
	if away(err) {
		return fail(err)
	}
	if owned, _ := diff.OwnedFields(have, live.Manager); err == nil && !x.managesNamespace() && owned.Empty() {
		x.target.Client.Found(m)
		return done(nsUnchanged)
	}
	how := nsApplied
	if apierrors.IsNotFound(err) {
		how = nsCreated
	}
	if err := x.target.Client.Ensure(ctx, res, m); err != nil {
		return fail(err)
	}
	if obj, err := m.Decode(); err == nil {
		x.target.Live.Saw(key, obj)
	}
	return done(how)
}

// Results of the destination namespace in an operation, in the words of Argo CD.
const (
	nsCreated   = "created"
	nsApplied   = "serverside-applied"
	nsUnchanged = "unchanged"
)

// foreseeNamespace says what makeNamespace would do. What is not known counts as a change.
func (r *rendering) foreseeNamespace(ctx context.Context) diff.Verb {
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
	return diff.MetadataVerb(have, then)
}

// managesNamespace reports whether labels or annotations of the namespace are asked for.
func (t *turn) managesNamespace() bool {
	return t.app.Spec.SyncPolicy != nil && t.app.Spec.SyncPolicy.ManagedNamespaceMetadata != nil
}

func stringMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
