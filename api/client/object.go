package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// Objects are resources of one kind in agents' clusters that people write whole: applications, applicationsets, projects
// of Argo CD.
type Objects struct {
	c    *Client
	many string
}

// ApplicationObjects are Applications, to make and to change.
func (c *Client) ApplicationObjects() Objects { return Objects{c, "applications"} }

// ApplicationSets are those of all agents.
func (c *Client) ApplicationSets() Objects { return Objects{c, "applicationsets"} }

// ArgoProjects are the AppProjects of all agents.
func (c *Client) ArgoProjects() Objects { return Objects{c, "argo-projects"} }

// Items gives a page of the server's copies.
func (o Objects) Items(ctx context.Context, filter api.ItemFilter) (api.Page[api.Item], error) {
	return get[api.Page[api.Item]](ctx, o.c, itemQuery(filter), o.many)
}

// Item reads the server's copy of one.
func (o Objects) Item(ctx context.Context, t api.Target) (api.Item, error) {
	return get[api.Item](ctx, o.c, nil, "agents", t.Agent, o.many, t.Namespace, t.Name)
}

// Create has an agent make one. The command's result is the resource as the cluster holds it.
func (o Objects) Create(ctx context.Context, agent string, in api.ObjectWrite, dryRun bool) (api.Command, error) {
	return o.create(ctx, agent, in, dryRun)
}

func (o Objects) create(ctx context.Context, agent string, in any, dryRun bool) (api.Command, error) {
	return o.c.command(ctx, call{method: http.MethodPost, path: at("agents", agent, o.many), query: dry(dryRun), body: in}, nil)
}

// Update has an agent replace one.
func (o Objects) Update(ctx context.Context, t api.Target, in api.ObjectWrite, dryRun bool) (api.Command, error) {
	return o.update(ctx, t, in, dryRun)
}

func (o Objects) update(ctx context.Context, t api.Target, in any, dryRun bool) (api.Command, error) {
	return o.c.command(ctx, call{
		method: http.MethodPut, path: at("agents", t.Agent, o.many, t.Namespace, t.Name), query: dry(dryRun), body: in,
	}, nil)
}

// All gives all pages of Items.
func (o Objects) All(ctx context.Context, filter api.ItemFilter) ([]api.Item, error) {
	return all(ctx, &filter, &filter.ListOptions, o.Items)
}

// Removal says how an object is deleted.
type Removal struct {
	// Force deletes also what something uses.
	Force bool
	// Cascade deletes the Applications of an ApplicationSet as well.
	Cascade bool
	DryRun  bool
}

// Delete has an agent delete one; what something uses is refused unless it is forced.
func (o Objects) Delete(ctx context.Context, t api.Target, how Removal) error {
	return o.remove(ctx, t, setBool(setBool(dry(how.DryRun), "force", how.Force), "cascade", how.Cascade))
}

// Forget has the server forget its copy of one that the agent no longer reports. Of others it is a conflict.
func (o Objects) Forget(ctx context.Context, t api.Target) error {
	return o.remove(ctx, t, url.Values{"forget": {"true"}})
}

func (o Objects) remove(ctx context.Context, t api.Target, query url.Values) error {
	_, err := o.c.command(ctx, call{method: http.MethodDelete, path: at("agents", t.Agent, o.many, t.Namespace, t.Name), query: query}, nil)
	return err
}
