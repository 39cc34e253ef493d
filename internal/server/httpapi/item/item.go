package item

import (
	"context"
	"net/http"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Clusters is what is in the clusters: the server's copy of it, and the agents that are asked.
type Clusters struct {
	Items    Items
	Commands Commands
	Events   core.Events
}

// AgentInput names an agent. Its fields are parameters: the decoder sees only what is exported.
type AgentInput struct {
	Agent string `path:"agent" maxLength:"210" doc:"Id of the agent" example:"account.prod"`
}

// Input names an item of an agent. Its fields are parameters: the decoder sees only what is exported.
type Input struct {
	AgentInput
	Namespace string `path:"namespace" maxLength:"63" doc:"Namespace in the agent's cluster" example:"argocd"`
	Name      string `path:"name" maxLength:"253" doc:"Name in the agent's cluster" example:"shop"`
}

// At names an item.
func At(agent, namespace, name string) Input {
	return Input{AgentInput{agent}, namespace, name}
}

// TypeOf is what rights call a kind of item.
func TypeOf(kind string) string {
	switch kind {
	case api.KindRepoCreds:
		return api.TypeRepository
	case api.KindCertificate:
		return api.TypeCert
	case api.KindInstances:
		return api.TypeApplication
	}
	return kind
}

// FindItem finds an item in the server's copy.
func (h *Clusters) FindItem(ctx context.Context, kind, agent, namespace, name string) (core.Target, error) {
	id := api.ItemID(agent, namespace, name)
	object := rbac.Object{Type: TypeOf(kind), ID: id}
	if kind == api.KindApplication {
		app, err := h.Items.GetApplication(ctx, agent, namespace, name)
		if err != nil {
			return core.Target{}, core.Missing(err, TypeOf(kind), id)
		}
		object.Scope, object.Labels = app.Scope, app.Labels
		return core.Target{Object: object, Value: &app, There: app.ArgoProject}, nil
	}
	item, err := h.Items.GetItem(ctx, kind, agent, namespace, name)
	if err != nil {
		return core.Target{}, core.Missing(err, TypeOf(kind), id)
	}
	object.Scope, object.Labels = item.Scope, item.Labels
	return core.Target{Object: object, Value: &item, There: item.ArgoProject}, nil
}

// FreshItem is an item that is to be made, as an object that rights are asked for: it belongs where its Argo project is
// mapped to, else to its agent's scope.
func (h *Clusters) FreshItem(ctx context.Context, kind, agent, namespace, name, argoProject string,
	labels map[string]string,
) (core.Target, error) {
	scope, err := h.Items.ItemScope(ctx, agent, argoProject)
	if err != nil {
		return core.Target{}, core.Missing(err, "agent", agent)
	}
	return core.Target{Object: rbac.Object{
		Type: TypeOf(kind), Scope: scope, ID: api.ItemID(agent, namespace, name), Labels: labels, Asserted: true,
	}}, nil
}

// List says which items are wanted. Its fields are parameters: the decoder sees only what is exported.
type List struct {
	core.ListInput
	Agent       string `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	ArgoProject string `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project" example:"default"`
	Stale       bool   `query:"stale" doc:"Only those whose copy may be out of date: the agent is away, or no longer reports them"`
}

// Filter is it as a filter of items.
func (in *List) Filter() (api.ItemFilter, error) {
	options, err := in.Options()
	return api.ItemFilter{ListOptions: options, Agent: in.Agent, ArgoProject: in.ArgoProject, Stale: in.Stale}, err
}

// CheckReferences refuses to delete what applications use.
func (h *Clusters) CheckReferences(ctx context.Context, item *api.Item, force bool) error {
	if force {
		return nil
	}
	refs, err := h.Items.ItemReferences(ctx, *item)
	if err != nil || len(refs) == 0 {
		return err
	}
	return &api.Error{
		Code: api.CodeConflict, References: refs,
		Message: item.Kind + " " + item.Name + " is in use: change what refers to it, or force its deletion",
	}
}

// Above is an item for users with rights to its agent: at the agent's scope, whatever project or labels it has.
func (h *Clusters) Above(ctx context.Context, kind string, in Input) (core.Target, error) {
	return h.FreshItem(ctx, kind, in.Agent, in.Namespace, in.Name, "", nil)
}

// FindApplication finds an application in the server's copy.
func (h *Clusters) FindApplication(ctx context.Context, in Input) (core.Target, error) {
	return h.FindItem(ctx, api.KindApplication, in.Agent, in.Namespace, in.Name)
}

// Application makes the Find of answers about the application that an input names.
func Application[I any, P interface {
	*I
	named() Input
}](h *Clusters) func(context.Context, *core.Call, *I) (core.Target, error) {
	return func(ctx context.Context, _ *core.Call, in *I) (core.Target, error) {
		return h.FindApplication(ctx, P(in).named())
	}
}

func (in *Input) named() Input { return *in }

// Order is a command about the application of a path.
func (in *Input) Order(kind string, body any) Order {
	return Order{Agent: in.Agent, Kind: kind, TargetKind: api.KindApplication, Namespace: in.Namespace, Name: in.Name, Body: body}
}

// ResourceOf is the resource of an item that was found.
func ResourceOf(t core.Target) any {
	switch v := t.Value.(type) {
	case *api.ApplicationDetail:
		return v.Resource
	case *api.Item:
		return v.Resource
	}
	return nil
}

// ObjectDelete names an item that is to go, and says how.
type ObjectDelete struct {
	Input
	WaitInput
	core.TryInput
	Cascade     bool   `query:"cascade" doc:"Also delete its objects"`
	Propagation string `query:"propagation" enum:"foreground,background" doc:"Mode: foreground waits until all objects are gone"`
	Version     string `query:"version" maxLength:"64" doc:"resourceVersion to delete; 409 if it has changed"`
	Force       bool   `query:"force" doc:"Delete it although applications refer to it"`
	Forget      bool   `query:"forget" doc:"Only delete the server's copy of an item that the agent no longer reports"`
	Reason      string `query:"reason" maxLength:"1000" doc:"Reason"`
}

// ItemReads are list and get of a kind.
func (h *Clusters) ItemReads(kind, many, name, called string) []core.Route {
	view := api.Permission(string(TypeOf(kind)) + "_view")
	list := core.Route{
		Method: http.MethodGet, Path: "/api/v1/" + many, Permission: view, Access: core.Listed,
		ID: "list-" + many, Summary: "List " + strings.ReplaceAll(many, "-", " ") + " of all agents, from the server's copy", Tag: many,
	}
	list.Mount = core.Mount(core.Answer[List, core.PageOutput[api.Item]]{
		Do: func(ctx context.Context, c *core.Call, in *List) (*core.PageOutput[api.Item], error) {
			filter, err := in.Filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Items.ListItems(ctx, kind, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	get := core.Route{
		Method: http.MethodGet, Path: "/api/v1/agents/{agent}/" + many + "/{namespace}/{name}", Permission: view,
		ID: "get-" + name, Summary: "Get " + core.Article(called) + " from the server's copy, without secrets", Tag: many,
	}
	type out struct{ Body api.Item }
	get.Mount = core.Mount(core.Answer[Input, out]{
		Find: func(ctx context.Context, _ *core.Call, in *Input) (core.Target, error) {
			return h.FindItem(ctx, kind, in.Agent, in.Namespace, in.Name)
		},
		Do: func(_ context.Context, c *core.Call, _ *Input) (*out, error) {
			item, _ := c.Before.(*api.Item)
			return &out{*item}, nil
		},
	})
	return []core.Route{list, get}
}

// ApplicationPath is where an application is.
const ApplicationPath = "/api/v1/agents/{agent}/applications/{namespace}/{name}"
