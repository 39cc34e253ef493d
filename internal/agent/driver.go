package agent

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/transport"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/beside"
	"github.com/slipway-gitops/slipway/internal/agent/instance"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

// driver is what works on the Applications that this agent knows: the engine in this process (ownEngine), or an Argo CD
// beside it (argoCD). What is watched, reported to a server and requested by it is the same with both; what differs is here.
type driver interface {
	starter
	listener
	// Engine is its name in reports to a server.
	Engine() agentapi.Engine
	// Refine adds to the answers of commands notes about where it works.
	Refine(run map[agentapi.Kind]link.Executor)
	// Works reports whether an Application has its turns in this process.
	Works(id registry.Name) bool
	// Objects are those that Applications have in a cluster, by the cluster's key; state is what this process knows of it.
	Objects(key string, state *live.Cluster) instance.Objects
	// Health says how it is; it must not block.
	Health() agentapi.Component
}

// starter is how a driver begins, in the order of its methods.
type starter interface {
	// Guard stands between the agent and an API server; home is whether it is that of the Applications. nil lets
	// everything through.
	Guard(home bool) transport.WrapperFunc
	// Prepare makes, or looks for, what it needs in the cluster, before anything is watched.
	Prepare(ctx context.Context) error
	// Alone makes sure, once all Applications are known, that nothing else works on them, and looks again from time to time.
	Alone(ctx context.Context, g *errgroup.Group) error
	// Work begins with the Applications, all of which are known.
	Work(ctx context.Context, g *errgroup.Group)
}

// listener hears of Applications. Its methods must not block.
type listener interface {
	// Wants hears of an Application that asks for a turn.
	Wants(id registry.Name)
	// Moved hears of every change of an Application while there is a link: old is nil for one that was not known, fresh for
	// one that is gone.
	Moved(old, fresh *v1alpha1.Application)
}

// newDriver makes the driver that the configuration names.
func newDriver(a *Agent) (driver, error) {
	switch a.cfg.Engine {
	case "", agentapi.EngineSlipway:
		return &ownEngine{a}, nil
	case agentapi.EngineArgoCD:
		return beside.NewArgoCD(beside.Config{
			Rest: a.cfg.REST, Namespace: a.cfg.Namespace, Log: a.log, Clusters: func() *place.Clusters { return a.clusters },
			Linked: func() *report.Source { return a.linked }, Ledger: func() *report.Ledger { return a.ledger },
		}), nil
	}
	return nil, fmt.Errorf("there is no engine %q: it is %s or %s", a.cfg.Engine, agentapi.EngineSlipway, agentapi.EngineArgoCD)
}

// ownEngine gives Applications their turns in this process.
type ownEngine struct{ agent *Agent }

func (o *ownEngine) Engine() agentapi.Engine { return agentapi.EngineSlipway }

// Guard lets nothing be written in shadow mode.
func (o *ownEngine) Guard(bool) transport.WrapperFunc {
	if !o.agent.cfg.Shadow {
		return nil
	}
	return place.RefuseWrites(o.agent.log, place.RefusedInShadow)
}

func (o *ownEngine) Prepare(ctx context.Context) error {
	if err := o.agent.helm.Choose(ctx, o.agent.cfg.HelmVersion, o.agent.cfg.REST, o.agent.cfg.Namespace, o.agent.log); err != nil {
		return err
	}
	return o.agent.cfg.install(ctx)
}

func (o *ownEngine) Alone(ctx context.Context, g *errgroup.Group) error {
	if o.agent.cfg.Shadow {
		return nil // an observer disturbs nothing
	}
	if err := o.agent.others.look(ctx); err != nil {
		return err
	}
	g.Go(func() error { return o.agent.others.watch(ctx) })
	return nil
}

func (o *ownEngine) Wants(id registry.Name) { o.agent.queue.Add(id) }

// Moved has nothing to do: the result of a turn is reported when it is over.
func (o *ownEngine) Moved(_, _ *v1alpha1.Application) {}

func (o *ownEngine) Work(ctx context.Context, g *errgroup.Group) {
	g.Go(func() error { o.agent.work(ctx); return nil })
	g.Go(func() error { return o.agent.lookAgain(ctx, secondLook) })
}

func (o *ownEngine) Refine(map[agentapi.Kind]link.Executor) {}

func (o *ownEngine) Works(id registry.Name) bool { return o.agent.shards.Holds(id) }

func (o *ownEngine) Objects(_ string, state *live.Cluster) instance.Objects { return state }

func (o *ownEngine) Health() agentapi.Component {
	c := agentapi.Component{Name: "engine", Status: agentapi.ComponentHealthy}
	if depth, oldest := o.agent.queue.Depth(); oldest > registry.Late {
		c.Status = agentapi.ComponentDegraded
		c.Message = fmt.Sprintf("%d applications wait for their turn, the first for %s", depth, oldest.Round(time.Second))
	}
	return c
}
