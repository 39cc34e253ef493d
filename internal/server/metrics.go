package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/notify"
)

// metrics is the server's own measurements. What a label may say is known before: no name of an application, an agent
// or a person is one.
type metrics struct {
	registry      *prometheus.Registry
	requests      *prometheus.HistogramVec
	store         *prometheus.HistogramVec
	faults        prometheus.Counter
	batches       *prometheus.CounterVec
	rejected      *prometheus.CounterVec
	batchItems    prometheus.Histogram
	batchTime     prometheus.Histogram
	commands      *prometheus.CounterVec
	commandTime   *prometheus.HistogramVec
	notifications *prometheus.CounterVec
	jobs          *prometheus.CounterVec
	audited       *prometheus.CounterVec
	unaudited     prometheus.Counter
	recorded      prometheus.Counter
	ended         *prometheus.CounterVec
	missed        *prometheus.CounterVec
}

// Labels for what is none of the values that are known, and for what went well.
const (
	labelOther = "other"
	labelOK    = "stored"
)

func newMetrics(version string) *metrics {
	quick := []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 15}
	slow := []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(histogram("slipway_server_request_seconds", "Time of requests by route and status.",
			[]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}), []string{"route", "status"}),
		store: prometheus.NewHistogramVec(histogram("slipway_server_store_seconds", "Time of transactions of the database.", quick),
			[]string{"kind"}),
		faults: counter("slipway_server_store_faults_total",
			"Transactions that the database could not begin or end."),
		batches: counters("slipway_server_batches_total", "Batches of agents by what came of them: stored, or why not.", "result"),
		rejected: counters("slipway_server_rejected_total",
			"Items and events of agents that cannot be kept, by what they are.", "what"),
		batchItems: prometheus.NewHistogram(histogram("slipway_server_batch_items", "Items of a batch of an agent.",
			[]float64{0, 1, 2, 5, 10, 50, 100, 500, 1000})),
		batchTime: prometheus.NewHistogram(histogram("slipway_server_batch_seconds", "Time that a batch of an agent took.", quick)),
		commands:  counters("slipway_server_commands_total", "Commands to agents that have a result, by kind and status.", "kind", "status"),
		commandTime: prometheus.NewHistogramVec(histogram("slipway_server_command_seconds", "Time from the order to its result.", slow),
			[]string{"nature"}),
		notifications: counters("slipway_server_notification_attempts_total",
			"Attempts to send a notification by what came of them: Sent, Waiting for the next, or Dead.", "outcome"),
		jobs:      counters("slipway_server_job_applications_total", "Applications that jobs are through with, by outcome.", "outcome"),
		audited:   counters("slipway_server_audit_entries_total", "Entries written into the audit, by outcome.", "outcome"),
		unaudited: counter("slipway_server_audit_failures_total", "Entries that could not be written into the audit."),
		ended: counters("slipway_server_http_cut_total",
			"Connections and requests of HTTP that a limit ended, by limit.", "reason"),
		missed: counters("slipway_server_missed_events_total",
			"What a slow look found although an event should have reported it, by wait; stays 0.", "wait"),
		recorded: counter("slipway_server_ledger_entries_total", "Entries of the ledger that are new, or whose application became healthy."),
	}
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "slipway_server_build_info", Help: "Always 1; the label is the version.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.requests, m.store, m.faults, m.batches, m.rejected, m.batchItems, m.batchTime, m.commands, m.commandTime,
		m.notifications, m.jobs,
		m.audited, m.unaudited, m.recorded, m.ended, m.missed, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.begin()
	return m
}

// begin has counters say 0 before there is anything to count: a rate needs it, and a reader sees that they exist.
func (m *metrics) begin() {
	for _, kind := range []string{"read", "write"} {
		m.store.WithLabelValues(kind)
	}
	for _, nature := range []agentapi.Nature{agentapi.Reads, agentapi.Changes} {
		m.commandTime.WithLabelValues(nature.String())
	}
	for _, status := range []agentapi.Status{
		agentapi.StatusDone, agentapi.StatusFailed, agentapi.StatusRefused, agentapi.StatusExpired, agentapi.StatusUnknown,
	} {
		m.commands.WithLabelValues(string(agentapi.KindSync), string(status))
	}
	m.batches.WithLabelValues(labelOK)
	m.Rejected(0, 0)
	for _, outcome := range []string{api.DeliverySent, api.DeliveryWaiting, api.DeliveryDead} {
		m.notifications.WithLabelValues(outcome)
	}
	for _, outcome := range []string{api.TargetDone, api.TargetFailed, api.TargetRefused, api.TargetSkipped} {
		m.jobs.WithLabelValues(outcome)
	}
	for _, outcome := range []string{api.OutcomeSucceeded, api.OutcomeFailed, api.OutcomeDenied} {
		m.audited.WithLabelValues(outcome)
	}
	for _, wait := range append(gateway.Waits(), event.WaitEvents, notify.WaitNews) {
		m.missed.WithLabelValues(wait)
	}
	for _, why := range inlet.Reasons() {
		m.ended.WithLabelValues(string(why))
	}
}

// cut counts a connection or a request that a limit ended.
func (m *metrics) cut(why inlet.Reason) { m.ended.WithLabelValues(string(why)).Inc() }

// observe counts a request. The route is a pattern of the table, so that there are not more labels than routes.
func (m *metrics) observe(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// transaction counts one of the database.
func (m *metrics) transaction(write bool, took time.Duration, fault bool) {
	kind := "read"
	if write {
		kind = "write"
	}
	m.store.WithLabelValues(kind).Observe(took.Seconds())
	if fault {
		m.faults.Inc()
	}
}

// Batch implements gateway.Meter.
func (m *metrics) Batch(items int, took time.Duration, refused *agentapi.Error) {
	result := labelOK
	if refused != nil {
		result = string(refused.Code) // of this server
	}
	m.batches.WithLabelValues(result).Inc()
	m.batchItems.Observe(float64(items))
	m.batchTime.Observe(took.Seconds())
}

// Rejected implements gateway.Meter.
func (m *metrics) Rejected(items, events int) {
	m.rejected.WithLabelValues("item").Add(float64(items))
	m.rejected.WithLabelValues("event").Add(float64(events))
}

// Command implements gateway.Meter. The status is what an agent says.
func (m *metrics) Command(kind agentapi.Kind, status agentapi.Status, took time.Duration) {
	nature := kind.Nature()
	if nature == agentapi.Unknown {
		kind = labelOther
	}
	if !status.Final() {
		status = labelOther
	}
	m.commands.WithLabelValues(string(kind), string(status)).Inc()
	m.commandTime.WithLabelValues(nature.String()).Observe(took.Seconds())
}

// Missed implements gateway.Meter.
func (m *metrics) Missed(wait string) { m.missed.WithLabelValues(wait).Inc() }

// notified counts an attempt to send a notification.
func (m *metrics) notified(state string) { m.notifications.WithLabelValues(state).Inc() }

// worked counts an application that a job is through with.
func (m *metrics) worked(state string) { m.jobs.WithLabelValues(state).Inc() }

// kept counts entries of the ledger.
func (m *metrics) kept(entries int) { m.recorded.Add(float64(entries)) }

// wrote counts an entry of the audit.
func (m *metrics) wrote(outcome string, err error) {
	if err != nil {
		m.unaudited.Inc()
		return
	}
	m.audited.WithLabelValues(outcome).Inc()
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}
