package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// TestAnArgoCDThatBeginsLaterIsFoundByTheNextLook starts an Argo CD of which no event is reported.
func TestAnArgoCDThatBeginsLaterIsFoundByTheNextLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sets := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
		client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			sets: "StatefulSetList", {Group: "apps", Version: "v1", Resource: "deployments"}: "DeploymentList",
			{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}: "LeaseList",
		})
		o := &others{
			home: "argocd", client: client, log: slog.New(slog.DiscardHandler),
			namespace: func() (func(string) bool, error) { return func(string) bool { return false }, nil },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- o.watch(ctx) }()
		select {
		case err := <-done:
			t.Fatalf("it is alone, and ends with %v", err)
		case <-time.After(10 * othersEvery):
		}
		_, err := client.Resource(sets).Namespace("argocd").Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"name": "argocd-application-controller", "labels": map[string]any{
				"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/component": "application-controller",
			}},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var taken *takenError
		if err := <-done; !errors.As(err, &taken) || time.Since(began) > 2*othersEvery {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// lossy is a transport whose watches of Applications lose all events while silent is set, and end when end is closed, as watches
// do at the end of their time.
type lossy struct {
	next   http.RoundTripper
	silent atomic.Bool
	lost   chan struct{} // has one in it when something was lost
	end    chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(r)
	if err == nil && r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/"+v1alpha1.ResourceApplications) {
		resp.Body = &losing{resp.Body, l, r.Context()}
	}
	return resp, err
}

type losing struct {
	io.ReadCloser
	*lossy
	ctx context.Context
}

// Read implements io.Reader.
func (l *losing) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if n == 0 || !l.silent.Load() {
		return n, err
	}
	select {
	case l.lost <- struct{}{}:
	default:
	}
	select {
	case <-l.end:
		return 0, io.EOF
	case <-l.ctx.Done():
		return 0, l.ctx.Err()
	}
}

func TestAnEventThatAWatchLostComesWithTheNextWatch(t *testing.T) {
	t.Parallel()
	l := &lossy{lost: make(chan struct{}, 1), end: make(chan struct{})}
	s := newStandThrough(t, func(next http.RoundTripper) http.RoundTripper { l.next = next; return l })
	s.create()
	l.silent.Store(true)
	apps := s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications)
	_, err := apps.Patch(t.Context(), s.name, types.MergePatchType, []byte(`{"metadata":{"labels":{"lost":"yes"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.lost:
	case <-time.After(patience):
		t.Fatal("no event is lost")
	}
	known := func() bool {
		app, ok := s.agent.registry.Get(registry.Name{Namespace: s.ns, Name: s.name})
		return ok && app.Labels["lost"] == "yes"
	}
	if known() {
		t.Fatal("the agent knows of an event that was lost")
	}
	l.silent.Store(false)
	close(l.end)
	s.await(func(*v1alpha1.Application) bool { return known() })
}
