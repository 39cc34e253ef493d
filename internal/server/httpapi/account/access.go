package account

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// AccessRoutes are the routes of permissions.
type AccessRoutes struct {
	Policies core.Policies
	Find     core.Finder
	// Bounds is what an answer adds where a permission reaches less far than its rule says; "" for nothing.
	Bounds func(ctx context.Context, c *core.Call, s rbac.Subject, want api.Permission, object rbac.Object) (string, error)
}

type accessInput struct{ Body api.AccessQuestion }

type accessOutput struct{ Body api.AccessAnswer }

// Routes are its rows of the table.
func (h *AccessRoutes) Routes() []core.Route {
	can := core.Route{
		Method: http.MethodPost, Path: "/api/v1/access/can", Access: core.SignedIn, Within: true, ID: "access-can", Tag: "access",
		Summary: "Check whether a principal may do something, and why; for others, it requires binding_view",
		Example: `{"permission":"application_sync","scope":"org.acme"}`,
		Mount:   core.Mount(core.Answer[accessInput, accessOutput]{Do: h.can}),
	}
	type out struct {
		Body struct {
			Permissions []api.Permission `json:"permissions" doc:"All permissions"`
		}
	}
	list := core.Route{
		Method: http.MethodGet, Path: "/api/v1/access/permissions", Access: core.SignedIn, Within: true, ID: "list-permissions", Tag: "access",
		Summary: "List all permissions",
		Mount: core.Mount(core.Answer[core.Empty, out]{Do: func(context.Context, *core.Call, *core.Empty) (*out, error) {
			var o out
			o.Body.Permissions = api.Permissions()
			return &o, nil
		}}),
	}
	return []core.Route{can, list}
}

func (h *AccessRoutes) can(ctx context.Context, c *core.Call, in *accessInput) (*accessOutput, error) {
	want := api.Permission(in.Body.Permission)
	if !want.Known() {
		return nil, &api.Error{
			Code:    api.CodeInvalid,
			Message: "there is no permission " + string(want) + ": GET /api/v1/access/permissions lists them", Field: "body.permission",
		}
	}
	object, err := h.objectOf(ctx, c, want, in.Body)
	if err != nil {
		return nil, err
	}
	subject := c.Who.Subject
	if asked := in.Body.Principal; asked != (api.Principal{}) && asked != c.Who.Principal {
		if err := c.May(api.PermBindingView,
			core.Target{Object: rbac.Object{Type: api.TypeBinding, Scope: object.Scope, Asserted: true}}); err != nil {
			return nil, err
		}
		groups, err := h.Policies.GroupsOf(ctx, asked)
		if err != nil {
			return nil, err
		}
		subject = subjectOf(asked, groups)
	}
	answer := c.Policy.Can(subject, want, object)
	if answer.Allowed {
		limits, err := h.Bounds(ctx, c, subject, want, object)
		if err != nil {
			return nil, err
		}
		answer.Allowed = limits == "" || want != api.PermArgoProjectDelete
		answer.Why += limits
	}
	return &accessOutput{api.AccessAnswer{Allowed: answer.Allowed, Why: answer.Why}}, nil
}

// objectOf is what is asked about: something that there is, or anything at a scope. The caller may not learn of what
// they cannot see.
func (h *AccessRoutes) objectOf(ctx context.Context, c *core.Call, want api.Permission, q api.AccessQuestion) (rbac.Object, error) {
	if q.Object == "" {
		scope, err := api.ParseScope(string(q.Scope))
		if err != nil {
			return rbac.Object{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.scope"}
		}
		return rbac.Object{Type: want.Type(), Scope: scope, Labels: q.Labels}, nil
	}
	t, err := h.Find(ctx, want.Type(), q.Object)
	if err != nil {
		return rbac.Object{}, err
	}
	view := api.Permission(string(want.Type()) + "_view")
	return t.Object, c.May(view, t)
}
