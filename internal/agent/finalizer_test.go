package agent

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
)

const (
	preDelete, preCleanup   = v1alpha1.FinalizerPreDelete, v1alpha1.FinalizerPreDeleteCleanup
	postDelete, postCleanup = v1alpha1.FinalizerPostDelete, v1alpha1.FinalizerPostDeleteCleanup
	cascades                = v1alpha1.FinalizerResources
)

// patched notes the JSON patches that a turner sends, and answers with code.
func patched(t *testing.T, code int) (a *turner, patches *[]string) {
	t.Helper()
	patches = &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil || req.Method != http.MethodPatch || req.Header.Get("Content-Type") != "application/json-patch+json" {
			t.Errorf("%s %s, %v", req.Method, req.Header.Get("Content-Type"), err)
		}
		*patches = append(*patches, string(raw))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, after := finalizersOf(t, string(raw))
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
			"metadata": map[string]any{"name": "web", "namespace": "argocd", "uid": "1", "resourceVersion": "6", "finalizers": after},
		})
	}))
	t.Cleanup(srv.Close)
	apps, err := registry.NewClient(&rest.Config{Host: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	a = &turner{apps: apps, queue: registry.NewQueue(nil), registry: registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})}
	t.Cleanup(a.queue.Close)
	return a, patches
}

// finalizersOf returns what a patch makes of the finalizers, and what it takes them to be before.
func finalizersOf(t *testing.T, patch string) (before, after []string) {
	t.Helper()
	var steps []struct {
		Op, Path string
		Value    []string
	}
	if err := json.Unmarshal([]byte(patch), &steps); err != nil {
		t.Fatal(err)
	}
	if len(steps) != 2 || steps[0].Op != "test" || steps[1].Op != "add" || steps[0].Path != "/metadata/finalizers" || steps[1].Path != "/metadata/finalizers" {
		t.Fatalf("%s", patch)
	}
	return steps[0].Value, steps[1].Value
}

func TestAnApplicationIsKeptForItsDeletionHooks(t *testing.T) {
	t.Parallel()
	pre, post := v1alpha1.HookPreDelete, v1alpha1.HookPostDelete
	for _, c := range []struct {
		name  string
		have  []string
		hooks []v1alpha1.HookType
		err   bool
		want  []string // nil: nothing is written
	}{
		{"it has none", []string{cascades}, nil, false, nil},
		{"it has one before", nil, []v1alpha1.HookType{pre}, false, []string{preDelete, preCleanup}},
		{"it has both", []string{cascades}, []v1alpha1.HookType{pre, post}, false, []string{cascades, preDelete, preCleanup, postDelete, postCleanup}},
		{"it is kept already", []string{postDelete, cascades, postCleanup}, []v1alpha1.HookType{post}, false, nil},
		{"it lacks one", []string{postDelete, cascades}, []v1alpha1.HookType{post}, false, []string{postDelete, cascades, postCleanup}},
		{"it has none any more", []string{preDelete, cascades, preCleanup, "example.org/other"}, nil, false, []string{cascades, "example.org/other"}},
		{"it has another one now", []string{preDelete, preCleanup}, []v1alpha1.HookType{post}, false, []string{postDelete, postCleanup}},
		{"it was the last", []string{preDelete, preCleanup}, nil, false, []string{}},
		{"nothing is known of it", []string{preDelete, preCleanup}, nil, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, patches := patched(t, http.StatusOK)
			app := resting()
			app.ObjectMeta = metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: "1", ResourceVersion: "5", Finalizers: c.have}
			a.registry.Seen(app, nil)
			res := engine.Result{DeleteHooks: c.hooks}
			if c.err {
				res.Err = &engine.StageError{}
			}
			a.keepForHooks(t.Context(), slog.New(slog.DiscardHandler), app, res)
			if (c.want == nil) != (len(*patches) == 0) {
				t.Fatalf("%d patches", len(*patches))
			}
			if c.want == nil {
				return
			}
			before, after := finalizersOf(t, (*patches)[0])
			if d := cmp.Diff(c.want, after); d != "" || !cmp.Equal(before, c.have) {
				t.Errorf("from %v (-want +got):\n%s", before, d)
			}
			next, _ := a.registry.Get(registry.Name{Namespace: "argocd", Name: "web"})
			if d := cmp.Diff(c.want, next.Finalizers, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("what the next turn builds on (-want +got):\n%s", d)
			}
			if !cmp.Equal(app.Finalizers, c.have) {
				t.Errorf("the Application of the turn was changed: %v", app.Finalizers)
			}
		})
	}
}

func TestFinalizersThatCannotBeWrittenAreTriedAgain(t *testing.T) {
	t.Parallel()
	a, patches := patched(t, http.StatusUnprocessableEntity)
	app := resting()
	app.Name, app.Namespace = "web", "argocd"
	a.keepForHooks(t.Context(), slog.New(slog.DiscardHandler), app, engine.Result{DeleteHooks: []v1alpha1.HookType{v1alpha1.HookPreDelete}})
	if id, ok := a.queue.Next(); !ok || id.Name != "web" || len(*patches) != 1 {
		t.Errorf("%s, %d patches", id, len(*patches))
	}
}
