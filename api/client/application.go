package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/slipway-gitops/slipway/api"
)

// Applications gives a page of the applications of all agents.
func (c *Client) Applications(ctx context.Context, filter api.ApplicationFilter) (api.Page[api.Application], error) {
	query := itemQuery(filter.ItemFilter)
	set(query, "namespace", filter.Namespace)
	set(query, "repoURL", filter.RepoURL)
	set(query, "destination", filter.Destination)
	query["sync"], query["health"] = filter.Sync, filter.Health
	return get[api.Page[api.Application]](ctx, c, at("applications"), query)
}

// AllApplications gives all pages of Applications.
func (c *Client) AllApplications(ctx context.Context, filter api.ApplicationFilter) ([]api.Application, error) {
	return All(filter.ListOptions, func(o api.ListOptions) (api.Page[api.Application], error) {
		filter.ListOptions = o
		return c.Applications(ctx, filter)
	})
}

func itemQuery(f api.ItemFilter) url.Values {
	query := listQuery(f.ListOptions)
	set(query, "agent", f.Agent)
	set(query, "argoProject", f.ArgoProject)
	if f.Stale {
		query.Set("stale", "true")
	}
	return query
}

// Application is one application of an agent.
type Application struct {
	c *Client
	api.Target
}

// Application is the application that t names.
func (c *Client) Application(t api.Target) Application { return Application{c, t} }

func (a Application) at(parts ...string) string {
	return at(append([]string{"agents", a.Agent, "applications", a.Namespace, a.Name}, parts...)...)
}

// Get reads it with the whole resource, from the server's copy.
func (a Application) Get(ctx context.Context) (api.ApplicationDetail, error) {
	return get[api.ApplicationDetail](ctx, a.c, a.at(), nil)
}

// Diff says what a sync would change. Where that is more than one answer holds, it asks for the rest too.
func (a Application) Diff(ctx context.Context, req api.DiffRequest) (api.DiffAnswer, error) {
	var out api.DiffAnswer
	query := url.Values{}
	set(query, "revision", req.Revision)
	setBool(query, "drift", req.Drift)
	setBool(query, "ignored", req.Ignored)
	err := readOn(req.Cursor, func(cursor string) (string, error) {
		set(query, "cursor", cursor)
		part, err := get[api.DiffAnswer](ctx, a.c, a.at("diff"), query)
		out.Items, out.Warnings = append(out.Items, part.Items...), gather(out.Warnings, part.Warnings)
		return part.NextCursor, err
	})
	return out, err
}

// gather adds warnings that are not there yet: each part of an answer has its own.
func gather(have, more []string) []string {
	for _, w := range more {
		if !slices.Contains(have, w) {
			have = append(have, w)
		}
	}
	return have
}

// Tree gives its objects and what they own.
func (a Application) Tree(ctx context.Context) (api.TreeAnswer, error) {
	return get[api.TreeAnswer](ctx, a.c, a.at("tree"), nil)
}

// Manifests gives its objects, as rendered or live. Where these are more than one answer holds, it asks for the rest too.
func (a Application) Manifests(ctx context.Context, req api.ManifestsRequest) (api.ManifestsAnswer, error) {
	var out api.ManifestsAnswer
	query := url.Values{}
	set(query, "revision", req.Revision)
	setBool(query, "live", req.Live)
	err := readOn(req.Cursor, func(cursor string) (string, error) {
		set(query, "cursor", cursor)
		part, err := get[api.ManifestsAnswer](ctx, a.c, a.at("manifests"), query)
		out.Items, out.Warnings = append(out.Items, part.Items...), gather(out.Warnings, part.Warnings)
		if err == nil {
			out.Revisions = part.Revisions
		}
		return part.NextCursor, err
	})
	return out, err
}

// Operate asks for a sync, a refresh and so on: what, is told by the type of the request, one of api.SyncRequest,
// RefreshRequest, TerminateRequest, RollbackRequest, UnpinRequest, ConfirmRequest, RestoreRequest, RevertRequest,
// AllowRequest and DeleteApplicationRequest.
func (a Application) Operate(ctx context.Context, request any) (api.OperationAnswer, error) {
	verb := ""
	switch r := request.(type) {
	case api.SyncRequest:
		verb = "sync"
	case api.RefreshRequest:
		verb = "refresh"
	case api.TerminateRequest:
		verb = "terminate"
	case api.RollbackRequest:
		verb = "rollback"
	case api.UnpinRequest:
		verb = "unpin"
	case api.ConfirmRequest:
		verb = "confirm"
	case api.RestoreRequest:
		verb = "restore"
	case api.RevertRequest:
		verb = "revert"
	case api.AllowRequest:
		verb = "allow"
	case api.DeleteApplicationRequest:
		return a.delete(ctx, r)
	default:
		return api.OperationAnswer{}, fmt.Errorf("no operation is asked for by a %T", request)
	}
	var out api.OperationAnswer
	_, err := a.c.command(ctx, call{method: http.MethodPost, path: a.at(verb), body: request}, &out)
	return out, err
}

// delete deletes the Application. What it deployed goes as well where cascade is set.
func (a Application) delete(ctx context.Context, r api.DeleteApplicationRequest) (api.OperationAnswer, error) {
	query := dry(r.DryRun)
	query.Set("cascade", fmt.Sprint(r.Cascade))
	set(query, "propagation", r.Propagation)
	set(query, "version", r.Version)
	set(query, "reason", r.Reason)
	var out api.OperationAnswer
	_, err := a.c.command(ctx, call{method: http.MethodDelete, path: a.at(), query: query}, &out)
	return out, err
}

// Why says why it is as it is, from the server's copy and what the agent sees in the cluster; with the last lines of containers
// that fail where logs is set.
func (a Application) Why(ctx context.Context, logs bool) (api.Why, error) {
	query := url.Values{}
	if logs {
		query.Set("logs", "true")
	}
	return ask[api.Why](ctx, a.c, call{method: http.MethodGet, path: a.at("why"), query: query})
}

// RevisionStatus says where its branches are, and what was compared, deployed and pinned.
func (a Application) RevisionStatus(ctx context.Context) (api.RevisionStatus, error) {
	return ask[api.RevisionStatus](ctx, a.c, call{method: http.MethodGet, path: a.at("revision-status")})
}

// Plan says what a sync would do, and changes nothing.
func (a Application) Plan(ctx context.Context, req api.SyncRequest) (api.SyncPlan, error) {
	return ask[api.SyncPlan](ctx, a.c, call{method: http.MethodPost, path: a.at("plan"), body: req})
}

// Operation is its last or running operation, step by step.
func (a Application) Operation(ctx context.Context) (api.OperationTimeline, error) {
	return ask[api.OperationTimeline](ctx, a.c, call{method: http.MethodGet, path: a.at("operation")})
}

// History is what was deployed, and what failed to be, the newest first: limit at most, behind a cursor. 0 and "" are for the
// first page, as long as the server makes one.
func (a Application) History(ctx context.Context, limit int, cursor string) (api.DeploymentHistory, error) {
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return ask[api.DeploymentHistory](ctx, a.c, call{method: http.MethodGet, path: a.at("history"), query: query})
}

// Revisions tells who made commits of its repositories, in their order.
func (a Application) Revisions(ctx context.Context, revisions ...string) ([]api.RevisionInfo, error) {
	var out api.RevisionsAnswer
	err := a.c.do(ctx, call{method: http.MethodGet, path: a.at("revisions"), query: url.Values{"revision": revisions}}, &out)
	return out.Items, err
}

// Resource reads one object of it, live and desired.
func (a Application) Resource(ctx context.Context, ref api.ResourceRef) (api.ResourceState, error) {
	return ask[api.ResourceState](ctx, a.c, call{method: http.MethodGet, path: a.at("resource"), query: resourceQuery(ref)})
}

// Actions lists the actions that an object offers.
func (a Application) Actions(ctx context.Context, ref api.ResourceRef) (api.ResourceActions, error) {
	return ask[api.ResourceActions](ctx, a.c, call{method: http.MethodGet, path: a.at("resource", "actions"), query: resourceQuery(ref)})
}

// Events are the Events of Kubernetes about an object.
func (a Application) Events(ctx context.Context, ref api.ResourceRef) (api.ResourceEvents, error) {
	return ask[api.ResourceEvents](ctx, a.c, call{method: http.MethodGet, path: a.at("resource", "events"), query: resourceQuery(ref)})
}

// Act runs an action of an object.
func (a Application) Act(ctx context.Context, req api.ResourceAction) (api.ResourceActionAnswer, error) {
	var out api.ResourceActionAnswer
	_, err := a.c.command(ctx, call{method: http.MethodPost, path: a.at("resource", "actions"), body: req}, &out)
	return out, err
}

// Patch changes an object. The answer is the object.
func (a Application) Patch(ctx context.Context, req api.ResourcePatch) (json.RawMessage, error) {
	cmd, err := a.c.command(ctx, call{method: http.MethodPatch, path: a.at("resource"), body: req, once: true}, nil)
	return cmd.Result, err
}

// Remove deletes an object.
func (a Application) Remove(ctx context.Context, req api.ResourceDelete) error {
	query := resourceQuery(req.Resource)
	setBool(query, "force", req.Force)
	setBool(query, "orphan", req.Orphan)
	setBool(query, "dryRun", req.DryRun)
	set(query, "reason", req.Reason)
	_, err := a.c.command(ctx, call{method: http.MethodDelete, path: a.at("resource"), query: query}, nil)
	return err
}

func resourceQuery(ref api.ResourceRef) url.Values {
	query := url.Values{}
	set(query, "group", ref.Group)
	set(query, "version", ref.Version)
	set(query, "kind", ref.Kind)
	set(query, "resourceNamespace", ref.Namespace)
	set(query, "resourceName", ref.Name)
	return query
}

func setBool(query url.Values, key string, on bool) {
	if on {
		query.Set(key, "true")
	}
}
