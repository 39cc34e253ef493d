package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/record"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// executors returns what carries out commands: those that are answered once, and those that open a stream.
func (a *Agent) executors() (map[agentapi.Kind]link.Executor, map[agentapi.Kind]link.Streamer) {
	v := verb.New(verb.Config{
		Apps: a.apps.Dynamic, Namespace: a.cfg.Namespace, Engine: a.engine, Clusters: a.clusters, Settings: a.settings, Now: time.Now, Log: a.log,
		HasPlugin: a.plugins.Has,
		Known:     a.registry.Get, Redact: a.linked.Redact, ReadBy: a.driver.Engine(), Deleters: &a.deleters,
	})
	a.trees = v.Watched()
	run := v.Executors()
	maps.Copy(run, setting.Executors(setting.Config{
		Apps: a.apps.Dynamic, Namespace: a.cfg.Namespace, Engine: a.engine, Settings: a.settings, Clusters: a.clusters,
		Git: a.git, Outbound: a.cfg.Outbound,
		Artifacts: a.sources.Artifacts, Registries: a.registries, Plugins: a.plugins,
		Keys: func() []link.SealKey { return a.link.SealKeys() }, Now: time.Now, ReadBy: a.driver.Engine(),
	}))
	a.driver.Refine(run)
	streams := map[agentapi.Kind]link.Streamer{}
	for kind, open := range v.Streamers() {
		streams[kind] = func(ctx context.Context, cmd agentapi.Command, s *link.Stream) error { return open(ctx, cmd, s) }
	}
	for _, lack := range a.driver.Engine().Lacks() {
		refusal := command.Refuse(agentapi.CodeUnsupported, "%s", lack.Why)
		if _, known := run[lack.Kind]; known {
			run[lack.Kind] = func(context.Context, agentapi.Command) (any, error) { return nil, refusal }
		}
		if _, known := streams[lack.Kind]; known {
			streams[lack.Kind] = func(context.Context, agentapi.Command, *link.Stream) error { return refusal }
		}
	}
	return a.traces.commands(run, a.registry.Ask), streams
}

// addLink makes the link to the server, where one is configured.
func (a *Agent) addLink() error {
	if a.cfg.Link == nil {
		return nil
	}
	core, err := corev1.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for the link: %w", err)
	}
	a.linked = report.New(report.Config{
		Rest: a.cfg.REST, Version: a.cfg.Version, Namespace: a.cfg.Namespace, Engine: a.driver.Engine(), Registry: a.registry,
		Projects: a.projects,
		Settings: a.settings, Veil: a.veil, Clusters: a.clusters, Pool: a.pool, Artifacts: a.artifacts, Deleters: &a.deleters, Log: a.log,
		Health:  a.driver.Health,
		Works:   a.driver.Works,
		Objects: a.driver.Objects, Seen: func(id registry.Name) { a.trees.Changed(id) }, Ctx: func() context.Context { return a.ctx },
		Moved: func(old, fresh *v1alpha1.Application) {
			a.driver.Moved(old, fresh)
			if fresh != nil {
				a.ledger.EndedByAnother(old, fresh)
			}
		},
	})
	a.linked.Speak(a.shards == nil)
	executors, streamers := a.executors()
	upgrader, err := a.cfg.upgrader()
	if err != nil {
		return err
	}
	executors[agentapi.KindUpgrade] = upgradeExecutor(upgrader)
	var records link.Records
	if a.ledger != nil {
		records = a.ledger.Book
	}
	a.link = link.New(link.Config{
		Server: a.cfg.Link.Server, Transport: a.cfg.Link.Transport, Token: a.cfg.Link.Token, Core: core, Namespace: a.cfg.Namespace,
		Instance: a.cfg.Identity + "_" + uuid.NewString()[:8], Source: a.linked, Records: records,
		Versions: func() agentapi.Versions { return upgrader.Told(a.linked.Versions()) }, Welcomed: upgrader.Confirm,
		Generation: a.succession.Generation, Superseded: a.succession.Supersede,
		Components: a.linked.Components,
		Policy:     func() map[string]string { return a.settings.Config(link.ConfigPolicy) }, Manages: a.linked.Manages, Redact: a.linked.Redact,
		RedactText: a.linked.RedactText,
		Meter:      a.metrics, Trace: a.traces.of, ReadOnly: a.cfg.Shadow, Executors: executors, Streamers: streamers,
		Log: a.log.With("component", "link"),
	})
	a.linked.Begin(a.link)
	a.registry.OnMove = a.linked.ApplicationMoved
	a.projects.OnMove = a.linked.ProjectMoved
	a.metrics.linked(a)
	a.cfg.REST.Wrap(a.linked.Observe)
	if !a.cfg.Link.NoInstances {
		a.linked.TellInstances()
	}
	return nil
}

// openLedger keeps what operations were, where there is a link.
func (a *Agent) openLedger() (err error) {
	if a.cfg.Link == nil || a.cfg.Shadow {
		return nil
	}
	a.ledger, err = report.OpenLedger(report.LedgerConfig{
		Registry: a.registry, Engine: a.engine, Shards: a.shards, Deleters: &a.deleters,
		Do: func(f func(context.Context)) { a.background.Go(func() { f(a.ctx) }) },
	}, record.Config{
		Dir: a.cfg.Data + "/ledger", Key: func() []byte { return a.link.RecordKey() }, Log: a.log.With("component", "ledger"),
		Clean:  func(raw []byte) []byte { return legible.JSON(redact.JSONAddresses(a.linked.Redact(raw))) },
		Hidden: func() []string { return a.differences.Get().Mask },
	})
	if err != nil {
		return err
	}
	a.engine.Ledger = a.ledger.Book
	a.sources.OnResolve = a.ledger.Learned
	return nil
}

// watchForLink starts the watches that only the link needs.
func (a *Agent) watchForLink(ctx context.Context, g *errgroup.Group) {
	if a.link == nil {
		return
	}
	watched, counts, err := a.applicationNamespaces()
	if err != nil {
		return // watchApplications says so
	}
	a.linked.Watch(ctx, g, a.apps, watched, counts)
}

// runLink keeps the link, from when everything that it reports is known.
func (a *Agent) runLink(ctx context.Context, g *errgroup.Group) {
	if a.link == nil {
		return
	}
	if a.ledger != nil {
		a.link.Prepare(ctx)
		a.ledger.Survey(ctx)
		g.Go(func() error { return a.ledger.Run(ctx) })
	}
	g.Go(func() error {
		defer a.linked.Flush()
		a.linked.Ask(ctx)
		return a.link.Run(ctx)
	})
}

// serveHealth says that the process lives, and how the link is. An agent without a server works on, so that is no failure.
func (a *Agent) serveHealth(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "ok")
	if a.link == nil {
		return
	}
	s := a.link.Status()
	fmt.Fprintf(w, "link: %s since %s, %d pending\n", s.State, s.Since.UTC().Format(time.RFC3339), s.Pending)
	if s.Insecure {
		fmt.Fprintln(w, "link: INSECURE: the server's certificate is not verified")
	}
	if s.State == link.StateTwin {
		fmt.Fprintln(w, "link: TWIN: another cluster has an agent with this identity")
	}
}

// serveLink says how the link is.
func (a *Agent) serveLink(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a.link.Status()) // no listener is left
}
