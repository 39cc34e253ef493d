package live

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestWhatOthersWroteBeforeUsPassesToUs(t *testing.T) {
	t.Parallel()
	entry := func(manager, operation, subresource string) map[string]any {
		e := map[string]any{"manager": manager, "operation": operation}
		if subresource != "" {
			e["subresource"] = subresource
		}
		return e
	}
	tests := []struct {
		name    string
		entries []any
		want    bool
	}{
		{"nothing is known", nil, false},
		{"kubectl's client-side apply", []any{entry("kubectl-client-side-apply", "Update", "")}, true},
		{"an apply of ours", []any{entry(Manager, "Apply", "")}, false},
		{"kubectl after an apply of ours", []any{entry("kubectl-client-side-apply", "Update", ""), entry(Manager, "Apply", "")}, true},
		{"kubectl's name on a server-side apply", []any{entry("kubectl-client-side-apply", "Apply", "")}, false},
		{"Argo CD's server-side apply", []any{entry("argocd-controller", "Apply", "")}, true},
		{"Argo CD's client-side apply", []any{entry("argocd-controller", "Update", "")}, true},
		{"Argo CD in the status", []any{entry("argocd-controller", "Update", "status")}, false},
		{"a whole object of ours", []any{entry(Replacer, "Update", "")}, true},
		{"a person's change of ours", []any{entry(Manager, "Update", "")}, false},
		{"a controller", []any{entry("kube-controller-manager", "Update", ""), "odd", nil}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := map[string]any{"metadata": map[string]any{
				"name": "a", "managedFields": test.entries,
				"annotations": map[string]any{object.TrackingAnnotation: "app:/ConfigMap:shop/a"}, "namespace": "shop",
			}}
			if got := describe(kindMap(), obj, object.Tracking{}).Inherits; got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
	custom := entry("deployer", "Update", "")
	if Inherits(custom, true, "") || !Inherits(custom, true, "deployer") || Inherits(custom, false, "deployer") {
		t.Error("a manager that is named counts with client-side apply, and only then")
	}
}

func TestCredentialsThatAreRefusedAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name            string
		failures, calls int32
		status          int
		path            string
		well            bool
	}{
		{"never", 0, 1, http.StatusUnauthorized, "/api", true},
		{"once", 1, 2, http.StatusUnauthorized, "/api", true},
		{"four times", 4, 5, http.StatusUnauthorized, "/api", true},
		{"five times", 5, 5, http.StatusUnauthorized, "/api", false},
		{"for one group", 4, 5, http.StatusUnauthorized, "/api/v1", true},
		{"for one group, always (the client asks twice each time)", 100, 10, http.StatusUnauthorized, "/api/v1", false},
		{"another refusal", 1, 1, http.StatusConflict, "/api", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case req.URL.Path == test.path && calls.Add(1) <= test.failures:
					w.WriteHeader(test.status)
				case req.URL.Path == "/version":
					_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
				case req.URL.Path == "/api":
					_, _ = w.Write([]byte(`{"kind":"APIVersions","versions":["v1"]}`))
				case req.URL.Path == "/apis":
					_, _ = w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
				default:
					_, _ = w.Write([]byte(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","watch"]}]}`))
				}
			}))
			t.Cleanup(server.Close)
			c, err := newCatalog(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.find(t.Context(), object.Kind{Kind: "Pod"}, "v1")
			if (err == nil) != test.well || calls.Load() != test.calls {
				t.Errorf("%v after %d calls; want %d", err, calls.Load(), test.calls)
			}
		})
	}
}
