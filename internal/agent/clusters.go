package agent

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/project"
)

// clusters opens destination clusters when an Application first needs them. Each is on its own: one that hangs delays
// the Applications that deploy to it and nobody else.
type clusters struct {
	own      *rest.Config
	settings *settings
	rules    func(project string) (*project.Rules, error)
	log      *slog.Logger
	notify   func(live.Event)
	kinds    func()
	missed   func(wait string) // told of what a look found that no event told; nil for nobody
	outbound *outward.Policy   // of clusters that users describe
	scripts  *scripts
	tracking *tracking
	excluded *exclusions
	shadow   bool                                                          // nothing is written
	guard    transport.WrapperFunc                                         // in front of every request; nil for none
	observe  func(server string) func(http.RoundTripper) http.RoundTripper // told how requests go; nil for nobody
	// opened is told of each connection to a cluster, by the cluster's key; nil for nobody. It must not block.
	opened func(key string, config *rest.Config, state *live.Cluster)

	mu      sync.Mutex
	open    map[string]*destination // by server and Secret
	closing sync.WaitGroup
}

type destination struct {
	config string // identity of the configuration that it was opened with
	entry  clusterEntry
	rest   *rest.Config
	socket *rest.Config // the same, for what dials by itself
	target apply.Target
	actors actors
}

var _ engine.Clusters = (*clusters)(nil)

func newClusters(cfg Config, s *settings, rules func(string) (*project.Rules, error), notify func(live.Event), kinds func()) *clusters {
	return &clusters{
		own: cfg.REST, settings: s, rules: rules, log: cfg.Log, notify: notify, kinds: kinds, outbound: cfg.Outbound, scripts: newScripts(s, cfg.Log),
		tracking: newTracking(s, cfg.Installation, cfg.Log), excluded: newExclusions(s, cfg.Log), shadow: cfg.Shadow, open: map[string]*destination{},
	}
}

// Target implements engine.Clusters.
func (c *clusters) Target(ctx context.Context, project string, dest v1alpha1.ApplicationDestination) (apply.Target, error) {
	entry, err := c.find(project, dest)
	if err != nil {
		return apply.Target{}, err
	}
	who := c.actor(project, entry, dest.Namespace)
	c.mu.Lock()
	defer c.mu.Unlock()
	d, err := c.destination(ctx, entry)
	if err != nil {
		return apply.Target{}, err
	}
	target := d.target
	target.Client, err = d.actors.client(who, d)
	return target, err
}

// destination opens a cluster, or returns it as it was opened before. Callers hold the lock.
func (c *clusters) destination(ctx context.Context, entry clusterEntry) (*destination, error) {
	// Two projects may reach one server with credentials of their own, each over a connection of its own.
	key := entry.key()
	d := c.open[key]
	judge, edition := c.scripts.get()
	tracked := c.tracking.get()
	excluded, err := c.excluded.get()
	if err != nil {
		return nil, err
	}
	// Objects are judged when they are seen, so other scripts or marks mean another look at all of them. What is excluded is
	// watched no more.
	id := entry.id + edition + " " + tracked.String() + " " + excluded.ID()
	if d != nil && d.config == id {
		return d, nil
	}
	config, socket := c.own, c.own
	if entry.id != ownCluster {
		if socket, err = entry.rest(); err != nil {
			return nil, err
		}
		if config, err = bounded(socket, c.outbound); err != nil {
			return nil, fmt.Errorf("cluster Secret %s: %w", entry.secret, err)
		}
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = -1, -1
	if c.guard != nil {
		config.Wrap(c.guard)
	}
	if c.observe != nil && entry.id != ownCluster {
		config.Wrap(c.observe(entry.server))
	}
	// It asks nothing of the cluster, so it cannot hang.
	target, err := c.connect(ctx, config, live.Config{Server: entry.server, Health: judge, Tracking: tracked, Excluded: excluded, Shadow: c.shadow})
	if err != nil {
		return nil, err
	}
	if d != nil {
		c.closing.Go(d.target.Live.Close)
	}
	d = &destination{config: id, entry: entry, rest: config, socket: socket, target: target}
	c.open[key] = d
	if c.opened != nil {
		c.opened(key, config, target.Live)
	}
	return d, nil
}

// prune closes the connections whose Secret is gone, or is another one by now: what was taken away is not watched on. It
// reports whether there were any. What is needed again is opened again by the next turn.
func (c *clusters) prune() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pruned := false
	for key, d := range c.open {
		if d.entry.id == ownCluster || c.settings.has(d.entry) {
			continue
		}
		delete(c.open, key)
		c.closing.Go(d.target.Live.Close)
		c.log.Info("cluster closed", "server", d.entry.server, "why", "its Secret is gone, or has changed")
		pruned = true
	}
	return pruned
}

// key tells connections apart: by server, and by whose credentials it is.
func (e clusterEntry) key() string { return e.server + " " + e.secret }

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

func (c *clusters) connect(ctx context.Context, cfg *rest.Config, how live.Config) (apply.Target, error) {
	client, err := apply.NewClient(cfg)
	if err != nil {
		return apply.Target{}, err
	}
	how.REST, how.Log, how.Notify, how.KindsChanged, how.Missed = cfg, c.log, c.notify, c.kinds, c.missed
	state, err := live.Open(ctx, how)
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
