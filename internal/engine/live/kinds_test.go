package live

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// tripper is an http.RoundTripper that is a function.
type tripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// define creates a definition of kind Ship in a group of its own, and returns the group and how to create it.
func define(t *testing.T, config *rest.Config) (group string, create func()) {
	t.Helper()
	group = testenv.Namespace(t) + ".example.com"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(kindsCRD)
	return group, func() {
		_, err := crds.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": "ships." + group},
			"spec": map[string]any{
				"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Ship", "plural": "ships"},
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = crds.Delete(context.WithoutCancel(t.Context()), "ships."+group, metav1.DeleteOptions{}) })
	}
}

// kindsBed is a live cluster behind a transport, which tells when kinds changed and what was missed.
func kindsBed(t *testing.T, look time.Duration, wrap func(http.RoundTripper) http.RoundTripper) (c *Cluster, changed, missed chan string) {
	t.Helper()
	config := testenv.Cluster(t)
	config.Wrap(wrap)
	changed, missed = make(chan string, 1000), make(chan string, 1000)
	c, err := Open(t.Context(), Config{
		Server: config.Host, REST: config, Log: slog.New(slog.DiscardHandler), Notify: func(Event) {}, look: look,
		KindsChanged: func() { changed <- "kinds" }, Missed: func(wait string) { missed <- wait },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, changed, missed
}

// found waits until a kind is found after one of the calls of KindsChanged, as an Application is asked to look then.
func found(t *testing.T, c *Cluster, kind object.Kind, changed chan string) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case <-changed:
			if _, err := c.Find(t.Context(), kind, "v1"); err == nil {
				return
			}
		case <-late:
			t.Fatalf("%s is not found, and nothing tells to look again", kind)
		}
	}
}

func TestAKindThatIsServedLongAfterItsDefinitionIsFound(t *testing.T) {
	t.Parallel()
	group, create := define(t, testenv.Cluster(t))
	// What the API server says of its kinds is old until this many more questions were asked.
	var old atomic.Int64
	old.Store(1000)
	c, changed, missed := kindsBed(t, time.Hour, func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err != nil || r.URL.Path != "/apis" || old.Add(-1) < 0 {
				return resp, err
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(group), []byte("other."+group))))
			resp.ContentLength = -1
			resp.Header.Del("Content-Length")
			return resp, err
		})
	})
	kind := object.Kind{Group: group, Kind: "Ship"}
	if _, err := c.Find(t.Context(), kind, "v1"); err == nil {
		t.Fatal("it is known before it is defined")
	}
	create()
	// There are at most three events about a definition, fewer where a watch begins anew, and each finds the old answer. More
	// questions than that are those that are asked without an event.
	late := time.After(patience)
	for old.Load() > 1000-5 {
		select {
		case <-time.After(time.Millisecond):
		case <-changed:
			if _, err := c.Find(t.Context(), kind, "v1"); err == nil {
				t.Fatal("it is known before it is served")
			}
		case <-late:
			t.Fatal("nothing tells of the definition")
		}
	}
	old.Store(3)
	found(t, c, kind, changed)
	if len(missed) > 0 {
		t.Errorf("counted as missed: %s", <-missed)
	}
}

func TestAKindWhoseDefinitionWasMissedIsFoundByTheSlowLook(t *testing.T) {
	t.Parallel()
	group, create := define(t, testenv.Cluster(t))
	// Watches of definitions say nothing.
	c, changed, missed := kindsBed(t, 200*time.Millisecond, func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/customresourcedefinitions") && r.URL.Query().Get("watch") != "" {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	})
	kind := object.Kind{Group: group, Kind: "Ship"}
	if _, err := c.Find(t.Context(), kind, "v1"); err == nil {
		t.Fatal("it is known before it is defined")
	}
	create()
	found(t, c, kind, changed)
	select {
	case wait := <-missed:
		if wait != WaitKind {
			t.Errorf("counted as %s", wait)
		}
	case <-time.After(patience):
		t.Error("nothing was counted")
	}
}
