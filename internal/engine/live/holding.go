package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Holding counts the objects that would go with another object and are not of one Application.
type Holding struct {
	Count    int
	Examples []object.Key // the first of each kind, sorted
	Err      error        // some kinds could not be listed
}

// Bounds of what is read to count the objects that another one holds.
const (
	heldPage    = 500 // objects of a kind; the API server says how many more there are
	heldShown   = 8   // examples
	heldAtATime = 8   // kinds
)

// HeldByDefinition counts the custom resources of a definition, in all namespaces, without those that app tracks. It reads
// their metadata.
func (c *Cluster) HeldByDefinition(ctx context.Context, definition, app string) Holding {
	plural, group, ok := strings.Cut(definition, ".")
	if !ok {
		return Holding{}
	}
	serves := func(r Resource) bool { return r.Kind.Group == group && r.Plural == plural }
	found, err := c.catalog.all(ctx, serves)
	if err == nil && len(found) == 0 { // it may be new
		c.catalog.invalidate()
		found, err = c.catalog.all(ctx, serves)
	}
	if err == nil && len(found) == 0 {
		err = errors.New("the API server does not serve the kind that it defines")
	}
	if err != nil {
		return Holding{Err: err}
	}
	return c.held(ctx, found, "", app)
}

// HeldByNamespace counts the objects in a namespace that neither app tracks nor another object owns, and that the cluster
// does not make for every namespace. It reads the metadata of every kind.
func (c *Cluster) HeldByNamespace(ctx context.Context, namespace, app string) Holding {
	found, err := c.catalog.all(ctx, func(r Resource) bool { return r.Namespaced && r.Watchable && !incidental(r.Kind) })
	if err != nil {
		return Holding{Err: err}
	}
	return c.held(ctx, found, namespace, app)
}

// all returns the kinds of a cluster that match.
func (c *catalog) all(ctx context.Context, match func(Resource) bool) ([]Resource, error) {
	known, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	var out []Resource
	for _, res := range known.resources {
		if match(res) {
			out = append(out, res)
		}
	}
	return out, nil
}

// held counts the objects of kinds.
func (c *Cluster) held(ctx context.Context, kinds []Resource, namespace, app string) Holding {
	var mu sync.Mutex
	var out Holding
	var failed []error
	var g errgroup.Group
	g.SetLimit(heldAtATime)
	for _, res := range kinds {
		g.Go(func() error {
			count, examples, err := c.heldOf(ctx, res, namespace, app)
			mu.Lock()
			defer mu.Unlock()
			out.Count += count
			out.Examples = append(out.Examples, examples...)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", res.Kind, err))
			}
			return nil
		})
	}
	_ = g.Wait() // the failures are in the result
	slices.SortFunc(out.Examples, object.Key.Compare)
	out.Examples = out.Examples[:min(len(out.Examples), heldShown)]
	slices.SortFunc(failed, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	out.Err = errors.Join(failed[:min(len(failed), 1)]...)
	return out
}

// heldOf counts the objects of one kind.
func (c *Cluster) heldOf(ctx context.Context, res Resource, namespace, app string) (count int, examples []object.Key, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	list, err := c.stream.Page(ctx, res.Path(res.Version, namespace, ""), heldPage)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err):
		return 0, nil, nil // the kind is gone, or cannot be listed
	case err != nil:
		return 0, nil, err
	}
	own := 0
	for i := range list.Items {
		item := &list.Items[i]
		key := object.Key{Group: res.Kind.Group, Kind: res.Kind.Kind, Namespace: item.Namespace, Name: item.Name}
		owner, _ := c.Tracking.Owner(metadataOf(item), key)
		if owner == app {
			own++
		}
		if owner == app || item.DeletionTimestamp != nil || namespace != "" && (len(item.OwnerReferences) > 0 || ofEvery(key, item)) {
			continue
		}
		count++
		if len(examples) < heldShown {
			examples = append(examples, key)
		}
	}
	if list.RemainingItemCount != nil {
		ours := 0
		for _, rec := range c.Owned(app) {
			if rec.Key.GroupKind() == res.Kind && (namespace == "" || rec.Key.Namespace == namespace) {
				ours++
			}
		}
		count += max(0, int(*list.RemainingItemCount)-max(0, ours-own))
	}
	return count, examples, nil
}

// metadataOf is the tree of an object as far as tracking reads it.
func metadataOf(item *metav1.PartialObjectMetadata) map[string]any {
	texts := func(m map[string]string) map[string]any {
		out := make(map[string]any, len(m))
		for k, v := range m {
			out[k] = v
		}
		return out
	}
	return map[string]any{"metadata": map[string]any{
		"name": item.Name, "namespace": item.Namespace, "labels": texts(item.Labels), "annotations": texts(item.Annotations),
	}}
}

// incidental reports whether the cluster makes and removes objects of a kind automatically: nothing is lost with them.
func incidental(k object.Kind) bool {
	switch k.Group {
	case "metrics.k8s.io", "events.k8s.io", "discovery.k8s.io", "coordination.k8s.io":
		return true
	case "":
		return k.Kind == "Event" || k.Kind == "Endpoints"
	}
	return false
}

// ofEvery reports whether the cluster makes an object in every namespace.
func ofEvery(key object.Key, item *metav1.PartialObjectMetadata) bool {
	switch key.GroupKind() {
	case object.Kind{Kind: "ServiceAccount"}:
		return key.Name == "default"
	case object.Kind{Kind: "ConfigMap"}:
		return key.Name == "kube-root-ca.crt" || key.Name == "openshift-service-ca.crt"
	case object.Kind{Kind: "Secret"}:
		return item.Annotations["kubernetes.io/service-account.name"] != ""
	case object.Kind{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:
		return strings.HasPrefix(key.Name, "system:")
	}
	return false
}
