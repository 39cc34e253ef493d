package install

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxNamespaces bounds the namespaces that an agent with Roles only deploys to.
const maxNamespaces = 200

// checkNamespaces refuses namespaces that are none, or that mean nothing.
func (o *Options) checkNamespaces() error {
	slices.Sort(o.Namespaces)
	o.Namespaces = slices.Compact(o.Namespaces)
	switch {
	case len(o.Namespaces) == 0:
		return nil
	case !o.Namespaced || o.beside():
		return errors.New("namespaces are for an agent of ours with Roles only: set namespaced too, or leave them out")
	case len(o.Namespaces) > maxNamespaces:
		return fmt.Errorf("there are %d namespaces: at most %d are allowed", len(o.Namespaces), maxNamespaces)
	}
	for _, namespace := range o.Namespaces {
		if !label.MatchString(namespace) {
			return fmt.Errorf("namespaces has %.80q, which is none: use lower-case letters, digits and hyphens", namespace)
		}
	}
	return nil
}

// rightsNamespaced are what an agent with Roles only uses: its own resources and settings, and any objects in the namespaces that it
// deploys to.
func (o *Options) rightsNamespaced() []object {
	rule := func(group string, verbs []any, resources ...any) object {
		return object{"apiGroups": []any{group}, "resources": resources, "verbs": verbs}
	}
	work := []any{"get", "list", "watch", "create", "update", "patch", "delete"}
	all := o.role(name, o.Namespace, []any{
		rule("argoproj.io", work, "applications", "applications/status", "applicationsets", "appprojects"),
		rule("", work, "configmaps", "secrets"),
		rule("", []any{"get", "list"}, "events"),
		rule("coordination.k8s.io", work, "leases"),
		rule("apps", []any{"get", "list"}, "deployments", "statefulsets"),
	})
	for _, namespace := range o.Namespaces {
		all = append(all, o.role(name+"-deploy", namespace, []any{rule("*", work, "*")})...)
	}
	if len(o.Namespaces) > 0 {
		all = append(all, o.ownCluster())
	}
	return all
}

// role is a Role in a namespace, and its binding to the agent.
func (o *Options) role(called, namespace string, rules []any) []object {
	const group, version = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
	in := Options{}
	in.Namespace = namespace
	return []object{
		in.named(version, "Role", called, object{"rules": rules}),
		in.named(version, "RoleBinding", called, object{
			"roleRef":  object{"apiGroup": group, "kind": "Role", "name": called},
			"subjects": []any{object{"kind": "ServiceAccount", "name": name, "namespace": o.Namespace}},
		}),
	}
}

// ownCluster makes the agent's own cluster a destination, in these namespaces. It holds no credentials: the agent's account is used.
func (o *Options) ownCluster() object {
	out := o.named("v1", "Secret", "in-cluster", object{"type": "Opaque", "stringData": object{
		"name": "in-cluster", "server": "https://kubernetes.default.svc", "namespaces": strings.Join(o.Namespaces, ","),
	}})
	marks := labels()
	marks["argocd.argoproj.io/secret-type"] = "cluster"
	out["metadata"].(object)["labels"] = marks
	return out
}
