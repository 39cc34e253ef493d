package agent

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/transport"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/instance"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

// driver is what works on the Applications that this agent knows: the engine in this process (ownEngine), or an Argo CD
// beside it (argoCD). What is watched, told to a server and asked by it is the same with both; what differs is here.
type driver interface {
	starter
	listener
	// engine is how a server is told of it.
	engine() agentapi.Engine
	// refine adds to the answers of commands what has to be said where it works.
	refine(run map[agentapi.Kind]link.Executor)
	// works reports whether an Application has its turns in this process.
	works(id registry.Name) bool
	// objects are those that Applications have in a cluster, by the cluster's key; state is what this process knows of it.
	objects(key string, state *live.Cluster) instance.Objects
	// health says how it is; it must not block.
	health() agentapi.Component
}

// starter is how a driver begins, in the order of its methods.
type starter interface {
	// guard stands between the agent and an API server; home is whether it is that of the Applications. nil lets
	// everything through.
	guard(home bool) transport.WrapperFunc
	// prepare makes, or looks for, what it needs in the cluster, before anything is watched.
	prepare(ctx context.Context) error
	// alone makes sure, once all Applications are known, that nobody else works on them, and looks again from time to time.
	alone(ctx context.Context, g *errgroup.Group) error
	// work begins with the Applications, all of which are known.
	work(ctx context.Context, g *errgroup.Group)
}

// listener hears of Applications. Its methods must not block.
type listener interface {
	// wants hears of an Application that asks for a turn.
	wants(id registry.Name)
	// moved hears of every change of an Application while there is a link: old is nil for one that was not known, fresh for
	// one that is gone.
	moved(old, fresh *v1alpha1.Application)
}

// newDriver makes the driver that the configuration names.
func newDriver(a *Agent) (driver, error) {
	switch a.cfg.Engine {
	case "", agentapi.EngineSlipway:
		return &ownEngine{a}, nil
	case agentapi.EngineArgoCD:
		return newArgoCD(a), nil
	}
	return nil, fmt.Errorf("there is no engine %q: it is %s or %s", a.cfg.Engine, agentapi.EngineSlipway, agentapi.EngineArgoCD)
}

// ownEngine gives Applications their turns in this process.
type ownEngine struct{ agent *Agent }

func (o *ownEngine) engine() agentapi.Engine { return agentapi.EngineSlipway }

// guard lets nothing be written in shadow mode.
func (o *ownEngine) guard(bool) transport.WrapperFunc {
	if !o.agent.cfg.Shadow {
		return nil
	}
	return place.RefuseWrites(o.agent.log, place.RefusedInShadow)
}

func (o *ownEngine) prepare(ctx context.Context) error {
	if err := o.agent.chooseHelm(ctx); err != nil {
		return err
	}
	return o.agent.install(ctx)
}

func (o *ownEngine) alone(ctx context.Context, g *errgroup.Group) error {
	if o.agent.cfg.Shadow {
		return nil // whoever looks on is in nobody's way
	}
	if err := o.agent.others.look(ctx); err != nil {
		return err
	}
	g.Go(func() error { return o.agent.others.watch(ctx) })
	return nil
}

func (o *ownEngine) wants(id registry.Name) { o.agent.queue.Add(id) }

// moved has nothing to do: what comes of a turn is told when it is over.
func (o *ownEngine) moved(_, _ *v1alpha1.Application) {}

func (o *ownEngine) work(ctx context.Context, g *errgroup.Group) {
	g.Go(func() error { o.agent.work(ctx); return nil })
	g.Go(func() error { return o.agent.lookAgain(ctx, secondLook) })
}

func (o *ownEngine) refine(map[agentapi.Kind]link.Executor) {}

func (o *ownEngine) works(id registry.Name) bool { return o.agent.shards.Holds(id) }

func (o *ownEngine) objects(_ string, state *live.Cluster) instance.Objects { return state }

func (o *ownEngine) health() agentapi.Component {
	c := agentapi.Component{Name: "engine", Status: agentapi.ComponentHealthy}
	if depth, oldest := o.agent.queue.Depth(); oldest > queueLate {
		c.Status = agentapi.ComponentDegraded
		c.Message = fmt.Sprintf("%d applications wait for their turn, the first for %s", depth, oldest.Round(time.Second))
	}
	return c
}
