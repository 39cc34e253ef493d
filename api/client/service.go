package client

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
)

// Services that run in environments.
func (c *Client) Services() Entities[api.Service] { return Entities[api.Service]{c, "services"} }

// Environments that services run in.
func (c *Client) Environments() Entities[api.Environment] {
	return Entities[api.Environment]{c, "environments"}
}

// ServiceRows gives a page of what runs where.
func (c *Client) ServiceRows(ctx context.Context, f api.ServiceFilter) (api.Page[api.ServiceRow], error) {
	query := set(listQuery(f.ListOptions), "service", f.Service, "environment", f.Environment, "type", f.Type,
		"region", f.Region, "agent", f.Agent)
	return get[api.Page[api.ServiceRow]](ctx, c, setBool(query, "drift", f.Drift), "fleet", "services")
}

// AllServiceRows gives all pages of ServiceRows.
func (c *Client) AllServiceRows(ctx context.Context, f api.ServiceFilter) ([]api.ServiceRow, error) {
	return all(ctx, &f, &f.ListOptions, c.ServiceRows)
}

// Instances gives a page of the pods of applications: an entry for each application.
func (c *Client) Instances(ctx context.Context, f api.InstanceFilter) (api.Page[api.Instances], error) {
	query := set(itemQuery(f.ItemFilter), "service", f.Service, "environment", f.Environment, "application", f.Application)
	return get[api.Page[api.Instances]](ctx, c, setBool(query, "unready", f.Unready), "instances")
}

// AllInstances gives all pages of Instances. A page is short, since an entry has up to 1,000 pods.
func (c *Client) AllInstances(ctx context.Context, f api.InstanceFilter) ([]api.Instances, error) {
	if f.Limit == 0 {
		f.Limit = api.DefaultLimit
	}
	return all(ctx, &f, &f.ListOptions, c.Instances)
}

// Link says which service and environment the application is of.
func (a Application) Link(ctx context.Context) (api.ApplicationLinked, error) {
	return get[api.ApplicationLinked](ctx, a.c, nil, a.path("link")...)
}

// SetLink links the application by hand.
func (a Application) SetLink(ctx context.Context, link api.ApplicationLink) (api.ApplicationLinked, error) {
	return put[api.ApplicationLinked](ctx, a.c, nil, link, a.path("link")...)
}

// DeleteLink removes the manual link of the application.
func (a Application) DeleteLink(ctx context.Context) error {
	return a.c.delete(ctx, nil, a.path("link")...)
}

// LinkApplications finds services and environments for the applications of an agent that lack one; with dryRun it only
// says what it would make.
func (c *Client) LinkApplications(ctx context.Context, agent string, dryRun bool) (api.LinkPlan, error) {
	return post[api.LinkPlan](ctx, c, dry(dryRun), nil, "agents", agent, "links")
}
