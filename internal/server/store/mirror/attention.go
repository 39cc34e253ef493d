package mirror

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/census"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// LongestReport is how long the message of a row is.
const LongestReport = 500

// Attention lists what needs attention of the applications and the agents that may be seen, the worst first. Which applications
// these are is known in memory; only the rows of the list are read.
func (s *Fleet) Attention(ctx context.Context, applications, agents rbac.Filter,
	filter api.AttentionFilter,
) (out api.Attention, err error) {
	limit := filter.Limit
	if limit <= 0 || limit > api.MaxAttention {
		limit = api.MaxAttention
	}
	wanted := func(kind string) bool { return len(filter.Kinds) == 0 || slices.Contains(filter.Kinds, kind) }
	ask := api.FleetFilter{Scope: filter.Scope, Agent: filter.Agent}
	for _, kind := range api.ApplicationAttentionKinds() {
		if wanted(kind) {
			ask.Attention = append(ask.Attention, kind)
		}
	}
	if len(ask.Attention) == 0 { // of agents alone: no application is of none of these kinds
		applications = rbac.Filter{Type: api.TypeApplication}
	}
	err = s.survey(ctx, applications, ask, func(t db.Tx, found *census.Selection) error {
		counts, list, apart := found.Attention(limit)
		of := map[string][]api.AttentionItem{}
		if err := needing(ctx, t, append(list, apart...), of); err != nil {
			return err
		}
		for kind, state := range map[string]string{api.AttentionAway: api.AgentDisconnected, api.AttentionAgent: api.AgentDegraded} {
			if !wanted(kind) {
				continue
			}
			var err error
			if of[kind], counts[kind], err = agentsIn(ctx, t, state, kind, agents, filter, limit); err != nil {
				return err
			}
		}
		out = attention(counts, of, limit)
		return nil
	})
	return out, err
}

// attention puts rows and counts of kinds together.
func attention(counts map[string]int64, of map[string][]api.AttentionItem, limit int) api.Attention {
	out := api.Attention{Counts: []api.FleetCount{}, Items: []api.AttentionItem{}, NeverDeployed: []api.AttentionItem{}}
	for _, kind := range api.AttentionKinds() {
		if counts[kind] > 0 {
			out.Counts = append(out.Counts, api.FleetCount{Value: kind, Count: counts[kind]})
		}
		if kind == api.AttentionNew {
			out.NeverDeployed = append(out.NeverDeployed, of[kind]...)
			continue
		}
		out.Total += counts[kind]
		out.Items = append(out.Items, of[kind][:min(len(of[kind]), limit-len(out.Items))]...)
	}
	return out
}

// needing reads the rows of applications, in their order.
func needing(ctx context.Context, t db.Tx, list []census.Needing, of map[string][]api.AttentionItem) error {
	ids, kinds, found := make([]string, len(list)), make(map[string]string, len(list)), make(map[string]api.AttentionItem, len(list))
	for i, n := range list {
		ids[i], kinds[n.ID] = n.ID, n.Kind
	}
	query := "SELECT " + applicationColumns + ", item.body FROM item WHERE item.kind = '" + api.KindApplication + "' AND item.id IN (LIST)"
	err := t.EachOf(ctx, query, nil, ids, func(row db.Row) error {
		var a api.Application
		var body string
		err := scanApplication(row.With(&body), &a)
		found[a.ID] = needed(kinds[a.ID], &a, json.RawMessage(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("read applications that need attention: %w", err)
	}
	for _, id := range ids {
		if item, there := found[id]; there {
			of[item.Kind] = append(of[item.Kind], item)
		}
	}
	return nil
}

// Trouble is what is read of an Application that needs attention.
type Trouble struct {
	Metadata struct {
		CreationTimestamp string `json:"creationTimestamp"`
	} `json:"metadata"`
	Status struct {
		Health struct {
			Status             string `json:"status"`
			Message            string `json:"message"`
			LastTransitionTime string `json:"lastTransitionTime"`
		} `json:"health"`
		Conditions []struct {
			Type               string `json:"type"`
			Message            string `json:"message"`
			LastTransitionTime string `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// Condition is what the first condition of some types says, and since when.
func (t *Trouble) Condition(types ...string) (message string, since time.Time) {
	for _, c := range t.Status.Conditions {
		if slices.Contains(types, c.Type) {
			return c.Message, db.Moment(microsOf(c.LastTransitionTime))
		}
	}
	return "", time.Time{}
}

// needed is the row of an application.
func needed(kind string, a *api.Application, body json.RawMessage) api.AttentionItem {
	out := api.AttentionItem{
		Kind: kind, Object: api.Ref{Type: api.TypeApplication, ID: a.ID, Scope: a.Scope}, Agent: a.Agent, Namespace: a.Namespace,
		Name: a.Name, Age: a.Age,
	}
	var t Trouble
	_ = strict.Decode(body, &t, strict.Foreign) // what has a wrong type says nothing
	switch kind {
	case api.AttentionSource:
		out.What = "Its source cannot be read or compared"
		out.Message, out.Since = t.Condition("ComparisonError", "InvalidSpecError", "UnknownError")
	case api.AttentionDegraded:
		out.What, out.Message, out.Since = "Its health is "+
			a.Health, t.Status.Health.Message, db.Moment(microsOf(t.Status.Health.LastTransitionTime))
	case api.AttentionSync:
		out.What, out.Message = "Its last sync failed", a.Message
		if a.FinishedAt != nil {
			out.Since = *a.FinishedAt
		}
		if message, since := t.Condition("SyncError", "DeletionError"); message != "" {
			out.Message, out.Since = message, since
		}
	case api.AttentionHeld:
		out.What = "Its sync is held"
		out.Message, out.Since = t.Condition(ConditionHeld)
	case api.AttentionDrift:
		out.What, out.Since = "It is out of sync", a.DriftSince
	case api.AttentionNew:
		out.What, out.Since = "It was never deployed", db.Moment(microsOf(t.Metadata.CreationTimestamp))
	}
	out.Message = legible.Prefix(out.Message, LongestReport)
	return out
}

// agentsIn reads the agents in a state, those first that have been in it for longest, and counts them.
func agentsIn(
	ctx context.Context, t db.Tx, state, kind string, visible rbac.Filter, filter api.AttentionFilter, limit int,
) (list []api.AttentionItem, n int64, err error) {
	w := &db.Where{}
	w.Permitted(fleet.AgentKind().Guarded(), visible)
	w.And("agent.revoked = 0 AND agent.state = ?", state)
	if filter.Scope != "" {
		w.Within("agent.scope", filter.Scope)
	}
	w.Is("agent.id", filter.Agent)
	if err := t.One(ctx, "SELECT COUNT(*) FROM agent"+w.String(), w.Args, &n); err != nil || n == 0 {
		return nil, n, err
	}
	query := "SELECT agent.id, agent.scope, agent.name, agent.message, agent.state_since, agent.heartbeat_at FROM agent" + w.String() +
		" ORDER BY agent.state_since, agent.id LIMIT ?"
	list, err = db.Collect(ctx, t, query, append(slices.Clone(w.Args), limit), func(row db.Row, item *api.AttentionItem) error {
		item.Kind, item.Object.Type, item.What = kind, api.TypeAgent, "The agent is connected, and a part of it is not healthy"
		var heard time.Time
		err := row.Scan(&item.Object.ID, (*string)(&item.Object.Scope), &item.Name, &item.Message, db.Instant(&item.Since), db.Instant(&heard))
		item.Agent = item.Object.ID
		if kind == api.AttentionAway {
			item.What, item.Since = "The agent is away", heard
			item.Age = api.Age{Stale: true, AsOf: heard, AgentAway: true}
		}
		item.Message = legible.Prefix(item.Message, LongestReport)
		return err
	})
	return list, n, err
}
