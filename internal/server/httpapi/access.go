package httpapi

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

type accessInput struct{ Body api.AccessQuestion }

type accessOutput struct{ Body api.AccessAnswer }

func (h *Handler) accessRoutes() []Route {
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

func (h *Handler) can(ctx context.Context, c *call, in *accessInput) (*accessOutput, error) {
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
		groups, err := h.cfg.Policies.GroupsOf(ctx, asked)
		if err != nil {
			return nil, err
		}
		subject = subjectOf(asked, groups)
	}
	answer := c.policy.Can(subject, want, object)
	if answer.Allowed {
		limits, err := h.bounds(ctx, c, subject, want, object)
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
func (h *Handler) objectOf(ctx context.Context, c *call, want api.Permission, q api.AccessQuestion) (rbac.Object, error) {
	if q.Object == "" {
		scope, err := api.ParseScope(string(q.Scope))
		if err != nil {
			return rbac.Object{}, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.scope"}
		}
		return rbac.Object{Type: want.Type(), Scope: scope, Labels: q.Labels}, nil
	}
	t, err := h.lookup(ctx, want.Type(), q.Object)
	if err != nil {
		return rbac.Object{}, err
	}
	view := api.Permission(string(want.Type()) + "_view")
	return t.object, c.may(view, t)
}

// lookup finds an object by type and id.
func (h *Handler) lookup(ctx context.Context, kind string, id string) (target, error) {
	switch kind {
	case api.TypeUser:
		return h.users().find(ctx, id)
	case api.TypeGroup:
		return h.groups().find(ctx, id)
	case api.TypeServiceAccount:
		return h.serviceAccounts().find(ctx, id)
	case api.TypeOrganization:
		return h.organizations().find(ctx, id)
	case api.TypeProject:
		return h.projects().find(ctx, id)
	case api.TypeRole:
		return h.roles().find(ctx, id)
	case api.TypeResourceGroup:
		return h.resourceGroups().find(ctx, id)
	case api.TypeBinding:
		return h.bindings().find(ctx, id)
	case api.TypeAgent:
		return h.agents().find(ctx, id)
	case api.TypeService:
		return h.services().find(ctx, id)
	case api.TypeEnvironment:
		return h.environments().find(ctx, id)
	case api.TypeToken:
		t, err := h.cfg.Tokens.GetToken(ctx, id)
		return target{object: tokenObject(&t), value: &t}, err
	case api.TypeAudit, api.TypeSetting:
		return target{object: rbac.Object{Type: kind, Scope: api.ScopeAccount, ID: id}}, nil
	}
	agent, namespace, name, err := api.ParseItemID(id)
	if err != nil {
		return target{}, err
	}
	var last error
	for _, k := range kindsOf(kind) {
		t, err := h.findItem(ctx, k, agent, namespace, name)
		if err == nil {
			return t, nil
		}
		last = err
	}
	return target{}, last
}

// kindsOf are the kinds of items that rights call by one type.
func kindsOf(t string) []string {
	switch t {
	case api.TypeRepository:
		return []string{api.KindRepository, api.KindRepoCreds}
	case api.TypeCert:
		return []string{api.KindCertificate}
	}
	return []string{strings.ToLower(string(t))}
}
