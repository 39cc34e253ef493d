package support

import (
	"context"
	"fmt"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

const (
	// maxRecent is how many jobs, messages and deployments are taken, the newest first.
	maxRecent = 100
	// maxDetail is how many applications are looked at one by one.
	maxDetail = 50
)

// serverParts are those of a server.
func serverParts(s *connect.Server) []part {
	at := plane{s}
	return []part{
		{"server.json", "version of the server, whether it is healthy and ready, and counts", at.server},
		{"agents.json", "agents: state, version, lag, components", at.agents},
		{"applications.json", "applications: sync, health, last operation, types of conditions", at.applications},
		{
			"conditions.json", fmt.Sprintf("conditions and results of up to %d applications that are not as they should be", maxDetail),
			at.conditions,
		},
		{"jobs.json", "the newest jobs", at.jobs},
		{"deployments.json", "the newest deployments: what was done, and how it ended", at.deployments},
		{"channels.json", "channels of notifications: kind and host, no secret", at.channels},
		{"deliveries.json", "the newest notifications, and what became of them", at.deliveries},
	}
}

type plane struct{ *connect.Server }

// all makes items of a list.
func all[T any](in []T) []any {
	out := make([]any, 0, len(in))
	for i := range in {
		out = append(out, in[i])
	}
	return out
}

// newest makes items of the first page of a list.
func newest[T any](page api.Page[T], paths ...string) found {
	out := found{items: all(page.Items), keep: keep(paths...)}
	if page.NextCursor != "" {
		out.note = fmt.Sprintf("the newest %d only", len(page.Items))
	}
	return out
}

func (p plane) server(ctx context.Context) (found, error) {
	info, err := p.Client.Info(ctx)
	if err != nil {
		return found{}, p.Explain(err)
	}
	said := func(err error) string {
		if err != nil {
			return err.Error()
		}
		return "ok"
	}
	out := map[string]any{
		"version": info.Version, "url": info.PublicURL, "healthz": said(p.Client.Healthy(ctx)), "readyz": said(p.Client.Ready(ctx)),
	}
	if counts, err := p.Client.Overview(ctx); err != nil {
		out["counts"] = err.Error()
	} else {
		out["counts"] = counts
	}
	return found{items: []any{out}}, nil
}

func (p plane) agents(ctx context.Context) (found, error) {
	list, err := p.Client.AgentEntities().All(ctx, api.ListOptions{})
	return found{items: all(list), keep: keep("id", "namespaced", "hosted.cluster", "hosted.state", "hosted.since", "hosted.message",
		"hosted.restarts", "status")}, p.Explain(err)
}

func (p plane) applications(ctx context.Context) (found, error) {
	list, err := p.List(ctx, "")
	out := found{keep: keep("id", "sync", "health", "phase", "message", "revision", "autoSync", "conditions", "finishedAt", "updatedAt",
		"staleSince", "stale", "asOf", "agentAway", "held", "driftSince", "version")}
	for i := range list {
		out.items = append(out.items, list[i].Raw.Object)
	}
	return out, err
}

// conditions looks at the applications that may need help.
func (p plane) conditions(ctx context.Context) (found, error) {
	list, err := p.List(ctx, "")
	out := found{keep: status()}
	more := 0
	for i := range list {
		a := &list[i]
		types, _ := a.Raw.Object["conditions"].([]any)
		phase, _ := a.Raw.Object["phase"].(string)
		if a.Status.Sync.Status == "Synced" && a.Status.Health.Status == "Healthy" && len(types) == 0 && (phase == "" || phase == "Succeeded") {
			continue
		}
		if len(out.items) == maxDetail {
			more++
			continue
		}
		one, err := p.Get(ctx, a.Agent+"/"+a.Namespace+"/"+a.Name)
		if err != nil {
			more++
			out.note = fmt.Sprintf("%s: %v", a.Name, err)
			continue
		}
		one.Raw.Object["agent"] = a.Agent
		out.items = append(out.items, one.Raw.Object)
	}
	if more > 0 {
		out.note = fmt.Sprintf("%d more are left out; %s", more, out.note)
	}
	return out, err
}

func (p plane) jobs(ctx context.Context) (found, error) {
	page, err := p.Client.Jobs(ctx, api.JobFilter{ListOptions: api.ListOptions{Limit: maxRecent}}, false)
	return newest(page, "id", "state", "message", "counts", "createdAt", "finishedAt", "request.action", "request.limit",
		"request.stopAfter"), p.Explain(err)
}

func (p plane) deployments(ctx context.Context) (found, error) {
	page, err := p.Client.Ledger(ctx, api.LedgerFilter{ListOptions: api.ListOptions{Limit: maxRecent}})
	return newest(page, "id", "agent", "namespace", "name", "automatic", "action", "recovered", "retries", "revision",
		"detectedAt", "renderedAt",
		"startedAt", "appliedAt", "finishedAt", "healthyAt", "phase", "message", "health", "counts", "notes"), p.Explain(err)
}

// channels includes only the host of an address: what follows it may be a token.
func (p plane) channels(ctx context.Context) (found, error) {
	list, err := p.Client.NotificationChannels().All(ctx, api.ListOptions{})
	out := found{keep: keep("id", "kind", "host", "createdAt", "updatedAt")}
	for i := range list {
		host := ""
		if at, err := url.Parse(list[i].URL); err == nil {
			host = at.Host
		}
		out.items = append(out.items, map[string]any{
			"id": list[i].ID, "kind": list[i].Kind, "host": host, "createdAt": list[i].CreatedAt, "updatedAt": list[i].UpdatedAt,
		})
	}
	return out, p.Explain(err)
}

func (p plane) deliveries(ctx context.Context) (found, error) {
	page, err := p.Client.Deliveries(ctx, api.DeliveryFilter{ListOptions: api.ListOptions{Limit: maxRecent}})
	return newest(page, "id", "rule", "channel", "state", "attempts", "message", "createdAt", "finishedAt", "nextAt",
		"event.event"), p.Explain(err)
}
