package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// ApplicationRoutes tell of applications, and have their agents act on them.
type ApplicationRoutes struct {
	*Clusters
	AgentList   Entities[api.Agent]
	Deployments Deployments
}

// Routes are its rows of the table.
func (h *ApplicationRoutes) Routes() []Route {
	return slices.Concat(h.applicationRoutes(), h.operationRoutes(), h.resourceRoutes())
}

type applicationList struct {
	ItemList
	Namespace   string   `query:"namespace" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Sync        []string `query:"sync,explode" maxItems:"5" enum:"Synced,OutOfSync,Unknown" doc:"Only those with one of these sync statuses"`
	Health      []string `query:"health,explode" maxItems:"8" enum:"Healthy,Progressing,Degraded,Suspended,Missing,Unknown" doc:"Only those with one of these health statuses"`
	RepoURL     string   `query:"repoURL" maxLength:"2000" doc:"Only those with a source in this repository"`
	Destination string   `query:"destination" maxLength:"500" doc:"Only those that deploy to this cluster, by name or address"`
	Service     string   `query:"service" maxLength:"210" doc:"Only those that run this service" example:"org.acme.checkout"`
	Environment string   `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
}

func (in *applicationList) filter() (api.ApplicationFilter, error) {
	items, err := in.ItemList.filter()
	return api.ApplicationFilter{
		ItemFilter: items, Sync: in.Sync, Health: in.Health, Namespace: in.Namespace, RepoURL: in.RepoURL, Destination: in.Destination,
		Service: in.Service, Environment: in.Environment,
	}, err
}

type applicationOutput struct{ Body api.ApplicationDetail }

func (h *ApplicationRoutes) applicationRoutes() []Route {
	list := Route{
		Method: http.MethodGet, Path: "/api/v1/applications", Permission: api.PermApplicationView, Access: Listed,
		ID: "list-applications", Summary: "List applications of all agents, from the server's copy", Tag: "applications",
	}
	list.mount = mount(handler[applicationList, pageOutput[api.Application]]{
		do: func(ctx context.Context, c *call, in *applicationList) (*pageOutput[api.Application], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Items.ListApplications(ctx, c.visible, filter)
			return pageOf(page), err
		},
	})
	get := Route{
		Method: http.MethodGet, Path: applicationPath, Permission: api.PermApplicationView,
		ID: "get-application", Summary: "Get an application with the whole resource, from the server's copy", Tag: "applications",
	}
	get.mount = mount(handler[ItemInput, applicationOutput]{
		find: func(ctx context.Context, _ *call, in *ItemInput) (target, error) { return h.findApplication(ctx, *in) },
		do: func(ctx context.Context, c *call, in *ItemInput) (*applicationOutput, error) {
			app, _ := c.before.(*api.ApplicationDetail)
			out := *app
			agent, err := h.AgentList.Get(ctx, in.Agent)
			out.Unsupported = agent.Status.Unsupported
			return &applicationOutput{out}, err
		},
	})
	return slices.Concat([]Route{list, get, h.whyRoute(), h.revisionStatusRoute(), h.planRoute(), h.timelineRoute(), h.historyRoute()}, h.revisionRoutes(), h.applicationAnswers())
}

// applicationRoute reads something of one application.
func (h *ApplicationRoutes) applicationRoute(path, id, summary string) Route {
	return Route{Method: http.MethodGet, Path: applicationPath + path, Permission: api.PermApplicationView, ID: id, Summary: summary, Tag: "applications"}
}

type diffInput struct {
	ItemInput
	Revision string `query:"revision" maxLength:"253" doc:"Commit, tag or branch to compare with, instead of the target revision"`
	Drift    bool   `query:"drift" doc:"Compare with what was deployed last"`
	Ignored  bool   `query:"ignored" doc:"List also differences that do not count"`
	Cursor   string `query:"cursor" maxLength:"1200" doc:"nextCursor of the answer before: the objects that follow"`
}

type manifestsInput struct {
	ItemInput
	Revision string `query:"revision" maxLength:"253" doc:"Commit, tag or branch to render, instead of the target revision"`
	Live     bool   `query:"live" doc:"What is in the cluster, in place of what is wanted"`
	Cursor   string `query:"cursor" maxLength:"1200" doc:"nextCursor of the answer before: the objects that follow"`
}

type diffOutput struct{ Body api.DiffAnswer }

type treeOutput struct{ Body api.TreeAnswer }

type manifestsOutput struct{ Body api.ManifestsAnswer }

// applicationAnswers are what the agent is asked about an application.
func (h *ApplicationRoutes) applicationAnswers() []Route {
	route := func(path, id, summary string) Route {
		return Route{Method: http.MethodGet, Path: applicationPath + path, Permission: api.PermApplicationView, ID: id, Summary: summary, Tag: "applications"}
	}
	diff := route("/diff", "diff-application", "What a sync would change, and who has changed it")
	diff.mount = mount(handler[diffInput, diffOutput]{
		find: func(ctx context.Context, _ *call, in *diffInput) (target, error) {
			return h.findApplication(ctx, in.ItemInput)
		},
		do: func(ctx context.Context, c *call, in *diffInput) (*diffOutput, error) {
			var out diffOutput
			o := in.order("application.diff", api.DiffRequest{Revision: in.Revision, Drift: in.Drift, Ignored: in.Ignored, Cursor: in.Cursor})
			return &out, h.ask(ctx, c, o, &out.Body)
		},
	})
	tree := route("/tree", "application-tree", "The objects of an application and what they own, with health")
	tree.mount = mount(handler[ItemInput, treeOutput]{
		find: func(ctx context.Context, _ *call, in *ItemInput) (target, error) { return h.findApplication(ctx, *in) },
		do: func(ctx context.Context, c *call, in *ItemInput) (*treeOutput, error) {
			var out treeOutput
			return &out, h.ask(ctx, c, in.order("application.tree", nil), &out.Body)
		},
	})
	manifests := route("/manifests", "application-manifests", "The objects of an application as rendered or live, secrets masked")
	manifests.mount = mount(handler[manifestsInput, manifestsOutput]{
		find: func(ctx context.Context, _ *call, in *manifestsInput) (target, error) {
			return h.findApplication(ctx, in.ItemInput)
		},
		do: func(ctx context.Context, c *call, in *manifestsInput) (*manifestsOutput, error) {
			var out manifestsOutput
			o := in.order("application.manifests", api.ManifestsRequest{Live: in.Live, Revision: in.Revision, Cursor: in.Cursor})
			return &out, h.ask(ctx, c, o, &out.Body)
		},
	})
	return []Route{diff, tree, manifests}
}
