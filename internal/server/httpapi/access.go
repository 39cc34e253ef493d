package httpapi

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// AccessRoutes say who may do what.
type AccessRoutes struct {
	Policies Policies
	Find     Finder
	// Bounds is what an answer adds where a permission reaches less far than its rule says; "" for nothing.
	Bounds func(ctx context.Context, c *call, s rbac.Subject, want api.Permission, object rbac.Object) (string, error)
}

type accessInput struct{ Body api.AccessQuestion }

type accessOutput struct{ Body api.AccessAnswer }

// Routes are its rows of the table.
func (h *AccessRoutes) Routes() []Route {
	can := Route{
		Method: http.MethodPost, Path: "/api/v1/access/can", Access: SignedIn, Within: true, ID: "access-can", Tag: "access",
		Summary: "Whether somebody may do something, and why; about others it takes binding_view",
		Example: `{"permission":"application_sync","scope":"org.acme"}`,
		mount:   mount(handler[accessInput, accessOutput]{do: h.can}),
	}
	type out struct {
		Body struct {
			Permissions []api.Permission `json:"permissions" doc:"All permissions that there are"`
		}
	}
	list := Route{
		Method: http.MethodGet, Path: "/api/v1/access/permissions", Access: SignedIn, Within: true, ID: "list-permissions", Tag: "access",
		Summary: "List all permissions that there are",
		mount: mount(handler[empty, out]{do: func(context.Context, *call, *empty) (*out, error) {
			var o out
			o.Body.Permissions = api.Permissions()
			return &o, nil
		}}),
	}
	return []Route{can, list}
}

func (h *AccessRoutes) can(ctx context.Context, c *call, in *accessInput) (*accessOutput, error) {
	want := api.Permission(in.Body.Permission)
	if !want.Known() {
		return nil, &api.Error{Code: api.CodeInvalid, Message: "there is no permission " + string(want) + ": GET /api/v1/access/permissions lists them", Field: "body.permission"}
	}
	object, err := h.objectOf(ctx, c, want, in.Body)
	if err != nil {
		return nil, err
	}
	subject := c.who.Subject
	if asked := in.Body.Principal; asked != (api.Principal{}) && asked != c.who.Principal {
		if err := c.may(api.PermBindingView, target{object: rbac.Object{Type: api.TypeBinding, Scope: object.Scope, Asserted: true}}); err != nil {
			return nil, err
		}
		groups, err := h.Policies.GroupsOf(ctx, asked)
		if err != nil {
			return nil, err
		}
		subject = subjectOf(asked, groups)
	}
	answer := c.policy.Can(subject, want, object)
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
func (h *AccessRoutes) objectOf(ctx context.Context, c *call, want api.Permission, q api.AccessQuestion) (rbac.Object, error) {
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
	return t.object, c.may(view, t)
}
