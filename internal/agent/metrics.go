package agent

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

// metrics are what Prometheus reads. Names follow its conventions; durations are seconds.
type metrics struct {
	registry *prometheus.Registry
	stages   *prometheus.HistogramVec
	turns    *prometheus.CounterVec
	syncs    *prometheus.CounterVec
	queued   prometheus.Histogram
	events   *prometheus.CounterVec
	requests *prometheus.CounterVec
	pushes   *prometheus.CounterVec
	writes   prometheus.Counter
	crashes  prometheus.Counter
}

func newMetrics(a *Agent) *metrics {
	buckets := []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 30}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "slipway_reconcile_stage_seconds", Help: "Duration of each stage of a reconciliation.", Buckets: buckets,
		}, []string{"stage"}),
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_reconcile_total", Help: "Reconciliations by the stage that failed, or ok.",
		}, []string{"result"}),
		syncs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_sync_total", Help: "Operations by phase.",
		}, []string{"phase"}),
		queued: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "slipway_queue_wait_seconds", Help: "How long Applications waited for their turn.", Buckets: buckets,
		}),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_live_events_total", Help: "Changes of live objects that concerned an Application, by kind of change.",
		}, []string{"why"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_api_requests_total", Help: "Requests to API servers by what they were about and status code.",
		}, []string{"verb", "group", "resource", "subresource", "dry_run", "code"}),
		pushes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_webhook_pushes_total", Help: "Pushes that webhooks told of, by provider.",
		}, []string{"provider"}),
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "slipway_status_writes_total", Help: "Statuses of Applications written.",
		}),
		crashes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "slipway_reconcile_crashes_total", Help: "Reconciliations that crashed and were caught.",
		}),
	}
	m.registry.MustRegister(m.stages, m.turns, m.syncs, m.queued, m.events, m.requests, m.pushes, m.writes, m.crashes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &gauges{agent: a})
	return m
}

func (m *metrics) reconciled(res engine.Result) {
	for stage, took := range res.Times {
		m.stages.WithLabelValues(string(stage)).Observe(took.Seconds())
	}
	result := "ok"
	if res.Err != nil {
		result = string(res.Err.Stage)
	}
	m.turns.WithLabelValues(result).Inc()
	if res.Operation != nil {
		m.syncs.WithLabelValues(string(res.Operation.Phase)).Inc()
	}
}

func (m *metrics) waited(d time.Duration) { m.queued.Observe(d.Seconds()) }
func (m *metrics) event(e live.Event)     { m.events.WithLabelValues(string(e.Why)).Inc() }
func (m *metrics) pushed(provider string) { m.pushes.WithLabelValues(provider).Inc() }
func (m *metrics) wrote()                 { m.writes.Inc() }
func (m *metrics) crashed()               { m.crashes.Inc() }

// countRequests counts every request to an API server.
func (m *metrics) countRequests(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		verb, group, resource, subresource := requestLabels(req)
		dry := ""
		if req.URL.Query().Get("dryRun") != "" {
			dry = "All"
		}
		m.requests.WithLabelValues(verb, group, resource, subresource, dry, statusLabel(resp, err)).Inc()
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// gauges reads sizes when they are asked for.
type gauges struct{ agent *Agent }

var _ prometheus.Collector = (*gauges)(nil)

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector; the sizes are not known before they are asked for.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	depth, oldest := g.agent.queue.depth()
	send(gauge("slipway_queue_depth", "Applications that wait for their turn."), float64(depth))
	send(gauge("slipway_queue_oldest_seconds", "How long the first of them has waited."), oldest.Seconds())
	send(gauge("slipway_applications", "Applications known."), float64(g.agent.registry.size()))
	results, bytes := g.agent.renderer.Stats()
	send(gauge("slipway_render_cache_results", "Renderings kept."), float64(results))
	send(gauge("slipway_render_cache_bytes", "Memory that kept renderings take, compressed."), float64(bytes))
	send(gauge("slipway_render_workers", "Processes that render templates, alive now."), float64(g.agent.children.Children()))
	kinds := gauge("slipway_live_kinds", "Kinds watched.", "server")
	tracked := gauge("slipway_live_objects", "Live objects known, tracked by an Application or not.", "server", "tracked")
	flying := gauge("slipway_apply_in_flight", "Writes to the API server under way.", "server")
	sums := map[string]live.Stats{} // a server that is reached with several credentials is one line
	writes := map[string]int{}
	g.agent.clusters.each(func(server string, t apply.Target) {
		one, sum := t.Live.Stats(), sums[server]
		sums[server] = live.Stats{Kinds: sum.Kinds + one.Kinds, Tracked: sum.Tracked + one.Tracked, Foreign: sum.Foreign + one.Foreign}
		now, _ := t.Client.Limiter().InFlight()
		writes[server] += now
	})
	for server, s := range sums {
		send(kinds, float64(s.Kinds), server)
		send(tracked, float64(s.Tracked), server, "true")
		send(tracked, float64(s.Foreign), server, "false")
		send(flying, float64(writes[server]), server)
	}
}
