package agent

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// hushed is the body of a watch that reports nothing more once it is silenced.
type hushed struct {
	io.ReadCloser
	silent *atomic.Bool
	done   <-chan struct{}
}

// Read implements io.Reader.
func (h *hushed) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	if !h.silent.Load() {
		return n, err
	}
	<-h.done
	return 0, io.EOF
}

// hush is a transport whose watches of some kinds can be silenced. endless gets the paths of watches without an end.
type hush struct {
	next    http.RoundTripper
	silent  *atomic.Bool
	kinds   []string
	endless chan string
}

// RoundTrip implements http.RoundTripper.
func (h *hush) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") != "" {
		if s, err := strconv.Atoi(r.URL.Query().Get("timeoutSeconds")); err != nil || s > 600 {
			h.endless <- r.URL.String()
		}
	}
	resp, err := h.next.RoundTrip(r)
	plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	if err == nil && r.URL.Query().Get("watch") != "" && slices.Contains(h.kinds, plural) {
		resp.Body = &hushed{resp.Body, h.silent, r.Context().Done()}
	}
	return resp, err
}

const missedMetric = "slipway_missed_events_total"

// missedOf is how often a wait is counted.
func missedOf(t *testing.T, m *metrics, wait string) int {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			if f.GetName() == missedMetric && one.GetLabel()[0].GetValue() == wait {
				return int(one.GetCounter().GetValue())
			}
		}
	}
	t.Fatalf("no metric counts %s", wait)
	return 0
}

// balancer is a Service that is progressing until somebody gives it an address, which nobody does by itself.
const balancer = `apiVersion: v1
kind: Service
metadata: {name: NAME}
spec: {type: LoadBalancer, ports: [{port: 80}]}
`

// TestApplicationsWhoseObjectsWereNotReportedGoOnByTheSlowLook drops the events that an operation between two waves, a deletion
// and an Application's health wait for.
func TestApplicationsWhoseObjectsWereNotReportedGoOnByTheSlowLook(t *testing.T) {
	t.Parallel()
	ns, server := testenv.Namespace(t), testenv.Git(t)
	repo := server.NewRepo("shop")
	repo.Commit(map[string]string{
		"wave/all.yaml": strings.ReplaceAll(balancer, "NAME", "first") + `---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, annotations: {argocd.argoproj.io/sync-wave: "1"}}
`,
		"health/all.yaml": strings.ReplaceAll(balancer, "NAME", "alone"),
		"gone/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: kept, finalizers: [example.com/wait]}
`,
	}, "first")
	config := testenv.Cluster(t)
	var silent atomic.Bool
	endless := make(chan string, 1000)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &hush{next, &silent, []string{"services", "configmaps"}, endless}
	})
	a, err := New(t.Context(), Config{
		Outbound: thisMachine, REST: config, Namespace: ns, Data: t.TempDir(), Identity: "test", InstallCRDs: true, Poll: time.Hour,
		Budget: plan.Budget{Off: true}, Workers: 4, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var g errgroup.Group
	g.Go(func() error { return a.Run(ctx) })
	defer func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-a.ready:
	case <-time.After(patience):
		t.Fatal("the agent is not ready")
	}
	kube, err := dynamic.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{t: t, agent: a, ns: ns, kube: kube}
	for _, what := range []string{"wave", "health", "gone"} {
		s.deploy(what, repo.URL())
	}
	s.await("the first wave is under way", "wave", func(app *v1alpha1.Application) bool {
		op := app.Status.OperationState
		return op != nil && op.Phase == v1alpha1.OperationRunning && strings.Contains(op.Message, "first")
	})
	s.await("it is progressing", "health", func(app *v1alpha1.Application) bool {
		return app.Status.OperationState != nil && app.Status.OperationState.Phase.Completed() && app.Status.Health.Status == v1alpha1.HealthProgressing
	})
	s.await("it is synced", "gone", func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusSynced })
	s.must(s.in("argoproj.io", "v1alpha1", "applications").Delete(t.Context(), s.name("gone"), metav1.DeleteOptions{}))
	s.until("the object is being deleted, as the agent knows", func() bool {
		target, err := a.clusters.Target(t.Context(), "default", v1alpha1.ApplicationDestination{Server: v1alpha1.InClusterServer})
		s.must(err)
		rec, tracked, _ := target.Live.Get(object.Key{Kind: "ConfigMap", Namespace: ns, Name: "kept"})
		return tracked && rec.Deleting
	})
	if before := a.secondLook(ctx, a.secondLook(ctx, looked{})); len(before.waiting) != 3 || missedOf(t, a.metrics, live.WaitObject) != 0 {
		t.Fatalf("%v wait, and %d events are missed although none is", before.waiting, missedOf(t, a.metrics, live.WaitObject))
	}
	silent.Store(true)
	for _, name := range []string{"first", "alone"} {
		_, err := s.in("", "v1", "services").Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`), metav1.PatchOptions{}, "status")
		s.must(err)
	}
	_, err = s.in("", "v1", "configmaps").Patch(t.Context(), "kept", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	s.must(err)
	a.secondLook(ctx, a.secondLook(ctx, looked{}))
	s.await("the second wave is applied", "wave", func(app *v1alpha1.Application) bool {
		return app.Status.OperationState.Phase == v1alpha1.OperationSucceeded
	})
	s.await("it is healthy", "health", func(app *v1alpha1.Application) bool { return app.Status.Health.Status == v1alpha1.HealthHealthy })
	s.until("the Application is deleted", func() bool {
		_, err := s.in("argoproj.io", "v1alpha1", "applications").Get(t.Context(), s.name("gone"), metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	if n := missedOf(t, a.metrics, live.WaitObject); n < 3 {
		t.Errorf("%d events are counted as missed, want one for each Application at least", n)
	}
	if len(endless) > 0 {
		t.Errorf("%d watches do not end within 10 minutes, such as %s: what they lose is lost", len(endless), <-endless)
	}
}

// slow is a cluster in which Applications wait.
type slow struct {
	t     *testing.T
	agent *Agent
	ns    string
	kube  dynamic.Interface
}

func (s *slow) in(group, version, plural string) dynamic.ResourceInterface {
	return s.kube.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(s.ns)
}

func (s *slow) name(what string) string { return what + "-" + s.ns }

func (s *slow) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// deploy makes an Application of a directory.
func (s *slow) deploy(what, repo string) {
	s.t.Helper()
	_, err := s.in("argoproj.io", "v1alpha1", "applications").Create(s.t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": s.name(what), "finalizers": []any{v1alpha1.FinalizerResources}},
		"spec": map[string]any{
			"project": "default", "source": map[string]any{"repoURL": repo, "path": what, "targetRevision": "main"},
			"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": s.ns},
			"syncPolicy":  map[string]any{"automated": map[string]any{}},
		},
	}}, metav1.CreateOptions{})
	s.must(err)
}

func (s *slow) until(what string, holds func() bool) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

func (s *slow) await(what, app string, holds func(*v1alpha1.Application) bool) {
	s.t.Helper()
	var last *v1alpha1.Application
	defer func() {
		if s.t.Failed() && last != nil {
			s.t.Logf("%s is %+v", app, last.Status)
		}
	}()
	s.until(app+": "+what, func() bool {
		got, ok := s.agent.registry.Get(registry.Name{Namespace: s.ns, Name: s.name(app)})
		last = got
		return ok && holds(got)
	})
}

// TestApplicationsThatNobodyCalledToTheirPlacesGetThemByTheSlowLook drops the call of one that was parked.
func TestApplicationsThatNobodyCalledToTheirPlacesGetThemByTheSlowLook(t *testing.T) {
	t.Parallel()
	a, _ := restful(t, resting())
	a.turns = registry.NewTurns(1, a.queue, nil)
	a.metrics = &metrics{registry: prometheus.NewRegistry(), missed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: missedMetric}, []string{"wait"})}
	a.metrics.registry.MustRegister(a.metrics.missed)
	a.metrics.missed.WithLabelValues(waitPlace)
	a.driver = &ownEngine{agent: a}
	one, two, three := registry.Name{Name: "one"}, registry.Name{Name: "two"}, registry.Name{Name: "three"}
	enter := func(id registry.Name) *registry.Seat {
		app := &v1alpha1.Application{}
		app.Name, app.Spec.Project, app.Spec.Destination.Name = id.Name, "shop", "east"
		return a.turns.Admit(app, func() {})
	}
	first := enter(one)
	if first == nil || enter(two) != nil || enter(three) != nil {
		t.Fatal("there is not exactly one place")
	}
	queued := func() []registry.Name {
		var out []registry.Name
		for n, _ := a.queue.Depth(); n > 0; n-- {
			id, _ := a.queue.Next()
			a.queue.Begun(id)
			a.queue.Done(id)
			out = append(out, id)
		}
		return out
	}
	look := looked{}
	for range 3 { // the place is taken: none is overlooked
		look = a.secondLook(t.Context(), look)
	}
	if got := queued(); len(got) > 0 || missedOf(t, a.metrics, waitPlace) > 0 {
		t.Fatalf("%v are queued although there is no place", got)
	}
	first.Free()
	if diff := cmp.Diff([]registry.Name{two}, queued()); diff != "" { // and its call is lost
		t.Fatal(diff)
	}
	look = a.secondLook(t.Context(), look)
	if got := queued(); len(got) > 0 {
		t.Errorf("%v are queued although they may be on the way", got)
	}
	look = a.secondLook(t.Context(), look)
	if diff := cmp.Diff([]registry.Name{two}, queued()); diff != "" {
		t.Errorf("who is queued (-want +got):\n%s", diff)
	}
	if n := missedOf(t, a.metrics, waitPlace); n != 1 {
		t.Errorf("%d are counted", n)
	}
	second := enter(two)
	if second == nil {
		t.Fatal("there is no place for it")
	}
	second.Free()
	if a.secondLook(t.Context(), a.secondLook(t.Context(), look)); !cmp.Equal(queued(), []registry.Name{three}) || missedOf(t, a.metrics, waitPlace) != 1 {
		t.Errorf("one that was called is counted: %d", missedOf(t, a.metrics, waitPlace))
	}
}

// unwatched is a client whose first watches end in their time and say nothing.
type unwatched struct {
	dynamic.ResourceInterface
	deaf int
	asks []time.Duration
}

// Watch implements dynamic.ResourceInterface.
func (u *unwatched) Watch(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(1, false)
	if o.TimeoutSeconds == nil {
		return w, nil // it lasts for as long as the API server likes
	}
	lasts := time.Duration(*o.TimeoutSeconds) * time.Second
	u.asks = append(u.asks, lasts)
	if u.deaf--; u.deaf >= 0 {
		time.AfterFunc(lasts, w.Stop)
		return w, nil
	}
	w.Add(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{
		"conditions": []any{map[string]any{"type": "Established", "status": "True"}},
	}}})
	return w, nil
}

func TestADefinitionOfWhichTheEventWasLostIsFoundByTheNextWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Agent{turner: turner{log: slog.New(slog.DiscardHandler)}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		u := &unwatched{deaf: 2}
		err := a.persist(ctx, clusterPrepared, func(ctx context.Context) error { return awaitCRD(ctx, u, "ships.example.com") })
		if err != nil || ctx.Err() != nil || len(u.asks) != 3 {
			t.Errorf("%v after watches of %s, %v", err, fmt.Sprint(u.asks), ctx.Err())
		}
	})
}
