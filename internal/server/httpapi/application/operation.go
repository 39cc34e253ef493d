package application

import (
	"context"
	"net/http"
	"sync"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type operationInput[T any] struct {
	item.Input
	item.WaitInput
	Body T
}

// operation is a route that asks something of an application. The reason in the body is also the audit's.
func operation[T any](h *Routes, verb, id, summary, example string, permission api.Permission, reason func(*T) string) core.Route {
	return core.Route{
		Method: http.MethodPost, Path: item.ApplicationPath + "/" + verb, Permission: permission, Audit: "application." + verb,
		ID: id, Summary: summary, Tag: "operations", Example: example,
		Mount: commanded(h, "application."+verb, reason),
	}
}

// commanded has the agent do what the body says.
func commanded[T any](h *Routes, kind string, reason func(*T) string) core.Mounter {
	type in = operationInput[T]
	return core.Mount(core.Answer[in, item.CommandOutput]{
		Find: item.Application[in](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *in) (*item.CommandOutput, error) {
			c.Before = nil // the cluster has it, and the application's history says what came of it
			o := in.Order(kind, in.Body)
			o.Reason = reason(&in.Body)
			return h.Command(ctx, c, in.WaitInput, o)
		},
	})
}

func (h *Routes) operationRoutes() []core.Route {
	return append([]core.Route{
		operation(h, "sync", "sync-application", "Sync an application", `{"prune":true,"reason":"release 1.2"}`,
			api.PermApplicationSync, func(r *api.SyncRequest) string { return r.Reason }),
		operation(h, "refresh", "refresh-application", "Read Git and the cluster again", `{"hard":true}`,
			api.PermApplicationView, func(*api.RefreshRequest) string { return "" }),
		operation(h, "terminate", "terminate-operation", "End the running operation", `{"reason":"wrong revision"}`,
			api.PermApplicationSync, func(r *api.TerminateRequest) string { return r.Reason }),
		operation(h, "rollback", "rollback-application", "Roll back to an earlier deployment, and pin it", `{"id":3,"reason":"orders are lost"}`,
			api.PermApplicationSync, func(r *api.RollbackRequest) string { return r.Reason }),
		operation(h, "unpin", "unpin-application", "End a rollback", `{"reason":"fixed"}`,
			api.PermApplicationSync, func(r *api.UnpinRequest) string { return r.Reason }),
		operation(h, "confirm", "confirm-deletion", "Confirm a sync or a deletion that waits for approval", `{"plan":"5f2b7c0d9a1e4f36"}`,
			api.PermApplicationSync, func(r *api.ConfirmRequest) string { return r.Reason }),
		operation(h, "restore", "restore-objects", "Restore objects of an earlier deployment", `{"dryRun":true}`,
			api.PermApplicationSync, func(r *api.RestoreRequest) string { return r.Reason }),
		operation(h, "revert", "revert-drift", "Revert changes made in the cluster", `{"dryRun":true}`,
			api.PermApplicationSync, func(r *api.RevertRequest) string { return r.Reason }),
		operation(h, "allow", "allow-drift", "Allow the drift of an object, until a time",
			`{"object":{"kind":"Deployment","group":"apps","name":"web"},"until":"2030-06-01T08:00:00Z"}`,
			api.PermApplicationSync, func(r *api.AllowRequest) string { return r.Reason }),
	}, h.bulkRoutes()...)
}

type bulkSync struct {
	Targets []api.Target    `json:"targets" minItems:"1" maxItems:"500" doc:"Applications"`
	Request api.SyncRequest `json:"request,omitzero" doc:"Options, for all of them"`
}

type bulkRefresh struct {
	Targets []api.Target       `json:"targets" minItems:"1" maxItems:"500" doc:"Applications"`
	Request api.RefreshRequest `json:"request,omitzero" doc:"Options, for all of them"`
}

type bulkInput[T any] struct {
	item.WaitInput
	Body T
}

type bulkOutput struct{ Body api.BulkResult }

func (h *Routes) bulkRoutes() []core.Route {
	route := func(verb, example string, permission api.Permission) core.Route {
		return core.Route{
			Method: http.MethodPost, Path: "/api/v1/applications/" + verb, Permission: permission, Access: core.Listed,
			Audit: "application.bulk" + verb,
			ID:    "bulk-" + verb, Summary: "The same as " + verb + " for many applications; each is allowed or refused separately",
			Tag: "operations", Example: example,
		}
	}
	sync := route("sync", `{"targets":[{"agent":"account.prod","namespace":"argocd","name":"shop"}],"request":{"prune":true}}`,
		api.PermApplicationSync)
	sync.Mount = core.Mount(core.Answer[bulkInput[bulkSync], bulkOutput]{Do: func(ctx context.Context, c *core.Call,
		in *bulkInput[bulkSync],
	) (*bulkOutput, error) {
		return h.bulk(ctx, c, in.WaitInput, in.Body.Targets, "application.sync", in.Body.Request, in.Body.Request.Reason)
	}})
	refresh := route("refresh", `{"targets":[{"agent":"account.prod","namespace":"argocd","name":"shop"}]}`, api.PermApplicationView)
	refresh.Mount = core.Mount(core.Answer[bulkInput[bulkRefresh], bulkOutput]{Do: func(ctx context.Context, c *core.Call,
		in *bulkInput[bulkRefresh],
	) (*bulkOutput, error) {
		return h.bulk(ctx, c, in.WaitInput, in.Body.Targets, "application.refresh", in.Body.Request, "")
	}})
	return []core.Route{sync, refresh}
}

// bulkWorkers is how many commands of one request are under way at a time.
const bulkWorkers = 16

// bulk does the same with many applications. One that is refused or fails does not stop the others.
func (h *Routes) bulk(ctx context.Context, c *core.Call, wait item.WaitInput, targets []api.Target, kind string, body any,
	reason string,
) (*bulkOutput, error) {
	out := &bulkOutput{api.BulkResult{Outcomes: make([]api.BulkOutcome, len(targets))}}
	var group sync.WaitGroup
	slots := make(chan struct{}, bulkWorkers)
	for i, t := range targets {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			out.Body.Outcomes[i] = h.bulkOne(ctx, c, wait, t, kind, body, reason)
		})
	}
	group.Wait()
	c.Object = api.Ref{Type: api.TypeApplication, Scope: api.ScopeAccount}
	c.After, c.Reason = out.Body, reason
	return out, nil
}

func (h *Routes) bulkOne(ctx context.Context, c *core.Call, wait item.WaitInput, t api.Target, kind string, body any,
	reason string,
) api.BulkOutcome {
	out := api.BulkOutcome{Target: t}
	in := item.At(t.Agent, t.Namespace, t.Name)
	at, err := h.FindApplication(ctx, in)
	if err == nil {
		err = c.May(c.Route.Permission, at)
	}
	if err == nil {
		one := *c
		one.Object = at.Ref()
		o := in.Order(kind, body)
		o.Reason = reason
		var done *item.CommandOutput
		if done, err = h.Command(ctx, &one, wait, o); err == nil {
			out.Command, out.Status, out.Message = done.Body.ID, done.Body.Status, done.Body.Message
			return out
		}
	}
	p := core.NewProblem(err, c.ID)
	out.Status, out.Message = api.CommandFailed, p.Detail
	if p.Code == api.CodeForbidden || p.Code == api.CodeNotFound {
		out.Status = api.CommandRefused
	}
	return out
}
