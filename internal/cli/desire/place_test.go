package desire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// placed are the objects of the application web in the namespace shop.
func placed(t *testing.T, tracking object.Tracking, objects ...string) []map[string]any {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, meta.RESTScopeRoot)
	mapper.Add(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, meta.RESTScopeNamespace)
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Destination: v1alpha1.ApplicationDestination{Namespace: "shop"}}}
	app.Name, app.Namespace = "web", "argocd"
	var manifests []object.Manifest
	for _, text := range objects {
		obj, err := object.DecodeJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m, err := object.NewManifest(obj)
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, m)
	}
	got, err := Place(t.Context(), app, manifests, mapper, "argocd", tracking)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, m := range got {
		obj, err := m.Decode()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, obj["metadata"].(map[string]any))
	}
	return out
}

func TestObjectsGetTheMarksThatTheInstallationAsksFor(t *testing.T) {
	t.Parallel()
	got := placed(t, object.Tracking{Method: v1alpha1.TrackingLabel, Label: "app", Installation: "east"},
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	want := []map[string]any{{
		"name": "a", "namespace": "shop", "labels": map[string]any{"app": "web"},
		"annotations": map[string]any{object.TrackingAnnotation: "web:/ConfigMap:shop/a", v1alpha1.AnnotationInstallationID: "east"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestHooksThatLeaveTheirNameToTheClusterAreNotTheSame(t *testing.T) {
	t.Parallel()
	hook := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"NAME-","annotations":{"argocd.argoproj.io/hook":"PreSync"}}}`
	got := placed(t, object.Tracking{}, strings.Replace(hook, "NAME", "one", 1), strings.Replace(hook, "NAME", "two", 1))
	if len(got) != 2 || got[0]["generateName"] != "one-" || got[1]["generateName"] != "two-" {
		t.Errorf("%v", got)
	}
}

func TestOfObjectsThatComeTwiceTheLastOneCounts(t *testing.T) {
	t.Parallel()
	got := placed(t, object.Tracking{},
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"v":"first"}}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","labels":{"v":"last"}}}`)
	if len(got) != 2 || got[0]["name"] != "a" || got[0]["labels"].(map[string]any)["v"] != "last" {
		t.Errorf("%v", got)
	}
}

func TestAnObjectIsPlacedByTheDefinitionThatComesWithIt(t *testing.T) {
	t.Parallel()
	definition := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"NAMEs.example.com"},` +
		`"spec":{"group":"example.com","scope":"SCOPE","names":{"kind":"KIND","plural":"NAMEs"}}}`
	replaced := func(name, kind, scope string) string {
		return strings.NewReplacer("NAME", name, "KIND", kind, "SCOPE", scope).Replace(definition)
	}
	got := placed(t, object.Tracking{}, replaced("widget", "Widget", "Namespaced"), replaced("plan", "Plan", "Cluster"),
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`,
		`{"apiVersion":"example.com/v1","kind":"Plan","metadata":{"name":"a","namespace":"shop"}}`,
		`{"apiVersion":"example.org/v1","kind":"Unknown","metadata":{"name":"a"}}`)
	if len(got) != 5 || got[2]["namespace"] != "shop" || got[3]["namespace"] != nil || got[4]["namespace"] != nil {
		t.Errorf("%v", got)
	}
}
