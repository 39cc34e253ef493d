package stack

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

const (
	agentGrace   = 15 * time.Second
	clusterGrace = 30 * time.Second
)

// stack is one run of `slipway up`.
type stack struct {
	dir     dir
	options upOptions
	say     func(format string, args ...any)

	devcluster string // programs; the first is empty where a cluster is given
	agent      string
	server     string // empty without one

	ports   ports
	context string     // of the command line; empty without a server
	repo    string     // URL of the demo repository; empty without it
	git     *gitServer // nil without the demo
	stops   []func()   // in the order of the starts
}

// run starts everything, calls ready, and stays until ctx is done or a part fails; then it stops everything in reverse
// order.
func (s *stack) run(ctx context.Context, ready func() error) error {
	lock, err := s.dir.take()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	defer func() { _ = os.Remove(s.dir.pid()) }()

	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	group, inner := errgroup.WithContext(inner)
	err = s.start(inner, group)
	if err == nil {
		err = ready()
	}
	if err == nil {
		<-inner.Done()
		err = context.Cause(inner)
	}
	if ctx.Err() != nil {
		s.say("stopping")
	} else if cause := context.Cause(inner); cause != nil {
		err = cause // a part that died explains what else went wrong
	}
	cancel()
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
	failed := group.Wait()
	switch {
	case ctx.Err() != nil:
		return nil // stopping is what was asked for
	case err != nil && !errors.Is(err, context.Canceled):
		return err
	}
	return failed
}

func (s *stack) start(ctx context.Context, group *errgroup.Group) error {
	ctx, done := context.WithTimeoutCause(ctx, s.options.timeout,
		iostream.NotYetf("not up after %s; the logs are in %s", s.options.timeout, s.dir.file("log")))
	defer done()
	began := time.Now()
	if err := s.findPrograms(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir.file("log"), 0o700); err != nil {
		return fmt.Errorf("make directory of logs: %w", err)
	}
	ports, listener, err := s.dir.choosePorts(ctx, s.options.port)
	if err != nil {
		return err
	}
	s.ports = ports
	if err := s.startCluster(ctx, group); err != nil {
		_ = listener.Close()
		return err
	}
	options := connect.Options{Kubeconfig: s.dir.kubeconfig(), Namespace: s.options.Namespace}
	cluster, err := options.Connect()
	if err == nil {
		err = install(ctx, cluster, s.options.Namespace)
	}
	if err == nil {
		err = s.startGit(ctx, group, cluster, listener)
	}
	if err != nil {
		_ = listener.Close()
		return err
	}
	if err := s.startServer(ctx, group); err != nil {
		return err
	}
	if s.server == "" {
		if err := s.writeEnv(); err != nil {
			return err
		}
	}
	signedIn, err := s.join(ctx, cluster)
	if err != nil {
		return err
	}
	if err := s.startAgent(group); err != nil {
		return err
	}
	if s.options.demo {
		if err := s.settle(ctx, cluster); err != nil {
			return err
		}
	}
	if err := s.awaitCopy(ctx, signedIn, cluster); err != nil {
		return err
	}
	if err := s.tour(ctx, signedIn, cluster); err != nil {
		if ctx.Err() != nil {
			return err
		}
		s.say("warning: %v; the rest is up", err)
	}
	s.say("up after %.1f s", time.Since(began).Seconds())
	return nil
}

// findPrograms looks for what is to be started, before anything is.
func (s *stack) findPrograms() (err error) {
	if s.ownCluster() {
		if s.devcluster, err = find("devcluster", "SLIPWAY_DEVCLUSTER"); err != nil {
			return err
		}
	}
	if !s.options.alone {
		if s.server, err = find("slipway-server", "SLIPWAY_SERVER_PROGRAM"); err != nil {
			return err
		}
	}
	s.agent, err = find("slipway-agent", "SLIPWAY_AGENT")
	return err
}

// ownCluster reports whether a development cluster is wanted, and not one that is there.
func (s *stack) ownCluster() bool { return s.options.Kubeconfig == "" && s.options.Context == "" }

// startCluster starts the development cluster, or takes the cluster of --kubeconfig; either way the kubeconfig in the
// data directory is complete then.
func (s *stack) startCluster(ctx context.Context, group *errgroup.Group) error {
	if !s.ownCluster() {
		s.say("using the cluster of %s", s.options.Kubeconfig)
		return s.copyKubeconfig(s.options.Kubeconfig)
	}
	s.say("starting a cluster")
	ready := make(chan struct{})
	told := false
	p, err := spawn("devcluster", s.devcluster, []string{
		"--data", s.dir.cluster(), "--nodes", strconv.Itoa(s.options.nodes), "--while-locked", s.dir.lock(), "--grace", "5s",
	}, s.dir.processLog("devcluster"), func(line string) {
		if !told && strings.HasPrefix(line, "devcluster: kubeconfig ") {
			told = true
			close(ready)
		}
	})
	if err != nil {
		return err
	}
	s.watch(group, p, clusterGrace)
	select {
	case <-ready:
		return s.copyKubeconfig(filepath.Join(s.dir.cluster(), "kubeconfig"))
	case <-p.done:
		return p.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// watch makes the end of p the end of the stack, and p's stop part of its stop.
func (s *stack) watch(group *errgroup.Group, p *process, grace time.Duration) {
	stopping := make(chan struct{})
	s.stops = append(s.stops, func() {
		close(stopping)
		p.stop(grace)
	})
	group.Go(func() error {
		select {
		case <-stopping:
			return nil
		case <-p.done:
			return p.ended()
		}
	})
}

// copyKubeconfig writes one context of a kubeconfig, with its certificates inside, to the data directory.
func (s *stack) copyKubeconfig(from string) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = from
	config, err := rules.Load()
	if err != nil {
		return fmt.Errorf("read kubeconfig %s: %w", from, err)
	}
	if s.options.Context != "" {
		config.CurrentContext = s.options.Context
	}
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return fmt.Errorf("read kubeconfig %s: %w", from, err)
	}
	if err := clientcmdapi.FlattenConfig(config); err != nil {
		return fmt.Errorf("read kubeconfig %s: %w", from, err)
	}
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return replaceFile(s.dir.kubeconfig(), raw)
}

// startGit makes and serves the demo repository. It takes over listener.
func (s *stack) startGit(ctx context.Context, group *errgroup.Group, cluster *connect.Cluster, listener net.Listener) error {
	if !s.options.demo {
		return listener.Close()
	}
	if err := s.dir.seed(ctx); err != nil {
		return err
	}
	secret, err := webhookSecret(ctx, cluster, s.options.Namespace)
	if err != nil {
		return err
	}
	s.repo = "http://" + loopback(s.ports.Git) + "/" + demoRepository
	file, err := os.OpenFile(s.dir.processLog("git"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	server := &gitServer{
		dir: s.dir, url: s.repo, webhook: s.webhook(), secret: secret, wake: make(chan struct{}, 1),
		log: slog.New(slog.NewTextHandler(file, nil)),
	}
	if server.refs, err = server.readRefs(ctx); err != nil {
		_ = file.Close()
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	s.git = server
	s.stops = append(s.stops, func() {
		stop()
		<-stopped
		_ = file.Close()
	})
	group.Go(func() error {
		defer close(stopped)
		return server.run(serving, listener)
	})
	s.say("serving the demo repository at %s", s.repo)
	return nil
}

func (s *stack) startAgent(group *errgroup.Group) error {
	p, err := spawn("slipway-agent", s.agent, s.agentArgs(), s.dir.processLog("agent"), nil)
	if err != nil {
		return err
	}
	s.watch(group, p, agentGrace)
	s.say("started the agent")
	return nil
}

// agentArgs is the one place that knows the agent's command line.
func (s *stack) agentArgs() []string {
	place := []string{"--standalone"}
	if s.server != "" {
		place = []string{"--server", s.serverURL(), "--registration-token-file", s.dir.registration()}
	}
	return append(place,
		"--kubeconfig", s.dir.kubeconfig(),
		"--namespace", s.options.Namespace,
		"--data", s.dir.agent(),
		"--webhook-listen", loopback(s.ports.Webhook),
		"--health-listen", loopback(s.ports.Health),
		"--metrics-listen", loopback(s.ports.Metrics),
		// The demo's repository and cluster are on this machine.
		"--outbound-allow", "127.0.0.0/8,::1,localhost",
	)
}

func (s *stack) webhook() string { return "http://" + loopback(s.ports.Webhook) + "/api/webhook" }

// settle deploys the demo and waits until all of it is synced and healthy.
func (s *stack) settle(ctx context.Context, cluster *connect.Cluster) error {
	names, err := deploy(ctx, cluster, s.repo)
	if err != nil {
		return err
	}
	s.say("syncing %s", strings.Join(names, ", "))
	last := map[string]string{}
	err = cluster.Apps.Follow(ctx, names, func(name string, app *connect.Application) (bool, error) {
		if app == nil {
			return false, fmt.Errorf("application %s was deleted in the meantime; start again to get it back", name)
		}
		status := app.Status
		last[name] = string(status.Sync.Status) + " " + string(status.Health.Status)
		for _, c := range status.Conditions {
			last[name] += "; " + c.Message
		}
		_, asked := app.Annotations[v1alpha1.AnnotationRefresh]
		done := !asked && app.Operation == nil &&
			status.Sync.Status == v1alpha1.SyncStatusSynced && status.Health.Status == v1alpha1.HealthHealthy
		if done {
			s.say("  %s is synced and healthy", name)
			delete(last, name)
		}
		return done, nil
	})
	if err != nil && ctx.Err() != nil {
		for name, text := range last {
			s.say("  %s: %s", name, iostream.Clean(text))
		}
	}
	return err
}

func (s *stack) facts() facts {
	f := facts{
		Data: string(s.dir), Kubeconfig: s.dir.kubeconfig(), Namespace: s.options.Namespace, Webhook: s.webhook(), DemoRepo: s.repo,
	}
	if s.server != "" {
		f.Server, f.User, f.PasswordFile, f.Context = s.serverURL(), firstUser, s.dir.password(), s.context
	}
	return f
}

// writeEnv writes what a shell wants to know about the stack. No name may be that of a flag's variable of slipway-server:
// a backup or a restore in this shell would then mean the demo's files.
func (s *stack) writeEnv() error {
	f := s.facts()
	var out strings.Builder
	for _, v := range [][2]string{
		{"KUBECONFIG", f.Kubeconfig},
		{"SLIPWAY_NAMESPACE", f.Namespace},
		{"SLIPWAY_WEBHOOK", f.Webhook},
		{"SLIPWAY_HEALTH", "http://" + loopback(s.ports.Health)},
		{"SLIPWAY_METRICS", "http://" + loopback(s.ports.Metrics) + "/metrics"},
		{"SLIPWAY_DEMO_REPO", f.DemoRepo},
		{"SLIPWAY_URL", f.Server},
		{"SLIPWAY_SERVER", f.Context}, // before KUBECONFIG, for commands that could use both
	} {
		fmt.Fprintf(&out, "export %s=%s\n", v[0], quote(v[1]))
	}
	if self, err := os.Executable(); err == nil {
		fmt.Fprintf(&out, "export PATH=%s:\"$PATH\"\n", quote(filepath.Dir(self)))
	}
	if err := s.dir.writeFacts(f); err != nil {
		return err
	}
	return replaceFile(s.dir.env(), []byte(out.String()))
}

// quote quotes a word for the shell.
func quote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func decodeSecret(encoded string) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", fmt.Errorf("read %s of Secret %s: not base64", webhookSecretKey, secretName)
	}
	return strings.TrimSpace(string(raw)), nil
}
