package beside

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// workload is a Deployment or StatefulSet of an Argo CD.
func workload(component, image, label string) map[string]any {
	labels := map[string]any{"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/component": component}
	if label != "" {
		labels[labelVersion] = label
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Any", "metadata": map[string]any{"name": component, "labels": labels},
		"spec": map[string]any{"replicas": 0, "template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "proxy", "image": "example.com/proxy:v9.9.9"}, map[string]any{"name": component, "image": image},
		}}}},
	}
}

func TestHelmIsThatOfTheArgoCDInTheNamespace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name                      string
		flag                      string
		deployments, statefulsets []any
		settings                  string // label of argocd-cm
		status                    int    // of lists, where they fail
		want, argoCD              string
	}{
		{name: "3.4", deployments: []any{workload("repo-server", "quay.io/argoproj/argocd:v3.4.7", "")}, want: "v3", argoCD: "v3.4.7"},
		{name: "3.5", deployments: []any{workload("repo-server", "quay.io/argoproj/argocd:v3.5.0", "")}, want: "v4", argoCD: "v3.5.0"},
		{name: "a release candidate of 3.5", deployments: []any{workload("repo-server", "quay.io/argoproj/argocd:v3.5.0-rc1", "")}, want: "v4", argoCD: "v3.5.0-rc1"},
		{name: "a registry with a port, and a digest", deployments: []any{workload("repo-server", "registry:5000/x/argocd:v3.5.1@sha256:00", "")}, want: "v4", argoCD: "v3.5.1"},
		{name: "a tag that is no version, and a label", deployments: []any{workload("repo-server", "quay.io/argoproj/argocd:latest", "v3.5.1")}, want: "v4", argoCD: "v3.5.1"},
		{name: "the repository server counts before the controller", deployments: []any{workload("repo-server", "argocd:v3.5.1", "")}, statefulsets: []any{workload("application-controller", "argocd:v3.4.0", "")}, want: "v4", argoCD: "v3.5.1"},
		{name: "a controller that was stopped", statefulsets: []any{workload("application-controller", "argocd:v3.5.1", "")}, want: "v4", argoCD: "v3.5.1"},
		{name: "nothing but the settings of one", settings: "v3.5.2", want: "v4", argoCD: "v3.5.2"},
		{name: "no Argo CD", want: "v3"},
		{name: "a version that nothing says", deployments: []any{workload("repo-server", "argocd:stable", "")}, want: "v3"},
		{name: "rights to look are missing", status: http.StatusForbidden, want: "v3"},
		{name: "the flag counts first", flag: "v3", deployments: []any{workload("repo-server", "argocd:v3.5.1", "")}, want: "v3"},
		{name: "the flag asks for 4", flag: "v4", want: "v4"},
		{name: "auto", flag: "auto", deployments: []any{workload("repo-server", "argocd:v3.5.1", "")}, want: "v4", argoCD: "v3.5.1"},
		{name: "the API server fails", status: http.StatusInternalServerError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				answer := map[string]any{"apiVersion": "apps/v1", "kind": "List", "metadata": map[string]any{}}
				switch {
				case tc.status != 0:
					w.WriteHeader(tc.status)
					answer = map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": tc.status, "reason": strings.ReplaceAll(http.StatusText(tc.status), " ", "")}
				case strings.HasSuffix(r.URL.Path, "/namespaces/argocd/deployments"):
					answer["items"] = tc.deployments
				case strings.HasSuffix(r.URL.Path, "/namespaces/argocd/statefulsets"):
					answer["items"] = tc.statefulsets
				case strings.HasSuffix(r.URL.Path, "/namespaces/argocd/configmaps/argocd-cm") && tc.settings != "":
					answer = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "labels": map[string]any{labelVersion: tc.settings}}}
				default:
					w.WriteHeader(http.StatusNotFound)
					answer = map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": http.StatusNotFound, "reason": "NotFound"}
				}
				_ = json.NewEncoder(w).Encode(answer)
			}))
			t.Cleanup(server.Close)
			helm, config, log := &HelmDefault{}, &rest.Config{Host: server.URL}, slog.New(slog.DiscardHandler)
			err := helm.Choose(t.Context(), tc.flag, config, "argocd", log)
			if tc.want == "" {
				if err == nil || helm.choice.Load() != nil {
					t.Errorf("chosen although the API server failed (error %v)", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := helm.choice.Load(); helm.Version() != tc.want || got.ArgoCD != tc.argoCD || got.Because == "" {
				t.Errorf("got %+v, want %s of %q", got, tc.want, tc.argoCD)
			}
			// What is found later does not count: charts must not change with no commit.
			if err := helm.Choose(t.Context(), "v9", config, "argocd", log); err != nil || helm.Version() != tc.want {
				t.Errorf("a second look chose %s (error %v)", helm.Version(), err)
			}
		})
	}
}

func TestShadowReportNamesTheHelm(t *testing.T) {
	t.Parallel()
	s, app := watched(t)
	asks := *app
	asks.Name, asks.Spec.Source = "asks", &v1alpha1.ApplicationSource{Path: "x", Helm: &v1alpha1.HelmSource{Version: "v3"}}
	s.registry.Seen(&asks, nil)
	for _, id := range []registry.Name{{Namespace: "argocd", Name: "web"}, {Namespace: "argocd", Name: "asks"}} {
		s.put(id, &finding{})
	}
	for argoCD, want := range map[string]struct{ version, note string }{
		"v3.4.7": {"v3", ""},
		"v3.5.1": {"v4", "helm.version is v3, which Argo CD v3.5.1 ignores: it renders with Helm 4; set v4 to render alike"},
	} {
		s.helm.choice.Store(helmFor(argoCD))
		got := s.Report()
		if got.Helm == nil || got.Helm.Version != want.version || got.Helm.ArgoCD != argoCD {
			t.Errorf("%s: the report has %+v", argoCD, got.Helm)
		}
		for _, one := range got.Applications {
			note := ""
			if one.Name == "asks" {
				note = want.note
			}
			if one.Note != note {
				t.Errorf("%s: %s has the note %q, want %q", argoCD, one.Name, one.Note, note)
			}
		}
	}
}
