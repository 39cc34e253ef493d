package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// Applications gives a page of the applications of all agents.
func (c *Client) Applications(ctx context.Context, filter api.ApplicationFilter) (api.Page[api.Application], error) {
	query := set(itemQuery(filter.ItemFilter), "namespace", filter.Namespace, "repoURL", filter.RepoURL, "destination", filter.Destination)
	query["sync"], query["health"] = filter.Sync, filter.Health
	return get[api.Page[api.Application]](ctx, c, query, "applications")
}

// AllApplications gives all pages of Applications.
func (c *Client) AllApplications(ctx context.Context, filter api.ApplicationFilter) ([]api.Application, error) {
	return all(ctx, &filter, &filter.ListOptions, c.Applications)
}

func itemQuery(f api.ItemFilter) url.Values {
	return setBool(set(listQuery(f.ListOptions), "agent", f.Agent, "argoProject", f.ArgoProject), "stale", f.Stale)
}

// Application is one application of an agent.
type Application struct {
	c *Client
	api.Target
}

// Application is the application that t names.
func (c *Client) Application(t api.Target) Application { return Application{c, t} }

// path is that of something of it.
func (a Application) path(parts ...string) []string {
	return append([]string{"agents", a.Agent, "applications", a.Namespace, a.Name}, parts...)
}

// Get reads it with the whole resource, from the server's copy.
func (a Application) Get(ctx context.Context) (api.ApplicationDetail, error) {
	return get[api.ApplicationDetail](ctx, a.c, nil, a.path()...)
}

// Diff says what a sync would change. Where that is more than one answer holds, it asks for the rest too.
func (a Application) Diff(ctx context.Context, req api.DiffRequest) (api.DiffAnswer, error) {
	var out api.DiffAnswer
	query := setBool(setBool(set(url.Values{}, "revision", req.Revision), "drift", req.Drift), "ignored", req.Ignored)
	err := readOn(req.Cursor, func(cursor string) (string, error) {
		set(query, "cursor", cursor)
		part, err := get[api.DiffAnswer](ctx, a.c, query, a.path("diff")...)
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
	return get[api.TreeAnswer](ctx, a.c, nil, a.path("tree")...)
}

// Manifests gives its objects, as rendered or live. Where these are more than one answer holds, it asks for the rest too.
func (a Application) Manifests(ctx context.Context, req api.ManifestsRequest) (api.ManifestsAnswer, error) {
	var out api.ManifestsAnswer
	query := setBool(set(url.Values{}, "revision", req.Revision), "live", req.Live)
	err := readOn(req.Cursor, func(cursor string) (string, error) {
		set(query, "cursor", cursor)
		part, err := get[api.ManifestsAnswer](ctx, a.c, query, a.path("manifests")...)
		out.Items, out.Warnings = append(out.Items, part.Items...), gather(out.Warnings, part.Warnings)
		if err == nil {
			out.Revisions = part.Revisions
		}
		return part.NextCursor, err
	})
	return out, err
}

// Operate asks for a sync, a refresh and so on: what, depends on the type of the request, one of api.SyncRequest,
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
	return order[api.OperationAnswer](ctx, a.c, call{method: http.MethodPost, path: at(a.path(verb)...), body: request})
}

// delete deletes the Application. What it deployed goes as well where cascade is set.
func (a Application) delete(ctx context.Context, r api.DeleteApplicationRequest) (api.OperationAnswer, error) {
	query := set(dry(r.DryRun), "cascade", fmt.Sprint(r.Cascade), "propagation", r.Propagation, "version", r.Version, "reason", r.Reason)
	return order[api.OperationAnswer](ctx, a.c, call{method: http.MethodDelete, path: at(a.path()...), query: query})
}

// Why says why it is as it is, from the server's copy and what the agent sees in the cluster; with the last lines of containers
// that fail where logs is set.
func (a Application) Why(ctx context.Context, logs bool) (api.Why, error) {
	return get[api.Why](ctx, a.c, setBool(url.Values{}, "logs", logs), a.path("why")...)
}

// RevisionStatus says where its branches are, and what was compared, deployed and pinned.
func (a Application) RevisionStatus(ctx context.Context) (api.RevisionStatus, error) {
	return get[api.RevisionStatus](ctx, a.c, nil, a.path("revision-status")...)
}

// Plan says what a sync would do, and changes nothing.
func (a Application) Plan(ctx context.Context, req api.SyncRequest) (api.SyncPlan, error) {
	return post[api.SyncPlan](ctx, a.c, nil, req, a.path("plan")...)
}

// Operation is its last or running operation, step by step.
func (a Application) Operation(ctx context.Context) (api.OperationTimeline, error) {
	return get[api.OperationTimeline](ctx, a.c, nil, a.path("operation")...)
}

// History is what was deployed, and what failed to be, the newest first: limit at most, behind a cursor. 0 and "" are for the
// first page, as long as the server makes one.
func (a Application) History(ctx context.Context, limit int, cursor string) (api.DeploymentHistory, error) {
	query := setInt(set(url.Values{}, "cursor", cursor), "limit", int64(max(limit, 0)))
	return get[api.DeploymentHistory](ctx, a.c, query, a.path("history")...)
}

// Revisions returns the authors and messages of commits of its repositories, in their order.
func (a Application) Revisions(ctx context.Context, revisions ...string) ([]api.RevisionInfo, error) {
	out, err := get[api.RevisionsAnswer](ctx, a.c, url.Values{"revision": revisions}, a.path("revisions")...)
	return out.Items, err
}

// Resource reads one object of it, live and desired.
func (a Application) Resource(ctx context.Context, ref api.ResourceRef) (api.ResourceState, error) {
	return get[api.ResourceState](ctx, a.c, resourceQuery(ref), a.path("resource")...)
}

// Actions lists the actions that an object offers.
func (a Application) Actions(ctx context.Context, ref api.ResourceRef) (api.ResourceActions, error) {
	return get[api.ResourceActions](ctx, a.c, resourceQuery(ref), a.path("resource", "actions")...)
}

// Events are the Events of Kubernetes about an object.
func (a Application) Events(ctx context.Context, ref api.ResourceRef) (api.ResourceEvents, error) {
	return get[api.ResourceEvents](ctx, a.c, resourceQuery(ref), a.path("resource", "events")...)
}

// Act runs an action of an object.
func (a Application) Act(ctx context.Context, req api.ResourceAction) (api.ResourceActionAnswer, error) {
	return order[api.ResourceActionAnswer](ctx, a.c, call{method: http.MethodPost, path: at(a.path("resource", "actions")...), body: req})
}

// Patch changes an object. The answer is the object.
func (a Application) Patch(ctx context.Context, req api.ResourcePatch) (json.RawMessage, error) {
	cmd, err := a.c.command(ctx, call{method: http.MethodPatch, path: at(a.path("resource")...), body: req, once: true}, nil)
	return cmd.Result, err
}

// Remove deletes an object.
func (a Application) Remove(ctx context.Context, req api.ResourceDelete) error {
	query := set(resourceQuery(req.Resource), "reason", req.Reason)
	setBool(setBool(setBool(query, "force", req.Force), "orphan", req.Orphan), "dryRun", req.DryRun)
	_, err := a.c.command(ctx, call{method: http.MethodDelete, path: at(a.path("resource")...), query: query}, nil)
	return err
}

func resourceQuery(ref api.ResourceRef) url.Values {
	return set(url.Values{}, "group", ref.Group, "version", ref.Version, "kind", ref.Kind, "resourceNamespace", ref.Namespace,
		"resourceName", ref.Name)
}
