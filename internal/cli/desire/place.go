package desire

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// Capabilities asks a cluster what charts may ask about it.
func Capabilities(cluster *connect.Cluster) (render.Capabilities, error) {
	version, err := cluster.Discovery.ServerVersion()
	if err != nil {
		return render.Capabilities{}, connect.Explain(fmt.Errorf("ask the cluster for its version: %w", err))
	}
	_, lists, err := cluster.Discovery.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return render.Capabilities{}, connect.Explain(fmt.Errorf("ask the cluster for its kinds: %w", err))
	}
	out := render.Capabilities{KubeVersion: version.GitVersion}
	for _, list := range lists {
		out.APIVersions = append(out.APIVersions, list.GroupVersion)
		for _, r := range list.APIResources {
			out.APIVersions = append(out.APIVersions, list.GroupVersion+"/"+r.Kind)
		}
	}
	slices.Sort(out.APIVersions)
	out.APIVersions = slices.Compact(out.APIVersions)
	return out, nil
}

// Place puts rendered objects where the agent puts them: into the destination's namespace unless they name one or
// have none, with the marks of the Application. Objects of a kind that neither the cluster nor the objects themselves define
// are taken as they are. Of objects that come twice the last one counts; those that leave their name to the cluster are all
// different.
func Place(
	ctx context.Context, app *v1alpha1.Application, objects []object.Manifest, mapper meta.RESTMapper, controllerNamespace string,
	tracking object.Tracking,
) ([]object.Manifest, error) {
	ready := prepare.For{
		App: app, Instance: object.InstanceName(app.Namespace, app.Name,
			controllerNamespace), Tracking: tracking, Defined: prepare.Defined(objects),
		Namespaced: func(_ context.Context, kind object.Kind, version string) (bool, error) {
			mapping, err := mapper.RESTMapping(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, version)
			if meta.IsNoMatchError(err) {
				return false, &object.UnknownKindError{Kind: kind, Version: version}
			}
			if err != nil {
				return false, connect.Explain(fmt.Errorf("find %s: %w", kind, err))
			}
			return mapping.Scope.Name() != meta.RESTScopeNameRoot, nil
		},
	}
	var out []object.Manifest
	at := map[object.Key]int{}
	for _, o := range objects {
		obj, err := o.Decode()
		if err != nil {
			return nil, err
		}
		placed, err := ready.Place(ctx, obj, o)
		if prepare.Unknown(err) {
			placed, err = ready.Mark(obj, o.Key)
		}
		if err != nil {
			return nil, err
		}
		if i, twice := at[placed.Key]; twice && placed.Key.Name != "" {
			out[i] = placed
			continue
		}
		at[placed.Key] = len(out)
		out = append(out, placed)
	}
	return out, nil
}
