package agent

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/project"
)

// clusters opens destination clusters when an Application first needs them. Each is on its own: one that hangs delays
// the Applications that deploy to it and nobody else.
type clusters struct {
	own      *rest.Config
	settings *settings
	log      *slog.Logger
	notify   func(live.Event)
	kinds    func()

	mu      sync.Mutex
	open    map[string]*destination // by server and Secret
	closing sync.WaitGroup
}

type destination struct {
	config string // identity of the configuration that it was opened with
	target apply.Target
}

var _ engine.Clusters = (*clusters)(nil)

func newClusters(cfg Config, s *settings, notify func(live.Event), kinds func()) *clusters {
	return &clusters{own: cfg.REST, settings: s, log: cfg.Log, notify: notify, kinds: kinds, open: map[string]*destination{}}
}

// Target implements engine.Clusters.
func (c *clusters) Target(ctx context.Context, project string, dest v1alpha1.ApplicationDestination) (apply.Target, error) {
	entry, err := c.find(project, dest)
	if err != nil {
		return apply.Target{}, err
	}
	server, id, config := entry.server, entry.id, c.own
	if id != ownCluster {
		if config, err = entry.rest(); err != nil {
			return apply.Target{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Two projects may reach one server with credentials of their own, each over a connection of its own.
	key := server + " " + entry.secret
	d := c.open[key]
	if d != nil && d.config == id {
		return d.target, nil
	}
	target, err := c.connect(ctx, server, config) // asks nothing of the cluster, so it cannot hang
	if err != nil {
		return apply.Target{}, err
	}
	if d != nil {
		c.closing.Go(d.target.Live.Close)
	}
	c.open[key] = &destination{config: id, target: target}
	return target, nil
}

// Identify implements engine.Clusters.
func (c *clusters) Identify(called string, dest v1alpha1.ApplicationDestination) (project.Cluster, error) {
	entry, err := c.find(called, dest)
	if err != nil {
		return project.Cluster{}, err
	}
	return project.Cluster{Server: entry.server, Name: entry.name, Project: entry.owner}, nil
}

// ownCluster is the id of the agent's own cluster when no Secret describes it.
const ownCluster = "own"

func (c *clusters) find(project string, dest v1alpha1.ApplicationDestination) (clusterEntry, error) {
	server := dest.Server
	if server != "" && dest.Name != "" {
		return clusterEntry{}, fmt.Errorf("spec.destination has both server and name: keep one of them")
	}
	if dest.Name == v1alpha1.InClusterName {
		server = v1alpha1.InClusterServer
	}
	if server == "" && dest.Name == "" {
		return clusterEntry{}, fmt.Errorf("spec.destination has neither server nor name: %s is the agent's own cluster", v1alpha1.InClusterServer)
	}
	entry, ok := c.settings.cluster(project, server, dest.Name)
	switch {
	case ok:
		return entry, nil
	case server == v1alpha1.InClusterServer:
		return clusterEntry{server: server, name: v1alpha1.InClusterName, id: ownCluster}, nil
	case dest.Name != "":
		return clusterEntry{}, fmt.Errorf("no cluster is called %q: add its Secret (label %s: cluster), or correct spec.destination.name", dest.Name, v1alpha1.LabelSecretType)
	}
	return clusterEntry{}, fmt.Errorf("no cluster is known at %s: add its Secret (label %s: cluster), or correct spec.destination.server", server, v1alpha1.LabelSecretType)
}

func (c *clusters) connect(ctx context.Context, server string, config *rest.Config) (apply.Target, error) {
	cfg := rest.CopyConfig(config)
	cfg.QPS, cfg.Burst = -1, -1
	client, err := apply.NewClient(cfg)
	if err != nil {
		return apply.Target{}, err
	}
	state, err := live.Open(ctx, live.Config{Server: server, REST: cfg, Log: c.log, Notify: c.notify, KindsChanged: c.kinds})
	if err != nil {
		return apply.Target{}, err
	}
	return apply.Target{Client: client, Live: state}, nil
}

// each calls f for every open cluster.
func (c *clusters) each(f func(server string, t apply.Target)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.open {
		f(d.target.Live.Server, d.target)
	}
}

func (c *clusters) close() {
	c.each(func(_ string, t apply.Target) { t.Live.Close() })
	c.closing.Wait()
}
