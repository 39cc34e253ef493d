// Package family reads what an application's objects own in the cluster (ReplicaSets, Pods, Jobs and so on, however
// deep) and puts them together as a tree with the health of each.
package family

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Node is one object of the tree. Its JSON form is that of `slipway app tree -o json`.
type Node struct {
	Group     string  `json:"group,omitempty"`
	Kind      string  `json:"kind"`
	Namespace string  `json:"namespace,omitempty"`
	Name      string  `json:"name"`
	Sync      string  `json:"sync,omitempty"` // of the application's own objects only
	Health    string  `json:"health,omitempty"`
	Message   string  `json:"message,omitempty"`
	Children  []*Node `json:"children,omitempty"`
}

// Limits of one tree.
const (
	maxObjects = 50000 // listed in all namespaces together
	maxDepth   = 16
	pageSize   = 500
	parallel   = 8
)

// Walk calls visit for every node, parents first. The parent of a root is nil.
func Walk(roots []*Node, visit func(depth int, parent, node *Node)) { walk(roots, nil, 0, visit) }

func walk(nodes []*Node, parent *Node, depth int, visit func(int, *Node, *Node)) {
	for _, n := range nodes {
		visit(depth, parent, n)
		walk(n.Children, n, depth+1, visit)
	}
}

// Read reads the tree below resources, which are the roots. What may not be listed is left out and named in warnings.
func Read(ctx context.Context, cluster *access.Cluster, resources []v1alpha1.ResourceStatus) (roots []*Node, warnings []string, err error) {
	var kinds []object.Kind
	var namespaces []string
	for _, r := range resources {
		kinds = append(kinds, object.Kind{Group: r.Group, Kind: r.Kind})
		if r.Namespace != "" && !slices.Contains(namespaces, r.Namespace) {
			namespaces = append(namespaces, r.Namespace)
		}
	}
	found, warnings, err := list(ctx, cluster, heirs(kinds), namespaces)
	if err != nil {
		return nil, nil, err
	}
	owned := byOwner(found)
	roots = make([]*Node, 0, len(resources))
	for _, r := range resources {
		node := &Node{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Sync: string(r.Status)}
		if r.Health != nil {
			node.Health, node.Message = string(r.Health.Status), r.Health.Message
		}
		owner := owner{kind: object.Kind{Group: r.Group, Kind: r.Kind}, namespace: r.Namespace, name: r.Name}
		node.Children = children(owned, owner, 0)
		roots = append(roots, node)
	}
	return roots, warnings, nil
}

// owner identifies the owning object as far as a root is known: Application resources carry no uid.
type owner struct {
	kind      object.Kind
	namespace string
	name      string
	uid       types.UID // empty for a root
}

func children(owned map[owner][]*unstructured.Unstructured, of owner, depth int) []*Node {
	if depth >= maxDepth {
		return nil
	}
	var out []*Node
	for _, obj := range owned[of] {
		gvk := obj.GroupVersionKind()
		node := &Node{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		if h, ok := health.Assess(obj.Object); ok {
			node.Health, node.Message = string(h.Status), h.Message
		}
		node.Children = children(owned, owner{
			kind: object.Kind{Group: gvk.Group, Kind: gvk.Kind}, namespace: obj.GetNamespace(), name: obj.GetName(), uid: obj.GetUID(),
		}, depth+1)
		out = append(out, node)
	}
	slices.SortFunc(out, func(a, b *Node) int {
		return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name)
	})
	return out
}

// byOwner indexes objects by each of their owners, with and without the owner's uid.
func byOwner(objects []*unstructured.Unstructured) map[owner][]*unstructured.Unstructured {
	out := map[owner][]*unstructured.Unstructured{}
	for _, obj := range objects {
		for _, ref := range obj.GetOwnerReferences() {
			group, _ := object.SplitAPIVersion(ref.APIVersion)
			key := owner{kind: object.Kind{Group: group, Kind: ref.Kind}, namespace: obj.GetNamespace(), name: ref.Name}
			out[key] = append(out[key], obj)
			key.uid = ref.UID
			out[key] = append(out[key], obj)
		}
	}
	return out
}

// offspring says what the controllers of Kubernetes make for each kind.
func offspring(kind object.Kind) []object.Kind {
	pod := object.Kind{Kind: "Pod"}
	switch kind {
	case object.Kind{Group: "apps", Kind: "Deployment"}:
		return []object.Kind{{Group: "apps", Kind: "ReplicaSet"}}
	case object.Kind{Group: "apps", Kind: "ReplicaSet"}, object.Kind{Group: "batch", Kind: "Job"}, object.Kind{Kind: "ReplicationController"}:
		return []object.Kind{pod}
	case object.Kind{Group: "apps", Kind: "StatefulSet"}:
		return []object.Kind{pod, {Group: "apps", Kind: "ControllerRevision"}, {Kind: "PersistentVolumeClaim"}}
	case object.Kind{Group: "apps", Kind: "DaemonSet"}:
		return []object.Kind{pod, {Group: "apps", Kind: "ControllerRevision"}}
	case object.Kind{Group: "batch", Kind: "CronJob"}:
		return []object.Kind{{Group: "batch", Kind: "Job"}}
	case object.Kind{Kind: "Service"}:
		return []object.Kind{{Group: "discovery.k8s.io", Kind: "EndpointSlice"}}
	}
	return nil
}

// heirs are the kinds to list below roots. A root that is no kind of Kubernetes itself has a controller of its own,
// which may make anything that runs or serves.
func heirs(roots []object.Kind) []object.Kind {
	var out []object.Kind
	open := slices.Clone(roots)
	for _, root := range roots {
		if strings.Contains(root.Group, ".") && !strings.HasSuffix(root.Group, ".k8s.io") {
			open = append(open, object.Kind{Group: "apps", Kind: "Deployment"}, object.Kind{Group: "apps", Kind: "StatefulSet"},
				object.Kind{Group: "batch", Kind: "CronJob"}, object.Kind{Kind: "Service"})
			out = append(out, open[len(open)-4:]...)
			break
		}
	}
	for len(open) > 0 {
		for _, kind := range offspring(open[0]) {
			if !slices.Contains(out, kind) {
				out = append(out, kind)
				open = append(open, kind)
			}
		}
		open = open[1:]
	}
	return out
}

// list reads all objects of kinds in namespaces.
func list(ctx context.Context, cluster *access.Cluster, kinds []object.Kind, namespaces []string) ([]*unstructured.Unstructured, []string, error) {
	type part struct {
		objects []*unstructured.Unstructured
		warning string
	}
	parts := make([]part, len(kinds)*len(namespaces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, kind := range kinds {
		mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind})
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, nil, access.Explain(fmt.Errorf("find %s: %w", kind, err))
		}
		for j, namespace := range namespaces {
			group.Go(func() error {
				objects, err := page(ctx, cluster, mapping.Resource, namespace)
				p := &parts[i*len(namespaces)+j]
				p.objects = objects
				if apierrors.IsForbidden(err) {
					p.warning = fmt.Sprintf("may not list %s in namespace %s; the tree is without them", kind, namespace)
					return nil
				}
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, nil, access.Explain(err)
	}
	var objects []*unstructured.Unstructured
	var warnings []string
	for _, p := range parts {
		objects = append(objects, p.objects...)
		if p.warning != "" {
			warnings = append(warnings, p.warning)
		}
	}
	return objects, warnings, nil
}

func page(ctx context.Context, cluster *access.Cluster, resource schema.GroupVersionResource, namespace string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := cluster.Dynamic.Resource(resource).Namespace(namespace).List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list %s in namespace %s: %w", resource.Resource, namespace, err)
		}
		for i := range got.Items {
			out = append(out, &got.Items[i])
		}
		if len(out) > maxObjects {
			return nil, fmt.Errorf("namespace %s has more than %d %s: too many for a tree", namespace, maxObjects, resource.Resource)
		}
		if opts.Continue = got.GetContinue(); opts.Continue == "" {
			return out, nil
		}
	}
}
