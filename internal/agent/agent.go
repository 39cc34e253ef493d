// Package agent hosts the engine in a cluster: it watches Applications and what configures them, gives each its turns,
// and writes what came of it, once.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/beside"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/agent/veil"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/trace"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// Config is the configuration of an agent.
type Config struct {
	REST       *rest.Config // of the cluster that holds the Applications
	Namespace  string       // of the agent: Applications, settings, lease
	Namespaces []string     // further namespaces with Applications; "*" for all
	Data       string       // directory for caches and the agent's identity; absolute
	Identity   string       // in the leader lease
	Version    string       // of the agent
	// Installation distinguishes objects from those of other agents on the same cluster, where the settings do not.
	Installation string

	// Shards is how many parts the Applications have that replicas share; 1 for one replica that works on all.
	Shards int
	// LeaseDuration is how long a lease counts that is not renewed; 0 for a minute.
	LeaseDuration time.Duration

	KeyHelper     string   // program that opens data keys of SOPS; "" for none
	KeyHelperEnv  []string // names of variables that it gets
	Plugins       string   // directory with the sockets of config management plugins
	Declared      string   // directory with declarations of plugins that this process runs; "" for none
	Unconfined    bool     // run them also where the machine cannot confine them
	InstallCRDs   bool
	Poll          time.Duration // between two looks at a repository
	AllowFile     bool          // allow file:// repositories
	AllowUnsigned bool          // take webhooks for which no secret is configured
	// Outbound is what may be connected to where users choose the address; nil for all but this machine, the link and
	// services of clouds.
	Outbound *outward.Policy
	// RegistryClouds are hosts of registries that belong to a cloud although their names do not show it.
	RegistryClouds map[string]registrylogin.Cloud
	// RepositorySize is how many MiB the mirror of one repository may have on disk, RepositoryMemory how many a process of git
	// that reads it may take; 0 for the defaults of git.Options.
	RepositorySize, RepositoryMemory int64

	HealthListen  string // /healthz, /readyz; "" for none
	MetricsListen string // /metrics
	WebhookListen string // /api/webhook
	PprofListen   string // /debug/pprof

	MetricsApplications bool // a metric for each Application

	Namespaced      bool     // rights in namespaces only: nothing is asked of the whole cluster
	ClusterCommands []string // programs that execProviderConfig of a cluster Secret may run

	Engine       agentapi.Engine // what works on the Applications; "" for the one in this process
	HelmVersion  string          // render.HelmV3, render.HelmV4, or "auto", also "", for that of the Argo CD in Namespace
	Shadow       bool            // compute and report everything, write nothing
	ShadowReport string          // file for what would be done, with Shadow; "" for none
	Upgrade      UpgradeConfig   // of the agent itself, by its server
	Succession   SuccessionConfig
	Link         *LinkConfig // the server that gets reports and may send requests; nil for none

	Budget plan.Budget   // what one sync may delete without a person's word
	Tracer *trace.Tracer // nil: no spans are made

	Workers int // Applications at a time; 0 for a default by CPUs
	Log     *slog.Logger
}

// grounds are where Applications are deployed to and from, and what settings say about that.
type grounds struct {
	clusters    *place.Clusters
	settings    *place.Settings
	differences *place.Differences
	trust       *place.Trust
	projects    *place.Projects
	git         *git.Client
	pool        *gitsource.Pool
	artifacts   *artifact.Pool
	registries  *place.Registries
	renderer    *memo.Memo
	children    *worker.Renderer
	plugins     render.Plugins
}

// Agent is one agent process. Make it with New and call Run once.
type Agent struct {
	turner
	grounds
	cfg        Config
	driver     driver
	pushes     *pushes // nil where one replica works on all
	others     *others
	helm       beside.HelmDefault
	link       *link.Link // nil without a server
	linked     *report.Source
	trees      *kin.Watcher // nil without a server
	deleters   verb.Deleters
	receiver   *webhook.Receiver
	ctx        context.Context //nolint:containedctx // of Run: what callbacks start ends with it
	background sync.WaitGroup
	ready      chan struct{} // closed when this agent leads and has seen all Applications
	disk       *disk
	superseded chan struct{}          // closed when another agent took over
	waits      atomic.Pointer[string] // why it has not begun, where it waits for the API server; nil otherwise
}

// New puts an agent together. Nothing runs and nothing is asked of the cluster yet.
func New(ctx context.Context, cfg Config) (*Agent, error) {
	if cfg.Workers == 0 {
		cfg.Workers = 12 * runtime.GOMAXPROCS(0)
	}
	if cfg.Outbound == nil {
		cfg.Outbound = &outward.Policy{Private: true}
	}
	cfg.REST = rest.CopyConfig(cfg.REST)
	cfg.REST.QPS, cfg.REST.Burst = -1, -1
	hidden := veil.New()
	cfg.Log = hidden.Log(cfg.Log)
	a := &Agent{
		cfg: cfg, ready: make(chan struct{}), disk: &disk{dir: cfg.Data},
		turner: turner{namespace: cfg.Namespace, log: cfg.Log, traces: newTraces(cfg.Tracer), veil: hidden},
	}
	a.queue = registry.NewQueue(func(id registry.Name) string { return a.registry.ProjectOf(id) })
	a.turns = registry.NewTurns(cfg.Workers, a.queue, func(id registry.Name, end func()) func() { return a.shards.Away(id, end) })
	a.metrics = newMetrics(a)
	cfg.REST.Wrap(a.metrics.countRequests)
	var err error
	if a.driver, err = newDriver(a); err != nil {
		return nil, err
	}
	if guard := a.driver.Guard(true); guard != nil {
		cfg.REST.Wrap(guard)
	}
	cfg.REST.Wrap(shard.Fenced)
	if err := addSuccession(a); err != nil {
		return nil, err
	}
	a.registry = registry.New(cfg.Namespace, a.driver.Wants, a.forget)
	if cfg.Shadow {
		a.shadow = beside.NewShadow(a.registry, &a.helm)
		a.shadow.Clean = hidden.Document
		a.metrics.registry.MustRegister(&shadowGauges{a.shadow})
	}
	if a.apps, err = registry.NewClient(cfg.REST); err != nil {
		return nil, err
	}
	a.git, err = git.New(ctx, git.Options{
		Dir: cfg.Data + "/git", AllowFile: cfg.AllowFile, Log: cfg.Log, CacheBytes: treeCacheBytes, Hosts: cfg.Outbound,
		MaxSize: cfg.RepositorySize << 20, MaxMemory: cfg.RepositoryMemory << 20,
	})
	if err != nil {
		return nil, err
	}
	a.addPools() //nolint:contextcheck // what changes begin ends with the agent
	a.settings = place.NewSettings(a.settingsChanged)
	a.projects = place.NewProjects(cfg.Namespace, a.projectChanged, cfg.Log)
	a.differences = place.NewDifferences(func() map[string]string { return a.settings.Config(place.ConfigArgoCD) }, cfg.Log)
	if err := addSources(a); err != nil {
		return nil, err
	}
	a.trust = place.NewTrust(a.sources, a.settings, cfg.Log)
	guard := a.driver.Guard(false)
	a.clusters = place.NewClusters(place.Options{
		REST: cfg.REST, Settings: a.settings, Rules: a.projects.Rules, Installation: cfg.Installation, Outbound: cfg.Outbound, Shadow: cfg.Shadow,
		Namespaced: cfg.Namespaced, Signs: newSigner(cfg.ClusterCommands, a.settings.SignIn.Keeper),
		Log: cfg.Log, Notify: a.liveEvent, Kinds: a.kindsChanged, Missed: a.metrics.missedEvent,
		Guard: func(next http.RoundTripper) http.RoundTripper {
			if guard != nil {
				next = guard(next)
			}
			return shard.Fenced(a.succession.Guard(next))
		},
	})
	a.plugins = newPlugins(&cfg, a.settings)
	renderer, children, err := newRenderer(a.metrics.rendered, a.helm.Version, a.plugins)
	if err != nil {
		return nil, err
	}
	a.renderer, a.children = renderer, children
	a.engine = &engine.Engine{
		Sources: a.sources, Needs: a.sources, Trust: a.trust, Settings: a.settings.Rendering, Renderer: veiled{renderer, hidden},
		Clusters: a.clusters, Projects: a.projects, Namespace: cfg.Namespace, Now: time.Now, Ran: clock.Ran,
		TimeLimit: a.settings.TimeLimit, Differences: a.differences.Get, Budget: &cfg.Budget, Shadow: cfg.Shadow,
		Namesake: func(ctx context.Context, app *v1alpha1.Application) (string, error) {
			return a.others.namesake(ctx, app)
		},
		Exists: func(instance string) bool { _, ok := a.registry.ByInstance(instance); return ok },
	}
	if err := errors.Join(a.addShards(), a.addPushes(), a.addOthers()); err != nil {
		return nil, err
	}
	if err := a.openLedger(); err != nil {
		return nil, err
	}
	if err := a.addLink(); err != nil {
		return nil, err
	}
	receive := webhook.Config{Secrets: a.settings.WebhookSecrets, Notify: a.pushed, AllowUnsigned: cfg.AllowUnsigned, Log: cfg.Log}
	a.receiver = webhook.NewReceiver(receive)
	return a, nil
}

// addPools makes the registries of what Applications follow.
func (a *Agent) addPools() {
	a.pool = gitsource.NewPool(a.git, gitsource.PoolOptions{
		Interval: a.cfg.Poll, Log: a.cfg.Log,
		Changed: func(c gitsource.Change) {
			a.revisionsMoved(a.sources.Followers(c), c.Revisions[0].Name)
		},
	})
	a.artifacts = artifact.NewPool(artifact.PoolOptions{
		Interval: a.cfg.Poll, Log: a.cfg.Log,
		Changed: func(c artifact.Change) {
			a.revisionsMoved(a.sources.ArtifactFollowers(c), c.Revisions[0].Version)
		},
	})
}

// treeCacheBytes bounds the parsed Git trees kept in memory.
const treeCacheBytes = 16 << 20

// Run serves until ctx ends. It returns an error when the agent cannot do its work at all.
func (a *Agent) Run(ctx context.Context) error {
	defer func() {
		a.linked.Close()
		a.trees.Close()
		a.clusters.Close()
		_ = a.children.Close()
		if err := a.git.Close(); err != nil {
			a.log.Warn("git cache not closed", "err", err)
		}
	}()
	g, ctx := errgroup.WithContext(ctx)
	a.ctx = ctx
	defer a.background.Wait()
	g.Go(func() error { clock.Watch(ctx, a.clockSet); return nil })
	if err := a.serve(ctx, g); err != nil {
		return err
	}
	if a.shards != nil {
		g.Go(func() error { return succeed(ctx, a, a.reconcileShare) })
	} else {
		g.Go(func() error {
			return succeed(ctx, a, func(ctx context.Context) error { return a.lead(ctx, a.reconcileAll) })
		})
	}
	return g.Wait()
}

// reconcileAll is what an agent does that does not share the Applications.
func (a *Agent) reconcileAll(ctx context.Context) error {
	if a.shadow == nil {
		if err := a.cfg.leader().AwaitShards(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return a.reconcile(ctx)
}

// reconcile is what the leader does: watch, and work.
func (a *Agent) reconcile(ctx context.Context) error {
	if err := a.persist(ctx, clusterPrepared, a.driver.Prepare); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	synced, err := a.settings.Watch(ctx, g, a.cfg.REST, a.cfg.Namespace)
	if err != nil {
		return err
	}
	for _, ch := range append(synced, a.projects.Watch(ctx, g, a.apps.Dynamic)) {
		select {
		case <-ch:
		case <-ctx.Done():
			return g.Wait()
		}
	}
	a.inheritProjects()
	first, err := a.watchApplications(ctx, g)
	if err != nil {
		g.Go(func() error { return err })
		return g.Wait()
	}
	g.Go(func() error { return a.pool.Run(ctx) })
	g.Go(func() error { return a.artifacts.Run(ctx) })
	if a.shards == nil {
		a.watchForLink(ctx, g)
	}
	if a.cfg.ShadowReport != "" {
		g.Go(func() error { return a.shadow.Keep(ctx, a.cfg.ShadowReport, a.log) })
	}
	g.Go(func() error {
		<-ctx.Done()
		a.queue.Close()
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
		if err := a.driver.Alone(ctx, g); err != nil {
			return err
		}
		if a.shards != nil {
			a.watchPushes(ctx, g)
			g.Go(func() error { return a.shards.Run(ctx) })
			g.Go(func() error { return a.lead(ctx, a.speak) })
		} else {
			a.runLink(ctx, g)
		}
		if a.link != nil {
			if err := a.link.Cleared(ctx); err != nil {
				return nil //nolint:nilerr // it was stopped while waiting
			}
		}
		close(a.ready)
		a.log.Info("ready", "applications", a.registry.Size())
		// Not before: an object of an Application that is not known yet would be taken for that of one which is gone.
		a.driver.Work(ctx, g)
		return nil
	})
	return g.Wait()
}

// forget drops what is kept of an Application that is gone.
func (a *Agent) forget(app *v1alpha1.Application) {
	a.engine.Forget(context.Background(), app)
	id := registry.NameOf(app)
	a.sources.Unfollow(id)
	a.ledger.Forget(id)
	a.succession.Forget(id.String())
	a.others.forget(app)
	if a.shadow != nil {
		a.shadow.Drop(id)
	}
}

// liveEvent queues the Application whose object changed.
func (a *Agent) liveEvent(e live.Event) {
	a.metrics.event(e)
	a.linked.LiveMoved(e)
	if id, ok := a.registry.ByInstance(e.App); ok {
		a.queue.Add(id)
		a.trees.Changed(id)
	}
}

// pushed wakes the repositories that a webhook names. What it says is a hint: the repository itself is asked.
func (a *Agent) pushed(e webhook.Event) {
	if e.Kind == webhook.Registry {
		published(a, e)
		return
	}
	if e.Kind != webhook.Push {
		return
	}
	a.metrics.pushed(string(e.Provider))
	for _, url := range e.RepoURLs {
		a.background.Go(func() { a.pool.Wake(a.ctx, url, e.Ref) })
		a.pushes.tell(url, e.Ref)
	}
}

// applicationNamespaces returns the namespaces to watch for Applications, and which of what is seen there counts. Where
// namespaces are given as patterns, all are watched, and what is in others is as if it were not there.
func (a *Agent) applicationNamespaces() (watched []string, counts func(namespace string) bool, err error) {
	patterns := a.cfg.Namespaces
	if len(patterns) == 0 {
		patterns = strings.Split(a.settings.Config(place.ConfigParameters)["application.namespaces"], ",")
	}
	namespaces, err := project.NewNamespaces(patterns)
	if err != nil {
		return nil, nil, fmt.Errorf("read namespaces of Applications (--application-namespaces, or application.namespaces in %s): %w",
			place.ConfigParameters, err)
	}
	names, plain := namespaces.Names()
	watched = append([]string{a.cfg.Namespace}, names...)
	if !plain {
		watched = []string{metav1.NamespaceAll}
	}
	slices.Sort(watched)
	return slices.Compact(watched), func(namespace string) bool { return namespace == a.cfg.Namespace || namespaces.Has(namespace) }, nil
}

// watchApplications starts the watches on Applications; each channel closes after the first complete list.
func (a *Agent) watchApplications(ctx context.Context, g *errgroup.Group) ([]<-chan struct{}, error) {
	watched, counts, err := a.applicationNamespaces()
	if err != nil {
		return nil, err
	}
	out := make([]<-chan struct{}, 0, len(watched))
	for _, ns := range watched {
		w := registry.NewWatch(a.apps, ns, a.registry, a.log)
		w.Allowed = counts
		g.Go(func() error { w.Run(ctx); return nil })
		out = append(out, w.Synced)
	}
	return out, nil
}

func stack() string { return string(debug.Stack()) }

func metaTime(t time.Time) metav1.Time { return metav1.NewTime(t) }
