// Package place is where Applications go, and with what: clusters, as whom to act there, repositories, projects, and the settings
// that they come from.
package place

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/credential"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Clusters opens destination clusters when an Application first needs them. Each is on its own: one that hangs delays
// the Applications that deploy to it and no others.
type Clusters struct {
	Options
	scripts  *scripts
	tracking *tracking
	excluded *exclusions

	mu      sync.Mutex
	open    map[string]*Destination // by server and Secret
	lenient live.Lenience           // as of the last look
	closing sync.WaitGroup
}

// Options is what clusters are opened with.
type Options struct {
	REST         *rest.Config // of the agent's own cluster
	Settings     *Settings
	Rules        func(project string) (*project.Rules, error)
	Installation string            // where the settings name none
	Outbound     *outward.Policy   // of clusters that users describe
	Shadow       bool              // nothing is written
	Namespaced   bool              // the agent has rights in namespaces only
	Signs        *credential.Maker // makes the tokens of clusters; nil for none
	Log          *slog.Logger

	Notify func(live.Event)
	Kinds  func() // called for kinds that changed
	// called for what a look found although no event reported it; nil for none
	Missed func(wait string)
	Guard  transport.WrapperFunc // in front of every request; nil for none
	// Opened is called for each connection to a cluster, by the cluster's key; nil for none. It must not block.
	Opened func(key string, config *rest.Config, state *live.Cluster)
}

var _ engine.Clusters = (*Clusters)(nil)

// NewClusters opens no cluster yet.
func NewClusters(o Options) *Clusters {
	return &Clusters{
		Options: o, scripts: newScripts(o.Settings, o.Log), tracking: newTracking(o.Settings, o.Installation, o.Log),
		excluded: newExclusions(o.Settings, o.Log), open: map[string]*Destination{},
	}
}

// Target implements engine.Clusters.
func (c *Clusters) Target(ctx context.Context, project string, dest v1alpha1.ApplicationDestination) (apply.Target, error) {
	d, who, err := c.Reach(ctx, project, dest)
	if err != nil {
		return apply.Target{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	target := d.Target
	target.Client, err = d.actors.client(who, d)
	return target, err
}

// Reach opens the cluster that a project's Application deploys to, and says as whom it acts there.
func (c *Clusters) Reach(ctx context.Context, project string, dest v1alpha1.ApplicationDestination) (*Destination, Actor, error) {
	entry, err := c.find(project, dest)
	if err != nil {
		return nil, Actor{}, err
	}
	who := c.actor(project, entry, dest.Namespace)
	c.mu.Lock()
	defer c.mu.Unlock()
	d, err := c.destination(ctx, entry)
	return d, who, err
}

// KeyOf is the key of the cluster that a project's Application deploys to. It is also known of the agent's own while that is switched
// off.
func (c *Clusters) KeyOf(project string, dest v1alpha1.ApplicationDestination) (string, error) {
	entry, err := c.find(project, dest)
	return entry.key(), err
}

// SettingsChanged reads again what the settings say about clusters. It reports whether other Applications may differ for it, and
// whether connections were closed.
func (c *Clusters) SettingsChanged() (changed, closed bool) {
	_, _, judged := c.scripts.refresh()
	_, marked := c.tracking.refresh()
	_, excluded, _ := c.excluded.refresh()
	closed = c.prune()
	lenient := c.Settings.lenience()
	c.mu.Lock()
	defer c.mu.Unlock()
	respects := c.lenient != lenient
	c.lenient = lenient
	return judged || marked || excluded || respects || closed, closed
}

// Assessor is what users' scripts make of health; nil while there are none.
func (c *Clusters) Assessor() *health.Assessor {
	assessor, _ := c.scripts.get()
	return assessor
}

// TrackingInstallation distinguishes objects from those of other agents on the same cluster, "" for nothing.
func (c *Clusters) TrackingInstallation() string { return c.tracking.get().Installation }

// Identify implements engine.Clusters.
func (c *Clusters) Identify(called string, dest v1alpha1.ApplicationDestination) (project.Cluster, error) {
	entry, err := c.find(called, dest)
	if err != nil {
		return project.Cluster{}, err
	}
	return project.Cluster{Server: entry.server, Name: entry.name, Project: entry.owner, Limits: entry.limits}, nil
}

// ownCluster is the id of the agent's own cluster when no Secret describes it.
const ownCluster = "own"

// ownAddress is what stands for the address of its API server.
const ownAddress = v1alpha1.InClusterServer

func (c *Clusters) find(project string, dest v1alpha1.ApplicationDestination) (clusterEntry, error) {
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
	entry, ok := c.Settings.cluster(project, server, dest.Name)
	switch {
	case (server == v1alpha1.InClusterServer || entry.server == v1alpha1.InClusterServer) && !c.Settings.InCluster():
		if !ok {
			entry = clusterEntry{server: server, name: v1alpha1.InClusterName, id: ownCluster}
		}
		return entry, fmt.Errorf("the agent's own cluster is switched off as a destination (%s in %s is false): "+
			"deploy to another cluster",
			KeyInCluster, ConfigArgoCD)
	case ok:
		return entry, entry.wrong
	case server == v1alpha1.InClusterServer && c.Namespaced:
		return clusterEntry{}, fmt.Errorf("the agent has rights in namespaces only, so its own cluster is no destination "+
			"yet: add a cluster Secret "+
			"with server %s and the field namespaces", v1alpha1.InClusterServer)
	case server == v1alpha1.InClusterServer:
		return clusterEntry{server: server, name: v1alpha1.InClusterName, id: ownCluster}, nil
	case dest.Name != "":
		return clusterEntry{}, fmt.Errorf("no cluster is called %q: add its Secret (label %s: cluster), or correct spec.destination.name",
			dest.Name, v1alpha1.LabelSecretType)
	}
	return clusterEntry{}, fmt.Errorf("no cluster is known at %s: add its Secret (label %s: cluster), or correct spec.destination.server",
		server, v1alpha1.LabelSecretType)
}

// connect asks nothing of the cluster, so it cannot hang.
func (c *Clusters) connect(ctx context.Context, cfg *rest.Config, how live.Config) (apply.Target, error) {
	client, err := apply.NewClient(cfg)
	if err != nil {
		return apply.Target{}, err
	}
	how.REST, how.Log, how.Notify, how.KindsChanged, how.Missed = cfg, c.Log, c.Notify, c.Kinds, c.Missed
	state, err := live.Open(ctx, how)
	if err != nil {
		return apply.Target{}, err
	}
	return apply.Target{Client: client, Live: state}, nil
}

// Each calls f for every open cluster.
func (c *Clusters) Each(f func(server string, t apply.Target)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.open {
		f(d.Target.Live.Server, d.Target)
	}
}

// Close closes all clusters.
func (c *Clusters) Close() {
	c.mu.Lock()
	for _, d := range c.open {
		d.close()
	}
	c.mu.Unlock()
	c.closing.Wait()
}
