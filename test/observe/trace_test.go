package observe

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/slipway-gitops/slipway/api"
)

// span is one as a receiver sees it.
type span struct{ service, name, attributes string }

// receiver takes spans as OTLP over HTTP.
type receiver struct {
	*httptest.Server

	mu    sync.Mutex
	spans map[string][]span // by trace
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{spans: map[string][]span{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.take(req); err != nil {
			t.Errorf("spans cannot be read: %v", err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(req *http.Request) error {
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if body, err = gzip.NewReader(body); err != nil {
			return err
		}
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var in collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(raw, &in); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range in.GetResourceSpans() {
		service := ""
		for _, a := range of.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				id := hex.EncodeToString(s.GetTraceId())
				r.spans[id] = append(r.spans[id], span{service, s.GetName(), fmt.Sprint(s.GetAttributes(), s.GetStatus())})
			}
		}
	}
	return nil
}

// lacks says which of "service name" a trace does not have.
func (r *receiver) lacks(id string, wanted ...string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var have []string
	for _, s := range r.spans[id] {
		have = append(have, s.service+" "+s.name)
	}
	for _, w := range wanted {
		if !slices.Contains(have, w) {
			return fmt.Sprintf("trace %s has no %q, it has %q", id, w, have)
		}
	}
	return ""
}

// env makes both programs send their spans there.
func (r *receiver) env() []string {
	return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + r.URL, "OTEL_BSP_SCHEDULE_DELAY=100", "NO_PROXY=127.0.0.1"}
}

// watched are the traces of events about the application, as a browser reads them.
type watched struct {
	mu     sync.Mutex
	traces []string
}

func (w *watched) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.traces)
}

// watch reads events until the test ends.
func (w *world) watch() *watched {
	w.t.Helper()
	session, err := w.admin.SignIn(w.t.Context(), api.SignIn{Username: "admin", Password: password, Token: "events"})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/api/v1/events?type=application", http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+session.Token)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Scan() // the welcome: from here on nothing is missed
	out, done := &watched{}, make(chan struct{})
	go func() {
		defer close(done)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var e api.Event
			if !ok || json.Unmarshal([]byte(data), &e) != nil || len(e.Traceparent) < 35 {
				continue
			}
			out.mu.Lock()
			out.traces = append(out.traces, e.Traceparent[3:35])
			out.mu.Unlock()
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		_ = answer.Body.Close()
		<-done
	})
	return out
}

func TestOneTraceLeadsFromACommitToTheBrowser(t *testing.T) {
	t.Parallel()
	spans := newReceiver(t)
	w := start(t, spans.env()...)
	events := w.watch()
	w.repo.Commit(map[string]string{"app/config.yaml": configMap("two")}, "two")
	w.await("one trace has the commit, the turn, the server and the event", func(context.Context) string {
		problem := "no event with a trace"
		for _, id := range events.all() {
			problem = spans.lacks(id, "slipway-agent revision moved", "slipway-agent reconcile", "slipway-agent fetch", "slipway-agent render",
				"slipway-agent live", "slipway-agent compare", "slipway-agent apply", "slipway-server store state")
			if problem == "" {
				break
			}
		}
		return problem
	})
	spans.private(t, w)
}

// private checks that no span says what is nobody's business.
func (r *receiver) private(t *testing.T, w *world) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.spans {
		for _, s := range all {
			for _, secret := range []string{password, w.repo.URL(), "Bearer", "slt_"} {
				if strings.Contains(s.attributes, secret) || strings.Contains(s.name, secret) {
					t.Errorf("span %s of %s says %q: %s", s.name, s.service, secret, s.attributes)
				}
			}
		}
	}
}

func TestARequestIsOneTraceFromTheCallerToTheTurn(t *testing.T) {
	t.Parallel()
	spans := newReceiver(t)
	w := start(t, spans.env()...)
	events := w.watch()
	session, err := w.admin.SignIn(t.Context(), api.SignIn{Username: "admin", Password: password, Token: "caller"})
	if err != nil {
		t.Fatal(err)
	}
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	ask := func(path, body string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+session.Token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-"+id+"-00f067aa0ba902b7-01")
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if said := answer.Header.Get("Traceparent"); !strings.Contains(said, id) || strings.Contains(said, "00f067aa0ba902b7") {
			t.Errorf("the answer to %s is of the trace %q, not of a span of %s", path, said, id)
		}
		return answer, raw
	}
	app := fmt.Sprintf("/api/v1/agents/%s/applications/%s/%s", w.target.Agent, w.ns, w.target.Name)
	if answer, raw := ask(app+"/sync", "{}"); answer.StatusCode >= http.StatusBadRequest {
		t.Fatalf("sync: %s: %s", answer.Status, raw)
	}
	w.await("the trace has the request, the command and the turn, and an event", func(context.Context) string {
		if !slices.Contains(events.all(), id) {
			return "no event is of it"
		}
		return spans.lacks(id, "slipway-agent command application.sync", "slipway-agent reconcile", "slipway-agent apply", "slipway-server store state")
	})
	answer, raw := ask(app+"nowhere/sync", "{}")
	var problem api.Problem
	if err := json.Unmarshal(raw, &problem); err != nil || problem.TraceID != id || problem.RequestID == "" {
		t.Errorf("%s: the problem is of the trace %q, not %s: %s", answer.Status, problem.TraceID, id, raw)
	}
	spans.private(t, w)
}
