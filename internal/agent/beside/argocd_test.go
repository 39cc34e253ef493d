package beside

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
)

func TestBesideArgoCDNothingButItsResourcesAndOurObjectsIsWritten(t *testing.T) {
	t.Parallel()
	d := NewArgoCD(Config{Namespace: "argocd", Log: slog.New(slog.DiscardHandler)})
	const argo = "/apis/argoproj.io/v1alpha1/namespaces/"
	for _, c := range []struct {
		method, path string
		home, pass   bool
	}{
		{http.MethodPatch, argo + "argocd/applications/web", true, true},
		{http.MethodDelete, argo + "team/applications/web", true, true},
		{http.MethodPost, argo + "team/applicationsets", true, true},
		{http.MethodPut, argo + "argocd/appprojects/shop", true, true},
		{http.MethodPut, argo + "team/appprojects/shop", true, false},
		{http.MethodPut, argo + "argocd/applications/web/status", true, false},
		{http.MethodPost, "/api/v1/namespaces/argocd/secrets", true, true},
		{http.MethodPut, "/api/v1/namespaces/argocd/configmaps/argocd-tls-certs-cm", true, true},
		{http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/argocd/leases/slipway-agent", true, true},
		{http.MethodPost, "/api/v1/namespaces/shop/secrets", true, false},
		{http.MethodPut, "/api/v1/namespaces/argocd", true, false},
		{http.MethodPost, "/api/v1/namespaces", true, false},
		{http.MethodPost, "/api/v1/namespaces/argocd/pods/web/exec", true, false},
		{http.MethodPost, "/api/v1/namespaces/argocd/events", true, false},
		{http.MethodPatch, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/applications.argoproj.io", true, false},
		{http.MethodGet, "/api/v1/namespaces/shop/pods", true, true},
		{http.MethodPatch, "/api/v1/namespaces/shop/configmaps/a?dryRun=All", true, true},
		{http.MethodPatch, "/api/v1/namespaces/shop/configmaps/a?dryRun=All", false, true},
		{http.MethodPatch, argo + "argocd/applications/web", false, false},
		{http.MethodPost, "/api/v1/namespaces/argocd/secrets", false, false},
		{http.MethodGet, "/api/v1/namespaces/shop/pods", false, true},
	} {
		passed := false
		next := place.RoundTripper(func(*http.Request) (*http.Response, error) {
			passed = true
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		})
		resp, err := d.Guard(c.home)(next).RoundTrip(httptest.NewRequest(c.method, "https://cluster"+c.path, strings.NewReader("{}")))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if passed != c.pass {
			t.Errorf("%s %s, home %t: passed %t", c.method, c.path, c.home, passed)
		}
	}
}

func TestAnArgoCDThatTakesNothingUpIsNotHealthy(t *testing.T) {
	t.Parallel()
	d := NewArgoCD(alone())
	app := func(change func(*v1alpha1.Application)) *v1alpha1.Application {
		a := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web"}}
		change(a)
		return a
	}
	asked := app(func(a *v1alpha1.Application) { a.Operation = &v1alpha1.Operation{} })
	taken := app(func(a *v1alpha1.Application) {
		a.Operation = &v1alpha1.Operation{}
		a.Status.OperationState = &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning}
	})
	d.Moved(nil, asked)
	if d.Health().Status != agentapi.ComponentHealthy {
		t.Error("it had no time")
	}
	late := func() {
		for id := range d.asked {
			d.asked[id] = time.Now().Add(-2 * registry.Late)
		}
	}
	late()
	if c := d.Health(); c.Status != agentapi.ComponentDegraded || !strings.Contains(c.Message, "1 applications") {
		t.Errorf("%+v", c)
	}
	d.Moved(asked, taken)
	if d.Health().Status != agentapi.ComponentHealthy {
		t.Error("it has taken the operation up")
	}
	refreshing := app(func(a *v1alpha1.Application) { a.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "hard"} })
	d.Moved(taken, refreshing)
	late()
	if d.Health().Status != agentapi.ComponentDegraded {
		t.Error("the refresh waits")
	}
	d.Moved(refreshing, nil)
	if d.Health().Status != agentapi.ComponentHealthy {
		t.Error("the application is gone")
	}
}

func TestWhatArgoCDHasNoWordForIsRefusedWithWhatToDo(t *testing.T) {
	t.Parallel()
	for _, l := range agentapi.EngineArgoCD.Lacks() {
		if l.Kind.Nature() == agentapi.Unknown || l.Why == "" {
			t.Errorf("%+v", l)
		}
	}
	if agentapi.EngineArgoCD.Lacking(agentapi.KindUnpin) == "" || agentapi.EngineArgoCD.Lacking(agentapi.KindSync) != "" || agentapi.Engine("").Lacking(agentapi.KindUnpin) != "" {
		t.Error("the wrong commands are lacking")
	}
}

func TestAComparisonBesideArgoCDSaysWhichRightsTheAgentLacks(t *testing.T) {
	t.Parallel()
	secrets := schema.GroupResource{Resource: "secrets"}
	cannotRead := fmt.Errorf("read Secret shop/web: %w", apierrors.NewForbidden(secrets, "web", errors.New(`User "agent" cannot get resource "secrets"`)))
	gone := errors.New("the repository is gone")
	for _, c := range []struct {
		name string
		out  any
		err  error
		code agentapi.Code
		want string
	}{
		{"an object cannot be read", nil, cannotRead, agentapi.CodeUnsupported, "cannot get resource"},
		{"an object cannot be tried out", api.DiffAnswer{Items: []api.ObjectDiff{{Error: `User "agent" cannot patch resource "configmaps"`}}}, nil, agentapi.CodeUnsupported, "cannot patch resource"},
		{"something else is wrong", nil, gone, "", gone.Error()},
		{"nothing is wrong", api.DiffAnswer{Items: []api.ObjectDiff{{Verb: "update"}}}, nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := diffBeside(c.out, c.err, "web")
			var refused *agentapi.Error
			if errors.As(err, &refused) != (c.code != "") || refused != nil && (refused.Code != c.code || !strings.Contains(refused.Message, "`argocd app diff web`")) {
				t.Errorf("it is refused with %+v", err)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
			if _, ok := out.(api.DiffAnswer); ok != (err == nil) {
				t.Errorf("the answer is %v", out)
			}
		})
	}
}

// alone is an agent that reports to no server.
func alone() Config {
	return Config{Linked: func() *report.Source { return nil }, Ledger: func() *report.Ledger { return nil }}
}
