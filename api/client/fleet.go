package client

import (
	"context"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// FleetSummary counts the applications of all agents that a filter leaves.
func (c *Client) FleetSummary(ctx context.Context, f api.FleetFilter) (api.FleetSummary, error) {
	return get[api.FleetSummary](ctx, c, fleetQuery(f, api.ListOptions{}), "fleet", "summary")
}

// FleetAttention lists what needs attention, the worst first.
func (c *Client) FleetAttention(ctx context.Context, f api.AttentionFilter) (api.Attention, error) {
	query := setInt(set(url.Values{"kind": f.Kinds}, "scope", string(f.Scope), "agent", f.Agent), "limit", int64(max(f.Limit, 0)))
	return get[api.Attention](ctx, c, query, "fleet", "attention")
}

// FleetApplications gives a page of the applications of all agents that a filter leaves.
func (c *Client) FleetApplications(ctx context.Context, f api.FleetFilter, o api.ListOptions) (api.Page[api.Application], error) {
	return get[api.Page[api.Application]](ctx, c, fleetQuery(f, o), "fleet", "applications")
}

// fleetQuery says a filter in a query. What it searches for counts, not what the options of the list do.
func fleetQuery(f api.FleetFilter, o api.ListOptions) url.Values {
	o.Search, o.Scope, o.Labels = f.Search, f.Scope, f.Labels
	query := set(listQuery(o), "agent", f.Agent, "argoProject", f.ArgoProject, "namespace", f.Namespace,
		"repoURL", f.RepoURL, "cluster", f.Cluster,
		"service", f.Service, "environment", f.Environment, "region", f.Region, "type", f.Type, "version", f.Version,
		"driftOlder", f.DriftOlder, "since", f.Since)
	query["sync"], query["health"], query["phase"], query["attention"] = f.Sync, f.Health, f.Phase, f.Attention
	return setBool(setBool(query, "held", f.Held), "stale", f.Stale)
}

// DORA gives the figures of delivery. Of the filter of the ledger, times, scope and what applications it is about count.
func (c *Client) DORA(ctx context.Context, f api.DORAFilter) (api.DORAReport, error) {
	query := set(deliveryQuery(f.LedgerFilter), "group", f.Group)
	if f.Week {
		query.Set("by", "week")
	}
	return get[api.DORAReport](ctx, c, query, "fleet", "dora")
}

// ServiceLevels returns how long deliveries took. Of the filter the same counts as for DORA.
func (c *Client) ServiceLevels(ctx context.Context, f api.LedgerFilter) (api.ServiceLevels, error) {
	return get[api.ServiceLevels](ctx, c, deliveryQuery(f), "fleet", "service-levels")
}

func deliveryQuery(f api.LedgerFilter) url.Values {
	return ledgerQuery(api.LedgerFilter{
		ListOptions: api.ListOptions{Scope: f.Scope}, From: f.From, To: f.To, Agent: f.Agent, Namespace: f.Namespace, Name: f.Name,
		ArgoProject: f.ArgoProject, Service: f.Service, Environment: f.Environment,
	})
}
