package connect

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// Site is where a command finds Applications and asks for what is to be done with them: a namespace of a cluster
// (Applications), or a server that knows many clusters (Server). A name is that of an Application; at a server also
// "agent/namespace/name", which has to be written where the name alone is not unique.
type Site interface {
	// Place says where it is, for messages: "namespace argocd", "server https://…".
	Place() string
	// Get reads one. The error for one that does not exist says how to see which do.
	Get(ctx context.Context, name string) (Application, error)
	// List reads those with these labels (empty for all), sorted by name. Those of a server have what lists need only.
	List(ctx context.Context, selector string) ([]Application, error)
	// Create makes one; with upsert one that exists already gets the fields of obj.
	Create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool) (Application, error)
	// Ask asks for what the request says, one of api.SyncRequest, RefreshRequest, TerminateRequest, RollbackRequest,
	// UnpinRequest, ConfirmRequest, RestoreRequest, RevertRequest, AllowRequest and DeleteApplicationRequest. A server passes
	// it on to the agent; at a cluster change makes of it what is to be changed, again if another client was faster. What
	// fails there is an *operate.Error.
	Ask(ctx context.Context, name string, request any, change Make) (api.OperationAnswer, error)
	// Follow calls seen for each of names, first with its state now and then after each change, until seen has returned
	// done for all of them.
	Follow(ctx context.Context, names []string, seen Seen) error
}

// Make makes of a request what is to be changed in an Application as it is now.
type Make func(*v1alpha1.Application) (operate.Change, error)

// Site is where the command line says that Applications are. It connects to nothing yet.
func (c *Common) Site() (Site, error) {
	server, err := c.Server()
	if err != nil {
		return nil, err
	}
	if server != nil {
		return server, nil
	}
	cluster, err := c.Connect()
	if err != nil {
		return nil, err
	}
	return cluster.Apps, nil
}

// Server is the server that the command line is about; nil where it is about a cluster. A flag decides first: --server, or
// --kubeconfig and --context. Then the environment: $SLIPWAY_SERVER, or KUBECONFIG. Then a context that `slipway login`
// made; last, the cluster that kubectl would use.
func (c *Common) Server() (*Server, error) {
	cluster := c.Kubeconfig != "" || c.Context != ""
	switch {
	case c.ServerName != "" && cluster:
		return nil, iostream.Usagef("give --server or --kubeconfig and --context, not both: they are different places")
	case cluster:
		return nil, nil //nolint:nilnil // no server is no error
	}
	named := c.ServerName != "" || os.Getenv("SLIPWAY_SERVER") != ""
	if !named && os.Getenv("KUBECONFIG") != "" {
		return nil, nil //nolint:nilnil // no server is no error
	}
	contexts, err := remote.Load()
	if err != nil {
		return nil, err
	}
	if !named && contexts.Current == "" {
		return nil, nil //nolint:nilnil // no server is no error
	}
	return c.signedIn(contexts)
}

// MustServer is the server of commands that only a server can answer. Whether there is a cluster does not matter.
func (c *Common) MustServer() (*Server, error) {
	contexts, err := remote.Load()
	if err != nil {
		return nil, err
	}
	return c.signedIn(contexts)
}

func (c *Common) signedIn(contexts *remote.Contexts) (*Server, error) {
	chosen, err := contexts.Choose(c.ServerName)
	if err != nil {
		return nil, err
	}
	to, err := chosen.Client(c.Version)
	if err != nil {
		return nil, err
	}
	if chosen.Insecure {
		c.Sayf("warning: the certificate of %s is not checked (insecure): an attacker on the network can impersonate it", chosen.Server)
	}
	to = to.OnWait(func(cmd api.Command) {
		c.Sayf("agent %s has not answered yet; waiting until %s. Ctrl-C ends the waiting, not the request; "+
			"`slipway agent get %s` shows the state of the agent",
			cmd.Agent, cmd.Deadline.UTC().Format(time.RFC3339), cmd.Agent)
	})
	return &Server{Client: to, Name: chosen, agent: c.Agent}, nil
}

// Place says which namespace it is.
func (a *Applications) Place() string { return "namespace " + a.namespace }

// Ask changes an Application as it is now.
func (a *Applications) Ask(ctx context.Context, name string, request any, change Make) (api.OperationAnswer, error) {
	var answer api.OperationAnswer
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		app, err := a.Get(ctx, name)
		if err != nil {
			return err
		}
		made, err := change(&app.Application)
		if err != nil {
			return err
		}
		answer = made.Answer
		if made.Patch != nil {
			fresh, err := a.Patch(ctx, name, made.Patch)
			if err != nil {
				return err
			}
			answer.Version = fresh.ResourceVersion
		}
		if r, ok := request.(api.DeleteApplicationRequest); ok && !r.DryRun && app.DeletionTimestamp == nil {
			return a.Delete(ctx, name, app.UID)
		}
		return nil
	})
	return answer, err
}

// ExplainServer gives an error of a server its exit code where it has one, and what to do next.
func ExplainServer(err error, server string) error {
	if err == nil {
		return nil
	}
	var e *client.Error
	if api.CodeOf(err) == api.CodeUnauthenticated {
		return iostream.NotLoggedInf("%w; sign in with `slipway login %s`", err, server)
	}
	if asClient(err, &e) && e.Status == 0 && e.Server != "" {
		return fmt.Errorf("%w; --kubeconfig talks to a cluster without a server", err)
	}
	return err
}
