package rbac

import "github.com/slipway-gitops/slipway/api"

// BuiltinRoles are the roles that are always there. A stored role of the same id is ignored.
func BuiltinRoles() []Role {
	var views, developer, operator []Permission
	for _, p := range permissions {
		if p.Verb() == "view" && p != api.PermAuditView {
			views = append(views, p)
		}
		if p.Verb() == "view" || !accessControl(p.Type()) {
			operator = append(operator, p)
		}
	}
	developer = append(developer, views...)
	developer = append(developer, api.PermApplicationEdit, api.PermApplicationSync, api.PermApplicationLogs, api.PermApplicationResourceAction)
	role := func(name, title, text string, permissions ...Permission) Role {
		return Role{
			Meta:        api.Meta{ID: Account.ID(name), Name: name, Scope: Account, DisplayName: title, Description: text, Version: 1},
			Permissions: permissions,
			BuiltIn:     true,
		}
	}
	return []Role{
		role("admin", "Administrator", "May do everything.", "*"),
		role("operator", "Operator", "May do everything but change access control and settings.", operator...),
		role("developer", "Developer", "Sees all but the audit; edits and syncs applications, reads logs, runs actions.", developer...),
		role("viewer", "Viewer", "Sees all but the audit.", views...),
		role("auditor", "Auditor", "Sees all, the audit too.", "*_view"),
	}
}

// BuiltinResourceGroups are the resource groups that are always there.
func BuiltinResourceGroups() []ResourceGroup {
	return []ResourceGroup{{
		Meta: api.Meta{
			ID: api.AllResources, Name: "all", Scope: Account, DisplayName: "Everything", Description: "All objects of all types.", Version: 1,
		},
		All:     true,
		BuiltIn: true,
	}}
}

// accessControl says whether things of a type decide who may do what.
func accessControl(t string) bool {
	switch t {
	case api.TypeUser, api.TypeGroup, api.TypeServiceAccount, api.TypeRole, api.TypeResourceGroup, api.TypeBinding,
		api.TypeToken, api.TypeSetting:
		return true
	}
	return false
}
