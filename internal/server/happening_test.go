package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// auditor writes into the audit of a world.
func (w *world) auditor() *auditor {
	return &auditor{store: w.server.store, recorder: w.server.audit, log: slog.New(slog.DiscardHandler)}
}

// audited are the entries of actions that begin with a text, the oldest first.
func (w *world) audited(action string) []api.AuditEntry {
	w.t.Helper()
	every := rbac.Filter{Type: api.TypeAudit, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	page, err := w.server.store.ListAudit(w.t.Context(), every, api.AuditFilter{Action: action})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items
}

// commanded has the agent's answer to a command of the administrator, and the audit hear of it twice.
func (w *world) commanded(id string, kind agentapi.Kind, body string, result agentapi.Result) {
	w.t.Helper()
	ctx, s := w.t.Context(), w.server.store
	uid, err := s.AgentUID(ctx, "account.prod")
	if err != nil {
		w.t.Fatal(err)
	}
	command := agentapi.Command{
		ID: id, Agent: uid, Kind: kind, User: "user:admin", Issued: time.Now(), Deadline: time.Now().Add(time.Hour), Body: json.RawMessage(body),
		Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "thing"},
	}
	asked, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for an answer: there is no agent
	if _, err := w.server.gateway.Commands.Do(asked, uid, command); !errors.Is(err, context.Canceled) {
		w.t.Fatal(err)
	}
	result.ID = id
	if _, err := s.FinishCommand(ctx, uid, result, false, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	kept, err := s.GetCommand(ctx, id)
	if err != nil {
		w.t.Fatal(err)
	}
	for range 2 {
		w.auditor().CommandFinished(ctx, kept)
	}
}

func TestWhatOnlyTriesAChangeLeavesNoEntryUnlessItIsRefused(t *testing.T) {
	w := newWorld(t)
	done := agentapi.Result{Status: agentapi.StatusDone}
	refused := agentapi.Result{Status: agentapi.StatusRefused, Code: agentapi.CodePolicy, Message: "not here"}
	for _, c := range []struct {
		id   string
		kind agentapi.Kind
		body string
		with agentapi.Result
		want int
	}{
		{"tried", agentapi.KindRollback, `{"dryRun":true}`, done, 0},
		{"tried-deletion", agentapi.KindAppDelete, `{"cascade":true,"dryRun":true}`, done, 0},
		{"refused", agentapi.KindRollback, `{"dryRun":true}`, refused, 1},
		{"rolled-back", agentapi.KindRollback, `{"id":3}`, done, 1},
		{"synced", agentapi.KindSync, `{"dryRun":true}`, done, 1},
	} {
		before := len(w.audited("command."))
		w.commanded(c.id, c.kind, c.body, c.with)
		if n := len(w.audited("command.")) - before; n != c.want {
			t.Errorf("%s leaves %d entries, want %d", c.id, n, c.want)
		}
	}
}

func TestWhatAnAgentReportsIsInTheAuditOnceWithThePersonWhoAsked(t *testing.T) {
	w := newWorld(t)
	uid, err := w.server.store.AgentUID(t.Context(), "account.prod")
	if err != nil {
		t.Fatal(err)
	}
	w.commanded("c1", agentapi.KindAppDelete, `{"cascade":true}`, agentapi.Result{Status: agentapi.StatusDone})
	event := func(what agentapi.EventType, change func(*agentapi.Event)) agentapi.Event {
		e := agentapi.Event{
			ID: string(what), At: time.Now(), Type: what, Automatic: true, Message: "about " + string(what), Project: "default",
			Target: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "thing"},
		}
		if change != nil {
			change(&e)
		}
		return e
	}
	asked := func(e *agentapi.Event) {
		e.Automatic, e.User, e.Command, e.Reason = false, "user:admin", "c1", "moved"
	}
	events := []agentapi.Event{
		event(agentapi.EventDrift, nil), event(agentapi.EventHeld, nil), event(agentapi.EventHealth, nil),
		event(agentapi.EventDriftReverted, func(e *agentapi.Event) { e.Outcome = "Failed" }), event(agentapi.EventDeleted, asked),
	}
	lost := agentapi.Event{ID: "lost", At: time.Now(), Type: agentapi.EventLost, Automatic: true, Outcome: "Failed", Message: "7 events were lost"}
	for range 2 {
		all := append(events[:len(events):len(events)], lost)
		if err := w.auditor().AgentEvents(t.Context(), gateway.Agent{UID: uid, ID: "account.prod"}, all); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		list := w.audited("application." + string(e.Type))
		if len(list) != 1 {
			t.Errorf("%s: %d entries", e.Type, len(list))
			continue
		}
		got, who, outcome := list[0], api.Principal{Type: api.PrincipalAgent, ID: "account.prod"}, api.OutcomeSucceeded
		if e.User != "" {
			who = api.Principal{Type: api.PrincipalUser, ID: "admin"}
		}
		if e.Outcome == "Failed" {
			outcome = api.OutcomeFailed
		}
		if got.Actor != who || got.Outcome != outcome || got.Reason != e.Reason || !strings.Contains(got.Message, e.Message) ||
			got.Object.ID != "account.prod/argocd/thing" {
			t.Errorf("%s: %+v", e.Type, got)
		}
	}
	if list := w.audited("agent.events.lost"); len(list) != 1 || list[0].Object.ID != "account.prod" || list[0].Outcome != api.OutcomeFailed {
		t.Errorf("lost events: %+v", list)
	}
}

func TestACommandOfAnotherApplicationOrKindLendsNobodysName(t *testing.T) {
	w := newWorld(t)
	uid, err := w.server.store.AgentUID(t.Context(), "account.prod")
	if err != nil {
		t.Fatal(err)
	}
	done := agentapi.Result{Status: agentapi.StatusDone}
	w.commanded("deletes", agentapi.KindAppDelete, `{"cascade":true}`, done)
	w.commanded("syncs", agentapi.KindSync, `{}`, done)
	for _, c := range []struct {
		name, command string
		what          agentapi.EventType
		believed      bool
	}{
		{"thing", "deletes", agentapi.EventDeleted, true},
		{"thing", "syncs", agentapi.EventSyncStarted, true},
		{"other", "deletes", agentapi.EventDeleted, false},
		{"other", "syncs", agentapi.EventSyncStarted, false},
		{"thing", "syncs", agentapi.EventDeleted, false},
		{"thing", "deletes", agentapi.EventSyncStarted, false},
	} {
		e := agentapi.Event{
			ID: c.name + c.command + string(c.what), At: time.Now(), Type: c.what, User: "user:admin", Command: c.command, Project: "default",
			Target: agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: c.name},
		}
		if err := w.auditor().AgentEvents(t.Context(), gateway.Agent{UID: uid, ID: "account.prod"}, []agentapi.Event{e}); err != nil {
			t.Fatal(err)
		}
		want := api.Principal{Type: api.PrincipalAgent, ID: "account.prod:user:admin"}
		if c.believed {
			want = api.Principal{Type: api.PrincipalUser, ID: "admin"}
		}
		if got := w.audited("application." + string(c.what))[0].Actor; got != want {
			t.Errorf("%s of %s by command %s is of %v, want %v", c.what, c.name, c.command, got, want)
		}
	}
}
