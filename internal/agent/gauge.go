package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/beside"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/live"
)

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
	depth, oldest := g.agent.queue.Depth()
	send(gauge("slipway_queue_depth", "Applications that wait for their turn."), float64(depth))
	send(gauge("slipway_queue_oldest_seconds", "How long the first of them has waited."), oldest.Seconds())
	send(gauge("slipway_leader", "Whether this process reconciles: it leads, and has seen all Applications."), truth(g.agent.leads()))
	repositories, failing := 0, 0
	count := func(err error) {
		if repositories++; err != nil {
			failing++
		}
	}
	for _, r := range g.agent.pool.Repos() {
		count(r.Err())
	}
	for _, r := range g.agent.artifacts.Repos() {
		count(r.Err())
	}
	send(gauge("slipway_repositories", "Repositories followed."), float64(repositories))
	send(gauge("slipway_repositories_failing", "Repositories of these that could not be read when last tried."), float64(failing))
	g.applications(send)
	results, bytes := g.agent.renderer.Stats()
	send(gauge("slipway_render_cache_results", "Renderings kept."), float64(results))
	send(gauge("slipway_render_cache_bytes", "Memory that kept renderings take, compressed."), float64(bytes))
	send(gauge("slipway_render_workers", "Processes that render templates, alive now."), float64(g.agent.children.Children()))
	send(gauge("slipway_render_waiting", "Renderings that wait for a process."), float64(g.agent.children.Waiting()))
	kinds := gauge("slipway_live_kinds", "Kinds watched.", "server")
	tracked := gauge("slipway_live_objects", "Live objects known, tracked by an Application or not.", "server", "tracked")
	flying := gauge("slipway_apply_in_flight", "Writes to the API server under way.", "server")
	sums := map[string]live.Stats{} // a server that is reached with several credentials is one line
	writes := map[string]int{}
	g.agent.clusters.Each(func(server string, t apply.Target) {
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

// applications counts them by what their statuses say. Others may write these, so only values that are known are labels.
func (g *gauges) applications(send func(*prometheus.Desc, float64, ...string)) {
	n := 0
	sync := map[v1alpha1.SyncStatusCode]int{v1alpha1.SyncStatusSynced: 0, v1alpha1.SyncStatusOutOfSync: 0, v1alpha1.SyncStatusUnknown: 0}
	health := map[v1alpha1.HealthStatusCode]int{
		v1alpha1.HealthHealthy: 0, v1alpha1.HealthSuspended: 0, v1alpha1.HealthProgressing: 0, v1alpha1.HealthMissing: 0,
		v1alpha1.HealthDegraded: 0, v1alpha1.HealthUnknown: 0,
	}
	conditions := map[v1alpha1.ConditionType]int{
		v1alpha1.ConditionDeletionError: 0, v1alpha1.ConditionInvalidSpecError: 0, v1alpha1.ConditionComparisonError: 0,
		v1alpha1.ConditionSyncError: 0, v1alpha1.ConditionUnknownError: 0, v1alpha1.ConditionSharedResourceWarning: 0,
		v1alpha1.ConditionRepeatedResourceWarning: 0, v1alpha1.ConditionOrphanedResourceWarning: 0, v1alpha1.ConditionExcludedResourceWarning: 0,
		v1alpha1.ConditionHeld: 0, v1alpha1.ConditionPinned: 0, v1alpha1.ConditionDriftAllowed: 0, v1alpha1.ConditionProject: 0,
		v1alpha1.ConditionUnsupported: 0, v1alpha1.ConditionKept: 0, v1alpha1.ConditionSourceWarning: 0, v1alpha1.ConditionVerified: 0,
	}
	g.agent.registry.Each(func(_ registry.Name, app *v1alpha1.Application) {
		n++
		sync[known(sync, app.Status.Sync.Status, v1alpha1.SyncStatusUnknown)]++
		health[known(health, app.Status.Health.Status, v1alpha1.HealthUnknown)]++
		seen := map[v1alpha1.ConditionType]bool{} // several of a type are one Application
		for _, c := range app.Status.Conditions {
			if _, ok := conditions[c.Type]; ok && !seen[c.Type] {
				seen[c.Type] = true
				conditions[c.Type]++
			}
		}
	})
	send(gauge("slipway_applications", "Applications known."), float64(n))
	sendAll(send, gauge("slipway_applications_sync", "Applications by sync status.", "sync"), sync)
	sendAll(send, gauge("slipway_applications_health", "Applications by health.", "health"), health)
	sendAll(send, gauge("slipway_applications_condition", "Applications that have a condition, by its type.", "type"), conditions)
}

// known is a key of a map, or other.
func known[K comparable](of map[K]int, key, other K) K {
	if _, ok := of[key]; ok {
		return key
	}
	return other
}

// sendAll sends a number for each key.
func sendAll[K ~string](send func(*prometheus.Desc, float64, ...string), desc *prometheus.Desc, of map[K]int) {
	for key, n := range of {
		send(desc, float64(n), string(key))
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// applicationGauges has a line for each Application, where that was asked for.
type applicationGauges struct{ agent *Agent }

var _ prometheus.Collector = (*applicationGauges)(nil)

// Describe implements prometheus.Collector; the Applications are not known before they are asked for.
func (g *applicationGauges) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (g *applicationGauges) Collect(ch chan<- prometheus.Metric) {
	info := gauge("slipway_application_info", "Always 1; the labels show the state of an Application. With --metrics-applications.",
		"namespace", "name", "project", "sync", "health")
	g.agent.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		ch <- prometheus.MustNewConstMetric(info, prometheus.GaugeValue, 1, id.Namespace, id.Name, app.Spec.ProjectName(),
			string(app.Status.Sync.Status), string(app.Status.Health.Status))
	})
}

// shadowGauges reads the report when it is asked for.
type shadowGauges struct{ shadow *beside.Shadow }

var _ prometheus.Collector = (*shadowGauges)(nil)

// Describe implements prometheus.Collector; the Applications are not known before they are asked for.
func (g *shadowGauges) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (g *shadowGauges) Collect(ch chan<- prometheus.Metric) {
	objects := gauge("slipway_shadow_objects", "Objects on which a sync would do something, in shadow mode.", "namespace", "name")
	agrees := gauge("slipway_shadow_agrees", "Whether sync and health are those of the status, in shadow mode.", "namespace", "name")
	for _, app := range g.shadow.Report().Applications {
		if app.Note != "" {
			continue
		}
		agreement := 0.0
		if app.Agrees {
			agreement = 1
		}
		ch <- prometheus.MustNewConstMetric(objects, prometheus.GaugeValue, float64(len(app.Objects)), app.Namespace, app.Name)
		ch <- prometheus.MustNewConstMetric(agrees, prometheus.GaugeValue, agreement, app.Namespace, app.Name)
	}
}

// linkGauges reads the state of the link, and of what waits for it, when it is asked for.
type linkGauges struct {
	link   *link.Link
	ledger *report.Ledger // nil where nothing is recorded
}

var _ prometheus.Collector = (*linkGauges)(nil)

// Describe implements prometheus.Collector; nothing is computed before it is requested.
func (g *linkGauges) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (g *linkGauges) Collect(ch chan<- prometheus.Metric) {
	s := g.link.Status()
	send := func(kind prometheus.ValueType, name, help string, v float64) {
		ch <- prometheus.MustNewConstMetric(gauge(name, help), kind, v)
	}
	const now, ever = prometheus.GaugeValue, prometheus.CounterValue
	send(now, "slipway_link_connected", "Whether the server can be talked to.", truth(s.State == link.StateConnected))
	send(now, "slipway_link_since_timestamp_seconds", "Since when that is so.", float64(s.Since.UnixMilli())/1000)
	send(now, "slipway_link_pending", "Changes and events that the server has not acknowledged.", float64(s.Pending))
	send(now, "slipway_link_oldest_seconds", "How long the first of them has waited.", s.Oldest)
	send(ever, "slipway_link_sessions_total", "Sessions with the server; all but the first are reconnects.", float64(s.Sessions))
	send(ever, "slipway_link_events_lost_total", "Events that were dropped because the server was away too long.", float64(s.Lost))
	send(now, "slipway_link_insecure", "Whether the server's certificate is not verified.", truth(s.Insecure))
	send(now, "slipway_link_twin", "Whether another cluster has an agent with this identity.", truth(s.State == link.StateTwin))
	if !s.CertificateEnds.IsZero() {
		send(now, "slipway_link_certificate_expires_timestamp_seconds", "When the certificate that the agent shows to the server expires.",
			float64(s.CertificateEnds.Unix()))
	}
	if g.ledger == nil {
		return
	}
	waits := g.ledger.Book.Stats()
	send(now, "slipway_ledger_waiting", "Entries of the ledger that the server does not have yet.", float64(waits.Entries))
	send(now, "slipway_ledger_spool_bytes", "Size of the files that they are in, with their manifests.", float64(waits.Bytes))
	send(ever, "slipway_ledger_lost_total",
		"Entries that were dropped: the server was away too long, or the disk failed.", float64(waits.Lost))
}
