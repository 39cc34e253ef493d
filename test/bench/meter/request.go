package meter

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// serverMetric counts what an API server answered.
	serverMetric = "apiserver_request_total"
	// engineMetric counts the requests of an engine that reports them.
	engineMetric = "slipway_api_requests_total"
)

// Request is one kind of API request.
type Request struct {
	// Verb is in upper case as the API server counts it: GET LIST WATCH POST PUT PATCH APPLY DELETE
	// DELETECOLLECTION. A dry run has "DRYRUN " before it.
	Verb string
	// Resource is the plural with its group unless that is the core one, and the subresource: "deployments.apps/status".
	Resource string
}

// Writes says that the request changes something when it succeeds.
func (r Request) Writes() bool {
	switch r.Verb {
	case "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION":
		return true
	}
	return false
}

// Requests counts requests by kind.
type Requests map[Request]int

// ServerRequests reads the counts from the metrics page of an API server.
func ServerRequests(page io.Reader) (Requests, error) { return readRequests(page, serverMetric) }

// EngineRequests reads the counts from the metrics page of an engine; empty when it does not publish them.
func EngineRequests(page io.Reader) (Requests, error) { return readRequests(page, engineMetric) }

// readRequests reads only the lines of one metric: the page of an API server has a hundred thousand others.
func readRequests(page io.Reader, metric string) (Requests, error) {
	var kept bytes.Buffer
	fmt.Fprintf(&kept, "# TYPE %s counter\n", metric)
	lines := bufio.NewScanner(page)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(metric+"{")) {
			kept.Write(lines.Bytes())
			kept.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read metric %s: %w", metric, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&kept)
	if err != nil {
		return nil, fmt.Errorf("parse metric %s: %w", metric, err)
	}
	out := Requests{}
	for _, sample := range families[metric].GetMetric() {
		labels := map[string]string{}
		for _, pair := range sample.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		out[requestOf(labels)] += int(sample.GetCounter().GetValue())
	}
	return out, nil
}

func requestOf(labels map[string]string) Request {
	resource := labels["resource"]
	if group := labels["group"]; group != "" && resource != "" {
		resource += "." + group
	}
	if sub := labels["subresource"]; sub != "" {
		resource += "/" + strings.TrimPrefix(sub, "/")
	}
	// A client that only sees HTTP knows a method and no resource.
	verb := strings.ToUpper(cmp.Or(labels["verb"], labels["method"]))
	if labels["dry_run"] != "" {
		verb = "DRYRUN " + verb
	}
	return Request{Verb: verb, Resource: resource}
}

// Minus returns what was added since an earlier count. Counts that fell, after a restart, are left out.
func (r Requests) Minus(earlier Requests) Requests {
	out := Requests{}
	for kind, n := range r {
		if n > earlier[kind] {
			out[kind] = n - earlier[kind]
		}
	}
	return out
}

// WithoutLeases leaves out what an engine does to stay the leader: it goes by time, whatever the workload.
func (r Requests) WithoutLeases() Requests {
	out := Requests{}
	for kind, n := range r {
		if kind.Resource != "leases.coordination.k8s.io" {
			out[kind] = n
		}
	}
	return out
}

// WithoutBackground leaves out what a control plane does on its own all the time: leases, events, authentication,
// and the objects that its own controllers derive from Deployments and Services. The API server has no counts by
// client, so an engine that touches these kinds is undercounted; its own metrics are exact.
func (r Requests) WithoutBackground() Requests {
	out := Requests{}
	for kind, n := range r {
		if !background(kind) {
			out[kind] = n
		}
	}
	return out
}

func background(kind Request) bool {
	switch kind.Resource {
	case "", "leases.coordination.k8s.io", "events", "events.events.k8s.io", "endpoints",
		"endpointslices.discovery.k8s.io", "replicasets.apps", "replicasets.apps/status", "deployments.apps/status",
		"pods", "pods/status", "pods/binding", "nodes", "nodes/status", "namespaces/status", "namespaces/finalize",
		"serviceaccounts/token", "tokenreviews.authentication.k8s.io",
		"subjectaccessreviews.authorization.k8s.io", "flowschemas.flowcontrol.apiserver.k8s.io/status",
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/status",
		"apiservices.apiregistration.k8s.io/status", "ipaddresses.networking.k8s.io":
		return true
	}
	// The API server reads its own schemas to merge them.
	if strings.HasPrefix(kind.Resource, "/openapi") {
		return true
	}
	// Informers of the controllers renew their watches all the time.
	return kind.Verb == "WATCH"
}

// Writes returns how many of the requests change something.
func (r Requests) Writes() int {
	sum := 0
	for kind, n := range r {
		if kind.Writes() {
			sum += n
		}
	}
	return sum
}

// ByVerb sums up over all resources.
func (r Requests) ByVerb() map[string]int {
	out := map[string]int{}
	for kind, n := range r {
		out[kind.Verb] += n
	}
	return out
}

// Detailed says that resources are known, not only methods of HTTP.
func (r Requests) Detailed() bool {
	for kind := range r {
		if kind.Resource != "" {
			return true
		}
	}
	return false
}
