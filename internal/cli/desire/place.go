package desire

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/engine/object"
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
// have none, with the marks of the Application. Objects of a kind that the cluster does not know yet are taken as they
// are. Of objects that come twice the last one counts; those that leave their name to the cluster are all different.
func Place(app *v1alpha1.Application, objects []object.Manifest, mapper meta.RESTMapper, controllerNamespace string, tracking object.Tracking) ([]object.Manifest, error) {
	instance := object.InstanceName(app.Namespace, app.Name, controllerNamespace)
	var out []object.Manifest
	at := map[object.Key]int{}
	for _, o := range objects {
		obj, err := o.Decode()
		if err != nil {
			return nil, err
		}
		key := o.Key
		mapping, err := mapper.RESTMapping(schema.GroupKind{Group: key.Group, Kind: key.Kind}, o.Version)
		if err != nil && !meta.IsNoMatchError(err) {
			return nil, connect.Explain(fmt.Errorf("find %s: %w", key.GroupKind(), err))
		}
		metadata, _ := obj["metadata"].(map[string]any)
		switch {
		case err != nil:
		case mapping.Scope.Name() == meta.RESTScopeNameRoot:
			delete(metadata, "namespace")
			key.Namespace = ""
		case key.Namespace == "":
			key.Namespace = app.Spec.Destination.Namespace
			metadata["namespace"] = key.Namespace
		}
		delete(obj, "status")
		object.DropAnnotation(obj, v1alpha1.AnnotationHookRun)
		tracking.Mark(obj, instance, key, app.Spec.Destination.Namespace)
		placed, err := object.NewManifest(obj)
		if err != nil {
			return nil, err
		}
		if i, twice := at[key]; twice && key.Name != "" {
			out[i] = placed
			continue
		}
		at[key] = len(out)
		out = append(out, placed)
	}
	return out, nil
}
