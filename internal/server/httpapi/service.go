package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Linking knows which applications are of which services and environments.
type Linking interface {
	// ListServiceRows gives the services that the first filter lets through, with their applications that the second does.
	ListServiceRows(ctx context.Context, services, applications rbac.Filter, filter api.ServiceFilter) (api.Page[api.ServiceRow], error)
	ListInstances(context.Context, rbac.Filter, api.InstanceFilter) (api.Page[api.Instances], error)
	// GetLink is about an application that need not be there, as long as somebody has linked it.
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
	*Clusters
	Services     Entities[api.Service]
	Environments Entities[api.Environment]
	AgentList    Entities[api.Agent]
	Linking      Linking
}

// Routes are its rows of the table.
func (h *ServiceRoutes) Routes() []Route {
	return slices.Concat(h.services().routes(), h.environments().routes(), h.linkRoutes(), h.matrixRoutes())
}

func (h *ServiceRoutes) services() *noun[api.Service, *api.Service] {
	return &noun[api.Service, *api.Service]{
		store: h.Services, kind: api.TypeService, many: "services", called: "service",
		example: `{"name":"checkout","scope":"org.acme","labels":{"team":"shop"}}`,
	}
}

func (h *ServiceRoutes) environments() *noun[api.Environment, *api.Environment] {
	return &noun[api.Environment, *api.Environment]{
		store: h.Environments, kind: api.TypeEnvironment, many: "environments", called: "environment",
		example: `{"name":"production","scope":"org.acme","type":"Production","region":"eu-north"}`,
		check:   h.checkEnvironment,
	}
}

// checkEnvironment takes the right to see the clusters that an environment gets: what belongs to them is its from then on.
func (h *ServiceRoutes) checkEnvironment(ctx context.Context, c *call, before, after *api.Environment) error {
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
		agent, err := find(ctx, h.AgentList, api.TypeAgent, cluster.Agent)
		if err != nil {
			return err
		}
		item, err := h.Linking.FindCluster(ctx, cluster.Agent, cluster.Cluster)
		if err != nil {
			return missing(err, api.TypeCluster, cluster.Agent+"/"+cluster.Cluster)
		}
		want := target{object: rbac.Object{Type: api.TypeCluster, Scope: item.Scope, ID: item.ID(), Labels: item.Labels}, value: &item}
		if item.Name == "" { // the agent's own, of which there is no Secret
			if err := c.may(api.PermAgentView, agent); err != nil {
				return err
			}
			continue
		}
		if err := c.may(api.PermClusterView, want); err != nil {
			return err
		}
	}
	return nil
}

type matrixInput struct {
	ListInput
	Service     string `query:"service" maxLength:"210" doc:"Only this service" example:"org.acme.checkout"`
	Environment string `query:"environment" maxLength:"210" doc:"Only this environment" example:"org.acme.production"`
	Type        string `query:"type" enum:"Production,PreProduction" doc:"Only environments of this type"`
	Region      string `query:"region" maxLength:"63" doc:"Only environments of this region"`
	Agent       string `query:"agent" maxLength:"210" doc:"Only what this agent deploys" example:"account.prod"`
	Drift       bool   `query:"drift" doc:"Only services that do not have the same version everywhere"`
}

type instancesInput struct {
	ItemList
	Service     string `query:"service" maxLength:"210" doc:"Only those of this service" example:"org.acme.checkout"`
	Environment string `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
	Application string `query:"application" maxLength:"540" doc:"Only those of this application" example:"account.prod/argocd/shop"`
	Unready     bool   `query:"unready" doc:"Only where not all are ready"`
}

// matrixRoutes are what runs where.
func (h *ServiceRoutes) matrixRoutes() []Route {
	matrix := Route{
		Method: http.MethodGet, Path: "/api/v1/fleet/services", Permission: api.PermServiceView, Access: Listed, ID: "fleet-services", Tag: "fleet",
		Summary: "What runs where: services with their version in each environment, as far as their applications may be seen",
	}
	matrix.mount = mount(handler[matrixInput, pageOutput[api.ServiceRow]]{
		do: func(ctx context.Context, c *call, in *matrixInput) (*pageOutput[api.ServiceRow], error) {
			options, err := in.options()
			if err != nil {
				return nil, err
			}
			page, err := h.Linking.ListServiceRows(ctx, c.visible, c.policy.Filter(c.who.Subject, api.PermApplicationView), api.ServiceFilter{
				ListOptions: options, Service: in.Service, Environment: in.Environment, Type: in.Type, Region: in.Region, Agent: in.Agent, Drift: in.Drift,
			})
			return pageOf(page), err
		},
	})
	instances := Route{
		Method: http.MethodGet, Path: "/api/v1/instances", Permission: api.PermApplicationView, Access: Listed, ID: "list-instances", Tag: "fleet",
		Summary: "List the pods of applications, as their agents see them now",
	}
	instances.mount = mount(handler[instancesInput, pageOutput[api.Instances]]{
		do: func(ctx context.Context, c *call, in *instancesInput) (*pageOutput[api.Instances], error) {
			items, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Linking.ListInstances(ctx, c.visible, api.InstanceFilter{
				ItemFilter: items, Service: in.Service, Environment: in.Environment, Application: in.Application, Unready: in.Unready,
			})
			return pageOf(page), err
		},
	})
	return []Route{matrix, instances}
}

type linkOutput = output[api.ApplicationLinked]

type linkPut struct {
	ItemInput
	Body api.ApplicationLink
}

// linkRoutes say which service and environment an application is of.
func (h *ServiceRoutes) linkRoutes() []Route {
	route := func(method, audit, id, summary string, permission api.Permission) Route {
		return Route{Method: method, Path: applicationPath + "/link", Permission: permission, Audit: audit, ID: id, Summary: summary, Tag: "applications"}
	}
	get := route(http.MethodGet, "", "get-application-link", "Which service and environment an application is of, and who says so", api.PermApplicationView)
	get.mount = mount(handler[ItemInput, linkOutput]{
		find: func(ctx context.Context, _ *call, in *ItemInput) (target, error) { return h.findApplication(ctx, *in) },
		do: func(ctx context.Context, _ *call, in *ItemInput) (*linkOutput, error) {
			return linkAnswer(h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name))
		},
	})
	put := route(http.MethodPut, "application.link", "link-application", "Link an application to a service and an environment by hand; its labels count before that", api.PermApplicationEdit)
	put.Example = `{"service":"account.basket","environment":"account.staging"}`
	put.mount = mount(handler[linkPut, linkOutput]{
		find: func(ctx context.Context, _ *call, in *linkPut) (target, error) {
			return h.findApplication(ctx, in.ItemInput)
		},
		do: h.linkApplication,
	})
	remove := route(http.MethodDelete, "application.unlink", "unlink-application", "Forget what somebody has linked an application to, also of one that is gone", api.PermApplicationEdit)
	remove.mount = mount(handler[ItemInput, noOutput]{
		find: h.findLinked,
		do: func(ctx context.Context, c *call, in *ItemInput) (*noOutput, error) {
			c.before = nil
			if was, err := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name); err == nil {
				c.before = was.Link
			}
			err := h.Linking.DeleteLink(ctx, in.Agent, in.Namespace, in.Name)
			if api.CodeOf(err) == api.CodeNotFound {
				return nil, nil //nolint:nilnil // there is none, as was asked for
			}
			if err != nil {
				return nil, err
			}
			c.changed(ctx, c.object, nil, api.EventChanged, nil)
			return nil, nil //nolint:nilnil // no content
		},
	})
	return []Route{get, put, remove, h.linkAgentRoute()}
}

func linkAnswer(linked api.ApplicationLinked, err error) (*linkOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &linkOutput{Body: linked}
	if linked.Link != nil {
		out.ETag = etag(linked.Link.Version)
	}
	return out, nil
}

// findLinked finds an application, or what is said of one that is gone.
func (h *ServiceRoutes) findLinked(ctx context.Context, _ *call, in *ItemInput) (target, error) {
	t, err := h.findApplication(ctx, *in)
	if api.CodeOf(err) != api.CodeNotFound {
		return t, err
	}
	linked, failed := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name)
	if failed != nil {
		return t, err
	}
	t, err = h.freshItem(ctx, api.KindApplication, in.Agent, in.Namespace, in.Name, "", nil)
	t.value = linked
	return t, err
}

// linkApplication takes the right to edit the application, and to see what it is linked to.
func (h *ServiceRoutes) linkApplication(ctx context.Context, c *call, in *linkPut) (*linkOutput, error) {
	app, _ := c.before.(*api.ApplicationDetail)
	c.before = nil
	if in.Body.Service != "" {
		to, err := h.services().find(ctx, in.Body.Service)
		if err == nil {
			err = c.may(api.PermServiceView, to)
		}
		if err != nil {
			return nil, err
		}
	}
	if in.Body.Environment != "" {
		to, err := h.environments().find(ctx, in.Body.Environment)
		if err == nil {
			err = c.may(api.PermEnvironmentView, to)
		}
		if err != nil {
			return nil, err
		}
	}
	if was, err := h.Linking.GetLink(ctx, in.Agent, in.Namespace, in.Name); err == nil && was.Link != nil {
		c.before = was.Link
	}
	linked, err := h.Linking.SetLink(ctx, in.Agent, in.Namespace, in.Name, in.Body)
	if err != nil {
		return nil, err
	}
	c.after = linked.Link
	c.changed(ctx, c.object, app.Labels, api.EventChanged, nil)
	return linkAnswer(linked, nil)
}

type linkPlanOutput struct{ Body api.LinkPlan }

// linkAgentRoute finds services and environments for all applications of an agent.
func (h *ServiceRoutes) linkAgentRoute() Route {
	r := Route{
		Method: http.MethodPost, Path: "/api/v1/agents/{id}/links", Permission: api.PermAgentEdit, Audit: "agent.link", ID: "link-agent-applications", Tag: "agents",
		Summary: "Find services and environments for its applications that lack one, from labels and names; with dryRun it says what it would make",
	}
	r.mount = mount(handler[IDTryInput, linkPlanOutput]{
		find: func(ctx context.Context, _ *call, in *IDTryInput) (target, error) {
			return find(ctx, h.AgentList, api.TypeAgent, in.ID)
		},
		do: func(ctx context.Context, c *call, in *IDTryInput) (*linkPlanOutput, error) {
			c.before, c.quiet = nil, in.DryRun
			plan, err := h.Linking.LinkApplications(ctx, in.ID, true, func(api.LinkPlan) error { return nil })
			if err == nil {
				err = h.mayLink(ctx, c, plan)
			}
			if err != nil || in.DryRun {
				return &linkPlanOutput{plan}, err
			}
			_, err = h.Linking.LinkApplications(ctx, in.ID, false, func(now api.LinkPlan) error {
				if !slices.Equal(now.Items, plan.Items) {
					return api.Errorf(api.CodeConflict, "applications of agent %s have changed meanwhile: try again", in.ID)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			c.after = plan
			if len(plan.Items) > 0 {
				c.changed(ctx, c.object, nil, api.EventChanged, nil)
			}
			return &linkPlanOutput{plan}, nil
		},
	})
	return r
}

// mayLink takes the rights to make what a plan makes, and to edit what it links.
func (h *ServiceRoutes) mayLink(ctx context.Context, c *call, plan api.LinkPlan) error {
	makes := func(kind string, permission api.Permission, ids []string) error {
		for _, id := range ids {
			scope, _, err := api.ParseID(id)
			if err == nil {
				err = c.may(permission, target{object: rbac.Object{Type: kind, Scope: scope, ID: id, Asserted: true}})
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
		app, err := h.findItem(ctx, api.KindApplication, agent, namespace, name)
		if err == nil {
			err = c.may(api.PermApplicationEdit, app)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
