package act

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/family"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/action"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// target is a live object of an application.
type target struct {
	cluster *connect.Cluster
	client  dynamic.ResourceInterface
	live    *unstructured.Unstructured
}

// findTarget reads the object that --app and --resource name. It must be one of the application's, or be owned by one.
func findTarget(ctx context.Context, s *subject) (*target, error) {
	key, err := readResource(s.resource)
	if err != nil {
		return nil, err
	}
	cluster, err := s.Connect()
	if err != nil {
		return nil, err
	}
	app, err := cluster.Apps.Get(ctx, s.app)
	if err != nil {
		return nil, err
	}
	if d := app.Spec.Destination; d.Server != v1alpha1.InClusterServer && d.Name != v1alpha1.InClusterName && d.Server+d.Name != "" {
		return nil, fmt.Errorf("application %s deploys to another cluster, whose objects this command cannot reach", s.app)
	}
	mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: key.Group, Kind: key.Kind})
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("find %s: %w", key.GroupKind(), err))
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	if namespaced && key.Namespace == "" {
		key.Namespace = app.Spec.Destination.Namespace
	}
	found, err := member(ctx, cluster, &app.Application, &key)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("application %s has no %s; `slipway app tree %s` shows what it has", s.app, key, s.app)
	}
	t := &target{cluster: cluster, client: cluster.Dynamic.Resource(mapping.Resource)}
	if namespaced {
		t.client = cluster.Dynamic.Resource(mapping.Resource).Namespace(key.Namespace)
	}
	if t.live, err = t.client.Get(ctx, key.Name, metav1.GetOptions{}); err != nil {
		return nil, connect.Explain(fmt.Errorf("read %s: %w", key, err))
	}
	unstructured.RemoveNestedField(t.live.Object, "metadata", "managedFields")
	return t, nil
}

// readResource reads [GROUP/]KIND:[NAMESPACE/]NAME.
func readResource(text string) (object.Key, error) {
	kind, place, ok := strings.Cut(text, ":")
	var key object.Key
	if group, rest, grouped := strings.Cut(kind, "/"); grouped {
		key.Group, kind = group, rest
	}
	if namespace, rest, placed := strings.Cut(place, "/"); placed {
		key.Namespace, place = namespace, rest
	}
	key.Kind, key.Name = kind, place
	if !ok || key.Kind == "" || key.Name == "" || strings.ContainsAny(key.Name+key.Kind, "/") {
		return key, iostream.Usagef("--resource %q: want [GROUP/]KIND:[NAMESPACE/]NAME, as in apps/Deployment:shop/web", text)
	}
	return key, nil
}

// member reports whether an object is the application's. The tree below its objects is read only for one that is none of
// them. A missing namespace is filled in where the application's status knows it.
func member(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application, key *object.Key) (bool, error) {
	for _, r := range app.Status.Resources {
		if r.Group == key.Group && r.Kind == key.Kind && r.Name == key.Name && (r.Namespace == key.Namespace || key.Namespace == "") {
			key.Namespace = r.Namespace
			return true, nil
		}
	}
	roots, _, err := family.Read(ctx, cluster, app.Status.Resources)
	if err != nil {
		return false, err
	}
	return inspect.Has(roots, *key), nil
}

// settings reads the cluster's ConfigMap argocd-cm; one that is not there holds nothing.
func (t *target) settings(ctx context.Context) (map[string]string, error) {
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	obj, err := t.cluster.Dynamic.Resource(configMaps).Namespace(t.cluster.Apps.Namespace()).Get(ctx, settingsName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("read %s: %w", settingsName, err))
	}
	return texts(obj.Object), nil
}

// write does what an action wants: first all of it as a dry run of the API server, then in earnest, in order.
func (t *target) write(ctx context.Context, impacts []action.Impact, dryRun bool) error {
	for _, dry := range []bool{true, false} {
		if !dry && dryRun {
			break
		}
		for _, i := range impacts {
			var err error
			if i.Operation == action.Create {
				err = t.create(ctx, i.Object, dry)
			} else {
				err = t.patch(ctx, i.Object, dry)
			}
			if err != nil {
				return connect.Explain(err)
			}
		}
	}
	return nil
}

func dryRunOf(dry bool) []string {
	if dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

func (t *target) create(ctx context.Context, fields map[string]any, dry bool) error {
	obj := &unstructured.Unstructured{Object: fields}
	gvk := obj.GroupVersionKind()
	mapping, err := t.cluster.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return fmt.Errorf("find %s: %w", gvk.GroupKind(), err)
	}
	var client dynamic.ResourceInterface = t.cluster.Dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		client = t.cluster.Dynamic.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	}
	if _, err := client.Create(ctx, obj, metav1.CreateOptions{FieldManager: connect.Manager, DryRun: dryRunOf(dry)}); err != nil {
		return fmt.Errorf("create %s: %w", name(fields), err)
	}
	return nil
}

// patch changes the live object itself. Where its kind has a status of its own (the subresource), what concerns the
// status is written there, and the rest apart from it.
func (t *target) patch(ctx context.Context, fields map[string]any, dry bool) error {
	change, err := inspect.NewActionPatch(t.live.Object, fields)
	if err != nil {
		return fmt.Errorf("patch %s: %w", name(fields), err)
	}
	rest := change.Rest
	if len(change.Status) > 0 {
		if err := t.send(ctx, change.Status, dry, "status"); apierrors.IsNotFound(err) {
			rest = change.Whole
		} else if err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return t.send(ctx, rest, dry)
}

func (t *target) send(ctx context.Context, change map[string]any, dry bool, subresource ...string) error {
	raw, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	opts := metav1.PatchOptions{FieldManager: connect.Manager, DryRun: dryRunOf(dry)}
	if _, err := t.client.Patch(ctx, t.live.GetName(), types.MergePatchType, raw, opts, subresource...); err != nil {
		return fmt.Errorf("patch %s: %w", name(t.live.Object), err)
	}
	return nil
}
