package engine

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestManifestsOfAnOperationStandInForTheSources(t *testing.T) {
	t.Parallel()
	const secret = `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"p":"hunter2"}`
	for _, c := range []struct {
		name      string
		manifests []string
		objects   int
		wrong     string
	}{
		{"none", nil, 0, ""},
		{"two", []string{secret + "}", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`}, 2, ""},
		{"one that is cut off", []string{secret + "}", secret}, 0, "operation.sync.manifests[1]"},
		{"one that is a list", []string{"[" + secret + "}]"}, 0, "operation.sync.manifests[0]"},
		{"one that is null", []string{"null"}, 0, "not an object"},
		{"one that is empty", []string{""}, 0, "operation.sync.manifests[0]"},
		{"one in YAML", []string{"apiVersion: v1\nstringData: {p: hunter2}\n"}, 0, "write one object as JSON"},
		{"one without a kind", []string{`{"apiVersion":"v1","data":{"p":"hunter2"}}`}, 0, "object has no kind"},
		{"one without a name", []string{`{"apiVersion":"v1","kind":"Secret","data":{"p":"hunter2"}}`}, 0, "has no metadata.name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compared(func(r *comparison) {
				r.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Manifests: c.manifests}}
			})
			objects, local, err := r.localManifests()
			if len(objects) != c.objects || local != (len(c.manifests) > 0) || (err == nil) != (c.wrong == "") {
				t.Fatalf("%d objects, %t, %v", len(objects), local, err)
			}
			if err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%v", err)
			}
		})
	}
	for _, op := range []*v1alpha1.Operation{nil, {}} {
		if _, local, err := compared(func(r *comparison) { r.app.Operation = op }).localManifests(); local || err != nil {
			t.Errorf("%+v: %t, %v", op, local, err)
		}
	}
}

func TestASyncOfManifestsIsNotTakenForWhatGitSays(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", good)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Manifests: []string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"v":"mine"}}`,
	}}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || res.Sync != v1alpha1.SyncStatusSynced {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	if res := b.turn(); res.Err != nil || res.Operation != nil || res.Sync != v1alpha1.SyncStatusOutOfSync {
		t.Errorf("%v, %+v", res, res.Operation)
	}
}

func TestAnnotationsThatNobodyUnderstandsAreToldOf(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {argocd.argoproj.io/hook: PreSyncc}}},
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {argocd.argoproj.io/sync-wave: abc}}}]`)
	for range 2 { // remembered, too
		told := condition(b.turn(), v1alpha1.ConditionUnsupported)
		for _, want := range []string{`hook "PreSyncc"`, `sync-wave "abc"`, "of " + b.key("a").String(), "of " + b.key("b").String()} {
			if !strings.Contains(told, want) {
				t.Errorf("it lacks %s: %q", want, told)
			}
		}
	}
}
