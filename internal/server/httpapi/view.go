package httpapi

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Views keeps filters under names. Those of everyone have no owner.
type Views interface {
	ListViews(ctx context.Context, owner api.Principal) ([]api.View, error)
	GetView(ctx context.Context, owner api.Principal, name string) (api.View, error)
	SaveView(ctx context.Context, owner api.Principal, v api.View) (api.View, error)
	DeleteView(ctx context.Context, owner api.Principal, name string) error
}

// ViewRoutes keep filters.
type ViewRoutes struct{ Views Views }

// NameInput names a view. Its fields are parameters: the decoder sees only what is exported.
type NameInput struct {
	Name     string `path:"name" maxLength:"63" doc:"Name" example:"degraded"`
	Everyone bool   `query:"everyone" doc:"The one of everyone, where there is one of your own with that name too"`
}

type viewPut struct {
	NameInput
	TryInput
	Body api.View
}

type viewDelete struct {
	NameInput
	TryInput
}

type viewOutput struct{ Body api.View }

// viewTarget is a view as rights and the audit name it.
func viewTarget(c *call, name string, everyone bool) (api.Principal, target) {
	owner, id := c.who.Principal, c.who.Principal.Type+"/"+c.who.Principal.ID+"/"+name
	if everyone {
		owner, id = api.Principal{}, name
	}
	return owner, target{object: rbac.Object{Type: api.TypeSavedView, Scope: rbac.Account, ID: id}}
}

// mayShare takes the right to change what everyone sees; one's own views take none.
func mayShare(c *call, t target, everyone bool) error {
	c.object = t.ref()
	if !everyone {
		return nil
	}
	return c.may(api.PermSavedViewEdit, t)
}

// findView finds a view by name: one's own first, unless everyone's is asked for.
func (h *ViewRoutes) findView(ctx context.Context, c *call, name string, everyone bool) (api.View, error) {
	if err := c.holds(api.PermApplicationView); err != nil {
		return api.View{}, err
	}
	if !everyone {
		v, err := h.Views.GetView(ctx, c.who.Principal, name)
		if api.CodeOf(err) != api.CodeNotFound {
			return v, err
		}
	}
	v, err := h.Views.GetView(ctx, api.Principal{}, name)
	if api.CodeOf(err) == api.CodeNotFound {
		err = api.Errorf(api.CodeNotFound, "there is no saved filter %q of yours or everyone's: `slipway fleet view list` shows what there is", name)
	}
	return v, err
}

// Routes are its rows of the table.
func (h *ViewRoutes) Routes() []Route {
	route := func(method, path, audit, id, summary string) Route {
		return Route{Method: method, Path: "/api/v1/fleet/views" + path, Access: SignedIn, Audit: audit, ID: id, Summary: summary, Tag: "fleet"}
	}
	own := func(r Route, want api.Permission) Route { r.Own = want; return r }
	list := route(http.MethodGet, "", "", "list-views", "List saved filters: your own, and everyone's")
	type listOutput struct{ Body api.Views }
	list.mount = mount(handler[struct{}, listOutput]{do: func(ctx context.Context, c *call, _ *struct{}) (*listOutput, error) {
		views, err := h.Views.ListViews(ctx, c.who.Principal)
		return &listOutput{api.Views{Items: views}}, err
	}})
	get := route(http.MethodGet, "/{name}", "", "get-view", "Get a saved filter: your own, else everyone's")
	get.mount = mount(handler[NameInput, viewOutput]{do: func(ctx context.Context, c *call, in *NameInput) (*viewOutput, error) {
		v, err := h.findView(ctx, c, in.Name, in.Everyone)
		return &viewOutput{v}, err
	}})
	put := route(http.MethodPut, "/{name}", "view.save", "save-view", "Save a filter under a name; everyone's takes savedview_edit")
	put.Example = `{"name":"degraded","filter":{"health":["Degraded"]}}`
	put.mount = mount(handler[viewPut, viewOutput]{do: h.saveView})
	remove := route(http.MethodDelete, "/{name}", "view.delete", "delete-view", "Delete a saved filter; everyone's takes savedview_edit")
	remove.mount = mount(handler[viewDelete, noOutput]{do: func(ctx context.Context, c *call, in *viewDelete) (*noOutput, error) {
		owner, t := viewTarget(c, in.Name, in.Everyone)
		if err := mayShare(c, t, in.Everyone); err != nil {
			return nil, err
		}
		was, err := h.Views.GetView(ctx, owner, in.Name)
		if err == nil && !in.DryRun {
			err = h.Views.DeleteView(ctx, owner, in.Name)
		}
		if api.CodeOf(err) == api.CodeNotFound {
			err = api.Errorf(api.CodeNotFound, "there is no view %q of yours: add everyone to delete a view of everyone's", in.Name)
		}
		if err != nil {
			return nil, err
		}
		c.before, c.quiet = was, in.DryRun
		return nil, nil //nolint:nilnil // no content
	}})
	return []Route{
		own(list, api.PermApplicationView), own(get, api.PermApplicationView), own(put, api.PermSavedViewEdit), own(remove, api.PermSavedViewEdit),
	}
}

func (h *ViewRoutes) saveView(ctx context.Context, c *call, in *viewPut) (*viewOutput, error) {
	v := in.Body
	if v.Name == "" {
		v.Name = in.Name
	}
	if v.Name != in.Name {
		return nil, api.Errorf(api.CodeInvalid, "the body is about %s and the path about %s: make them the same", v.Name, in.Name)
	}
	if err := api.CheckName(v.Name); err != nil {
		return nil, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "path.name"}
	}
	if err := checkFleet(&v.Filter, c.now()); err != nil {
		return nil, err
	}
	v.Everyone = v.Everyone || in.Everyone
	owner, t := viewTarget(c, v.Name, v.Everyone)
	if err := mayShare(c, t, v.Everyone); err != nil {
		return nil, err
	}
	if was, err := h.Views.GetView(ctx, owner, v.Name); err == nil {
		c.before = was
	}
	if in.DryRun {
		c.quiet = true
		return &viewOutput{v}, nil
	}
	saved, err := h.Views.SaveView(ctx, owner, v)
	if err != nil {
		return nil, err
	}
	c.after = saved
	return &viewOutput{saved}, nil
}
