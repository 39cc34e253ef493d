package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// CreateJob has the same done with many applications; with dryRun it only says with which, at most 1,000 of them.
func (c *Client) CreateJob(ctx context.Context, request api.JobRequest, dryRun bool) (api.JobPlan, error) {
	return ask[api.JobPlan](ctx, c, call{method: http.MethodPost, path: at("jobs"), query: dry(dryRun), body: request})
}

// Jobs gives a page of jobs, the newest first: those of others too for who may see them, unless mine. By counts for nothing.
func (c *Client) Jobs(ctx context.Context, f api.JobFilter, mine bool) (api.Page[api.Job], error) {
	query := listQuery(f.ListOptions)
	set(query, "state", f.State)
	setBool(query, "mine", mine)
	return ask[api.Page[api.Job]](ctx, c, call{method: http.MethodGet, path: at("jobs"), query: query})
}

// Job reads a job and how far it is.
func (c *Client) Job(ctx context.Context, id string) (api.Job, error) {
	return ask[api.Job](ctx, c, call{method: http.MethodGet, path: at("jobs", id)})
}

// JobTargets gives a page of the applications of a job; those in one state, where it is given.
func (c *Client) JobTargets(ctx context.Context, id, state string, o api.ListOptions) (api.Page[api.JobTarget], error) {
	query := listQuery(o)
	set(query, "state", state)
	return ask[api.Page[api.JobTarget]](ctx, c, call{method: http.MethodGet, path: at("jobs", id, "targets"), query: query})
}

// StopJob has a job begin nothing more; what has begun goes on.
func (c *Client) StopJob(ctx context.Context, id string, dryRun bool) (api.Job, error) {
	return ask[api.Job](ctx, c, call{method: http.MethodPost, path: at("jobs", id, "stop"), query: dry(dryRun)})
}

// Views gives the saved filters: the caller's own, and everyone's.
func (c *Client) Views(ctx context.Context) (api.Views, error) {
	return ask[api.Views](ctx, c, call{method: http.MethodGet, path: at("fleet", "views")})
}

// View reads a saved filter: one's own of that name before everyone's, unless everyone's is asked for.
func (c *Client) View(ctx context.Context, name string, everyone bool) (api.View, error) {
	return ask[api.View](ctx, c, call{method: http.MethodGet, path: at("fleet", "views", name), query: ofEveryone(url.Values{}, everyone)})
}

// SaveView saves a filter under its name, in place of the one of before.
func (c *Client) SaveView(ctx context.Context, v api.View, dryRun bool) (api.View, error) {
	return ask[api.View](ctx, c, call{method: http.MethodPut, path: at("fleet", "views", v.Name), query: dry(dryRun), body: v})
}

// DeleteView deletes a saved filter: the caller's own, or everyone's.
func (c *Client) DeleteView(ctx context.Context, name string, everyone, dryRun bool) error {
	return c.do(ctx, call{method: http.MethodDelete, path: at("fleet", "views", name), query: ofEveryone(dry(dryRun), everyone)}, nil)
}

func ofEveryone(query url.Values, everyone bool) url.Values {
	setBool(query, "everyone", everyone)
	return query
}
