package item

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Items is the server's copy of what is in the clusters.
type Items interface {
	ListApplications(context.Context, rbac.Filter, api.ApplicationFilter) (api.Page[api.Application], error)
	GetApplication(ctx context.Context, agent, namespace, name string) (api.ApplicationDetail, error)
	ListItems(ctx context.Context, kind string, visible rbac.Filter, filter api.ItemFilter) (api.Page[api.Item], error)
	GetItem(ctx context.Context, kind, agent, namespace, name string) (api.Item, error)
	// ItemReferences are the applications that use a repository, a cluster or an Argo project.
	ItemReferences(context.Context, api.Item) ([]api.Ref, error)
	// ItemScope is where an item of that Argo project belongs: for what does not exist yet.
	ItemScope(ctx context.Context, agent, argoProject string) (api.Scope, error)
	// DropItem forgets an item that its agent no longer reports.
	DropItem(ctx context.Context, kind, agent, namespace, name string) error
}

// Order is something that an agent is to do.
type Order struct {
	// Agent is an id.
	Agent, Kind string
	// Object is what rights were asked for.
	Object api.Ref
	// TargetKind is "Application" or another kind of Kubernetes'; empty where the command has no target.
	TargetKind, Namespace, Name string
	Body                        any
	// Judged is what rights were asked for; without it, it is what is there as the target of the request was found.
	Judged    *agentapi.JudgedProject
	By        api.Principal
	Groups    []string
	Reason    string
	RequestID string
	Timeout   time.Duration
}

// Stream is an open stream of an agent.
type Stream interface {
	// Recv waits for what comes next; io.EOF at the end, or *Exited if a command ended regularly.
	Recv(context.Context) ([]byte, error)
	Send(ctx context.Context, data []byte) error
	// EndInput says that nothing more is sent.
	EndInput(ctx context.Context) error
	// Resize sends the size of the terminal.
	Resize(ctx context.Context, columns, rows int) error
	io.Closer
}

// Exited is how a command in a container ended.
type Exited struct{ Code int }

// Error says it.
func (e *Exited) Error() string { return fmt.Sprintf("the command ended with exit code %d", e.Code) }

// Commands has agents do things.
type Commands interface {
	// Do asks and waits for the result till the context ends; a stored command goes on after that. What the agent refused
	// or could not do is an error.
	Do(context.Context, Order) (api.Command, error)
	// Ask reads; nothing is stored.
	Ask(context.Context, Order) (json.RawMessage, error)
	Open(context.Context, Order) (Stream, error)
	GetCommand(ctx context.Context, id string) (api.Command, error)
	ListCommands(ctx context.Context, agent string, options api.ListOptions) (api.Page[api.Command], error)
}
