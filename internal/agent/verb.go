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

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/operate"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// verbs carries out what people ask over the link. What an Application is asked to do it writes into the Application, as
// the command line does; the engine then does it.
type verbs struct {
	apps      dynamic.Interface // of the cluster that holds the Applications
	namespace string            // of the agent
	engine    *engine.Engine
	clusters  *place.Clusters
	settings  *place.Settings
	git       *git.Client
	keys      func() []link.SealKey // that open what is sealed to the agent, the newest first
	now       func() time.Time
	log       *slog.Logger
	trees     *kin.Watcher
	known     func(registry.Name) (*v1alpha1.Application, bool) // Applications as last seen
	redact    func([]byte) []byte
	// readBy is the engine that reads settings. Beside an Argo CD, repositories and clusters are found by their address,
	// whatever project they are of.
	readBy   agentapi.Engine
	deleters *deleters

	previews  places     // of those under way
	addresses sync.Mutex // held while a Secret is written that others may have the address of

	mu   sync.Mutex
	mark string // of hidden values, in what actions see
}

// duplex is the agent's side of a stream.
type duplex interface {
	io.Writer
	Recv(ctx context.Context) (agentapi.Chunk, error)
	Exit(code int)
}

// executors returns what carries out commands: those that are answered once, and those that open a stream.
func (a *Agent) executors() (map[agentapi.Kind]link.Executor, map[agentapi.Kind]link.Streamer) {
	v := &verbs{
		apps: a.apps.Dynamic, namespace: a.cfg.Namespace, engine: a.engine, clusters: a.clusters, settings: a.settings, git: a.git,
		keys: func() []link.SealKey { return a.link.SealKeys() }, now: time.Now, log: a.log,
		known: a.registry.Get, redact: a.linked.Redact, readBy: a.driver.engine(), deleters: &a.deleters,
	}
	v.trees = kin.New(kin.Config{Look: v.look, Log: a.log})
	a.trees = v.trees
	run := v.executors()
	for kind, executor := range a.driver.executors(v) {
		run[kind] = withCode(executor)
	}
	streams := v.streamers()
	for _, lack := range a.driver.engine().Lacks() {
		refusal := refusedAs(agentapi.CodeUnsupported, "%s", lack.Why)
		if _, known := run[lack.Kind]; known {
			run[lack.Kind] = func(context.Context, agentapi.Command) (any, error) { return nil, refusal }
		}
		if _, known := streams[lack.Kind]; known {
			streams[lack.Kind] = func(context.Context, agentapi.Command, *link.Stream) error { return refusal }
		}
	}
	return a.traces.commands(run, a.registry.Ask), streams
}

// withCode gives the errors of an executor their codes.
func withCode(run link.Executor) link.Executor {
	return func(ctx context.Context, cmd agentapi.Command) (any, error) {
		body, err := run(ctx, cmd)
		return body, coded(err)
	}
}

// executors are the commands that are answered once.
func (v *verbs) executors() map[agentapi.Kind]link.Executor {
	out := map[agentapi.Kind]link.Executor{}
	for kind, run := range map[agentapi.Kind]link.Executor{
		agentapi.KindSync: v.sync, agentapi.KindRefresh: v.refresh, agentapi.KindTerminate: v.terminate, agentapi.KindRollback: v.rollback,
		agentapi.KindUnpin: v.unpin, agentapi.KindConfirm: v.confirm, agentapi.KindRestore: v.restore, agentapi.KindRevert: v.revert,
		agentapi.KindAllow: v.allow, agentapi.KindAppDelete: v.deleteApplication,
		agentapi.KindDiff: v.diff, agentapi.KindTree: v.tree, agentapi.KindManifests: v.manifests, agentapi.KindPreview: v.preview,
		agentapi.KindRepositoryRefs: v.repositoryRefs, agentapi.KindRepositoryPaths: v.repositoryPaths,
		agentapi.KindPlan: v.plan, agentapi.KindOperation: v.operation, agentapi.KindRevisions: v.revisions,
		agentapi.KindFindings: v.findings, agentapi.KindTips: v.tips,
		agentapi.KindObjectApply: v.objectApply, agentapi.KindObjectPatch: v.objectPatch, agentapi.KindObjectDelete: v.objectDelete,
		agentapi.KindResourceGet: v.resourceGet, agentapi.KindResourcePatch: v.resourcePatch, agentapi.KindResourceDelete: v.resourceDelete,
		agentapi.KindResourceActions: v.resourceActions, agentapi.KindResourceAction: v.resourceAction, agentapi.KindResourceEvents: v.resourceEvents,
		agentapi.KindSettingsApply: v.settingApply, agentapi.KindSettingsDelete: v.settingDelete, agentapi.KindSettingsTest: v.settingTest,
	} {
		out[kind] = withCode(run)
	}
	return out
}

// streamers are the commands that open a stream.
func (v *verbs) streamers() map[agentapi.Kind]link.Streamer {
	return map[agentapi.Kind]link.Streamer{
		agentapi.KindResourceLogs: func(ctx context.Context, cmd agentapi.Command, s *link.Stream) error {
			return coded(v.logs(ctx, cmd, s))
		},
		agentapi.KindResourceTerminal: func(ctx context.Context, cmd agentapi.Command, s *link.Stream) error {
			return coded(v.terminal(ctx, cmd, s))
		},
		agentapi.KindTreeWatch: func(ctx context.Context, cmd agentapi.Command, s *link.Stream) error {
			return coded(v.treeWatch(ctx, cmd, s))
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

// application reads the Application that a command is about.
func (v *verbs) application(ctx context.Context, cmd agentapi.Command) (*v1alpha1.Application, error) {
	t := cmd.Target
	if t.Kind != "" && t.Kind != agentapi.ItemApplication || t.Name == "" || t.Namespace == "" {
		return nil, refusedAs(agentapi.CodeInvalid, "%s is about an application: say its namespace and name", cmd.Kind)
	}
	app, err := v.readApplication(ctx, t.Namespace, t.Name)
	if err != nil {
		return nil, err
	}
	return app, meets(cmd.Judged, v1alpha1.KindApplication, t.Name, app.Spec.ProjectName(), true)
}
