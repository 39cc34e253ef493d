package fleet

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
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
	Everyone bool   `query:"everyone" doc:"The shared one, even if you have your own of that name"`
}

type viewPut struct {
	NameInput
	core.TryInput
	Body api.View
}

type viewDelete struct {
	NameInput
	core.TryInput
}

type viewOutput struct{ Body api.View }

// viewTarget is a view as rights and the audit name it.
func viewTarget(c *core.Call, name string, everyone bool) (api.Principal, core.Target) {
	owner, id := c.Who.Principal, c.Who.Principal.Type+"/"+c.Who.Principal.ID+"/"+name
	if everyone {
		owner, id = api.Principal{}, name
	}
	return owner, core.Target{Object: rbac.Object{Type: api.TypeSavedView, Scope: rbac.Account, ID: id}}
}

// mayShare takes the right to change what everyone sees; one's own views take none.
func mayShare(c *core.Call, t core.Target, everyone bool) error {
	c.Object = t.Ref()
	if !everyone {
		return nil
	}
	return c.May(api.PermSavedViewEdit, t)
}

// findView finds a view by name: one's own first, unless everyone's is asked for.
func (h *ViewRoutes) findView(ctx context.Context, c *core.Call, name string, everyone bool) (api.View, error) {
	if err := c.Holds(api.PermApplicationView); err != nil {
		return api.View{}, err
	}
	if !everyone {
		v, err := h.Views.GetView(ctx, c.Who.Principal, name)
		if api.CodeOf(err) != api.CodeNotFound {
			return v, err
		}
	}
	v, err := h.Views.GetView(ctx, api.Principal{}, name)
	if api.CodeOf(err) == api.CodeNotFound {
		err = api.Errorf(api.CodeNotFound, "there is no saved filter %q of yours or everyone's: `slipway fleet view list` shows what there is",
			name)
	}
	return v, err
}

// Routes are its rows of the table.
func (h *ViewRoutes) Routes() []core.Route {
	route := func(method, path, audit, id, summary string) core.Route {
		return core.Route{
			Method: method, Path: "/api/v1/fleet/views" + path, Access: core.SignedIn, Audit: audit, ID: id, Summary: summary, Tag: "fleet",
		}
	}
	own := func(r core.Route, want api.Permission) core.Route { r.Own = want; return r }
	list := route(http.MethodGet, "", "", "list-views", "List saved filters: your own, and everyone's")
	type listOutput struct{ Body api.Views }
	list.Mount = core.Mount(core.Answer[struct{}, listOutput]{Do: func(ctx context.Context, c *core.Call, _ *struct{}) (*listOutput, error) {
		views, err := h.Views.ListViews(ctx, c.Who.Principal)
		return &listOutput{api.Views{Items: views}}, err
	}})
	get := route(http.MethodGet, "/{name}", "", "get-view", "Get a saved filter: your own, else everyone's")
	get.Mount = core.Mount(core.Answer[NameInput, viewOutput]{Do: func(ctx context.Context, c *core.Call, in *NameInput) (*viewOutput, error) {
		v, err := h.findView(ctx, c, in.Name, in.Everyone)
		return &viewOutput{v}, err
	}})
	put := route(http.MethodPut, "/{name}", "view.save", "save-view", "Save a filter under a name; a shared one requires savedview_edit")
	put.Example = `{"name":"degraded","filter":{"health":["Degraded"]}}`
	put.Mount = core.Mount(core.Answer[viewPut, viewOutput]{Do: h.saveView})
	remove := route(http.MethodDelete, "/{name}", "view.delete", "delete-view", "Delete a saved filter; a shared one requires savedview_edit")
	remove.Mount = core.Mount(core.Answer[viewDelete, core.NoOutput]{Do: func(ctx context.Context, c *core.Call,
		in *viewDelete,
	) (*core.NoOutput, error) {
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
		c.Before, c.Quiet = was, in.DryRun
		return nil, nil //nolint:nilnil // no content
	}})
	return []core.Route{
		own(list, api.PermApplicationView), own(get, api.PermApplicationView), own(put, api.PermSavedViewEdit),
		own(remove, api.PermSavedViewEdit),
	}
}

func (h *ViewRoutes) saveView(ctx context.Context, c *core.Call, in *viewPut) (*viewOutput, error) {
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
	if err := checkFleet(&v.Filter, c.Now()); err != nil {
		return nil, err
	}
	v.Everyone = v.Everyone || in.Everyone
	owner, t := viewTarget(c, v.Name, v.Everyone)
	if err := mayShare(c, t, v.Everyone); err != nil {
		return nil, err
	}
	if was, err := h.Views.GetView(ctx, owner, v.Name); err == nil {
		c.Before = was
	}
	if in.DryRun {
		c.Quiet = true
		return &viewOutput{v}, nil
	}
	saved, err := h.Views.SaveView(ctx, owner, v)
	if err != nil {
		return nil, err
	}
	c.After = saved
	return &viewOutput{saved}, nil
}
