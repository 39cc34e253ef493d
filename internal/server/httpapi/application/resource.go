package application

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// ResourceInput names an object of an application. Its fields are parameters: the decoder sees only what is exported.
type ResourceInput struct {
	item.Input
	Group     string `query:"group" maxLength:"253" doc:"API group of the object; empty for core kinds" example:"apps"`
	Version   string `query:"version" maxLength:"63" doc:"API version of the object" example:"v1"`
	Kind      string `query:"kind" required:"true" maxLength:"253" doc:"Kind of the object" example:"Deployment"`
	ResourceN string `query:"resourceNamespace" maxLength:"63" doc:"Namespace of the object" example:"shop"`
	Resource  string `query:"resourceName" required:"true" maxLength:"253" doc:"Name of the object" example:"web"`
}

func (in *ResourceInput) ref() api.ResourceRef {
	return api.ResourceRef{Group: in.Group, Version: in.Version, Kind: in.Kind, Namespace: in.ResourceN, Name: in.Resource}
}

type resourceQuery struct {
	Resource api.ResourceRef `json:"resource"`
}

// resourceAnswer is a route that asks the agent about one object of an application.
func resourceAnswer[T any](h *Routes, path, id, summary, kind string) core.Route {
	r := h.applicationRoute("/resource"+path, id, summary)
	r.Tag = "resources"
	return asked[T](r, h.Clusters, item.Application[ResourceInput](h.Clusters),
		func(in *ResourceInput) item.Order { return in.Order(kind, resourceQuery{in.ref()}) })
}

type linksInput struct {
	item.Input
	Group     string `query:"group" maxLength:"253" doc:"API group of the object; empty for core kinds" example:"apps"`
	Version   string `query:"version" maxLength:"63" doc:"API version of the object" example:"v1"`
	Kind      string `query:"kind" maxLength:"253" doc:"Kind of the object; without one it is about the application" example:"Deployment"`
	ResourceN string `query:"resourceNamespace" maxLength:"63" doc:"Namespace of the object" example:"shop"`
	Resource  string `query:"resourceName" maxLength:"253" doc:"Name of the object" example:"web"`
}

// linksRoute asks for the links of an application, or of one of its objects.
func (h *Routes) linksRoute() core.Route {
	links := h.applicationRoute("/links", "application-links",
		"The links that the settings of its cluster give to an application, or to one of its objects")
	return asked[api.Links](links, h.Clusters, item.Application[linksInput](h.Clusters), func(in *linksInput) item.Order {
		var req api.LinksRequest
		if in.Kind != "" {
			req.Resource = &api.ResourceRef{Group: in.Group, Version: in.Version, Kind: in.Kind, Namespace: in.ResourceN, Name: in.Resource}
		}
		return in.Order(string(agentapi.KindLinks), req)
	})
}

type resourceDelete struct {
	ResourceInput
	item.WaitInput
	core.TryInput
	Force  bool   `query:"force" doc:"Delete immediately, without a grace period"`
	Orphan bool   `query:"orphan" doc:"Leave the objects that it owns"`
	Reason string `query:"reason" maxLength:"1000" doc:"Reason"`
}

func (h *Routes) resourceRoutes() []core.Route {
	remove := core.Route{
		Method: http.MethodDelete, Path: item.ApplicationPath + "/resource", Permission: api.PermApplicationEdit, Audit: "resource.delete",
		ID: "delete-resource", Summary: "Delete an object of an application", Tag: "resources",
	}
	remove.Mount = core.Mount(core.Answer[resourceDelete, item.CommandOutput]{
		Find: item.Application[resourceDelete](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *resourceDelete) (*item.CommandOutput, error) {
			c.Before = nil
			o := in.Order("resource.delete", api.ResourceDelete{Resource: in.ref(), Force: in.Force, Orphan: in.Orphan, DryRun: in.DryRun})
			o.Reason = in.Reason
			return h.Command(ctx, c, in.WaitInput, o)
		},
	})
	patch := operation(h, "resource", "patch-resource", "Patch an object of an application",
		`{"resource":{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"},"type":"merge","patch":{"spec":{"replicas":3}}}`,
		api.PermApplicationEdit, func(r *api.ResourcePatch) string { return r.Reason })
	patch.Method, patch.Audit, patch.Tag = http.MethodPatch, "resource.patch", "resources"
	patch.Mount = commanded(h, "resource.patch", func(r *api.ResourcePatch) string { return r.Reason })
	action := patch
	action.Method, action.Path = http.MethodPost, item.ApplicationPath+"/resource/actions"
	action.Permission, action.Audit = api.PermApplicationResourceAction, "resource.action"
	action.ID, action.Summary = "run-action", "Run an action of an object, such as restart"
	action.Example = `{"resource":{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"},"action":"restart"}`
	action.Mount = commanded(h, "resource.action", func(r *api.ResourceAction) string { return r.Reason })
	return []core.Route{
		h.linksRoute(),
		resourceAnswer[api.ResourceState](h, "", "get-resource",
			"An object of an application, live and as rendered, secrets masked", "resource.get"),
		resourceAnswer[api.ResourceActions](h, "/actions", "list-actions", "The actions that an object offers", "resource.actions"),
		resourceAnswer[api.ResourceEvents](h, "/events", "resource-events", "The Events of Kubernetes about an object", "resource.events"),
		patch, action, remove,
	}
}
