package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
	"github.com/slipway-gitops/slipway/test/bench/meter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, handler http.Handler) *client {
	t.Helper()
	server := httptest.NewServer(handler)
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{http: &http.Client{Transport: &http.Transport{}}, base: base, sent: meter.Requests{}}
	t.Cleanup(func() {
		c.http.CloseIdleConnections()
		server.Close()
	})
	return c
}

func configMap(name, version, value string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"n","name":%q,"resourceVersion":%q},"data":{%q:%q}}`, name, version, corpus.ValueKey, value)
}

// An API server ends watches when it likes and forgets old versions. Which and when cannot be had from a real one.
func TestAMirrorGoesOnAfterAWatchEndsAndAfterItsVersionIsForgotten(t *testing.T) {
	t.Parallel()
	var watches, lists atomic.Int32
	hold := make(chan struct{})
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" {
			n := lists.Add(1)
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%d0"},"items":[%s]}`, n, configMap("a", "1", fmt.Sprintf("list %d", n)))
			return
		}
		event := func(kind, object string) {
			fmt.Fprintf(w, `{"type":%q,"object":%s}`+"\n", kind, object)
			w.(http.Flusher).Flush()
		}
		switch from := r.URL.Query().Get("resourceVersion"); watches.Add(1) {
		case 1:
			if from != "10" {
				t.Errorf("the first watch begins at %s", from)
			}
			event("MODIFIED", configMap("b", "11", "first watch"))
			event("BOOKMARK", `{"metadata":{"resourceVersion":"15"}}`)
		case 2:
			if from != "15" {
				t.Errorf("the second watch begins at %s", from)
			}
			event("ERROR", `{"code":410,"message":"too old"}`)
		default:
			if from != "20" {
				t.Errorf("the third watch begins at %s", from)
			}
			event("ADDED", configMap("c", "21", "third watch"))
			select {
			case <-r.Context().Done():
			case <-hold:
			}
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m, err := newMirror[probe](ctx, c, "/api/v1/configmaps", "x")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	defer close(hold)
	g := newGoal([]string{"n/a list 2", "n/b first watch", "n/c third watch"})
	defer m.subscribe(func(key string, p probe, at time.Time) { g.reach(key+" "+p.Data[corpus.ValueKey], at) })()
	if _, err := m.reached(ctx, g, func(p probe) string { return fmt.Sprint(p) }); err != nil {
		t.Fatal(err)
	}
	want := meter.Requests{{Verb: "LIST", Resource: "configmaps"}: 2, {Verb: "WATCH", Resource: "configmaps"}: 3}
	if diff := cmp.Diff(want, c.sentSoFar()); diff != "" {
		t.Errorf("requests differ (-want +got):\n%s", diff)
	}
}

func TestAWaitThatRunsOutOfTimeNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"namespace":"n","name":"a"},`+
			`"status":{"sync":{"status":"OutOfSync"},"conditions":[{"type":"ComparisonError","message":"no such path"}]}}]}`)
	}))
	m, err := newMirror[application](t.Context(), c, "/apis/argoproj.io/v1alpha1/namespaces/n/applications", "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, errTooLong)
	defer cancel()
	_, err = m.reached(ctx, newGoal([]string{"n/a", "n/b"}), application.String)
	if !errors.Is(err, errTooLong) || !strings.Contains(err.Error(), "2 of 2 are missing") ||
		!strings.Contains(err.Error(), `n/a: sync "OutOfSync"`) || !strings.Contains(err.Error(), "no such path") {
		t.Errorf("the error is: %v", err)
	}
}

func TestAWaitEndsWithTheWatchThatItNeeds(t *testing.T) {
	t.Parallel()
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			http.Error(w, "not for you", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `{"metadata":{"resourceVersion":"1"}}`)
	}))
	m, err := newMirror[probe](t.Context(), c, "/api/v1/configmaps", "")
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	_, err = m.reached(t.Context(), newGoal([]string{"n/a"}), func(probe) string { return "" })
	if !answered(err, http.StatusForbidden) {
		t.Errorf("the error is: %v", err)
	}
}

func TestAGoalCountsTheFirstTimeOnly(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	g := newGoal([]string{"a", "b", "a"})
	g.reach("a", begin.Add(time.Second))
	g.reach("a", begin.Add(time.Hour))
	g.reach("stranger", begin)
	if diff := cmp.Diff([]string{"b"}, g.missing()); diff != "" {
		t.Errorf("missing differ (-want +got):\n%s", diff)
	}
	g.reach("b", begin.Add(3*time.Second))
	<-g.done
	if diff := cmp.Diff([]float64{1, 3}, since(begin, g.times())); diff != "" {
		t.Errorf("times differ (-want +got):\n%s", diff)
	}
	if got := last(g.times()).Sub(begin); got != 3*time.Second {
		t.Errorf("the last is after %s", got)
	}
	<-newGoal(nil).done
}

func TestRequestsAreNamedAsTheAPIServerCountsThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		call call
		want meter.Request
	}{
		{call{method: "GET", path: "/api/v1/configmaps"}, meter.Request{Verb: "LIST", Resource: "configmaps"}},
		{call{method: "GET", path: "/api/v1/configmaps", query: url.Values{"watch": {"1"}}}, meter.Request{Verb: "WATCH", Resource: "configmaps"}},
		{call{method: "GET", path: "/api/v1/namespaces/n/configmaps/a"}, meter.Request{Verb: "GET", Resource: "configmaps"}},
		{call{method: "PATCH", path: "/api/v1/namespaces/n", contentType: applyType}, meter.Request{Verb: "APPLY", Resource: "namespaces"}},
		{call{method: "PATCH", path: "/apis/apps/v1/namespaces/n/deployments/a", contentType: mergeType}, meter.Request{Verb: "PATCH", Resource: "deployments.apps"}},
		{call{method: "PATCH", path: "/apis/apps/v1/namespaces/n/deployments/a/scale", contentType: mergeType}, meter.Request{Verb: "PATCH", Resource: "deployments.apps/scale"}},
		{call{method: "DELETE", path: "/apis/apps/v1/namespaces/n/deployments"}, meter.Request{Verb: "DELETECOLLECTION", Resource: "deployments.apps"}},
		{call{method: "GET", path: "/metrics"}, meter.Request{Verb: "GET"}},
	} {
		t.Run(test.call.method+" "+test.call.path, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.call.kind()); diff != "" {
				t.Errorf("kind differs (-want +got):\n%s", diff)
			}
		})
	}
}
