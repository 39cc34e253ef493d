package client

import (
	"context"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// CreateJob has the same done with many applications; with dryRun it only says with which, at most 1,000 of them.
func (c *Client) CreateJob(ctx context.Context, request api.JobRequest, dryRun bool) (api.JobPlan, error) {
	return post[api.JobPlan](ctx, c, dry(dryRun), request, "jobs")
}

// Jobs gives a page of jobs, the newest first: those of others too for callers who may see them, unless mine. By is ignored.
func (c *Client) Jobs(ctx context.Context, f api.JobFilter, mine bool) (api.Page[api.Job], error) {
	return get[api.Page[api.Job]](ctx, c, setBool(set(listQuery(f.ListOptions), "state", f.State), "mine", mine), "jobs")
}

// Job reads a job and how far it is.
func (c *Client) Job(ctx context.Context, id string) (api.Job, error) {
	return get[api.Job](ctx, c, nil, "jobs", id)
}

// JobTargets gives a page of the applications of a job; those in one state, where it is given.
func (c *Client) JobTargets(ctx context.Context, id, state string, o api.ListOptions) (api.Page[api.JobTarget], error) {
	return get[api.Page[api.JobTarget]](ctx, c, set(listQuery(o), "state", state), "jobs", id, "targets")
}

// StopJob has a job begin nothing more; what has begun goes on.
func (c *Client) StopJob(ctx context.Context, id string, dryRun bool) (api.Job, error) {
	return post[api.Job](ctx, c, dry(dryRun), nil, "jobs", id, "stop")
}

// Views gives the saved filters: the caller's own, and everyone's.
func (c *Client) Views(ctx context.Context) (api.Views, error) {
	return get[api.Views](ctx, c, nil, "fleet", "views")
}

// View reads a saved filter: one's own of that name before everyone's, unless everyone's is asked for.
func (c *Client) View(ctx context.Context, name string, everyone bool) (api.View, error) {
	return get[api.View](ctx, c, setBool(url.Values{}, "everyone", everyone), "fleet", "views", name)
}

// SaveView saves a filter under its name, in place of the one of before.
func (c *Client) SaveView(ctx context.Context, v api.View, dryRun bool) (api.View, error) {
	return put[api.View](ctx, c, dry(dryRun), v, "fleet", "views", v.Name)
}

// DeleteView deletes a saved filter: the caller's own, or everyone's.
func (c *Client) DeleteView(ctx context.Context, name string, everyone, dryRun bool) error {
	return c.delete(ctx, setBool(dry(dryRun), "everyone", everyone), "fleet", "views", name)
}
