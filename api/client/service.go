package client

import (
	"context"
	"net/http"
	"net/url"

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
	query := listQuery(f.ListOptions)
	set(query, "service", f.Service)
	set(query, "environment", f.Environment)
	set(query, "type", f.Type)
	set(query, "region", f.Region)
	set(query, "agent", f.Agent)
	setBool(query, "drift", f.Drift)
	return ask[api.Page[api.ServiceRow]](ctx, c, call{method: http.MethodGet, path: at("fleet", "services"), query: query})
}

// AllServiceRows gives all pages of ServiceRows.
func (c *Client) AllServiceRows(ctx context.Context, f api.ServiceFilter) ([]api.ServiceRow, error) {
	return All(f.ListOptions, func(o api.ListOptions) (api.Page[api.ServiceRow], error) {
		f.ListOptions = o
		return c.ServiceRows(ctx, f)
	})
}

// Instances gives a page of the pods of applications: an entry for each application.
func (c *Client) Instances(ctx context.Context, f api.InstanceFilter) (api.Page[api.Instances], error) {
	query := itemQuery(f.ItemFilter)
	set(query, "service", f.Service)
	set(query, "environment", f.Environment)
	set(query, "application", f.Application)
	setBool(query, "unready", f.Unready)
	return ask[api.Page[api.Instances]](ctx, c, call{method: http.MethodGet, path: at("instances"), query: query})
}

// AllInstances gives all pages of Instances. A page is short, since an entry has up to 1,000 pods.
func (c *Client) AllInstances(ctx context.Context, f api.InstanceFilter) ([]api.Instances, error) {
	if f.Limit == 0 {
		f.Limit = api.DefaultLimit
	}
	return All(f.ListOptions, func(o api.ListOptions) (api.Page[api.Instances], error) {
		f.ListOptions = o
		return c.Instances(ctx, f)
	})
}

// Link says which service and environment the application is of.
func (a Application) Link(ctx context.Context) (api.ApplicationLinked, error) {
	return ask[api.ApplicationLinked](ctx, a.c, call{method: http.MethodGet, path: a.at("link")})
}

// SetLink links the application by hand.
func (a Application) SetLink(ctx context.Context, link api.ApplicationLink) (api.ApplicationLinked, error) {
	return ask[api.ApplicationLinked](ctx, a.c, call{method: http.MethodPut, path: a.at("link"), body: link})
}

// DeleteLink forgets what somebody has linked the application to.
func (a Application) DeleteLink(ctx context.Context) error {
	return a.c.do(ctx, call{method: http.MethodDelete, path: a.at("link")}, nil)
}

// LinkApplications finds services and environments for the applications of an agent that lack one; with dryRun it only
// says what it would make.
func (c *Client) LinkApplications(ctx context.Context, agent string, dryRun bool) (api.LinkPlan, error) {
	query := url.Values{}
	setBool(query, "dryRun", dryRun)
	return ask[api.LinkPlan](ctx, c, call{method: http.MethodPost, path: at("agents", agent, "links"), query: query})
}
