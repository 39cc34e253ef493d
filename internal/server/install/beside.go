package install

import "github.com/slipway-gitops/slipway/api"

// beside reports whether the agent works with an Argo CD that is there already.
func (o *Options) beside() bool { return o.Engine == api.EngineArgoCD }

// rightsBeside are those of an agent beside Argo CD: it reads and writes Argo CD's resources and settings and its own
// objects, in its namespace, and reads what Applications have in its cluster; Secrets there it does not.
func (o *Options) rightsBeside() []object {
	const group, version = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
	subjects := []any{object{"kind": "ServiceAccount", "name": name, "namespace": o.Namespace}}
	bind := func(kind, role string) object {
		return object{"roleRef": object{"apiGroup": group, "kind": kind, "name": role}, "subjects": subjects}
	}
	out := []object{
		o.named(version, "Role", name, object{"rules": besideRules()}),
		o.named(version, "RoleBinding", name, bind("Role", name)),
	}
	if o.Namespaced {
		return append(out, o.named(version, "RoleBinding", name+"-view", bind("ClusterRole", "view")))
	}
	// Two agents of one cluster must not share what belongs to the cluster.
	cluster := func(kind, called string, more object) object {
		obj := o.named(version, kind, called, more)
		obj["metadata"] = object{"name": called, "labels": labels()}
		return obj
	}
	called := name + "-" + o.Namespace
	return append(out,
		cluster("ClusterRole", called, object{"rules": []any{
			// Which kinds there are, to find owners; its uid distinguishes clusters.
			rule("apiextensions.k8s.io", []any{"customresourcedefinitions"}, nil, "get", "list", "watch"),
			rule("", []any{"namespaces"}, []any{"kube-system"}, "get"),
		}}),
		cluster("ClusterRoleBinding", called, bind("ClusterRole", called)),
		cluster("ClusterRoleBinding", called+"-view", bind("ClusterRole", "view")),
	)
}

// besideRules are the rules of the Role in Argo CD's namespace. Names cannot bound create, so it has rules of its own.
func besideRules() []any {
	settings := []any{
		"argocd-cm", "argocd-cmd-params-cm", "argocd-gpg-keys-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm",
		"slipway-agent-journal", "slipway-agent-policy", "slipway-allowed-signers", "slipway-artifact-keys", "slipway-trust-stores",
	}
	written := []any{"argocd-gpg-keys-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm", "slipway-agent-journal"}
	return []any{
		rule("argoproj.io", []any{"applications", "applicationsets", "appprojects"}, nil, "get", "list", "watch", "create",
			"update", "patch", "delete"),
		// Repositories, clusters and their credentials, and the identity of the agent.
		rule("", []any{"secrets"}, nil, "get", "list", "watch", "create", "update", "delete"),
		rule("", []any{"configmaps"}, settings, "get", "list", "watch"),
		rule("", []any{"configmaps"}, written, "update"),
		rule("", []any{"configmaps"}, nil, "create"),
		rule("coordination.k8s.io", []any{"leases"}, []any{name}, "get", "update"),
		rule("coordination.k8s.io", []any{"leases"}, nil, "create"),
	}
}

func rule(group string, resources, names []any, verbs ...any) object {
	out := object{"apiGroups": []any{group}, "resources": resources, "verbs": verbs}
	if names != nil {
		out["resourceNames"] = names
	}
	return out
}
