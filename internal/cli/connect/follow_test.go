package connect

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

// silent is a client whose watches report nothing. They end in the time that is asked for, or never.
type silent struct {
	dynamic.ResourceInterface
	stuck   bool
	health  string
	lists   int
	watches int
}

// List implements dynamic.ResourceInterface.
func (s *silent) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	s.lists++
	return &unstructured.UnstructuredList{Items: []unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "shop"},
		"status": map[string]any{"health": map[string]any{"status": s.health}},
	}}}}, nil
}

// Watch implements dynamic.ResourceInterface.
func (s *silent) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	s.watches++
	w := watch.NewFake()
	if o.TimeoutSeconds != nil && !s.stuck {
		time.AfterFunc(time.Duration(*o.TimeoutSeconds)*time.Second, w.Stop)
	}
	return w, ctx.Err()
}

// TestAWaitEndsThoughTheWatchDidNotReportTheChange drops the event that a command waits for: with an API server that ends its
// watches, and with a connection on which nothing comes any more.
func TestAWaitEndsThoughTheWatchDidNotReportTheChange(t *testing.T) {
	t.Parallel()
	for name, stuck := range map[string]bool{"the event is lost": false, "the connection is dead": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in := &silent{stuck: stuck, health: "Progressing"}
				time.AfterFunc(10*time.Minute, func() { in.health = "Healthy" })
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				err := (&Applications{client: in}).Follow(ctx, []string{"shop"}, func(_ string, app *Application) (bool, error) {
					return app.Status.Health.Status == "Healthy", nil
				})
				if took := time.Since(began); err != nil || took > 10*time.Minute+2*watchFor {
					t.Errorf("it ends after %s with %v", took, err)
				}
				if in.lists > 15 || in.watches > in.lists {
					t.Errorf("it is listed %d times and watched %d times", in.lists, in.watches)
				}
			})
		})
	}
}

// TestAWaitOfWhichNoEventComesEndsByItself waits at a server whose stream of events says nothing.
func TestAWaitOfWhichNoEventComesEndsByItself(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(": welcome\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("GET /api/v1/agents/account.prod/applications/argocd/shop", func(w http.ResponseWriter, _ *http.Request) {
		health := "Progressing"
		if reads.Add(1) > 2 { // the first one, and that which comes with the stream
			health = "Healthy"
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(api.ApplicationDetail{Resource: json.RawMessage(
			`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"shop"},"status":{"health":{"status":"` + health + `"}}}`)})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c, err := client.New(client.Config{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = (&Server{Client: c}).Follow(ctx, []string{"account.prod/argocd/shop"}, func(_ string, app *Application) (bool, error) {
		return app.Status.Health.Status == "Healthy", nil
	})
	if err != nil || reads.Load() != 3 {
		t.Errorf("%v after %d reads", err, reads.Load())
	}
}
