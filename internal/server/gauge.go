package server

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

// changes is the stream of changes, and what is measured of it.
type changes interface {
	core.Events
	// Watchers is how many watch now, Waiting how many events are not given yet, Given how many were.
	Watchers() int
	Waiting() int
	Given() uint64
}

// gauges asks when it is scraped.
type gauges struct {
	store   *store.Store
	events  changes
	gateway *gateway.Gateway
	http    *inlet.Server
}

var _ prometheus.Collector = (*gauges)(nil)

// Describe says nothing, so that what there is may change.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// gaugeTime bounds what a scrape asks of the database.
const gaugeTime = 5 * time.Second

// Collect counts what there is, of all servers; the help of what this one alone has mentions that.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	one := func(kind prometheus.ValueType, name, help string, value float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, value)
	}
	const now, ever = prometheus.GaugeValue, prometheus.CounterValue
	one(now, "slipway_server_event_watchers", "Clients that watch the events of this server.", float64(g.events.Watchers()))
	one(now, "slipway_server_events_waiting", "Events of this server that are not kept yet.", float64(g.events.Waiting()))
	one(ever, "slipway_server_events_total", "Events that this server gave to its watchers.", float64(g.events.Given()))
	one(now, "slipway_server_connections", "Agents that are connected to this server.", float64(g.gateway.Connections()))
	open, waiting := g.http.Counts()
	for state, value := range map[string]int{"waiting": waiting, "working": open - waiting} {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("slipway_server_http_connections",
			"Connections of HTTP to this server: working where a request is answered, waiting for their peer otherwise.", []string{"state"}, nil),
			now, float64(value), state)
	}
	ctx, cancel := context.WithTimeout(context.Background(), gaugeTime)
	defer cancel()
	all := func(kind string) rbac.Filter {
		return rbac.Filter{Type: kind, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	}
	o, err := g.store.Overview(ctx, all(api.TypeAgent), all(api.TypeApplication), all(api.TypeCluster), all(api.TypeRepository))
	var b work.Backlog
	if err == nil {
		b, err = g.store.Backlog(ctx)
	}
	if err != nil {
		one(now, "slipway_server_database_up", "Whether the database answered.", 0)
		return
	}
	one(now, "slipway_server_database_up", "Whether the database answered.", 1)
	g.list(out, "slipway_server_agents", "Agents by state.", "state", "", o.Agents,
		api.AgentConnected, api.AgentDegraded, api.AgentDisconnected, api.AgentNever, api.AgentRevoked)
	g.list(out, "slipway_server_applications_sync", "Applications by sync status.", "sync", "Unknown", o.Sync, "Synced",
		"OutOfSync", "Unknown")
	g.list(out, "slipway_server_applications_health", "Applications by health.", "health", "Unknown", o.Health,
		"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown")
	g.list(out, "slipway_server_notifications", "Notifications that wait, and those that were given up within a day.", "state",
		"", b.Notifications, api.DeliveryWaiting, api.DeliveryDead)
	one(now, "slipway_server_jobs", "Jobs under way.", float64(b.Jobs))
	one(now, "slipway_server_commands_open", "Commands to agents without a result.", float64(b.Commands))
	one(now, "slipway_server_agents_pending", "Changes that agents have and this server does not, as last reported.", float64(b.Pending))
	one(now, "slipway_server_agents_lag_seconds", "The longest that one of these has waited.", b.Lag.Seconds())
}

// list sends a number for each value that is known. What is none of them, since agents may report anything, is counted as other;
// "" drops it.
func (g *gauges) list(out chan<- prometheus.Metric, name, help, label, other string, values map[string]int64, known ...string) {
	sums := make(map[string]int64, len(known))
	for _, key := range known {
		sums[key] = 0
	}
	for key, n := range values {
		if _, ok := sums[key]; !ok {
			key = other
		}
		if key != "" {
			sums[key] += n
		}
	}
	desc := prometheus.NewDesc(name, help, []string{label}, nil)
	for key, n := range sums {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), key)
	}
}

// metered is where the audit is kept; wrote is called for what is written, or could not be.
type metered struct {
	audit.Storage
	wrote func(ctx context.Context, kept audit.Entry, err error)
}

// AppendAudit implements audit.Storage.
func (m metered) AppendAudit(ctx context.Context, key string, e audit.Entry) (audit.Entry, error) {
	kept, err := m.Storage.AppendAudit(ctx, key, e)
	if err != nil || kept.ID != 0 { // 0: it was there already
		m.wrote(ctx, kept, err)
	}
	return kept, err
}

// counted executes the work of jobs, and counts the results.
type counted struct {
	job.Doer
	worked func(state string)
}

// Do implements job.Doer.
func (c counted) Do(ctx context.Context, w job.Work) (state, message string, err error) {
	state, message, err = c.Doer.Do(ctx, w)
	if err == nil {
		c.worked(state)
	}
	return state, message, err
}
