package beside

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestShadowModeLetsReadsAndDryRunsThroughAndNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, query string
		pass          bool
	}{
		{http.MethodGet, "", true},
		{http.MethodGet, "watch=true", true},
		{http.MethodHead, "", true},
		{http.MethodPatch, "dryRun=All&force=true", true},
		{http.MethodPut, "dryRun=All", true},
		{http.MethodPatch, "", false},
		{http.MethodPatch, "dryRun=", false},
		{http.MethodPatch, "dryRun=None", false},
		{http.MethodPatch, "dryRun=All&dryRun=None", false},
		{http.MethodPut, "fieldManager=x", false},
		{http.MethodPost, "", false},
		{http.MethodPost, "dryRun=All", false},
		{http.MethodDelete, "dryRun=All", false},
		{"MERGE", "dryRun=All", false},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.query, func(t *testing.T) {
			t.Parallel()
			passed := false
			next := place.RoundTripper(func(*http.Request) (*http.Response, error) {
				passed = true
				return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
			})
			var logged bytes.Buffer
			guard := place.RefuseWrites(slog.New(slog.NewTextHandler(&logged, nil)), place.RefusedInShadow)(next)
			req := httptest.NewRequest(test.method, "https://cluster/api/v1/namespaces/a/configmaps/b?"+test.query, strings.NewReader("{}"))
			resp, err := guard.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if passed != test.pass || test.pass != (logged.Len() == 0) {
				t.Errorf("passed: %t, logged %q", passed, logged.String())
			}
			if !test.pass {
				raw, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != http.StatusMethodNotAllowed || !strings.Contains(string(raw), place.RefusedInShadow) {
					t.Errorf("%d: %s (%v)", resp.StatusCode, raw, err)
				}
			}
		})
	}
}

// watched is a shadow with one Application.
func watched(t *testing.T) (*Shadow, *v1alpha1.Application) {
	t.Helper()
	r := registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})
	s := NewShadow(r, &HelmDefault{})
	app := &v1alpha1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web", ResourceVersion: "1"}}
	app.Status.Sync.Status, app.Status.Health.Status = v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy
	r.Seen(app, nil)
	return s, app
}

func TestAnApplicationThatNeitherEngineCanCompareAgrees(t *testing.T) {
	t.Parallel()
	failed := engine.Result{
		Sync: v1alpha1.SyncStatusUnknown, Health: health.Result{Status: health.Unknown},
		Err: &engine.StageError{Stage: engine.StageFetch, Err: errors.New("no revision nowhere")},
	}
	for _, c := range []struct {
		name   string
		sync   v1alpha1.SyncStatusCode
		health v1alpha1.HealthStatusCode
		agrees bool
	}{
		{"both fail", v1alpha1.SyncStatusUnknown, v1alpha1.HealthUnknown, true},
		{"both fail, and the health is another one", v1alpha1.SyncStatusUnknown, v1alpha1.HealthDegraded, false},
		{"only ours fails", v1alpha1.SyncStatusSynced, v1alpha1.HealthUnknown, false},
	} {
		s, app := watched(t)
		next := app.DeepCopy()
		next.ResourceVersion = "2"
		next.Status.Sync.Status, next.Status.Health.Status = c.sync, c.health
		s.registry.Seen(next, nil)
		s.put(registry.NameOf(app), findingOf(failed))
		got := s.Report()
		if one := got.Applications[0]; one.Agrees != c.agrees || one.Error == "" || (got.Summary.Agree == 1) != c.agrees {
			t.Errorf("%s: %+v, %+v", c.name, one, got.Summary)
		}
	}
}

func TestTheShadowReportSetsOurWordsBesideThoseOfTheStatus(t *testing.T) {
	t.Parallel()
	s, app := watched(t)
	id := registry.NameOf(app)
	if got := s.Report(); got.Summary.Open != 1 || got.Applications[0].Note != "not compared yet" {
		t.Errorf("before the first comparison: %+v", got)
	}
	res := engine.Result{
		Sync: v1alpha1.SyncStatusOutOfSync, Health: health.Result{Status: health.Healthy}, Revisions: []string{"abc"},
		Forecast: forecast.Forecast{Sync: true, Changes: []forecast.Would{{
			Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Verb: diff.Update, Why: "differs",
			Fields: []forecast.Field{{Path: ".data.color", Live: `"red"`, Wanted: `"green"`, By: []diff.Owner{{Manager: "kubectl-edit", Operation: "Update"}}}},
		}}},
	}
	if !s.put(id, findingOf(res)) || s.put(id, findingOf(res)) {
		t.Error("the first time is news, the second is not")
	}
	got := s.Report()
	want := shadowSummary{Applications: 1, Disagree: 1, Objects: 1, WouldSync: 1}
	if diff := cmp.Diff(want, got.Summary); diff != "" {
		t.Error(diff)
	}
	one := got.Applications[0]
	if one.Agrees || one.Sync != (shadowWords{"OutOfSync", "Synced"}) || one.Health != (shadowWords{"Healthy", "Healthy"}) ||
		one.Objects[0].String() != "update ConfigMap shop/web .data.color" {
		t.Errorf("%+v", one)
	}

	// The status says the same, later: no comparison of ours is needed for that.
	<-s.changed
	fresh := *app
	fresh.ResourceVersion, fresh.Status.Sync.Status = "2", v1alpha1.SyncStatusOutOfSync
	s.registry.Seen(&fresh, nil)
	<-s.changed
	if one := s.Report().Applications[0]; !one.Agrees {
		t.Errorf("%+v", one)
	}
	res.Err = &engine.StageError{Stage: engine.StageRender, Err: io.ErrUnexpectedEOF}
	s.put(id, findingOf(res))
	if one := s.Report().Applications[0]; one.Agrees || one.Error == "" || !s.Failed(id) {
		t.Errorf("%+v", one)
	}
	fresh.ResourceVersion, fresh.Annotations = "3", map[string]string{v1alpha1.AnnotationSkipReconcile: "true"}
	s.registry.Seen(&fresh, nil)
	if got := s.Report(); got.Summary.Open != 1 || !strings.HasPrefix(got.Applications[0].Note, "skipped") {
		t.Errorf("%+v", got)
	}
	s.registry.Removed(id)
	if got := s.Report(); len(got.Applications) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTheReportFileIsReplacedWholeAndOnlyWhenItIsAnother(t *testing.T) {
	t.Parallel()
	s, app := watched(t)
	file := filepath.Join(t.TempDir(), "report.json")
	written, err := s.write(file, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write(file, written); err != nil || !missing(file) {
		t.Errorf("the same was written again (%v)", err)
	}
	s.put(registry.NameOf(app), findingOf(engine.Result{Sync: v1alpha1.SyncStatusSynced}))
	if _, err := s.write(file, written); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	var report Report
	if err != nil || json.Unmarshal(raw, &report) != nil || report.Applications[0].Sync.Slipway != "Synced" {
		t.Errorf("%s (%v)", raw, err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	file = filepath.Join(file, "nowhere")
	if _, err := s.write(file, ""); err == nil || !strings.Contains(err.Error(), "choose another file") {
		t.Errorf("%v", err)
	}
}

func missing(file string) bool {
	_, err := os.Stat(file)
	return os.IsNotExist(err)
}
