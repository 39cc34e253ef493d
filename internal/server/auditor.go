package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
)

// auditor writes what agents do and what becomes of their links into the audit.
type auditor struct {
	store    *store.Store
	recorder *audit.Recorder
	log      *slog.Logger
}

// auditTime bounds an entry that no request waits for.
const auditTime = 10 * time.Second

// AgentEvents keeps events that agents report, each once.
func (a *auditor) AgentEvents(ctx context.Context, agent gateway.Agent, events []agentapi.Event) error {
	for _, e := range events {
		if err := a.recorder.RecordOnce(ctx, agent.UID+"/"+e.ID, a.entry(ctx, agent, e)); err != nil {
			return err
		}
	}
	return nil
}

func (a *auditor) entry(ctx context.Context, agent gateway.Agent, e agentapi.Event) api.AuditEntry {
	scope, err := a.store.ItemScope(ctx, agent.ID, e.Project)
	if err != nil {
		scope = scopeOfAgent(agent.ID)
	}
	out := api.AuditEntry{
		At: e.At.UTC(), Actor: a.actor(ctx, agent, e), RequestID: e.Command,
		Action: string(e.Target.Kind) + "." + string(e.Type), Reason: e.Reason, Outcome: api.OutcomeSucceeded, Message: e.Message,
		Object: api.Ref{Type: string(e.Target.Kind), ID: api.ItemID(agent.ID, e.Target.Namespace, e.Target.Name), Scope: scope},
		Before: revision(e.Before), After: revision(e.Revision),
	}
	if e.Target.Kind == "" { // it is about the agent itself
		out.Action = api.TypeAgent + "." + string(e.Type)
		out.Object = api.Ref{Type: api.TypeAgent, ID: agent.ID, Scope: scopeOfAgent(agent.ID)}
	}
	switch e.Outcome {
	case "Failed":
		out.Outcome = api.OutcomeFailed
	case "Refused":
		out.Outcome = api.OutcomeDenied
	}
	return out
}

func revision(r string) json.RawMessage {
	if r == "" {
		return nil
	}
	raw, err := json.Marshal(map[string]string{"revision": r})
	if err != nil {
		return nil // of two texts: it cannot fail
	}
	return raw
}

// actor is the author of what an agent reports, the agent itself if it names none. A user of this server ("user:anna")
// is accepted as author if they gave this agent the command that it names, about this object, and for a deletion one
// that deletes: an agent, and every user who may write Applications in its cluster, can write any name and any id they have seen.
func (a *auditor) actor(ctx context.Context, agent gateway.Agent, e agentapi.Event) api.Principal {
	if e.User == "" {
		return api.Principal{Type: api.PrincipalAgent, ID: agent.ID}
	}
	if kind, id, ok := strings.Cut(e.User, ":"); ok && e.Command != "" {
		asked, err := a.store.ShowCommand(ctx, e.Command)
		about := asked.Object.ID == api.ItemID(agent.ID, e.Target.Namespace, e.Target.Name) &&
			(e.Type == agentapi.EventDeleted) == (asked.Kind == string(agentapi.KindAppDelete))
		if err == nil && about && asked.Agent == agent.ID && asked.By == (api.Principal{Type: kind, ID: id}) {
			return asked.By
		}
	}
	return api.Principal{Type: api.PrincipalAgent, ID: agent.ID + ":" + e.User}
}

func scopeOfAgent(id string) api.Scope {
	scope, _, err := api.ParseID(id)
	if err != nil {
		return api.ScopeAccount
	}
	return scope
}

// LinkEvent keeps what happened to a link.
func (a *auditor) LinkEvent(ctx context.Context, e gateway.LinkEvent) {
	outcome := api.OutcomeSucceeded
	if e.Type == gateway.LinkTwin || e.Type == gateway.LinkEngine || e.Type == gateway.LinkSuperseded {
		outcome = api.OutcomeDenied
	}
	a.write(ctx, "", api.AuditEntry{
		At: e.At.UTC(), Actor: api.Principal{Type: api.PrincipalAgent, ID: e.ID}, IP: e.Address, Action: string(e.Type),
		Object: api.Ref{Type: api.TypeAgent, ID: e.ID, Scope: scopeOfAgent(e.ID)}, Outcome: outcome, Message: e.Message,
	})
}

// CommandFinished keeps the outcome of a command, once however often it is reported.
func (a *auditor) CommandFinished(ctx context.Context, c gateway.Command) {
	shown, err := a.store.ShowCommand(ctx, c.ID)
	if err != nil {
		a.log.Error("audit", "command", c.ID, "err", err)
		return
	}
	if shown.Status == api.CommandDone && c.Trial {
		return // nothing was changed, and nothing refused it
	}
	entry := api.AuditEntry{
		At: shown.FinishedAt.UTC(), Actor: shown.By, RequestID: c.Origin, Action: "command." + shown.Status,
		Object: shown.Object, Reason: shown.Reason, Outcome: api.OutcomeSucceeded, Message: shown.Message,
	}
	switch shown.Status {
	case api.CommandDone:
	case api.CommandRefused:
		entry.Outcome = api.OutcomeDenied
	default:
		entry.Outcome = api.OutcomeFailed
	}
	a.write(ctx, "command/"+c.ID, entry)
}

// write writes an entry, once for a key that is not "".
func (a *auditor) write(ctx context.Context, key string, e api.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	if err := a.recorder.RecordOnce(ctx, key, e); err != nil {
		a.log.Error("audit", "action", e.Action, "object", e.Object.ID, "err", err)
	}
}

type lister interface {
	ListAudit(context.Context, rbac.Filter, api.AuditFilter) (api.Page[api.AuditEntry], error)
}

// audits is the audit as the interface sees it.
type audits struct {
	*audit.Recorder
	lister
}

// eventAudit says that the audit has an entry more. It does not say which one it is about: every user who may see it reads it.
const eventAudit = api.TypeAudit + ".recorded"

// audited counts entries of the audit, and notifies its readers.
func (s *Server) audited(ctx context.Context, kept audit.Entry, err error) {
	s.metrics.wrote(kept.Outcome, err)
	if err == nil {
		ref := api.Ref{Type: api.TypeAudit, ID: strconv.FormatInt(kept.ID, 10), Scope: kept.Object.Scope}
		s.publish(ctx, api.Event{Type: eventAudit, At: kept.At, Object: ref})
	}
}
