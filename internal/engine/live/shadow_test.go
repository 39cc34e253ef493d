package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestWhoWritesNothingHearsOfEveryChangeButOfTheStatus(t *testing.T) {
	t.Parallel()
	var told []Why
	x := newIndex(func(e Event) { told = append(told, e.Why) })
	x.shadow = true
	settings := func(version, color, status string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"color": color}, "status": status,
			"metadata": map[string]any{
				"name": "a", "namespace": "shop", "uid": "1", "resourceVersion": version,
				"annotations": map[string]any{object.TrackingAnnotation: "app:/ConfigMap:shop/a"},
			},
		}
	}
	for i, obj := range []map[string]any{
		settings("1", "red", "new"), settings("2", "red", "old"), settings("3", "green", "old"), settings("4", "green", "older"),
	} {
		x.observe(x.digest(kindMap(), obj))
		want := [][]Why{{Appeared}, {Appeared}, {Appeared, Drift}, {Appeared, Drift}}[i]
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("after step %d: %s", i, diff)
		}
	}
	if rec, _, _ := x.get(object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "a"}); rec.Body() != nil {
		t.Error("content is kept that nobody compares")
	}
}

func TestALabelAloneMakesNothingAnApplicationsOwnThatTheClusterCopiesLabelsTo(t *testing.T) {
	t.Parallel()
	tracking := object.Tracking{Method: v1alpha1.TrackingLabel}
	tests := []struct {
		kind  object.Kind
		owned bool
	}{
		{kindMap(), false},
		{object.Kind{Kind: "Endpoints"}, true},
		{object.Kind{Kind: "PersistentVolumeClaim"}, true},
		{object.Kind{Group: "discovery.k8s.io", Kind: "EndpointSlice"}, true},
		{object.Kind{Group: "example.com", Kind: "Endpoints"}, false},
	}
	for _, test := range tests {
		t.Run(test.kind.String(), func(t *testing.T) {
			t.Parallel()
			meta := map[string]any{"name": "a", "namespace": "shop", "labels": map[string]any{v1alpha1.LabelInstance: "app"}}
			rec := describe(test.kind, map[string]any{"metadata": meta}, tracking)
			if rec.App != "app" || rec.Owned != test.owned {
				t.Errorf("of %q, owned: %t", rec.App, rec.Owned)
			}
			meta["annotations"] = map[string]any{object.TrackingAnnotation: object.TrackingID("app", rec.Key, "")}
			if rec := describe(test.kind, map[string]any{"metadata": meta}, tracking); rec.App != "app" || rec.Owned {
				t.Errorf("marked by us it is of %q, owned: %t", rec.App, rec.Owned)
			}
		})
	}
}
