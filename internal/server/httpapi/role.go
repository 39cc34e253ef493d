package httpapi

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

func builtIn(what, id string) error {
	return api.Errorf(api.CodeForbidden, "%s %s comes with the server and cannot be changed: make one of your own", what, id)
}

func (h *RightRoutes) roles() *noun[api.Role, *api.Role] {
	return &noun[api.Role, *api.Role]{
		store: h.Roles, kind: api.TypeRole, many: "roles", called: "role",
		example: `{"name":"deployer","scope":"org.acme","permissions":["application_view","application_sync"]}`,
		check: func(_ context.Context, c *call, before, after *api.Role) error {
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
			return allow(c.policy.MayDefine(c.who.Subject, *after))
		},
	}
}

func (h *RightRoutes) resourceGroups() *noun[api.ResourceGroup, *api.ResourceGroup] {
	return &noun[api.ResourceGroup, *api.ResourceGroup]{
		store: h.ResourceGroups, kind: api.TypeResourceGroup, many: "resource-groups", called: "resource group",
		example: `{"name":"shop-apps","scope":"org.acme","types":["application"],"selectors":["team=shop"]}`,
		check: func(_ context.Context, c *call, before, after *api.ResourceGroup) error {
			if before != nil && before.BuiltIn {
				return builtIn("resource group", before.ID)
			}
			if after == nil {
				return nil
			}
			after.BuiltIn = false
			return allow(c.policy.MayGather(c.who.Subject, *after))
		},
	}
}

func (h *RightRoutes) bindings() *noun[api.Binding, *api.Binding] {
	return &noun[api.Binding, *api.Binding]{
		store: h.Bindings, kind: api.TypeBinding, many: "bindings", called: "binding",
		example: `{"name":"developers","scope":"org.acme","principal":{"type":"group","id":"org.acme.developers"},"role":"account.developer"}`,
		check: func(ctx context.Context, c *call, before, after *api.Binding) error {
			if after != nil {
				if err := allow(c.policy.MayBind(c.who.Subject, *after)); err != nil || before == nil {
					return err
				}
				if after.Principal == before.Principal && after.Role == before.Role && (after.ResourceGroup == before.ResourceGroup || after.ResourceGroup == "" && before.ResourceGroup == api.AllResources) {
					return nil
				}
			}
			if err := allow(c.policy.MayUnbind(c.who.Subject, *before)); err != nil {
				return err
			}
			return h.People.keepAdministrator(ctx, c, loss{binding: before.ID})
		},
	}
}
