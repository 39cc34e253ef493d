package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAgentsThatComeToANewClusterAtOnceAllBegin(t *testing.T) {
	t.Parallel()
	config := testenv.PrivateCluster(t).Config()
	var agents []*Agent
	for i := range 6 {
		a, err := New(t.Context(), Config{
			REST: rest.CopyConfig(config), Namespace: fmt.Sprintf("agent-%d", i), Data: t.TempDir(), Identity: "test", InstallCRDs: true,
			Poll: time.Hour, Workers: 1, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		agents = append(agents, a)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	g, ended := errgroup.WithContext(ctx)
	for _, a := range agents {
		g.Go(func() error { return a.Run(ended) })
	}
	for _, a := range agents {
		select {
		case <-a.ready:
		case <-ended.Done():
		case <-time.After(patience):
			t.Errorf("the agent in %s does not begin", a.cfg.Namespace)
		}
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func TestWhatPasses(t *testing.T) {
	t.Parallel()
	definitions := schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
	for _, c := range []struct {
		err    error
		passes bool
	}{
		{&url.Error{Op: "Get", URL: "https://10.96.0.1", Err: &net.DNSError{IsTimeout: true}}, true},
		{&url.Error{Op: "Get", URL: "https://10.96.0.1", Err: io.EOF}, true},
		{io.ErrUnexpectedEOF, true},
		{context.DeadlineExceeded, true},
		{errWatchEnded, true},
		{apierrors.NewTimeoutError("the request took too long", 1), true},
		{apierrors.NewServerTimeout(definitions, "patch", 1), true},
		{apierrors.NewTooManyRequests("later", 1), true},
		{apierrors.NewServiceUnavailable("it begins"), true},
		{apierrors.NewInternalError(errors.New("etcdserver: request timed out")), true},
		{apierrors.NewForbidden(definitions, "applications.argoproj.io", errors.New("no")), false},
		{apierrors.NewUnauthorized("who are you"), false},
		{apierrors.NewInvalid(schema.GroupKind{}, "applications.argoproj.io", nil), false},
		{errors.New("read resource definition: yaml"), false},
	} {
		if got := passes(fmt.Errorf("look for it: %w", c.err)); got != c.passes {
			t.Errorf("passes(%v) = %t, want %t", c.err, got, c.passes)
		}
	}
}

func TestPersistWaitsLongerEachTimeAndSaysWhy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Agent{turner: turner{log: slog.New(slog.DiscardHandler)}, ready: make(chan struct{})}
		var tries []time.Time
		err := a.persist(t.Context(), clusterPrepared, func(context.Context) error {
			if tries = append(tries, time.Now()); len(tries) == 9 {
				return nil
			}
			if why := a.whyNot(t); len(tries) > 1 && (!strings.Contains(why, clusterPrepared) || !strings.Contains(why, "it begins")) {
				t.Errorf("try %d: /readyz says %q", len(tries), why)
			}
			return apierrors.NewServiceUnavailable("it begins")
		})
		if err != nil {
			t.Error(err)
		}
		for i := 2; i < len(tries); i++ {
			if pause := tries[i].Sub(tries[i-1]); pause > 40*time.Second || i < 5 && pause <= tries[i-1].Sub(tries[i-2]) {
				t.Errorf("pause %d is %s after %s", i, pause, tries[i-1].Sub(tries[i-2]))
			}
		}
		if why := a.whyNot(t); strings.Contains(why, "tried again") {
			t.Errorf("/readyz still says %q", why)
		}
	})
}

func TestPersistEndsWithItsContextAndForWhatNeedsSomebody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Agent{turner: turner{log: slog.New(slog.DiscardHandler)}}
		denied := apierrors.NewForbidden(schema.GroupResource{}, "x", errors.New("no"))
		if err := a.persist(t.Context(), clusterPrepared, func(context.Context) error { return denied }); !errors.Is(err, denied) {
			t.Errorf("got %v, want that it is forbidden", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := a.persist(ctx, clusterPrepared, func(context.Context) error { return errWatchEnded }); err != nil {
			t.Errorf("stopped while it waits: %v", err)
		}
	})
}

// whyNot is what /readyz says.
func (a *Agent) whyNot(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.serveReady(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	return w.Body.String()
}

// faulty fails the first requests for definitions, each in another way.
type faulty struct {
	next   http.RoundTripper
	mu     sync.Mutex
	faults []func(*http.Request) (*http.Response, error)
}

func (f *faulty) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.Contains(req.URL.Path, "customresourcedefinitions") {
		f.mu.Lock()
		var fault func(*http.Request) (*http.Response, error)
		if len(f.faults) > 0 {
			fault, f.faults = f.faults[0], slices.Delete(f.faults, 0, 1)
		}
		f.mu.Unlock()
		if fault != nil {
			return fault(req)
		}
	}
	return f.next.RoundTrip(req)
}

func answering(code int, reason, message string) func(*http.Request) (*http.Response, error) {
	return func(req *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
		res := w.Result()
		res.Request = req
		return res, nil
	}
}

// An agent that ended here was started again by its cluster only after ever longer pauses, and nobody saw why.
func TestAnAgentBeginsThoughTheAPIServerTimesOutWhileDefinitionsAreInstalled(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(testenv.PrivateCluster(t).Config())
	faults := &faulty{faults: []func(*http.Request) (*http.Response, error){
		func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded },
		answering(http.StatusGatewayTimeout, "Timeout", "the server was unable to return a response in the time allotted"),
		answering(http.StatusInternalServerError, "InternalError", "etcdserver: request timed out"),
	}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { faults.next = next; return faults })
	a, err := New(t.Context(), Config{
		REST: config, Namespace: "agent", Data: t.TempDir(), Identity: "test", InstallCRDs: true,
		Poll: time.Hour, Workers: 1, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case <-a.ready:
		cancel()
		err = <-ended
	case err = <-ended:
		t.Error("the agent ended before it began")
	case <-time.After(patience):
		t.Error("the agent does not begin")
		cancel()
		err = <-ended
	}
	cancel()
	if err != nil {
		t.Error(err)
	}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if len(faults.faults) > 0 {
		t.Errorf("%d of the faults did not happen", len(faults.faults))
	}
}
