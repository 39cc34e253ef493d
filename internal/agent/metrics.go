package agent

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/webhook"
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
	missed   *prometheus.CounterVec
	renders  *prometheus.HistogramVec
	cpu      *prometheus.CounterVec
	yields   prometheus.Counter
	ended    *prometheus.CounterVec

	// With a server:
	batches     *prometheus.CounterVec
	batchItems  prometheus.Histogram
	batchTime   prometheus.Histogram
	commands    *prometheus.CounterVec
	commandTime *prometheus.HistogramVec
}

// Labels for what is none of the values that are known, and for what went well.
const (
	labelOther = "other"
	labelOK    = "stored"
)

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
			Name: "slipway_webhook_pushes_total", Help: "Pushes that webhooks reported, by provider.",
		}, []string{"provider"}),
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "slipway_status_writes_total", Help: "Statuses of Applications written.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "slipway_http_cut_total", Help: "Connections and requests of HTTP that a limit ended, by limit.",
		}, []string{"reason"}),
		crashes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "slipway_reconcile_crashes_total", Help: "Reconciliations that crashed and were caught.",
		}),
	}
	m.missed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "slipway_missed_events_total", Help: "What a slow look found although an event should have reported it, by wait; stays 0.",
	}, []string{"wait"})
	m.renders = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "slipway_render_wait_seconds", Help: "How long renderings waited for a process, by how they ended.",
		Buckets: []float64{.001, .01, .05, .1, .5, 1, 2, 5, 30, 60, 300},
	}, []string{"outcome"})
	m.cpu = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "slipway_render_cpu_seconds_total", Help: "Processor time of renderings in processes of their own, by how they ended.",
	}, []string{"outcome"})
	m.yields = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "slipway_render_yields_total", Help: "How often a rendering gave way to one of another project, or to a quick one.",
	})
	m.batches = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "slipway_link_batches_total", Help: "Batches that the server answered, by result: stored, or why not.",
	}, []string{"result"})
	m.batchItems = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "slipway_link_batch_items", Help: "Items of a batch.", Buckets: []float64{0, 1, 2, 5, 10, 50, 100, 500, 1000},
	})
	m.batchTime = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "slipway_link_batch_seconds", Help: "Time until the server has stored a batch.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 15, 60},
	})
	m.commands = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "slipway_commands_total", Help: "Commands of the server by kind and status.",
	}, []string{"kind", "status"})
	m.commandTime = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "slipway_command_seconds", Help: "Time that commands took to carry out.",
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30, 120},
	}, []string{"nature"})
	m.begin()
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "slipway_build_info", Help: "Always 1; the label is the version.", ConstLabels: prometheus.Labels{"version": a.cfg.Version},
	}, func() float64 { return 1 })
	m.registry.MustRegister(build, m.stages, m.turns, m.syncs, m.queued, m.events, m.requests, m.pushes, m.writes, m.crashes, m.missed,
		m.renders, m.cpu, m.yields, m.ended,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), &gauges{agent: a})
	if a.cfg.MetricsApplications {
		m.registry.MustRegister(&applicationGauges{a})
	}
	return m
}

// begin has counters say 0 before there is anything to count: a rate needs it, and a reader sees that they exist.
func (m *metrics) begin() {
	m.turns.WithLabelValues("ok")
	for _, stage := range []engine.Stage{
		engine.StagePermit, engine.StageFetch, engine.StageVerify, engine.StageRender, engine.StageLive,
		engine.StageCompare, engine.StageApply,
	} {
		m.stages.WithLabelValues(string(stage))
		if stage != engine.StageApply { // what fails there is the operation's
			m.turns.WithLabelValues(string(stage))
		}
	}
	for _, phase := range []v1alpha1.OperationPhase{
		v1alpha1.OperationRunning, v1alpha1.OperationSucceeded, v1alpha1.OperationFailed, v1alpha1.OperationError,
	} {
		m.syncs.WithLabelValues(string(phase))
	}
	for _, why := range []live.Why{live.Drift, live.Gone, live.Appeared, live.Health} {
		m.events.WithLabelValues(string(why))
	}
	for _, provider := range []webhook.Provider{
		webhook.GitHub, webhook.GitLab, webhook.Gogs, webhook.Gitea, webhook.BitbucketCloud, webhook.BitbucketServer, webhook.AzureDevOps,
	} {
		m.pushes.WithLabelValues(string(provider))
	}
	for _, wait := range []string{live.WaitKind, live.WaitObject, waitPlace} {
		m.missed.WithLabelValues(wait)
	}
	for _, outcome := range worker.Outcomes() {
		m.renders.WithLabelValues(string(outcome))
		m.cpu.WithLabelValues(string(outcome))
	}
	for _, why := range inlet.Reasons() {
		m.ended.WithLabelValues(string(why))
	}
	m.batches.WithLabelValues(labelOK)
	for _, status := range []agentapi.Status{agentapi.StatusDone, agentapi.StatusFailed, agentapi.StatusRefused, agentapi.StatusExpired} {
		m.commands.WithLabelValues(string(agentapi.KindSync), string(status))
	}
	for _, nature := range []agentapi.Nature{agentapi.Reads, agentapi.Changes} {
		m.commandTime.WithLabelValues(nature.String())
	}
}

// cut counts a connection or a request of HTTP that a limit ended.
func (m *metrics) cut(why inlet.Reason) { m.ended.WithLabelValues(string(why)).Inc() }

// linked adds what only an agent with a server has.
func (m *metrics) linked(a *Agent) {
	m.registry.MustRegister(m.batches, m.batchItems, m.batchTime, m.commands, m.commandTime, &linkGauges{link: a.link, ledger: a.ledger})
}

// Batch implements link.Meter. The code is one that the server gave.
func (m *metrics) Batch(items int, took time.Duration, refused agentapi.Code) {
	result := labelOK
	if refused != "" {
		result = labelOther
		for _, code := range []agentapi.Code{
			agentapi.CodeMalformed, agentapi.CodeTooLarge, agentapi.CodeFenced, agentapi.CodeStale, agentapi.CodeRevoked,
		} {
			if refused == code {
				result = string(code)
			}
		}
	}
	m.batches.WithLabelValues(result).Inc()
	m.batchItems.Observe(float64(items))
	m.batchTime.Observe(took.Seconds())
}

// Command implements link.Meter. The kind is what the server asked for.
func (m *metrics) Command(kind agentapi.Kind, status agentapi.Status, took time.Duration) {
	nature := kind.Nature()
	if nature == agentapi.Unknown {
		kind = labelOther
	}
	m.commands.WithLabelValues(string(kind), string(status)).Inc()
	m.commandTime.WithLabelValues(nature.String()).Observe(took.Seconds())
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

// rendered takes in what is known of a rendering in a process of its own.
func (m *metrics) rendered(r worker.Report) {
	m.renders.WithLabelValues(string(r.Outcome)).Observe(r.Waited.Seconds())
	m.cpu.WithLabelValues(string(r.Outcome)).Add(r.CPU.Seconds())
	m.yields.Add(float64(r.Yielded))
}

func (m *metrics) waited(d time.Duration) { m.queued.Observe(d.Seconds()) }
func (m *metrics) event(e live.Event)     { m.events.WithLabelValues(string(e.Why)).Inc() }
func (m *metrics) pushed(provider string) { m.pushes.WithLabelValues(provider).Inc() }
func (m *metrics) wrote()                 { m.writes.Inc() }
func (m *metrics) crashed()               { m.crashes.Inc() }

// missedEvent counts what a slow look found although an event should have reported it.
func (m *metrics) missedEvent(wait string) { m.missed.WithLabelValues(wait).Inc() }

// countRequests counts every request to an API server.
func (m *metrics) countRequests(next http.RoundTripper) http.RoundTripper {
	return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
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

// requestLabels says what a request to an API server is about, as its own metrics do.
func requestLabels(req *http.Request) (verb, group, resource, subresource string) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[3:]
	default:
		return strings.ToUpper(req.Method), "", "discovery", ""
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	resource = parts[0]
	if len(parts) > 2 {
		subresource = parts[2]
	}
	return requestVerb(req, len(parts) > 1), group, resource, subresource
}

func requestVerb(req *http.Request, named bool) string {
	switch req.Method {
	case http.MethodGet:
		switch {
		case req.URL.Query().Get("watch") != "":
			return "WATCH"
		case !named:
			return "LIST"
		}
	case http.MethodPatch:
		if strings.HasPrefix(req.Header.Get("Content-Type"), "application/apply-patch") {
			return "APPLY"
		}
	}
	return req.Method
}

func statusLabel(resp *http.Response, err error) string {
	if err != nil {
		return "error"
	}
	return strconv.Itoa(resp.StatusCode)
}
