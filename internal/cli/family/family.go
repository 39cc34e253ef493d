// Package family lists in the cluster what an application's objects own (ReplicaSets, Pods, Jobs and so on, however deep),
// for the tree of package inspect.
package family

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// Limits of one listing.
const (
	pageSize = 500
	parallel = 8
)

// Read reads the tree below resources, which are the roots. What may not be listed is left out and named in warnings.
func Read(ctx context.Context, cluster *connect.Cluster,
	resources []v1alpha1.ResourceStatus,
) (roots []*api.TreeNode, warnings []string, err error) {
	found, warnings, err := list(ctx, cluster, inspect.Heirs(resources))
	if err != nil {
		return nil, nil, err
	}
	leaves := make([]*inspect.Leaf, 0, len(found))
	for _, obj := range found {
		leaves = append(leaves, inspect.Eye{}.Leaf(obj, false))
	}
	return inspect.Tree(resources, leaves, nil, ""), warnings, nil
}

// list reads all objects of places.
func list(ctx context.Context, cluster *connect.Cluster, places []inspect.Place) ([]map[string]any, []string, error) {
	type part struct {
		objects []map[string]any
		warning string
	}
	parts := make([]part, len(places))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, at := range places {
		mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: at.Kind.Group, Kind: at.Kind.Kind})
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, nil, connect.Explain(fmt.Errorf("find %s: %w", at.Kind, err))
		}
		group.Go(func() error {
			objects, err := page(ctx, cluster, mapping.Resource, at.Namespace)
			p := &parts[i]
			p.objects = objects
			if apierrors.IsForbidden(err) {
				p.warning = fmt.Sprintf("may not list %s in namespace %s; the tree is without them", at.Kind, at.Namespace)
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, connect.Explain(err)
	}
	var objects []map[string]any
	var warnings []string
	for _, p := range parts {
		objects = append(objects, p.objects...)
		if p.warning != "" {
			warnings = append(warnings, p.warning)
		}
	}
	return objects, warnings, nil
}

func page(ctx context.Context, cluster *connect.Cluster, resource schema.GroupVersionResource, namespace string) ([]map[string]any, error) {
	var out []map[string]any
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := cluster.Dynamic.Resource(resource).Namespace(namespace).List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list %s in namespace %s: %w", resource.Resource, namespace, err)
		}
		for i := range got.Items {
			out = append(out, got.Items[i].Object)
		}
		if len(out) > inspect.MaxObjects {
			return nil, fmt.Errorf("namespace %s has more than %d %s: too many for a tree", namespace, inspect.MaxObjects, resource.Resource)
		}
		if opts.Continue = got.GetContinue(); opts.Continue == "" {
			return out, nil
		}
	}
}
