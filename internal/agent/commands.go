package agent

import (
	"context"
	"maps"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// executors returns what carries out commands: those that are answered once, and those that open a stream.
func (a *Agent) executors() (map[agentapi.Kind]link.Executor, map[agentapi.Kind]link.Streamer) {
	v := newVerbs(verbConfig{
		apps: a.apps.Dynamic, namespace: a.cfg.Namespace, engine: a.engine, clusters: a.clusters, settings: a.settings, now: time.Now, log: a.log,
		known: a.registry.Get, redact: a.linked.Redact, readBy: a.driver.engine(), deleters: &a.deleters,
	})
	a.trees = v.watched()
	run := v.executors()
	maps.Copy(run, settingExecutors(settingConfig{
		apps: a.apps.Dynamic, namespace: a.cfg.Namespace, engine: a.engine, settings: a.settings, git: a.git, outbound: a.cfg.Outbound,
		keys: func() []link.SealKey { return a.link.SealKeys() }, now: time.Now, readBy: a.driver.engine(),
	}))
	a.driver.refine(run)
	streams := map[agentapi.Kind]link.Streamer{}
	for kind, open := range v.streamers() {
		streams[kind] = func(ctx context.Context, cmd agentapi.Command, s *link.Stream) error { return open(ctx, cmd, s) }
	}
	for _, lack := range a.driver.engine().Lacks() {
		refusal := refusedAs(agentapi.CodeUnsupported, "%s", lack.Why)
		if _, known := run[lack.Kind]; known {
			run[lack.Kind] = func(context.Context, agentapi.Command) (any, error) { return nil, refusal }
		}
		if _, known := streams[lack.Kind]; known {
			streams[lack.Kind] = func(context.Context, agentapi.Command, *link.Stream) error { return refusal }
		}
	}
	return a.traces.commands(run, a.registry.Ask), streams
}
