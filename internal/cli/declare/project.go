package declare

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func project() *kind {
	return &kind{
		use: "proj", called: "Argo project", aliases: []string{"appproject", "projs"},
		short: "AppProjects, which control what Applications may read and where they may deploy",
		long: "AppProjects, in a namespace of a cluster or at a server: what their Applications may read, and what they may deploy where.\n" +
			"What a server calls a project is another thing: `slipway project`.",
		kind: v1alpha1.KindAppProject, plural: v1alpha1.ResourceAppProjects, objects: (*client.Client).ArgoProjects,
		example: "shop", header: []string{"DESCRIPTION", "SOURCES", "DESTINATIONS", "WINDOWS"}, flags: projectFlags, used: applicationsOf,
		row: func(obj *unstructured.Unstructured) []string {
			description, _, _ := unstructured.NestedString(obj.Object, "spec", "description")
			sources, _, _ := unstructured.NestedStringSlice(obj.Object, "spec", "sourceRepos")
			windows, _, _ := unstructured.NestedSlice(obj.Object, "spec", "syncWindows")
			return []string{description, strings.Join(sources, ", "), destinations(obj), strconv.Itoa(len(windows))}
		},
	}
}

// destinations are those of a project as the flag --dest has them.
func destinations(obj *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(obj.Object, "spec", "destinations")
	var out []string
	for _, d := range list {
		fields, _ := d.(map[string]any)
		at, _ := fields["server"].(string)
		if name, _ := fields["name"].(string); name != "" {
			at = name
		}
		namespace, _ := fields["namespace"].(string)
		out = append(out, at+","+namespace)
	}
	return strings.Join(out, "; ")
}

// applicationsOf are the Applications of a namespace that are of a project.
func applicationsOf(ctx context.Context, cluster *connect.Cluster, project string) ([]string, error) {
	all, err := cluster.Apps.List(ctx, "")
	var out []string
	for i := range all {
		if all[i].Spec.ProjectName() == project {
			out = append(out, all[i].Name)
		}
	}
	return out, err
}

func projectFlags(flags *pflag.FlagSet) build {
	description := flags.String("description", "", "`text` that describes it")
	sources := flags.StringArray("source-repo", nil,
		"`address` or pattern of repositories that may be read; repeat for several (default none)")
	dests := flags.StringArray("dest", nil,
		"`CLUSTER,NAMESPACE`: name or address of a cluster, and namespace, or patterns of them; repeat for several (default none)")
	namespaces := flags.StringArray("source-namespace", nil,
		"`namespace` or pattern of Applications elsewhere that may belong to it; repeat for several")
	kinds := flags.StringArray("allow-cluster-resource", nil,
		"`[GROUP/]KIND` without a namespace that may be deployed, or a pattern; repeat for several (default none)")
	return func(name string) (*unstructured.Unstructured, error) {
		spec := map[string]any{}
		put := func(field string, list []any) {
			if len(list) > 0 {
				spec[field] = list
			}
		}
		if *description != "" {
			spec["description"] = *description
		}
		put("sourceRepos", texts(*sources))
		put("sourceNamespaces", texts(*namespaces))
		var to, allowed []any
		for _, text := range *dests {
			d, err := readDestination(text)
			if err != nil {
				return nil, err
			}
			to = append(to, d)
		}
		for _, text := range *kinds {
			group, kind, ok := strings.Cut(text, "/")
			if !ok {
				group, kind = "", text
			}
			if kind == "" || strings.Contains(kind, "/") {
				return nil, iostream.Usagef("--allow-cluster-resource %q is not [GROUP/]KIND, "+
					"such as Namespace or rbac.authorization.k8s.io/ClusterRole", text)
			}
			allowed = append(allowed, map[string]any{"group": group, "kind": kind})
		}
		put("destinations", to)
		put("clusterResourceWhitelist", allowed)
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindAppProject,
			"metadata": map[string]any{"name": name}, "spec": spec,
		}}, nil
	}
}

// readDestination reads CLUSTER,NAMESPACE. An address has a scheme; a star is every cluster.
func readDestination(text string) (map[string]any, error) {
	cluster, namespace, ok := strings.Cut(text, ",")
	if !ok || cluster == "" || namespace == "" || strings.Contains(namespace, ",") {
		return nil, iostream.Usagef("--dest %q is not CLUSTER,NAMESPACE, such as in-cluster,shop-* or '*,shop'", text)
	}
	field := "name"
	if strings.Contains(cluster, "://") || cluster == "*" {
		field = "server"
	}
	return map[string]any{field: cluster, "namespace": namespace}, nil
}

func texts(list []string) []any {
	out := make([]any, 0, len(list))
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
