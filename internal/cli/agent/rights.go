package agent

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/project"
)

// deployVerbs are what the agent does with objects of Applications, and lookVerbs with objects that these own.
//
//nolint:gochecknoglobals // read-only
var (
	deployVerbs = []string{"create", "delete", "get", "list", "patch", "watch"}
	lookVerbs   = []string{"get", "list", "watch"}
)

// servedKind is a kind of a cluster whose objects have a namespace.
type servedKind struct {
	object.Kind
	plural string
	status bool // it has a status of its own, which actions change
}

// servedKinds reads the kinds of a cluster from its answers to discovery. What cannot be listed and watched is not deployed.
func servedKinds(lists []*metav1.APIResourceList) []servedKind {
	seen := map[object.Kind]*servedKind{}
	status := map[object.Kind]bool{}
	for _, list := range lists {
		group, _ := object.SplitAPIVersion(list.GroupVersion)
		for i := range list.APIResources {
			r := &list.APIResources[i]
			kind := object.Kind{Group: group, Kind: r.Kind}
			plural, sub, _ := strings.Cut(r.Name, "/")
			switch {
			case sub == "status" && r.Kind != "":
				status[kind] = true
			case sub != "" || !r.Namespaced || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "watch"):
			case seen[kind] == nil:
				seen[kind] = &servedKind{Kind: kind, plural: plural}
			}
		}
	}
	out := make([]servedKind, 0, len(seen))
	for kind, k := range seen {
		k.status = status[kind]
		out = append(out, *k)
	}
	slices.SortFunc(out, func(x, y servedKind) int {
		return cmp.Or(cmp.Compare(x.Group, y.Group), cmp.Compare(x.plural, y.plural))
	})
	return out
}

// rights are what an agent uses in a namespace of its own cluster for the Applications of projects, and nothing else: it deploys the
// kinds that they permit there, and looks at what their objects own. There are none where no project permits the namespace.
func rights(projects []*project.Rules, namespace string, kinds []servedKind, terminal bool) []rbacv1.PolicyRule {
	own := project.Cluster{Server: v1alpha1.InClusterServer, Name: v1alpha1.InClusterName}
	deployed, looked := map[object.Kind]bool{}, map[object.Kind]bool{}
	var roots []object.Kind
	for _, p := range projects {
		if p.PermitsDestination(own, namespace) != nil {
			continue
		}
		for _, k := range kinds {
			if p.PermitsResource(k.Group, k.Kind.Kind, "", true) == nil && !deployed[k.Kind] {
				deployed[k.Kind] = true
				roots = append(roots, k.Kind)
			}
		}
	}
	if len(deployed) == 0 {
		return nil
	}
	for _, kind := range inspect.KindsBelow(roots) {
		looked[kind] = true
	}
	var g grants
	for _, k := range kinds {
		switch {
		case deployed[k.Kind]:
			g.add(k.Group, deployVerbs, k.plural)
			if k.status && k.Group == v1alpha1.Group {
				g.add(k.Group, []string{"patch"}, k.plural+"/status") // actions of rollouts
			}
		case looked[k.Kind]:
			g.add(k.Group, lookVerbs, k.plural)
		}
	}
	if !deployed[object.Kind{Kind: "Event"}] {
		g.add("", []string{"get", "list"}, "events")
	}
	if pod := (object.Kind{Kind: "Pod"}); deployed[pod] || looked[pod] {
		g.add("", []string{"get"}, "pods/log")
		if terminal {
			g.add("", []string{"create"}, "pods/exec")
		}
	}
	return g
}

// grants are rules with the resources of a group that have the same verbs.
type grants []rbacv1.PolicyRule

func (g *grants) add(group string, verbs []string, resource string) {
	at := slices.IndexFunc(*g, func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == group && slices.Equal(r.Verbs, verbs) })
	if at < 0 {
		*g = append(*g, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs})
		return
	}
	(*g)[at].Resources = append((*g)[at].Resources, resource)
}

// settled are the namespaces among some that projects permit as destinations in the agent's own cluster, and those that projects name.
func settled(projects []*v1alpha1.AppProject, rules []*project.Rules, some []string) (permitted []string, patterns bool) {
	candidates := slices.Clone(some)
	for _, p := range projects {
		for _, d := range p.Spec.Destinations {
			if strings.ContainsAny(d.Namespace, "*?[{!") || d.Namespace == "" {
				patterns = true
				continue
			}
			candidates = append(candidates, d.Namespace)
		}
	}
	own := project.Cluster{Server: v1alpha1.InClusterServer, Name: v1alpha1.InClusterName}
	slices.Sort(candidates)
	for _, namespace := range slices.Compact(candidates) {
		if slices.ContainsFunc(rules, func(r *project.Rules) bool { return r.PermitsDestination(own, namespace) == nil }) {
			permitted = append(permitted, namespace)
		}
	}
	return permitted, patterns
}
