package httpapi

import (
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// RightRoutes are where things belong, and who may do what with them.
type RightRoutes struct {
	Organizations  Entities[api.Organization]
	Projects       Entities[api.Project]
	Roles          Entities[api.Role]
	ResourceGroups Entities[api.ResourceGroup]
	Bindings       Entities[api.Binding]
	People         *People
}

// Routes are its rows of the table.
func (h *RightRoutes) Routes() []Route {
	return slices.Concat(
		h.organizations().routes(), h.projects().routes(), h.roles().routes(), h.resourceGroups().routes(), h.bindings().routes(),
	)
}

func (h *RightRoutes) organizations() *noun[api.Organization, *api.Organization] {
	return &noun[api.Organization, *api.Organization]{
		store: h.Organizations, kind: api.TypeOrganization, many: "organizations", called: "organization",
		example: `{"name":"acme","displayName":"Acme Inc."}`,
		identify: func(o *api.Organization) (api.Scope, error) {
			own := api.OrgScope(o.Name)
			if o.Scope != api.ScopeAccount && o.Scope != own {
				return "", &api.Error{Code: api.CodeInvalid, Message: "an organization is at its own scope, " + string(own) + ": leave scope out", Field: "body.scope"}
			}
			o.ID, o.Scope = o.Name, own
			return api.ScopeAccount, nil
		},
	}
}

func (h *RightRoutes) projects() *noun[api.Project, *api.Project] {
	return &noun[api.Project, *api.Project]{
		store: h.Projects, kind: api.TypeProject, many: "projects", called: "project",
		example: `{"name":"shop","organization":"acme"}`,
		identify: func(p *api.Project) (api.Scope, error) {
			if err := api.CheckName(p.Organization); err != nil {
				return "", &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.organization"}
			}
			above, own := api.OrgScope(p.Organization), api.ProjectScope(p.Organization, p.Name)
			if p.Scope != api.ScopeAccount && p.Scope != above && p.Scope != own {
				return "", &api.Error{Code: api.CodeInvalid, Message: "a project is at its own scope, " + string(own) + ": leave scope out", Field: "body.scope"}
			}
			p.ID, p.Scope = api.ProjectID(p.Organization, p.Name), own
			return above, nil
		},
	}
}
