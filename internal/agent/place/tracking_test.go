package place

import (
	"io"
	"log/slog"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestAChangeOfTrackingIsToldOnce(t *testing.T) {
	t.Parallel()
	s := NewSettings(func() {})
	tr := newTracking(s, "", slog.New(slog.NewTextHandler(io.Discard, nil)))
	if _, changed := tr.refresh(); changed {
		t.Error("nothing has changed")
	}
	s.configs[ConfigArgoCD] = map[string]string{object.KeyTrackingMethod: "label"}
	if _, changed := tr.refresh(); !changed || tr.get().Method != v1alpha1.TrackingLabel {
		t.Errorf("changed: %t, in force: %v", changed, tr.get())
	}
	if _, changed := tr.refresh(); changed {
		t.Error("it is the same as before")
	}
}

func TestTheInstallationOfTheCommandLineCountsWhereTheSettingsNameNone(t *testing.T) {
	t.Parallel()
	s := NewSettings(func() {})
	tr := newTracking(s, "east", slog.New(slog.NewTextHandler(io.Discard, nil)))
	if got := tr.get().Installation; got != "east" {
		t.Errorf("before the settings are read it is %q", got)
	}
	s.configs[ConfigArgoCD] = map[string]string{object.KeyTrackingMethod: "label"}
	if got := tr.get(); got.Installation != "east" || got.Method != v1alpha1.TrackingLabel {
		t.Errorf("with other settings it is %v", got)
	}
	s.configs[ConfigArgoCD] = map[string]string{object.KeyInstallation: "west"}
	if got := tr.get().Installation; got != "west" {
		t.Errorf("the settings say west, and it is %q", got)
	}
}
