package fleet

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Linking knows which applications are of which services and environments.
type Linking interface {
	// ListServiceRows gives the services that the first filter lets through, with their applications that the second does.
	ListServiceRows(ctx context.Context, services, applications rbac.Filter, filter api.ServiceFilter) (api.Page[api.ServiceRow], error)
	ListInstances(context.Context, rbac.Filter, api.InstanceFilter) (api.Page[api.Instances], error)
	// GetLink is about an application that need not be there, as long as it has a manual link.
	GetLink(ctx context.Context, agent, namespace, name string) (api.ApplicationLinked, error)
	SetLink(ctx context.Context, agent, namespace, name string, link api.ApplicationLink) (api.ApplicationLinked, error)
	DeleteLink(ctx context.Context, agent, namespace, name string) error
	// LinkApplications finds what the applications of an agent lack, and makes it unless it is a dry run. may is asked
	// before, inside of the transaction: it must not read anything.
	LinkApplications(ctx context.Context, agent string, dryRun bool, may func(api.LinkPlan) error) (api.LinkPlan, error)
	// FindCluster finds a cluster by name or address, without its resource. That of the agent itself may have no name.
	FindCluster(ctx context.Context, agent, cluster string) (api.Item, error)
}

// ServiceRoutes say what runs where: services, environments, and which applications are of them.
type ServiceRoutes struct {
	*item.Clusters
	Services     core.Entities[api.Service]
	Environments core.Entities[api.Environment]
	AgentList    core.Entities[api.Agent]
	Linking      Linking
}

// Routes are its rows of the table.
func (h *ServiceRoutes) Routes() []core.Route {
	return slices.Concat(h.services().Routes(), h.environments().Routes(), h.linkRoutes(), h.matrixRoutes())
}

func (h *ServiceRoutes) services() *core.Noun[api.Service, *api.Service] {
	return &core.Noun[api.Service, *api.Service]{
		Store: h.Services, Kind: api.TypeService, Many: "services", Called: "service",
		Example: `{"name":"checkout","scope":"org.acme","labels":{"team":"shop"}}`,
	}
}

func (h *ServiceRoutes) environments() *core.Noun[api.Environment, *api.Environment] {
	return &core.Noun[api.Environment, *api.Environment]{
		Store: h.Environments, Kind: api.TypeEnvironment, Many: "environments", Called: "environment",
		Example: `{"name":"production","scope":"org.acme","type":"Production","region":"eu-north"}`,
		Check:   h.checkEnvironment,
	}
}

// checkEnvironment takes the right to see the clusters that an environment gets: what belongs to them is its from then on.
func (h *ServiceRoutes) checkEnvironment(ctx context.Context, c *core.Call, before, after *api.Environment) error {
	if after == nil {
		return nil
	}
	var was []api.EnvironmentCluster
	if before != nil {
		was = before.Clusters
	}
	for _, cluster := range after.Clusters {
		if slices.Contains(was, cluster) {
			continue
		}
		agent, err := core.Find(ctx, h.AgentList, api.TypeAgent, cluster.Agent)
		if err != nil {
			return err
		}
		found, err := h.Linking.FindCluster(ctx, cluster.Agent, cluster.Cluster)
		if err != nil {
			return core.Missing(err, api.TypeCluster, cluster.Agent+"/"+cluster.Cluster)
		}
		want := core.Target{Object: rbac.Object{Type: api.TypeCluster, Scope: found.Scope, ID: found.ID(), Labels: found.Labels}, Value: &found}
		if found.Name == "" { // the agent's own, of which there is no Secret
			if err := c.May(api.PermAgentView, agent); err != nil {
				return err
			}
			continue
		}
		if err := c.May(api.PermClusterView, want); err != nil {
			return err
		}
	}
	return nil
}

type matrixInput struct {
	core.ListInput
	Service     string `query:"service" maxLength:"210" doc:"Only this service" example:"org.acme.checkout"`
	Environment string `query:"environment" maxLength:"210" doc:"Only this environment" example:"org.acme.production"`
	Type        string `query:"type" enum:"Production,PreProduction" doc:"Only environments of this type"`
	Region      string `query:"region" maxLength:"63" doc:"Only environments of this region"`
	Agent       string `query:"agent" maxLength:"210" doc:"Only deployments of this agent" example:"account.prod"`
	Drift       bool   `query:"drift" doc:"Only services that do not have the same version everywhere"`
}

type instancesInput struct {
	item.List
	Service     string `query:"service" maxLength:"210" doc:"Only those of this service" example:"org.acme.checkout"`
	Environment string `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
	Application string `query:"application" maxLength:"540" doc:"Only those of this application" example:"account.prod/argocd/shop"`
	Unready     bool   `query:"unready" doc:"Only those that are not fully ready"`
}

// matrixRoutes are what runs where.
func (h *ServiceRoutes) matrixRoutes() []core.Route {
	matrix := core.Route{
		Method: http.MethodGet, Path: "/api/v1/fleet/services", Permission: api.PermServiceView, Access: core.Listed,
		ID: "fleet-services", Tag: "fleet",
		Summary: "Get the version of each service in each environment, for applications that you may see",
	}
	matrix.Mount = core.Mount(core.Answer[matrixInput, core.PageOutput[api.ServiceRow]]{
		Do: func(ctx context.Context, c *core.Call, in *matrixInput) (*core.PageOutput[api.ServiceRow], error) {
			options, err := in.Options()
			if err != nil {
				return nil, err
			}
			page, err := h.Linking.ListServiceRows(ctx, c.Visible, c.Policy.Filter(c.Who.Subject, api.PermApplicationView), api.ServiceFilter{
				ListOptions: options, Service: in.Service, Environment: in.Environment, Type: in.Type, Region: in.Region,
				Agent: in.Agent, Drift: in.Drift,
			})
			return core.PageOf(page), err
		},
	})
	instances := core.Route{
		Method: http.MethodGet, Path: "/api/v1/instances", Permission: api.PermApplicationView, Access: core.Listed,
		ID: "list-instances", Tag: "fleet",
		Summary: "List the pods of applications, as their agents see them now",
	}
	instances.Mount = core.Mount(core.Answer[instancesInput, core.PageOutput[api.Instances]]{
		Do: func(ctx context.Context, c *core.Call, in *instancesInput) (*core.PageOutput[api.Instances], error) {
			items, err := in.Filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Linking.ListInstances(ctx, c.Visible, api.InstanceFilter{
				ItemFilter: items, Service: in.Service, Environment: in.Environment, Application: in.Application, Unready: in.Unready,
			})
			return core.PageOf(page), err
		},
	})
	return []core.Route{matrix, instances}
}

type linkOutput = core.Output[api.ApplicationLinked]

type linkPut struct {
	item.Input
	Body api.ApplicationLink
}

// linkRoutes say which service and environment an application is of.
func (h *ServiceRoutes) linkRoutes() []core.Route {
	route := func(method, audit, id, summary string, permission api.Permission) core.Route {
		return core.Route{
			Method: method, Path: item.ApplicationPath + "/link", Permission: permission, Audit: audit, ID: id,
			Summary: summary, Tag: "applications",
		}
	}
	get := route(http.MethodGet, "", "get-application-link", "Get the service and environment of an application, and the source of each",
		api.PermApplicationView)
	get.Mount = core.Mount(core.Answer[item.Input, linkOutput]{
		Find: item.Application[item.Input](h.Clusters),
		Do: func(ctx context.Context, _ *core.Call, in *item.Input) (*linkOutput, error) {
			return linkAnswer(h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name))
		},
	})
	put := route(http.MethodPut, "application.link", "link-application",
		"Link an application to a service and an environment manually; its labels take precedence", api.PermApplicationEdit)
	put.Example = `{"service":"account.basket","environment":"account.staging"}`
	put.Mount = core.Mount(core.Answer[linkPut, linkOutput]{
		Find: item.Application[linkPut](h.Clusters),
		Do:   h.linkApplication,
	})
	remove := route(http.MethodDelete, "application.unlink", "unlink-application",
		"Remove the manual link of an application, including one that is gone", api.PermApplicationEdit)
	remove.Mount = core.Mount(core.Answer[item.Input, core.NoOutput]{
		Find: h.findLinked,
		Do: func(ctx context.Context, c *core.Call, in *item.Input) (*core.NoOutput, error) {
			c.Before = nil
			if was, err := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name); err == nil {
				c.Before = was.Link
			}
			err := h.Linking.DeleteLink(ctx, in.Agent, in.Namespace, in.Name)
			if api.CodeOf(err) == api.CodeNotFound {
				return nil, nil //nolint:nilnil // there is none, as was asked for
			}
			if err != nil {
				return nil, err
			}
			c.Changed(ctx, c.Object, nil, api.EventChanged, nil)
			return nil, nil //nolint:nilnil // no content
		},
	})
	return []core.Route{get, put, remove, h.linkAgentRoute()}
}

func linkAnswer(linked api.ApplicationLinked, err error) (*linkOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &linkOutput{Body: linked}
	if linked.Link != nil {
		out.ETag = core.ETag(linked.Link.Version)
	}
	return out, nil
}

// findLinked finds an application, or the link of one that is gone.
func (h *ServiceRoutes) findLinked(ctx context.Context, _ *core.Call, in *item.Input) (core.Target, error) {
	t, err := h.FindApplication(ctx, *in)
	if api.CodeOf(err) != api.CodeNotFound {
		return t, err
	}
	linked, failed := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name)
	if failed != nil {
		return t, err
	}
	t, err = h.FreshItem(ctx, api.KindApplication, in.Agent, in.Namespace, in.Name, "", nil)
	t.Value = linked
	return t, err
}

// linkApplication takes the right to edit the application, and to see what it is linked to.
func (h *ServiceRoutes) linkApplication(ctx context.Context, c *core.Call, in *linkPut) (*linkOutput, error) {
	app, _ := c.Before.(*api.ApplicationDetail)
	c.Before = nil
	if in.Body.Service != "" {
		to, err := h.services().Find(ctx, in.Body.Service)
		if err == nil {
			err = c.May(api.PermServiceView, to)
		}
		if err != nil {
			return nil, err
		}
	}
	if in.Body.Environment != "" {
		to, err := h.environments().Find(ctx, in.Body.Environment)
		if err == nil {
			err = c.May(api.PermEnvironmentView, to)
		}
		if err != nil {
			return nil, err
		}
	}
	if was, err := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name); err == nil && was.Link != nil {
		c.Before = was.Link
	}
	linked, err := h.Linking.SetLink(ctx, in.Agent, in.Namespace, in.Name, in.Body)
	if err != nil {
		return nil, err
	}
	c.After = linked.Link
	c.Changed(ctx, c.Object, app.Labels, api.EventChanged, nil)
	return linkAnswer(linked, nil)
}

type linkPlanOutput struct{ Body api.LinkPlan }

// linkAgentRoute finds services and environments for all applications of an agent.
func (h *ServiceRoutes) linkAgentRoute() core.Route {
	r := core.Route{
		Method: http.MethodPost, Path: "/api/v1/agents/{id}/links", Permission: api.PermAgentEdit, Audit: "agent.link",
		ID: "link-agent-applications", Tag: "agents",
		Summary: "Find services and environments for its applications that lack one, from labels and names; dryRun lists what would be created",
	}
	r.Mount = core.Mount(core.Answer[core.IDTryInput, linkPlanOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.IDTryInput) (core.Target, error) {
			return core.Find(ctx, h.AgentList, api.TypeAgent, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *core.IDTryInput) (*linkPlanOutput, error) {
			c.Before, c.Quiet = nil, in.DryRun
			plan, err := h.Linking.LinkApplications(ctx, in.ID, true, func(api.LinkPlan) error { return nil })
			if err == nil {
				err = h.mayLink(ctx, c, plan)
			}
			if err != nil || in.DryRun {
				return &linkPlanOutput{plan}, err
			}
			_, err = h.Linking.LinkApplications(ctx, in.ID, false, func(now api.LinkPlan) error {
				if !slices.Equal(now.Items, plan.Items) {
					return api.Errorf(api.CodeConflict, "applications of agent %s have changed in the meantime: try again", in.ID)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			c.After = plan
			if len(plan.Items) > 0 {
				c.Changed(ctx, c.Object, nil, api.EventChanged, nil)
			}
			return &linkPlanOutput{plan}, nil
		},
	})
	return r
}

// mayLink takes the rights to make what a plan makes, and to edit what it links.
func (h *ServiceRoutes) mayLink(ctx context.Context, c *core.Call, plan api.LinkPlan) error {
	makes := func(kind string, permission api.Permission, ids []string) error {
		for _, id := range ids {
			scope, _, err := api.ParseID(id)
			if err == nil {
				err = c.May(permission, core.Target{Object: rbac.Object{Type: kind, Scope: scope, ID: id, Asserted: true}})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := makes(api.TypeService, api.PermServiceEdit, plan.Services); err != nil {
		return err
	}
	if err := makes(api.TypeEnvironment, api.PermEnvironmentEdit, plan.Environments); err != nil {
		return err
	}
	for _, p := range plan.Items {
		agent, namespace, name, err := api.ParseItemID(p.Application)
		if err != nil {
			return err
		}
		app, err := h.FindItem(ctx, api.KindApplication, agent, namespace, name)
		if err == nil {
			err = c.May(api.PermApplicationEdit, app)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
