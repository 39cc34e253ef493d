package account

import (
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// RightRoutes are the routes of scopes and permissions.
type RightRoutes struct {
	Organizations  core.Entities[api.Organization]
	Projects       core.Entities[api.Project]
	Roles          core.Entities[api.Role]
	ResourceGroups core.Entities[api.ResourceGroup]
	Bindings       core.Entities[api.Binding]
	People         *People
}

// Routes are its rows of the table.
func (h *RightRoutes) Routes() []core.Route {
	return slices.Concat(
		h.organizations().Routes(), h.projects().Routes(), h.roles().Routes(), h.resourceGroups().Routes(), h.bindings().Routes(),
	)
}

func (h *RightRoutes) organizations() *core.Noun[api.Organization, *api.Organization] {
	return &core.Noun[api.Organization, *api.Organization]{
		Store: h.Organizations, Kind: api.TypeOrganization, Many: "organizations", Called: "organization",
		Example: `{"name":"acme","displayName":"Acme Inc."}`,
		Identify: func(o *api.Organization) (api.Scope, error) {
			own := api.OrgScope(o.Name)
			if o.Scope != api.ScopeAccount && o.Scope != own {
				return "", &api.Error{
					Code: api.CodeInvalid, Message: "an organization is at its own scope, " + string(own) + ": leave scope out", Field: "body.scope",
				}
			}
			o.ID, o.Scope = o.Name, own
			return api.ScopeAccount, nil
		},
	}
}

func (h *RightRoutes) projects() *core.Noun[api.Project, *api.Project] {
	return &core.Noun[api.Project, *api.Project]{
		Store: h.Projects, Kind: api.TypeProject, Many: "projects", Called: "project",
		Example: `{"name":"shop","organization":"acme"}`,
		Identify: func(p *api.Project) (api.Scope, error) {
			if err := api.CheckName(p.Organization); err != nil {
				return "", &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.organization"}
			}
			above, own := api.OrgScope(p.Organization), api.ProjectScope(p.Organization, p.Name)
			if p.Scope != api.ScopeAccount && p.Scope != above && p.Scope != own {
				return "", &api.Error{
					Code: api.CodeInvalid, Message: "a project is at its own scope, " + string(own) + ": leave scope out", Field: "body.scope",
				}
			}
			p.ID, p.Scope = api.ProjectID(p.Organization, p.Name), own
			return above, nil
		},
	}
}
