package object

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestTrackingIsReadFromTheSettingsOfArgoCD(t *testing.T) {
	t.Parallel()
	const custom = "example.com/app"
	tests := []struct {
		name   string
		config map[string]string
		want   Tracking
		wrong  string
	}{
		{name: "nothing is said"},
		{name: "the standard", config: map[string]string{KeyTrackingMethod: "annotation"}},
		{name: "a label that is not used", config: map[string]string{KeyTrackingLabel: "not a label!"}},
		{name: "a label too", config: map[string]string{KeyTrackingMethod: "annotation+label"}, want: Tracking{Method: v1alpha1.TrackingAnnotationAndLabel}},
		{
			name: "a label of one's own", config: map[string]string{KeyTrackingMethod: "label", KeyTrackingLabel: custom, KeyInstallation: "east"},
			want: Tracking{Method: v1alpha1.TrackingLabel, Label: custom, Installation: "east"},
		},
		{
			name: "an unknown method", config: map[string]string{KeyTrackingMethod: " finalizer ", KeyInstallation: "east"},
			want: Tracking{Installation: "east"}, wrong: "finalizer",
		},
		{
			name: "no label", config: map[string]string{KeyTrackingMethod: "label", KeyTrackingLabel: "a b"},
			want: Tracking{Method: v1alpha1.TrackingLabel}, wrong: "a b",
		},
		{name: "an endless installation", config: map[string]string{KeyInstallation: strings.Repeat("x", maxInstallation+1)}, wrong: "longer than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTracking(test.config)
			if got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("said %v, want something about %q", err, test.wrong)
			}
		})
	}
}
