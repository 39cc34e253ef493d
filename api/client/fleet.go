package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/slipway-gitops/slipway/api"
)

// FleetSummary counts the applications of all agents that a filter leaves.
func (c *Client) FleetSummary(ctx context.Context, f api.FleetFilter) (api.FleetSummary, error) {
	return ask[api.FleetSummary](ctx, c, call{method: http.MethodGet, path: at("fleet", "summary"), query: fleetQuery(f, api.ListOptions{})})
}

// FleetAttention lists what needs attention, the worst first.
func (c *Client) FleetAttention(ctx context.Context, f api.AttentionFilter) (api.Attention, error) {
	query := url.Values{}
	set(query, "scope", string(f.Scope))
	set(query, "agent", f.Agent)
	for _, kind := range f.Kinds {
		query.Add("kind", kind)
	}
	if f.Limit > 0 {
		query.Set("limit", strconv.Itoa(f.Limit))
	}
	return ask[api.Attention](ctx, c, call{method: http.MethodGet, path: at("fleet", "attention"), query: query})
}

// FleetApplications gives a page of the applications of all agents that a filter leaves.
func (c *Client) FleetApplications(ctx context.Context, f api.FleetFilter, o api.ListOptions) (api.Page[api.Application], error) {
	return ask[api.Page[api.Application]](ctx, c, call{method: http.MethodGet, path: at("fleet", "applications"), query: fleetQuery(f, o)})
}

// fleetQuery says a filter in a query. What it searches for counts, not what the options of the list do.
func fleetQuery(f api.FleetFilter, o api.ListOptions) url.Values {
	o.Search, o.Scope, o.Labels = f.Search, f.Scope, f.Labels
	query := listQuery(o)
	for key, value := range map[string]string{
		"agent": f.Agent, "argoProject": f.ArgoProject, "namespace": f.Namespace, "repoURL": f.RepoURL, "cluster": f.Cluster,
		"service": f.Service, "environment": f.Environment, "region": f.Region, "type": f.Type, "version": f.Version,
		"driftOlder": f.DriftOlder, "since": f.Since,
	} {
		set(query, key, value)
	}
	for key, values := range map[string][]string{"sync": f.Sync, "health": f.Health, "phase": f.Phase, "attention": f.Attention} {
		for _, value := range values {
			query.Add(key, value)
		}
	}
	setBool(query, "held", f.Held)
	setBool(query, "stale", f.Stale)
	return query
}

// DORA gives the figures of delivery. Of the filter of the ledger, times, scope and what applications it is about count.
func (c *Client) DORA(ctx context.Context, f api.DORAFilter) (api.DORAReport, error) {
	query := deliveryQuery(f.LedgerFilter)
	set(query, "group", f.Group)
	if f.Week {
		query.Set("by", "week")
	}
	return ask[api.DORAReport](ctx, c, call{method: http.MethodGet, path: at("fleet", "dora"), query: query})
}

// ServiceLevels says how long deliveries took on their way. Of the filter the same counts as for DORA.
func (c *Client) ServiceLevels(ctx context.Context, f api.LedgerFilter) (api.ServiceLevels, error) {
	return ask[api.ServiceLevels](ctx, c, call{method: http.MethodGet, path: at("fleet", "service-levels"), query: deliveryQuery(f)})
}

func deliveryQuery(f api.LedgerFilter) url.Values {
	return ledgerQuery(api.LedgerFilter{
		ListOptions: api.ListOptions{Scope: f.Scope}, From: f.From, To: f.To, Agent: f.Agent, Namespace: f.Namespace, Name: f.Name,
		ArgoProject: f.ArgoProject, Service: f.Service, Environment: f.Environment,
	})
}
