package place

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

// Destination is a cluster that was opened.
type Destination struct {
	judged string // what it was opened with, besides its Secret
	entry  clusterEntry
	rest   *rest.Config
	wire   *wire // nil for the agent's own connection
	pulse  pulse
	end    context.CancelFunc // of what looks after the pulse
	ended  sync.WaitGroup
	Target apply.Target
	actors actors

	mu      sync.Mutex
	socket  *rest.Config // as rest, for clients with their own dialer
	clients map[Actor]dynamic.Interface
}

// Called is the name of the cluster, and the address of its API server.
func (d *Destination) Called() (name, server string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if server = d.Target.Live.Server; server == v1alpha1.InClusterServer {
		return cmp.Or(d.entry.name, v1alpha1.InClusterName), server
	}
	return d.entry.name, server
}

// close ends all that watches the cluster.
func (d *Destination) close() {
	d.end()
	d.ended.Wait()
	d.Target.Live.Close()
	if d.wire != nil {
		d.wire.close()
	}
}

// key distinguishes connections: by server, and by whose credentials it is.
func (e clusterEntry) key() string { return ClusterKey(e.server, e.secret) }

// ClusterKey is the key of the cluster at an address, as a Secret describes it; of the agent's own, secret is empty where none does.
func ClusterKey(server, secret string) string { return server + " " + secret }

// destination opens a cluster, or returns it as it was opened before. Callers hold the lock.
func (c *Clusters) destination(ctx context.Context, entry clusterEntry) (*Destination, error) {
	// Two projects may reach one server with credentials of their own, each over a connection of its own.
	key := entry.key()
	judge, edition := c.scripts.get()
	tracked := c.tracking.get()
	excluded, err := c.excluded.get()
	if err != nil {
		return nil, err
	}
	lenient := c.Settings.lenience()
	// Objects are judged when they are seen, so other scripts or marks mean another look at all of them. What is excluded is
	// watched no more.
	judged := edition + " " + tracked.String() + " " + excluded.ID() + " " + string(lenient) + " " + entry.limits.String()
	d := c.open[key]
	if d != nil && d.judged == judged && (d.entry.id == entry.id || c.rewire(d, entry)) {
		return d, nil
	}
	fresh := &Destination{judged: judged, entry: entry}
	if err := c.wire(fresh); err != nil {
		return nil, err
	}
	fresh.rest.Wrap(fresh.pulse.around)
	var limited *fence
	if entry.limits.Any() {
		if limited, err = newFence(entry.limits, fresh.rest.Host); err != nil {
			return nil, err
		}
		fresh.rest.Wrap(limited.around)
	}
	if c.Guard != nil {
		fresh.rest.Wrap(c.Guard)
	}
	fresh.Target, err = c.connect(ctx, fresh.rest, live.Config{
		Server: entry.server, Health: judge, Tracking: tracked, Excluded: excluded, Shadow: c.Shadow, Limits: entry.limits, Lenient: lenient,
	})
	if err != nil {
		return nil, err
	}
	if limited != nil {
		reach := fresh.Target.Live.Reach
		limited.kinds.Store(&reach)
	}
	if d != nil {
		c.closing.Go(d.close)
	}
	c.attend(ctx, fresh)
	c.open[key] = fresh
	if c.Opened != nil {
		c.Opened(key, fresh.rest, fresh.Target.Live)
	}
	return fresh, nil
}

// attend looks after the pulse of a cluster until it is closed.
func (c *Clusters) attend(ctx context.Context, d *Destination) {
	ctx, d.end = context.WithCancel(context.WithoutCancel(ctx))
	d.ended.Go(func() { d.pulse.keep(ctx, d.Target.Live.API.Ask) })
}

// wire says how a cluster is reached. It asks nothing of it.
func (c *Clusters) wire(d *Destination) error {
	socket, own, err := c.described(d.entry)
	if err != nil {
		return err
	}
	if own {
		d.rest, d.socket = rest.CopyConfig(socket), socket
		d.rest.QPS, d.rest.Burst = -1, -1
		return nil
	}
	next, err := c.carry(socket, d.entry)
	if err != nil {
		return err
	}
	d.wire, d.socket = newWire(next), socket
	d.rest = over(socket.Host, d.wire)
	if field := d.entry.stranger(); field != "" {
		c.Log.Warn("a field of a cluster Secret is ignored: this version does not know it", "secret", d.entry.secret, "field", "config."+field)
	}
	return nil
}

// described is the connection that a Secret describes, or that of the agent itself.
func (c *Clusters) described(entry clusterEntry) (config *rest.Config, own bool, err error) {
	if entry.id == ownCluster {
		return c.REST, true, nil
	}
	if entry.server != v1alpha1.InClusterServer {
		config, err = entry.rest(c.Signs)
		return config, false, err
	}
	in, err := entry.connection()
	switch {
	case err != nil:
		return nil, false, err
	case in.bare() && c.Namespaced && !entry.limits.Any():
		return nil, false, fmt.Errorf("cluster Secret %s lacks the field namespaces: the agent has rights in namespaces only", entry.secret)
	case in.bare():
		return c.REST, true, nil
	}
	// The Secret has an account of the agent's own cluster.
	if config, err = entry.rest(c.Signs); err != nil {
		return nil, false, err
	}
	config.Host, config.Dial = c.REST.Host, c.REST.Dial
	if len(config.CAData) == 0 && !config.Insecure {
		config.CAData, config.CAFile, config.ServerName = c.REST.CAData, c.REST.CAFile, c.REST.ServerName
		config.Insecure = c.REST.Insecure
	}
	return config, false, nil
}

// carry makes the transport of a described connection. That of the agent's own API server was not chosen by a user.
func (c *Clusters) carry(config *rest.Config, entry clusterEntry) (http.RoundTripper, error) {
	if entry.server == v1alpha1.InClusterServer {
		next, err := rest.TransportFor(config)
		if err != nil {
			return nil, fmt.Errorf("cluster Secret %s: read TLS settings of the cluster: %w", entry.secret, err)
		}
		return next, nil
	}
	next, err := carry(config, c.Outbound)
	if err != nil {
		return nil, fmt.Errorf("cluster Secret %s: %w", entry.secret, err)
	}
	return next, nil
}

// rewire has an open cluster use the credentials that its Secret has by now. It reports whether that was possible; where it was not,
// the cluster is opened again.
func (c *Clusters) rewire(d *Destination, entry clusterEntry) bool {
	if d.wire == nil {
		return false
	}
	socket, own, err := c.described(entry)
	if err != nil || own {
		return false
	}
	next, err := c.carry(socket, entry)
	if err != nil || socket.Host != d.rest.Host {
		return false
	}
	d.mu.Lock()
	d.socket, d.entry = socket, entry
	d.mu.Unlock()
	d.wire.change(next)
	c.Log.Info("cluster has new credentials", "server", entry.server, "secret", entry.secret)
	return true
}

// prune closes the connections whose Secret is gone, or is about another cluster by now: what was taken away is not watched on. A
// Secret with other credentials for the same cluster takes effect without that. It reports whether any was closed. What is needed
// again is opened again by the next turn.
func (c *Clusters) prune() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	pruned := false
	for key, d := range c.open {
		if c.keep(d) {
			continue
		}
		delete(c.open, key)
		c.closing.Go(d.close)
		c.Log.Info("cluster closed", "server", d.entry.server, "why", "its Secret is gone or has changed, or it is switched off")
		pruned = true
	}
	return pruned
}

// keep reports whether an open cluster is still what the settings describe. Callers hold the lock.
func (c *Clusters) keep(d *Destination) bool {
	if d.entry.server == v1alpha1.InClusterServer && !c.Settings.InCluster() {
		return false
	}
	if d.entry.id == ownCluster {
		_, described := c.Settings.cluster("", v1alpha1.InClusterServer, "")
		return !described
	}
	entry, ok := c.Settings.clusterOf(d.entry.secret)
	switch {
	case !ok || entry.server != d.entry.server || entry.limits != d.entry.limits || entry.wrong != nil:
		return false
	case entry.id == d.entry.id:
		d.mu.Lock()
		d.entry = entry // its name, or its project
		d.mu.Unlock()
		return true
	}
	return c.rewire(d, entry)
}
