package application

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// Routes return applications, and have their agents act on them.
type Routes struct {
	*item.Clusters
	AgentList   core.Entities[api.Agent]
	Deployments Deployments
}

// Routes are its rows of the table.
func (h *Routes) Routes() []core.Route {
	return slices.Concat(h.applicationRoutes(), h.operationRoutes(), h.resourceRoutes())
}

type applicationList struct {
	item.List
	Namespace   string   `query:"namespace" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Sync        []string `query:"sync,explode" maxItems:"5" enum:"Synced,OutOfSync,Unknown" doc:"Only those with one of these sync statuses"`
	Health      []string `query:"health,explode" maxItems:"8" enum:"Healthy,Progressing,Degraded,Suspended,Missing,Unknown" doc:"Only those with one of these health statuses"`
	RepoURL     string   `query:"repoURL" maxLength:"2000" doc:"Only those with a source in this repository"`
	Destination string   `query:"destination" maxLength:"500" doc:"Only those that deploy to this cluster, by name or address"`
	Service     string   `query:"service" maxLength:"210" doc:"Only those that run this service" example:"org.acme.checkout"`
	Environment string   `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
}

func (in *applicationList) filter() (api.ApplicationFilter, error) {
	items, err := in.List.Filter()
	return api.ApplicationFilter{
		ItemFilter: items, Sync: in.Sync, Health: in.Health, Namespace: in.Namespace, RepoURL: in.RepoURL, Destination: in.Destination,
		Service: in.Service, Environment: in.Environment,
	}, err
}

type applicationOutput struct{ Body api.ApplicationDetail }

func (h *Routes) applicationRoutes() []core.Route {
	list := core.Route{
		Method: http.MethodGet, Path: "/api/v1/applications", Permission: api.PermApplicationView, Access: core.Listed,
		ID: "list-applications", Summary: "List applications of all agents, from the server's copy", Tag: "applications",
	}
	list.Mount = core.Mount(core.Answer[applicationList, core.PageOutput[api.Application]]{
		Do: func(ctx context.Context, c *core.Call, in *applicationList) (*core.PageOutput[api.Application], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Items.ListApplications(ctx, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	get := core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath, Permission: api.PermApplicationView,
		ID: "get-application", Summary: "Get an application with the whole resource, from the server's copy", Tag: "applications",
	}
	get.Mount = core.Mount(core.Answer[item.Input, applicationOutput]{
		Find: item.Application[item.Input](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *item.Input) (*applicationOutput, error) {
			app, _ := c.Before.(*api.ApplicationDetail)
			out := *app
			agent, err := h.AgentList.Get(ctx, in.Agent)
			out.Unsupported = agent.Status.Unsupported
			return &applicationOutput{out}, err
		},
	})
	return slices.Concat([]core.Route{list, get, h.whyRoute(), h.revisionStatusRoute(), h.planRoute(), h.timelineRoute(), h.historyRoute()},
		h.revisionRoutes(), h.applicationAnswers())
}

// applicationRoute reads something of one application.
func (h *Routes) applicationRoute(path, id, summary string) core.Route {
	return core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath + path, Permission: api.PermApplicationView, ID: id,
		Summary: summary, Tag: "applications",
	}
}

type diffInput struct {
	item.Input
	Revision string `query:"revision" maxLength:"253" doc:"Commit, tag or branch to compare with, instead of the target revision"`
	Drift    bool   `query:"drift" doc:"Compare with the last deployment"`
	Ignored  bool   `query:"ignored" doc:"Also list ignored differences"`
	Cursor   string `query:"cursor" maxLength:"1200" doc:"nextCursor of the previous response, for the next objects"`
}

type manifestsInput struct {
	item.Input
	Revision string `query:"revision" maxLength:"253" doc:"Commit, tag or branch to render, instead of the target revision"`
	Live     bool   `query:"live" doc:"Live objects instead of desired ones"`
	Cursor   string `query:"cursor" maxLength:"1200" doc:"nextCursor of the previous response, for the next objects"`
}

// asked is a route whose answer is that of the agent to an order.
func asked[T, I any](r core.Route, h *item.Clusters, find func(context.Context, *core.Call, *I) (core.Target, error),
	order func(*I) item.Order,
) core.Route {
	type out struct{ Body T }
	r.Mount = core.Mount(core.Answer[I, out]{Find: find, Do: func(ctx context.Context, c *core.Call, in *I) (*out, error) {
		var o out
		return &o, h.Ask(ctx, c, order(in), &o.Body)
	}})
	return r
}

// applicationAnswers are what the agent is asked about an application.
func (h *Routes) applicationAnswers() []core.Route {
	return []core.Route{
		asked[api.DiffAnswer](h.applicationRoute("/diff", "diff-application", "List the changes that a sync would make, with their managers"),
			h.Clusters,
			item.Application[diffInput](h.Clusters), func(in *diffInput) item.Order {
				return in.Order("application.diff", api.DiffRequest{Revision: in.Revision, Drift: in.Drift, Ignored: in.Ignored, Cursor: in.Cursor})
			}),
		asked[api.TreeAnswer](h.applicationRoute("/tree", "application-tree", "The objects of an application and what they own, with health"),
			h.Clusters,
			item.Application[item.Input](h.Clusters), func(in *item.Input) item.Order { return in.Order("application.tree", nil) }),
		asked[api.ManifestsAnswer](h.applicationRoute("/manifests", "application-manifests",
			"The objects of an application as rendered or live, secrets masked"), h.Clusters,
			item.Application[manifestsInput](h.Clusters), func(in *manifestsInput) item.Order {
				return in.Order("application.manifests", api.ManifestsRequest{Live: in.Live, Revision: in.Revision, Cursor: in.Cursor})
			}),
	}
}
