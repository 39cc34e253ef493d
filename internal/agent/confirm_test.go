package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// errNotReached is what an agent gets of an API server that cannot be reached.
var errNotReached = errors.New("the API server cannot be reached")

// breaker lets no write of an Application pass that says something, as long as it is broken.
type breaker struct {
	says string

	mu     sync.Mutex
	broken bool
	failed chan struct{} // has one in it for each write that failed, as far as there is room
}

func newBreaker(says string) *breaker {
	return &breaker{says: says, broken: true, failed: make(chan struct{}, 100)}
}

func (b *breaker) through(next http.RoundTripper) http.RoundTripper {
	return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodPatch || !strings.Contains(req.URL.Path, "/applications/") {
			return next.RoundTrip(req)
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		req.Body = io.NopCloser(bytes.NewReader(body))
		b.mu.Lock()
		broken := b.broken && strings.Contains(string(body), b.says)
		b.mu.Unlock()
		if !broken {
			return next.RoundTrip(req)
		}
		select {
		case b.failed <- struct{}{}:
		default:
		}
		return nil, errNotReached
	})
}

func (b *breaker) repair() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = false
}

// failures waits until so many writes have failed.
func (b *breaker) failures(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-b.failed:
		case <-time.After(patience):
			t.Fatal("no write was tried")
		}
	}
}

// has reports whether a ConfigMap is in the stand's namespace.
func (s *stand) has(name string) bool {
	s.t.Helper()
	_, err := s.in("", "v1", "configmaps").Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		s.t.Fatal(err)
	}
	return err == nil
}

func TestAHookStaysUntilItsEndCouldBeWritten(t *testing.T) {
	t.Parallel()
	b := newBreaker(`"hookPhase":"Succeeded"`)
	s := newStandThrough(t, b.through)
	s.repo.Commit(map[string]string{"web/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: before
  annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: HookSucceeded}
`}, "a hook")
	s.create()
	must[api.OperationAnswer](s, agentapi.KindSync, s.app(s.name), api.SyncRequest{})
	b.failures(t, 3) // it is tried again
	if !s.has("before") {
		t.Error("the hook is gone, and nothing says how it ended")
	}
	app, err := s.read(t.Context(), s.name)
	if err != nil {
		t.Fatal(err)
	}
	if op := app.Status.OperationState; op != nil && op.Phase.Completed() {
		t.Errorf("the operation is over: %+v", op)
	}
	b.repair()
	app = s.await(func(app *v1alpha1.Application) bool {
		return app.Status.OperationState != nil && app.Status.OperationState.Phase.Completed()
	})
	if op := app.Status.OperationState; op.Phase != v1alpha1.OperationSucceeded || len(op.SyncResult.Resources) != 2 {
		t.Errorf("%+v", op)
	}
	s.gone(s.in("", "v1", "configmaps"), "before")
}

func TestAConfirmationThatCouldNotBeWrittenIsToldAndConfirmsNothing(t *testing.T) {
	t.Parallel()
	b := newBreaker(v1alpha1.AnnotationDeletionApproved)
	s := newStandThrough(t, b.through)
	const kept = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
`
	s.repo.Commit(map[string]string{"web/all.yaml": kept + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: precious, annotations: {argocd.argoproj.io/sync-options: Prune=confirm}}
`}, "two")
	s.create()
	s.synced(api.SyncRequest{})
	s.repo.Commit(map[string]string{"web/all.yaml": kept}, "one")
	must[any](s, agentapi.KindRefresh, s.app(s.name), api.RefreshRequest{})
	s.await(func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync })
	must[api.OperationAnswer](s, agentapi.KindSync, s.app(s.name), api.SyncRequest{Prune: true})
	waits := func(app *v1alpha1.Application) bool {
		op := app.Status.OperationState
		return op != nil && op.Phase == v1alpha1.OperationRunning && strings.Contains(op.Message, "confirm")
	}
	s.await(waits)
	_, err := s.do(agentapi.KindConfirm, s.app(s.name), api.ConfirmRequest{})
	if err == nil || !strings.Contains(err.Error(), errNotReached.Error()) {
		t.Errorf("a confirmation that could not be written is answered %v", err)
	}
	b.failures(t, 1)
	// A turn that begins now acts on nothing: it is asked for, and awaited.
	must[any](s, agentapi.KindRefresh, s.app(s.name), api.RefreshRequest{})
	app := s.await(func(app *v1alpha1.Application) bool { return app.Annotations[v1alpha1.AnnotationRefresh] == "" })
	if !waits(app) || app.Annotations[v1alpha1.AnnotationDeletionApproved] != "" || !s.has("precious") {
		t.Errorf("it was acted upon: %+v, %v", app.Status.OperationState, app.Annotations)
	}
	b.repair()
	if _, err := s.do(agentapi.KindConfirm, s.app(s.name), api.ConfirmRequest{}); err != nil {
		t.Fatal(err)
	}
	s.await(func(app *v1alpha1.Application) bool {
		return app.Status.OperationState.Phase == v1alpha1.OperationSucceeded
	})
	s.gone(s.in("", "v1", "configmaps"), "precious")
}

func TestWhatTheStoredStatusDoesNotSayIsNotConfirmed(t *testing.T) {
	t.Parallel()
	told := func(stored *v1alpha1.OperationState) bool { return stored != nil && stored.Message == "the hook ended" }
	state := func() v1alpha1.OperationState {
		return v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, Message: "the hook ended", StartedAt: metav1.Now()}
	}
	b := newBreaker("the hook ended")
	s := newStandThrough(t, b.through)
	s.create()
	a := s.agent
	app, ok := a.registry.Get(registry.Name{Namespace: s.ns, Name: s.name})
	if !ok {
		t.Fatal("the agent does not know the Application")
	}
	before := app
	confirm := a.confirm(&app)
	if err := confirm(t.Context(), told, state); !errors.Is(err, errNotReached) || app != before || told(app.Status.OperationState) {
		t.Errorf("a write that failed: %v", err)
	}
	b.repair()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := confirm(ended, told, state); err == nil {
		t.Error("a write that was stopped confirms")
	}
	if err := confirm(t.Context(), told, state); err != nil || !told(app.Status.OperationState) {
		t.Errorf("a write: %v, %+v", err, app.Status.OperationState)
	}
}
