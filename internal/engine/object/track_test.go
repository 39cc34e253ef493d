package object

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestTheMethodOfTrackingSaysWhoOwnsAnObject(t *testing.T) {
	t.Parallel()
	key := Key{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	mine := TrackingID("one", key, "")
	label, both := Tracking{Method: v1alpha1.TrackingLabel}, Tracking{Method: v1alpha1.TrackingAnnotationAndLabel}
	tests := []struct {
		name        string
		tracking    Tracking
		annotations map[string]any
		labels      map[string]any
		app         string
		byLabel     bool
	}{
		{name: "no mark"},
		{name: "the annotation", annotations: map[string]any{TrackingAnnotation: mine}, app: "one"},
		{name: "a label that does not count", labels: map[string]any{v1alpha1.LabelInstance: "one"}},
		{name: "a label beside the annotation does not count", tracking: both, labels: map[string]any{v1alpha1.LabelInstance: "one"}},
		{name: "the label", tracking: label, labels: map[string]any{v1alpha1.LabelInstance: "one"}, app: "one", byLabel: true},
		{
			name: "the annotation goes before the label", tracking: label, annotations: map[string]any{TrackingAnnotation: mine},
			labels: map[string]any{v1alpha1.LabelInstance: "two"}, app: "one",
		},
		{
			name: "an annotation about another object", tracking: label,
			annotations: map[string]any{TrackingAnnotation: "two:/ConfigMap:shop/api"}, labels: map[string]any{v1alpha1.LabelInstance: "one"},
			app: "one", byLabel: true,
		},
		{name: "a label of one's own", tracking: Tracking{Method: v1alpha1.TrackingLabel, Label: "app"}, labels: map[string]any{"app": "one"}, app: "one", byLabel: true},
		{
			name: "this installation", tracking: Tracking{Installation: "east"},
			annotations: map[string]any{TrackingAnnotation: mine, v1alpha1.AnnotationInstallationID: "east"}, app: "one",
		},
		{
			name: "another installation", tracking: Tracking{Method: v1alpha1.TrackingLabel, Installation: "east"},
			annotations: map[string]any{TrackingAnnotation: mine, v1alpha1.AnnotationInstallationID: "west"}, labels: map[string]any{v1alpha1.LabelInstance: "one"},
		},
		{name: "no installation where there are several", tracking: Tracking{Installation: "east"}, annotations: map[string]any{TrackingAnnotation: mine}},
		{name: "an installation where there is none", annotations: map[string]any{TrackingAnnotation: mine, v1alpha1.AnnotationInstallationID: "west"}},
		{
			name: "an installation and a label where there is none", tracking: label,
			annotations: map[string]any{v1alpha1.AnnotationInstallationID: "west"}, labels: map[string]any{v1alpha1.LabelInstance: "one"},
		},
		{name: "odd labels", tracking: label, labels: map[string]any{v1alpha1.LabelInstance: int64(1)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := map[string]any{"metadata": map[string]any{"annotations": test.annotations, "labels": test.labels}}
			if app, byLabel := test.tracking.Owner(obj, key); app != test.app || byLabel != test.byLabel {
				t.Errorf("%q, by label: %t; want %q, %t", app, byLabel, test.app, test.byLabel)
			}
		})
	}
	if app, _ := label.Owner(map[string]any{"metadata": "odd"}, key); app != "" {
		t.Errorf("an object without metadata belongs to %q", app)
	}
}

func TestAMarkIsReadBackAndTakenOff(t *testing.T) {
	t.Parallel()
	key := Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}}
	for _, tracking := range []Tracking{
		{}, {Installation: "east"}, {Method: v1alpha1.TrackingLabel}, {Method: v1alpha1.TrackingAnnotationAndLabel, Label: "app", Installation: "east"},
	} {
		t.Run(tracking.String(), func(t *testing.T) {
			t.Parallel()
			obj := func() map[string]any {
				return map[string]any{"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"template": template}}
			}
			marked := obj()
			tracking.Mark(marked, "team_one", key, "shop")
			if app, byLabel := tracking.Owner(marked, key); app != "team_one" || byLabel {
				t.Errorf("%q, by label: %t", app, byLabel)
			}
			if diff := cmp.Diff(template, marked["spec"].(map[string]any)["template"]); diff != "" {
				t.Errorf("the template is not what it was: %s", diff)
			}
			before := Annotation(marked, TrackingAnnotation)
			if diff := cmp.Diff(obj(), tracking.Unmark(marked)); diff != "" {
				t.Errorf("without its mark: %s", diff)
			}
			if Annotation(marked, TrackingAnnotation) != before {
				t.Error("the object itself has lost its mark")
			}
		})
	}
}

func TestALongNameFitsIntoALabel(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"short":                         "short",
		strings.Repeat("a", 63):         strings.Repeat("a", 63),
		strings.Repeat("a", 64):         strings.Repeat("a", 63),
		strings.Repeat("a", 62) + "-ab": strings.Repeat("a", 62),
	} {
		if got := LabelValue(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
