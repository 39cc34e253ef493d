package account

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

func builtIn(what, id string) error {
	return api.Errorf(api.CodeForbidden, "%s %s comes with the server and cannot be changed: make one of your own", what, id)
}

func (h *RightRoutes) roles() *core.Noun[api.Role, *api.Role] {
	return &core.Noun[api.Role, *api.Role]{
		Store: h.Roles, Kind: api.TypeRole, Many: "roles", Called: "role",
		Example: `{"name":"deployer","scope":"org.acme","permissions":["application_view","application_sync"]}`,
		Check: func(_ context.Context, c *core.Call, before, after *api.Role) error {
			if before != nil && before.BuiltIn {
				return builtIn("role", before.ID)
			}
			if after == nil {
				return nil
			}
			after.BuiltIn = false
			if _, err := rbac.Expand(after.Permissions); err != nil {
				return &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.permissions"}
			}
			return core.Allow(c.Policy.MayDefine(c.Who.Subject, *after))
		},
	}
}

func (h *RightRoutes) resourceGroups() *core.Noun[api.ResourceGroup, *api.ResourceGroup] {
	return &core.Noun[api.ResourceGroup, *api.ResourceGroup]{
		Store: h.ResourceGroups, Kind: api.TypeResourceGroup, Many: "resource-groups", Called: "resource group",
		Example: `{"name":"shop-apps","scope":"org.acme","types":["application"],"selectors":["team=shop"]}`,
		Check: func(_ context.Context, c *core.Call, before, after *api.ResourceGroup) error {
			if before != nil && before.BuiltIn {
				return builtIn("resource group", before.ID)
			}
			if after == nil {
				return nil
			}
			after.BuiltIn = false
			return core.Allow(c.Policy.MayGather(c.Who.Subject, *after))
		},
	}
}

func (h *RightRoutes) bindings() *core.Noun[api.Binding, *api.Binding] {
	return &core.Noun[api.Binding, *api.Binding]{
		Store: h.Bindings, Kind: api.TypeBinding, Many: "bindings", Called: "binding",
		Example: `{"name":"developers","scope":"org.acme","principal":{"type":"group","id":"org.acme.developers"},"role":"account.developer"}`,
		Check: func(ctx context.Context, c *core.Call, before, after *api.Binding) error {
			if after != nil {
				if err := core.Allow(c.Policy.MayBind(c.Who.Subject, *after)); err != nil || before == nil {
					return err
				}
				if after.Principal == before.Principal && after.Role == before.Role &&
					(after.ResourceGroup == before.ResourceGroup || after.ResourceGroup == "" && before.ResourceGroup == api.AllResources) {
					return nil
				}
			}
			if err := core.Allow(c.Policy.MayUnbind(c.Who.Subject, *before)); err != nil {
				return err
			}
			return h.People.keepAdministrator(ctx, c, loss{binding: before.ID})
		},
	}
}
