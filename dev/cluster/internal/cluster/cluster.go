// Package cluster runs one development cluster: it starts the components in
// order, says when the cluster is ready, and stops them in reverse order.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/idle"
	"github.com/slipway-gitops/slipway/dev/cluster/internal/kubelet"
	"github.com/slipway-gitops/slipway/dev/cluster/internal/layout"
	"github.com/slipway-gitops/slipway/dev/cluster/internal/node"
	"github.com/slipway-gitops/slipway/dev/cluster/internal/pki"
	"github.com/slipway-gitops/slipway/dev/cluster/internal/plane"
)

const (
	// startLimit bounds a start; on a busy machine it takes several times the usual.
	startLimit = 3 * time.Minute
	// stopLimit bounds the wait for each group of components to stop.
	stopLimit = 8 * time.Second
)

// MaxNodes is the largest number of simulated nodes.
const MaxNodes = 1000

// errUnused ends a cluster that is no longer used.
var errUnused = errors.New("the cluster is not used")

// Config describes one cluster.
type Config struct {
	// Data is the directory of everything the cluster keeps.
	Data string
	// Port of the API server on 127.0.0.1; 0 is the one used before, or a free one.
	Port int
	// Nodes is the number of simulated nodes to make, 0 to MaxNodes.
	Nodes int
	// Bare leaves controllers, scheduler and nodes out: etcd and the API server alone run.
	Bare bool
	// AuditLog is a file for the API server's audit log; empty for none.
	AuditLog string
	// WhileLocked names a file; the cluster stops once no process has held a
	// shared lock on it for Grace. Empty means that the cluster runs until it is stopped.
	WhileLocked string
	// Grace goes with WhileLocked and must then be positive.
	Grace time.Duration
	// Out takes lines of progress for people.
	Out io.Writer
}

// Validate says what is wrong with the configuration.
func (c Config) Validate() error {
	switch {
	case c.Data == "":
		return errors.New("no data directory: name one with --data")
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("port %d is out of range: use 0 to 65535", c.Port)
	case c.Nodes < 0 || c.Nodes > MaxNodes:
		return fmt.Errorf("%d nodes are out of range: use 0 to %d", c.Nodes, MaxNodes)
	case c.Bare && c.Nodes > 0:
		return errors.New("a bare cluster has no nodes: leave out --nodes, or --bare")
	case c.WhileLocked != "" && c.Grace <= 0:
		return errors.New("the grace time must be positive: set it with --grace")
	}
	return nil
}

// Run starts the cluster, serves until ctx is done or it is no longer used,
// stops it and returns nil. It returns an error when a component fails.
func Run(ctx context.Context, config Config) (err error) {
	began := time.Now()
	if err := config.Validate(); err != nil {
		return err
	}
	say := func(format string, arguments ...any) {
		_, _ = fmt.Fprintf(config.Out, "devcluster: "+format+"\n", arguments...)
	}
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if config.WhileLocked != "" {
		// Before the directory is opened, hence over after it is closed: the
		// next holder of the lock may use the directory.
		defer watchUse(ctx, config, cancel)()
	}

	dir, err := layout.Open(config.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	c := &run{config: config, dir: dir, keys: pki.Store{Dir: dir.Keys()}, say: say, fail: cancel}
	if c.logs, err = openLogs(dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.logs.Close()) }()
	defer c.stop()
	limited, done := context.WithTimeoutCause(ctx, startLimit, fmt.Errorf("not ready after %s", startLimit))
	err = c.start(limited)
	done()
	if err == nil {
		say("ready after %.1f s", time.Since(began).Seconds())
		say("kubeconfig %s", dir.Kubeconfig())
		<-ctx.Done()
	}
	return c.outcome(asked, ctx, err)
}

// watchUse cancels the cluster when it is no longer used. The returned
// function ends the watch, waits for it and gives its lock up.
func watchUse(ctx context.Context, config Config, cancel context.CancelCauseFunc) (end func()) {
	watch := idle.Watch{Path: config.WhileLocked, Grace: config.Grace}
	ctx, stop := context.WithCancel(ctx)
	released := make(chan func(), 1)
	go func() {
		release, err := watch.Wait(ctx)
		if err != nil {
			cancel(err)
		} else if release != nil {
			cancel(errUnused)
		}
		released <- release
	}()
	return func() {
		stop()
		if release := <-released; release != nil {
			release()
		}
	}
}

// run is a cluster while it runs.
type run struct {
	config Config
	dir    *layout.Dir
	logs   *logs
	keys   pki.Store
	say    func(format string, arguments ...any)
	fail   context.CancelCauseFunc

	etcd    *plane.Etcd
	server  *group // the API server
	clients *group // what talks to the API server
}

func (c *run) start(ctx context.Context) error {
	if err := c.keys.Ensure(plane.ServiceIP(), time.Now()); err != nil {
		return err
	}
	listener, port, err := c.dir.Listen(layout.Port{Name: "apiserver", Want: c.config.Port})
	if err != nil {
		return err
	}
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	if err := c.writeKubeconfigs(url); err != nil {
		_ = listener.Close()
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		_ = listener.Close()
		return err
	}
	c.say("etcd runs")

	audit, err := c.auditPolicy()
	if err != nil {
		_ = listener.Close()
		return err
	}
	c.server = newGroup(c.fail)
	c.server.run(func(ctx context.Context) error {
		return plane.RunAPIServer(ctx, plane.APIServerConfig{
			Listener: listener, Port: port, Etcd: c.etcd.Endpoint(), Keys: c.keys, AuditLog: c.config.AuditLog, AuditPolicy: audit,
		})
	})
	admin, err := clientcmd.BuildConfigFromFlags("", c.dir.ComponentKubeconfig(pki.Admin))
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if err := plane.WaitReady(ctx, client); err != nil {
		return err
	}
	c.say("API server answers on %s", url)

	if c.config.Bare {
		c.clients = newGroup(c.fail)
		c.clients.run(c.etcd.Wait)
		return c.serve(url)
	}
	nodes, nodePort, err := c.dir.Listen(layout.Port{Name: "kubelet", Movable: true})
	if err != nil {
		return err
	}
	c.startClients(nodes, nodePort)
	if err := node.Ensure(ctx, client, c.config.Nodes, nodePort); err != nil {
		return err
	}
	if err := plane.WaitDefaultAccount(ctx, client); err != nil {
		return err
	}
	c.say("%d nodes are ready", c.config.Nodes)
	return c.serve(url)
}

// serve makes known that the cluster is ready.
func (c *run) serve(url string) error {
	if err := layout.WriteKubeconfig(c.dir.Kubeconfig(), c.access(url, pki.Admin)); err != nil {
		return err
	}
	return c.dir.MarkReady(layout.Ready{PID: os.Getpid(), Server: url, Kubeconfig: c.dir.Kubeconfig()})
}

// auditPolicy writes which requests the audit log has: all, by what they are about. It returns the path, empty without a log.
func (c *run) auditPolicy() (string, error) {
	if c.config.AuditLog == "" {
		return "", nil
	}
	const policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, ResponseStarted]\nrules: [{level: Metadata}]\n"
	path := c.dir.AuditPolicy()
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return "", fmt.Errorf("write audit policy: %w", err)
	}
	return path, nil
}

func (c *run) startEtcd(ctx context.Context) error {
	clientSocket, err := c.dir.Socket("client.sock")
	if err != nil {
		return err
	}
	peerSocket, err := c.dir.Socket("peer.sock")
	if err != nil {
		return err
	}
	c.etcd, err = plane.StartEtcd(ctx, plane.EtcdConfig{
		Dir: c.dir.Etcd(), ClientSocket: clientSocket, PeerSocket: peerSocket, Log: c.logs.etcdLogger(),
	})
	return err
}

// startClients starts what talks to the API server; nodes is the open port of
// the node API, which is theirs from then on.
func (c *run) startClients(nodes net.Listener, port int) {
	c.clients = newGroup(c.fail)
	c.clients.run(c.etcd.Wait)
	c.clients.run(func(ctx context.Context) error {
		return plane.RunControllerManager(ctx, c.dir.ComponentKubeconfig(pki.ControllerManager), c.keys)
	})
	c.clients.run(func(ctx context.Context) error {
		return plane.RunScheduler(ctx, c.dir.ComponentKubeconfig(pki.Scheduler))
	})
	credentials := c.dir.ComponentKubeconfig(pki.NodeAgent)
	c.clients.run(kubelet.Server{Listener: nodes, Keys: c.keys, Kubeconfig: credentials}.Run)
	c.clients.run(node.Agent{Kubeconfig: credentials, Port: port, Log: c.logs.node}.Run)
}

func (c *run) access(url, user string) layout.Access {
	return layout.Access{
		Server: url, User: user,
		CAPath: c.keys.CertPath(pki.CA), CertPath: c.keys.CertPath(user), KeyPath: c.keys.KeyPath(user),
	}
}

func (c *run) writeKubeconfigs(url string) error {
	for _, user := range []string{pki.Admin, pki.ControllerManager, pki.Scheduler, pki.NodeAgent} {
		if err := layout.WriteKubeconfig(c.dir.ComponentKubeconfig(user), c.access(url, user)); err != nil {
			return err
		}
	}
	return nil
}

// stop stops what start started, in reverse order. A component that does not
// stop in time is left to the end of the process.
func (c *run) stop() {
	if err := c.dir.ClearReady(); err != nil {
		c.say("%v", err)
	}
	if c.server != nil {
		c.say("stopping")
	}
	for _, g := range []*group{c.clients, c.server} {
		if g != nil && !g.stop(stopLimit) {
			c.say("a component did not stop within %s", stopLimit)
		}
	}
	if c.etcd != nil {
		c.etcd.Close()
	}
}

// outcome turns the end of a run into what Run returns: err is what start
// returned, asked is done when the caller wants an end, and the cause of ctx
// says why else the cluster ended.
func (c *run) outcome(asked, ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case asked.Err() != nil:
		return nil //nolint:nilerr // it is what the caller wanted
	case errors.Is(cause, errUnused):
		c.say("the cluster was not used for %s", c.config.Grace)
		return nil
	case cause != nil:
		return cause
	}
	return err
}
