package api

// Ids of the built-in roles. They belong to the account and cannot be changed.
const (
	// RoleAdmin may do everything.
	RoleAdmin = "account.admin"
	// RoleOperator may do everything but access control and settings, which it sees.
	RoleOperator = "account.operator"
	// RoleDeveloper sees all but the audit, edits and syncs applications, reads logs and runs actions.
	RoleDeveloper = "account.developer"
	// RoleViewer sees all but the audit.
	RoleViewer = "account.viewer"
	// RoleAuditor sees all, the audit too.
	RoleAuditor = "account.auditor"
)

// AllResources is the id of the built-in resource group that has everything in it.
const AllResources = "account.all"

// Role is a set of permissions, at any scope. It can be bound at its scope and below.
type Role struct {
	Meta
	// Permissions are names, "*" (all), "application_*" (all of a type) and "*_view" (a verb of every type).
	Permissions []Permission `json:"permissions" maxItems:"200" doc:"Permissions: names, * for all, application_* for all of a type, *_view for a verb of every type" example:"[\"application_view\",\"application_sync\"]"`
	BuiltIn     bool         `json:"builtIn,omitempty" readOnly:"true" doc:"Part of the server; cannot be changed"`
}

// ResourceGroup is a set of objects, at any scope: of all types or some, and of these all, the named, or those with labels.
type ResourceGroup struct {
	Meta
	// Types are those of Permission.Type; empty for all.
	Types []string `json:"types,omitempty" maxItems:"32" doc:"Types of the objects; default: all" example:"[\"application\"]"`
	// All, IDs and Selectors exclude each other, and one of them is given.
	All bool     `json:"all,omitempty" doc:"All objects of these types; alternatives: ids, selectors"`
	IDs []string `json:"ids,omitempty" maxItems:"1000" doc:"Ids of the objects" example:"[\"account.prod/argocd/shop\"]"`
	// Selectors are label selectors as Kubernetes writes them; an object belongs to it when one of them matches.
	Selectors []string `json:"selectors,omitempty" maxItems:"100" doc:"Label selectors; an object belongs to the group if one of them matches" example:"[\"team=shop,tier in (web, api)\"]"`
	BuiltIn   bool     `json:"builtIn,omitempty" readOnly:"true" doc:"Part of the server; cannot be changed"`
}

// Binding gives a principal a role for the objects of a resource group, at its scope and below.
type Binding struct {
	Meta
	Principal Principal `json:"principal" doc:"Principal that gets the role"`
	Role      string    `json:"role" maxLength:"210" doc:"Id of the role: a built-in one, or one of this scope or a scope above" example:"account.developer"`
	// ResourceGroup is an id; "" is AllResources.
	ResourceGroup string `json:"resourceGroup,omitempty" maxLength:"210" doc:"Id of the resource group; default: all objects" example:"org.acme.shop-apps"`
}
