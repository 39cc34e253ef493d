package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/operate"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// verbConfig is what commands about Applications need of an agent.
type verbConfig struct {
	apps      dynamic.Interface // of the cluster that holds the Applications
	namespace string            // of the agent
	engine    *engine.Engine
	clusters  *place.Clusters
	settings  *place.Settings
	now       func() time.Time
	log       *slog.Logger
	known     func(registry.Name) (*v1alpha1.Application, bool) // Applications as last seen
	redact    func([]byte) []byte
	// readBy is the engine that works on the Applications.
	readBy   agentapi.Engine
	deleters *deleters
}

// verbs carries out what people ask of Applications over the link. What an Application is asked to do it writes into the
// Application, as the command line does; the engine then does it.
type verbs struct {
	core         *core
	applications *applications
	objects      *objects
	resources    *resources
	looks        *looks
}

// core finds and reads what commands are about.
type core struct{ verbConfig }

// applications changes Applications.
type applications struct{ *core }

// objects writes Applications, ApplicationSets and AppProjects.
type objects struct{ *applications }

// resources reaches the objects that Applications have in clusters.
type resources struct {
	*core
	mu   sync.Mutex
	mark string // of hidden values, in what actions see
}

// looks shows Applications, and what would become of them.
type looks struct {
	*core
	trees    *kin.Watcher
	previews places // of those under way
}

func newVerbs(c verbConfig) *verbs {
	base := &core{c}
	v := &verbs{core: base, applications: &applications{base}, resources: &resources{core: base}, looks: &looks{core: base}}
	v.objects = &objects{v.applications}
	v.looks.trees = kin.New(kin.Config{Look: v.looks.look, Log: c.log})
	return v
}

// watched are the trees that somebody looks at.
func (v *verbs) watched() *kin.Watcher { return v.looks.trees }

// duplex is the agent's side of a stream.
type duplex interface {
	io.Writer
	Recv(ctx context.Context) (agentapi.Chunk, error)
	Exit(code int)
}

// on is the way of every command that is answered once: its body is read, and its errors get their codes.
func on[T any](run func(context.Context, agentapi.Command, T) (any, error)) link.Executor {
	return func(ctx context.Context, cmd agentapi.Command) (any, error) {
		req, err := bodyOf[T](cmd)
		if err != nil {
			return nil, err
		}
		body, err := run(ctx, cmd, req)
		return body, coded(err)
	}
}

// streamer carries out a command that opens a stream.
type streamer func(context.Context, agentapi.Command, duplex) error

// onStream is on for commands that open a stream.
func onStream[T any](run func(context.Context, agentapi.Command, T, duplex) error) streamer {
	return func(ctx context.Context, cmd agentapi.Command, s duplex) error {
		req, err := bodyOf[T](cmd)
		if err != nil {
			return err
		}
		return coded(run(ctx, cmd, req, s))
	}
}

// executors are the commands that are answered once.
func (v *verbs) executors() map[agentapi.Kind]link.Executor {
	a, o, r, l := v.applications, v.objects, v.resources, v.looks
	return map[agentapi.Kind]link.Executor{
		agentapi.KindSync:      on(a.sync),
		agentapi.KindRefresh:   changes(a, choose(a, operate.Refresh, operate.RefreshBeside), nil),
		agentapi.KindTerminate: changes(a, operate.Terminate, nil),
		agentapi.KindRollback:  changes(a, choose(a, operate.Rollback, operate.RollbackBeside), func(r *api.RollbackRequest) *string { return &r.Reason }),
		agentapi.KindUnpin:     changes(a, operate.Unpin, nil),
		agentapi.KindConfirm:   changes(a, operate.Confirm, nil),
		agentapi.KindAllow:     changes(a, operate.Allow, func(r *api.AllowRequest) *string { return &r.Reason }),
		agentapi.KindRestore:   on(a.restore), agentapi.KindRevert: on(a.revert), agentapi.KindAppDelete: on(a.removeApplication),
		agentapi.KindDiff: on(l.diff), agentapi.KindTree: withCode(l.tree), agentapi.KindManifests: on(l.manifests), agentapi.KindPreview: on(l.preview),
		agentapi.KindPlan: on(l.plan), agentapi.KindOperation: withCode(l.operation), agentapi.KindRevisions: on(l.revisions),
		agentapi.KindFindings: on(l.findings), agentapi.KindTips: withCode(l.tips),
		agentapi.KindObjectApply: on(o.objectApply), agentapi.KindObjectPatch: on(o.objectPatch), agentapi.KindObjectDelete: on(o.objectDelete),
		agentapi.KindResourceGet: on(r.resourceGet), agentapi.KindResourcePatch: on(r.resourcePatch), agentapi.KindResourceDelete: on(r.resourceDelete),
		agentapi.KindResourceActions: on(r.resourceActions), agentapi.KindResourceAction: on(r.resourceAction), agentapi.KindResourceEvents: on(r.resourceEvents),
	}
}

// withCode is on for a command whose body says nothing, and is not read.
func withCode(run link.Executor) link.Executor {
	return func(ctx context.Context, cmd agentapi.Command) (any, error) {
		body, err := run(ctx, cmd)
		return body, coded(err)
	}
}

// streamers are the commands that open a stream.
func (v *verbs) streamers() map[agentapi.Kind]streamer {
	return map[agentapi.Kind]streamer{
		agentapi.KindResourceLogs: onStream(v.resources.logs), agentapi.KindResourceTerminal: onStream(v.resources.terminal),
		agentapi.KindTreeWatch: func(ctx context.Context, cmd agentapi.Command, s duplex) error {
			return coded(v.looks.treeWatch(ctx, cmd, s))
		},
	}
}

// refusedAs is an error with a code.
func refusedAs(code agentapi.Code, format string, args ...any) error {
	return &agentapi.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// coded gives errors of ours their code. Those of an API server have one.
func coded(err error) error {
	var known *agentapi.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var fault *operate.Error
	var denied *engine.ProjectError
	var kind *live.UnknownKindError
	switch {
	case errors.As(err, &fault):
		code := map[operate.Fault]agentapi.Code{
			operate.Invalid: agentapi.CodeInvalid, operate.Missing: agentapi.CodeNotFound, operate.Conflict: agentapi.CodeConflict, operate.Busy: agentapi.CodeConflict,
		}[fault.Fault]
		return refusedAs(code, "%v", err)
	case errors.As(err, &denied):
		return refusedAs(agentapi.CodeForbidden, "%v", err)
	case errors.As(err, &kind):
		return refusedAs(agentapi.CodeNotFound, "%v", err)
	}
	return err
}

// asStatus is the code of an API server's error, "" for what is none.
func asStatus(err error) agentapi.Code {
	switch {
	case apierrors.IsNotFound(err):
		return agentapi.CodeNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return agentapi.CodeConflict
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return agentapi.CodeForbidden
	}
	return ""
}

// bodyOf reads the body of a command. What this agent does not know is refused: half of what was asked is not what was asked.
func bodyOf[T any](cmd agentapi.Command) (T, error) {
	var out T
	if len(cmd.Body) == 0 || string(cmd.Body) == "null" {
		return out, nil
	}
	err := strict.Decode(cmd.Body, &out)
	var wrong *strict.Error
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &wrong) && !wrong.Unknown:
		return out, refusedAs(agentapi.CodeInvalid, "read %s: %v", cmd.Kind, err)
	}
	return out, refusedAs(agentapi.CodeUnsupported, "read %s: %v: this agent does not know it; update the agent, or ask without it", cmd.Kind, err)
}

// who asks for a command.
func who(cmd agentapi.Command) operate.Who { return operate.Who{Name: cmd.User, ID: cmd.ID} }

// reasonOf is the reason in a body, else that of the command.
func reasonOf(cmd agentapi.Command, own string) string {
	if own != "" {
		return own
	}
	return cmd.Reason
}
