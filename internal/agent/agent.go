// Package agent hosts the engine in a cluster: it watches Applications and what configures them, gives each its turns,
// and writes what came of it, once.
package agent

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/git"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// Config is what an agent is told from outside.
type Config struct {
	REST       *rest.Config // of the cluster that holds the Applications
	Namespace  string       // of the agent: Applications, settings, lease
	Namespaces []string     // further namespaces with Applications; "*" for all
	Data       string       // directory for caches and the agent's identity; absolute
	Identity   string       // in the leader lease

	InstallCRDs   bool
	Poll          time.Duration // between two looks at a repository
	AllowFile     bool          // allow file:// repositories
	AllowUnsigned bool          // take webhooks for which no secret is configured

	HealthListen  string // /healthz, /readyz; "" for none
	MetricsListen string // /metrics
	WebhookListen string // /api/webhook
	PprofListen   string // /debug/pprof

	Workers int // Applications at a time; 0 for a default by CPUs
	Log     *slog.Logger
}

// Agent is one agent process. Make it with New and call Run once.
type Agent struct {
	cfg        Config
	log        *slog.Logger
	apps       *appClient
	registry   *registry
	queue      *queue
	gate       *gate
	engine     *engine.Engine
	clusters   *clusters
	sources    *sources
	settings   *settings
	projects   *projects
	metrics    *metrics
	receiver   *webhook.Receiver
	git        *git.Client
	pool       *gitsource.Pool
	renderer   *memo.Memo
	children   *worker.Renderer
	ctx        context.Context // of Run: what callbacks start ends with it
	background sync.WaitGroup
	ready      chan struct{} // closed when this agent leads and has seen all Applications
}

// New puts an agent together. Nothing runs and nothing is asked of the cluster yet.
func New(ctx context.Context, cfg Config) (*Agent, error) {
	if cfg.Workers == 0 {
		cfg.Workers = 12 * runtime.GOMAXPROCS(0)
	}
	cfg.REST = rest.CopyConfig(cfg.REST)
	cfg.REST.QPS, cfg.REST.Burst = -1, -1
	a := &Agent{cfg: cfg, log: cfg.Log, queue: newQueue(), gate: newGate(cfg.Workers), ready: make(chan struct{})}
	a.metrics = newMetrics(a)
	cfg.REST.Wrap(a.metrics.countRequests)
	a.registry = newRegistry(cfg.Namespace, a.queue.add, a.forget)
	var err error
	if a.apps, err = newAppClient(cfg.REST); err != nil {
		return nil, err
	}
	a.git, err = git.New(ctx, git.Options{Dir: cfg.Data + "/git", AllowFile: cfg.AllowFile, Log: cfg.Log, CacheBytes: treeCacheBytes})
	if err != nil {
		return nil, err
	}
	a.pool = gitsource.NewPool(a.git, gitsource.PoolOptions{Interval: cfg.Poll, Changed: a.revisionsMoved, Log: cfg.Log})
	a.settings = newSettings(a.settingsChanged)
	a.projects = newProjects(cfg.Namespace, a.projectChanged, cfg.Log)
	a.sources = &sources{pool: a.pool, settings: a.settings}
	a.clusters = newClusters(cfg, a.settings, a.liveEvent, a.kindsChanged)
	renderer, children, err := newRenderer()
	if err != nil {
		return nil, err
	}
	a.renderer, a.children = renderer, children
	a.engine = &engine.Engine{
		Sources: a.sources, Renderer: renderer, Clusters: a.clusters, Projects: a.projects, Namespace: cfg.Namespace, Now: time.Now,
		Exists: func(instance string) bool { _, ok := a.registry.byInstance(instance); return ok },
	}
	a.receiver = webhook.NewReceiver(webhook.Config{
		Secrets: a.settings.webhookSecrets, Notify: a.pushed, AllowUnsigned: cfg.AllowUnsigned, Log: cfg.Log,
	})
	return a, nil
}

// treeCacheBytes bounds the parsed Git trees kept in memory.
const treeCacheBytes = 16 << 20

// Run serves until ctx ends. It returns an error when the agent cannot do its work at all.
func (a *Agent) Run(ctx context.Context) error {
	defer func() {
		a.clusters.close()
		_ = a.children.Close()
		if err := a.git.Close(); err != nil {
			a.log.Warn("git cache not closed", "err", err)
		}
	}()
	g, ctx := errgroup.WithContext(ctx)
	a.ctx = ctx
	defer a.background.Wait()
	if err := a.serve(ctx, g); err != nil {
		return err
	}
	g.Go(func() error { return a.lead(ctx, a.reconcile) })
	return g.Wait()
}

// reconcile is what the leader does: watch, and work.
func (a *Agent) reconcile(ctx context.Context) error {
	if err := a.install(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	synced, err := a.watchSettings(ctx, g)
	if err != nil {
		return err
	}
	for _, ch := range append(synced, a.watchProjects(ctx, g)) {
		select {
		case <-ch:
		case <-ctx.Done():
			return g.Wait()
		}
	}
	first := a.watchApplications(ctx, g)
	g.Go(func() error { return a.pool.Run(ctx) })
	g.Go(func() error {
		<-ctx.Done()
		a.queue.close()
		return nil
	})
	g.Go(func() error {
		for _, ch := range first {
			select {
			case <-ch:
			case <-ctx.Done():
				return nil
			}
		}
		close(a.ready)
		a.log.Info("ready", "applications", a.registry.size())
		// Not before: an object of an Application that is not known yet would be taken for that of one which is gone.
		for range a.cfg.Workers {
			g.Go(func() error { a.work(ctx); return nil })
		}
		return nil
	})
	return g.Wait()
}

// forget drops what is kept of an Application that is gone.
func (a *Agent) forget(app *v1alpha1.Application) {
	a.engine.Forget(context.Background(), app)
	a.sources.unfollow(name{Namespace: app.Namespace, Name: app.Name})
}

// liveEvent queues the Application whose object changed.
func (a *Agent) liveEvent(e live.Event) {
	a.metrics.event(e)
	if id, ok := a.registry.byInstance(e.App); ok {
		a.queue.add(id)
	}
}

// kindsChanged queues the Applications that could not be compared: the kind that they miss may be there now.
func (a *Agent) kindsChanged() { a.askFailed(ask{}) }

// settingsChanged queues the Applications that could not be compared: the credential that they miss may be there now.
func (a *Agent) settingsChanged() { a.askFailed(ask{since: time.Now()}) }

func (a *Agent) askFailed(wish ask) {
	a.registry.each(func(id name, app *v1alpha1.Application) {
		for _, c := range app.Status.Conditions {
			if c.Type == v1alpha1.ConditionComparisonError || c.Type == v1alpha1.ConditionInvalidSpecError {
				a.registry.ask(id, wish, true)
				return
			}
		}
	})
}

// pushed wakes the repositories that a webhook names. What it says is a hint: the repository itself is asked.
func (a *Agent) pushed(e webhook.Event) {
	if e.Kind != webhook.Push {
		return
	}
	a.metrics.pushed(string(e.Provider))
	for _, url := range e.RepoURLs {
		a.background.Go(func() { a.pool.Wake(a.ctx, url, e.Ref) })
	}
}

// watchApplications starts the watches on Applications; each channel closes after the first complete list.
func (a *Agent) watchApplications(ctx context.Context, g *errgroup.Group) []<-chan struct{} {
	namespaces := append([]string{a.cfg.Namespace}, a.cfg.Namespaces...)
	for _, ns := range a.cfg.Namespaces {
		if ns == "*" {
			namespaces = []string{metav1.NamespaceAll}
		}
	}
	out := make([]<-chan struct{}, 0, len(namespaces))
	for _, ns := range namespaces {
		w := newAppWatch(a.apps, ns, a.registry, a.log)
		g.Go(func() error { w.run(ctx); return nil })
		out = append(out, w.synced)
	}
	return out
}

func stack() string { return string(debug.Stack()) }

func metaTime(t time.Time) metav1.Time { return metav1.NewTime(t) }
