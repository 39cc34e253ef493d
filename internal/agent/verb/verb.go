// Package verb carries out what a server asks of Applications and their objects, and shows what it asks for.
package verb

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// Config is what commands about Applications need of an agent.
type Config struct {
	Apps      dynamic.Interface // of the cluster that holds the Applications
	Namespace string            // of the agent
	Engine    *engine.Engine
	Clusters  *place.Clusters
	Settings  *place.Settings
	Now       func() time.Time
	Log       *slog.Logger
	Known     func(registry.Name) (*v1alpha1.Application, bool) // Applications as last seen
	Redact    func([]byte) []byte
	// HasPlugin reports whether there is a config management plugin of that name; "" for any. Nil: there is none.
	HasPlugin func(name string) bool
	// ReadBy is the engine that works on the Applications.
	ReadBy   agentapi.Engine
	Deleters *Deleters
}

// Verbs carries out what people ask of Applications over the link. What an Application is asked to do it writes into the
// Application, as the command line does; the engine then does it.
type Verbs struct {
	core         *core
	applications *applications
	objects      *objects
	resources    *resources
	looks        *looks
}

// core finds and reads what commands are about.
type core struct{ Config }

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

// New carries out commands for an agent.
func New(c Config) *Verbs {
	base := &core{c}
	v := &Verbs{core: base, applications: &applications{base}, resources: &resources{core: base}, looks: &looks{core: base}}
	v.objects = &objects{v.applications}
	v.looks.trees = kin.New(kin.Config{Look: v.looks.look, Log: c.Log})
	return v
}

// Watched are the trees that clients look at.
func (v *Verbs) Watched() *kin.Watcher { return v.looks.trees }

// Executors are the commands that are answered once.
func (v *Verbs) Executors() map[agentapi.Kind]link.Executor {
	a, o, r, l := v.applications, v.objects, v.resources, v.looks
	return map[agentapi.Kind]link.Executor{
		agentapi.KindSync:      command.On(a.sync),
		agentapi.KindRefresh:   changes(a, choose(a, operate.Refresh, operate.RefreshBeside), nil),
		agentapi.KindTerminate: changes(a, operate.Terminate, nil),
		agentapi.KindRollback: changes(a, choose(a, operate.Rollback, operate.RollbackBeside),
			func(r *api.RollbackRequest) *string { return &r.Reason }),
		agentapi.KindUnpin:   changes(a, operate.Unpin, nil),
		agentapi.KindConfirm: changes(a, operate.Confirm, nil),
		agentapi.KindAllow:   changes(a, operate.Allow, func(r *api.AllowRequest) *string { return &r.Reason }),
		agentapi.KindRestore: command.On(a.restore), agentapi.KindRevert: command.On(a.revert),
		agentapi.KindAppDelete: command.On(a.removeApplication),
		agentapi.KindDiff:      command.On(l.diff), agentapi.KindTree: command.Bodiless(l.tree), agentapi.KindManifests: command.On(l.manifests),
		agentapi.KindPreview: command.On(l.preview),
		agentapi.KindPlan:    command.On(l.plan), agentapi.KindOperation: command.Bodiless(l.operation),
		agentapi.KindRevisions: command.On(l.revisions),
		agentapi.KindLinks:     command.On(r.links), agentapi.KindFindings: command.On(l.findings), agentapi.KindTips: command.Bodiless(l.tips),
		agentapi.KindObjectApply: command.On(o.objectApply), agentapi.KindObjectPatch: command.On(o.objectPatch),
		agentapi.KindObjectDelete: command.On(o.objectDelete),
		agentapi.KindResourceGet:  command.On(r.resourceGet), agentapi.KindResourcePatch: command.On(r.resourcePatch),
		agentapi.KindResourceDelete:  command.On(r.resourceDelete),
		agentapi.KindResourceActions: command.On(r.resourceActions), agentapi.KindResourceAction: command.On(r.resourceAction),
		agentapi.KindResourceEvents: command.On(r.resourceEvents),
	}
}

// Streamers are the commands that open a stream.
func (v *Verbs) Streamers() map[agentapi.Kind]command.Streamer {
	return map[agentapi.Kind]command.Streamer{
		agentapi.KindResourceLogs: command.OnStream(v.resources.logs), agentapi.KindResourceTerminal: command.OnStream(v.resources.terminal),
		agentapi.KindTreeWatch: command.OnStream(func(ctx context.Context, cmd agentapi.Command, _ struct{}, s command.Stream) error {
			return v.looks.treeWatch(ctx, cmd, s)
		}),
	}
}
