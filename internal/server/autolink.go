package server

import (
	"context"
	"encoding/json"
	"log/slog"
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

	mu      sync.Mutex
	waiting map[string][]agentapi.Key // by the uid of their agent
	wake    chan struct{}             // has one in it while somebody waits
}

func (s *Server) newAutolinker() *autolinker {
	return &autolinker{
		store: s.store, now: s.cfg.Now, log: s.log, waiting: map[string][]agentapi.Key{}, wake: make(chan struct{}, 1),
		publish: s.publish,
		write: func(ctx context.Context, e api.AuditEntry) {
			(&auditor{store: s.store, recorder: s.audit, log: s.log}).write(ctx, "", e)
		},
	}
}

// noticed tells who watches what agents changed, has new applications linked, and notifications made.
func (s *Server) noticed(c gateway.Change) {
	s.notify(c)
	s.linking.notice(c)
	s.notifier.Wake()
	if c.Agent {
		s.host.Wake()
	}
}

// notice takes new applications in, but what another server told of: that one links them. It does not wait.
func (l *autolinker) notice(c gateway.Change) {
	if c.Heard {
		return
	}
	var fresh []agentapi.Key
	for _, item := range c.Items {
		if item.Key.Kind == agentapi.ItemApplication && item.Before == "" && item.After != "" {
			fresh = append(fresh, item.Key)
		}
	}
	if len(fresh) == 0 {
		return
	}
	l.mu.Lock()
	l.waiting[c.UID] = append(l.waiting[c.UID], fresh...)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// What could not be linked is tried again after this time, so many times: its agent may be gone for good.
const (
	relink     = time.Minute
	mostRelink = 60
)

// run links what comes, until ctx ends. What could not be linked is tried again.
func (l *autolinker) run(ctx context.Context) {
	again := time.NewTimer(clock.About(relink))
	defer again.Stop()
	failed := map[string]int{} // in a row, by agent
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		case <-again.C:
			again.Reset(clock.About(relink))
		}
		l.mu.Lock()
		waiting := l.waiting
		l.waiting = map[string][]agentapi.Key{}
		l.mu.Unlock()
		for uid, keys := range waiting {
			err := l.link(ctx, uid, keys)
			if err == nil || ctx.Err() != nil {
				delete(failed, uid)
				continue
			}
			if failed[uid]++; failed[uid] > mostRelink {
				delete(failed, uid)
				l.log.Error("applications are not linked; `slipway agent link` does it", "agent", uid, "applications", len(keys), "err", err)
			} else {
				l.log.Error("link new applications; it is tried again", "agent", uid, "applications", len(keys), "err", err)
				l.mu.Lock()
				l.waiting[uid] = append(keys, l.waiting[uid]...)
				l.mu.Unlock()
			}
		}
	}
}

// link finds services and environments for new applications of an agent.
func (l *autolinker) link(ctx context.Context, uid string, keys []agentapi.Key) error {
	agent, on, err := l.store.AutoLinked(ctx, uid)
	if err != nil || !on {
		return err
	}
	only := make([]string, 0, len(keys))
	for _, key := range keys {
		only = append(only, api.ItemID(agent, key.Namespace, key.Name))
	}
	plan, err := l.store.LinkSome(ctx, agent, only)
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
