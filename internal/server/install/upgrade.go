package install

// upgradeRole is the Role by which the agent changes its own image.
const upgradeRole = name + "-upgrade"

// upgrades are the rights by which the agent changes the image of its own Deployment, notes that, and starts the Job that puts the
// image before back. Names cannot bound create, so it has a rule of its own.
func (o *Options) upgrades() []object {
	const group, version = "rbac.authorization.k8s.io", "rbac.authorization.k8s.io/v1"
	return []object{
		o.named(version, "Role", upgradeRole, object{"rules": []any{
			rule("apps", []any{"deployments"}, []any{name}, "get", "patch"),
			rule("", []any{"configmaps"}, []any{upgradeRole}, "get", "update"),
			rule("", []any{"configmaps"}, nil, "create"),
			rule("batch", []any{"jobs"}, []any{upgradeRole}, "delete"),
			rule("batch", []any{"jobs"}, nil, "create"),
			// Its own pod says which image it runs.
			rule("", []any{"pods"}, nil, "get"),
		}}),
		o.named(version, "RoleBinding", upgradeRole, object{
			"roleRef":  object{"apiGroup": group, "kind": "Role", "name": upgradeRole},
			"subjects": []any{object{"kind": "ServiceAccount", "name": name, "namespace": o.Namespace}},
		}),
	}
}
