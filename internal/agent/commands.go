package agent

import (
	"context"
	"maps"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
)

// executors returns what carries out commands: those that are answered once, and those that open a stream.
func (a *Agent) executors() (map[agentapi.Kind]link.Executor, map[agentapi.Kind]link.Streamer) {
	v := verb.New(verb.Config{
		Apps: a.apps.Dynamic, Namespace: a.cfg.Namespace, Engine: a.engine, Clusters: a.clusters, Settings: a.settings, Now: time.Now, Log: a.log,
		Known: a.registry.Get, Redact: a.linked.Redact, ReadBy: a.driver.Engine(), Deleters: &a.deleters,
	})
	a.trees = v.Watched()
	run := v.Executors()
	maps.Copy(run, setting.Executors(setting.Config{
		Apps: a.apps.Dynamic, Namespace: a.cfg.Namespace, Engine: a.engine, Settings: a.settings, Git: a.git, Outbound: a.cfg.Outbound,
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
