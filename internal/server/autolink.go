package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store"
)

// autolinker makes services and environments for applications that come, where their agent is set to that. What it makes
// is in the audit.
type autolinker struct {
	store   *store.Store
	write   func(context.Context, api.AuditEntry)
	publish func(context.Context, api.Event)
	now     func() time.Time
	log     *slog.Logger

	mu    sync.Mutex
	fresh map[string]bool // uids of agents that have new applications
	wake  chan struct{}   // has one in it while there are such agents
}

func (s *Server) newAutolinker() *autolinker {
	return &autolinker{
		store: s.store, now: s.cfg.Now, log: s.log, fresh: map[string]bool{}, wake: make(chan struct{}, 1),
		publish: s.publish,
		write: func(ctx context.Context, e api.AuditEntry) {
			(&auditor{store: s.store, recorder: s.audit, log: s.log}).write(ctx, "", e)
		},
	}
}

// noticed publishes what agents changed, has new applications linked, and notifications made.
func (s *Server) noticed(c gateway.Change) {
	s.notify(c)
	s.linking.notice(c)
	s.notifier.Wake()
	if c.Agent {
		s.host.Wake()
	}
}

// notice has new applications linked, but those that another server reported: that one links them. It does not wait.
func (l *autolinker) notice(c gateway.Change) {
	if c.Heard || !slices.ContainsFunc(c.Items, func(item gateway.Changed) bool {
		return item.Key.Kind == agentapi.ItemApplication && item.Before == "" && item.After != ""
	}) {
		return
	}
	l.mu.Lock()
	l.fresh[c.UID] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Applications that could not be linked, or that a server left when it was killed, are tried again after this time, so many
// times: their agent may be gone for good.
const (
	relink     = time.Minute
	mostRelink = 60
)

// run links the new applications until ctx ends. The database keeps which these are, so it begins with those that a server
// left.
func (l *autolinker) run(ctx context.Context) {
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		var agents []string
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
			l.mu.Lock()
			agents = slices.Sorted(maps.Keys(l.fresh))
			clear(l.fresh)
			l.mu.Unlock()
		case <-look.C:
			look.Reset(clock.About(relink))
			var err error
			if agents, err = l.store.Unlinked(ctx); err != nil && ctx.Err() == nil {
				l.log.Error("look for applications to link; the server tries again", "err", err)
			}
		}
		for _, uid := range agents {
			l.try(ctx, uid)
		}
	}
}

// try links the new applications of an agent, and counts where that fails.
func (l *autolinker) try(ctx context.Context, uid string) {
	err := l.link(ctx, uid)
	if err == nil || ctx.Err() != nil {
		return
	}
	forgotten, failure := l.store.LinkFailed(ctx, uid, mostRelink)
	if forgotten > 0 {
		l.log.Error("applications are not linked; `slipway agent link` does it", "agent", uid, "applications", forgotten, "err", err)
		return
	}
	l.log.Error("link new applications; the server tries again", "agent", uid, "err", errors.Join(err, failure))
}

// link finds services and environments for the new applications of an agent.
func (l *autolinker) link(ctx context.Context, uid string) error {
	agent, plan, err := l.store.LinkUnlinked(ctx, uid)
	if err != nil || len(plan.Items) == 0 {
		return err
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	now := l.now().UTC()
	l.write(ctx, api.AuditEntry{
		At: now, Actor: api.Principal{Type: api.PrincipalAgent, ID: agent}, Action: "agent.link",
		Object: api.Ref{Type: api.TypeAgent, ID: agent, Scope: scopeOfAgent(agent)}, Outcome: api.OutcomeSucceeded, After: raw,
		Reason: "the agent is set to make services and environments for applications that come",
	})
	for kind, ids := range map[string][]string{api.TypeService: plan.Services, api.TypeEnvironment: plan.Environments} {
		for _, id := range ids {
			scope, _, _ := api.ParseID(id)
			l.publish(ctx, api.Event{Type: kind + "." + api.EventChanged, At: now, Object: api.Ref{Type: kind, ID: id, Scope: scope}})
		}
	}
	l.log.Info("new applications linked", "agent", agent, "applications", len(plan.Items), "services", slices.Clone(plan.Services))
	return nil
}
