package place

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestAChangeOfExclusionsIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := NewSettings(func() {})
	e := newExclusions(s, slog.New(slog.DiscardHandler))
	if _, changed, err := e.refresh(); changed || err != nil {
		t.Errorf("nothing has changed: %t, %v", changed, err)
	}
	s.configs[ConfigArgoCD] = map[string]string{diff.KeyExclusions: "[{kinds: [Pod]}]"}
	if read, changed, err := e.refresh(); !changed || err != nil || !read.Excludes(object.Kind{Kind: "Pod"}, "") {
		t.Errorf("%v, %t, %v", read, changed, err)
	}
	if _, changed, _ := e.refresh(); changed {
		t.Error("it is the same as before")
	}
	s.configs[ConfigArgoCD] = map[string]string{diff.KeyExclusions: "[{"}
	if _, changed, err := e.refresh(); !changed || err == nil {
		t.Errorf("%t, %v", changed, err)
	}
	if _, err := e.get(); err == nil {
		t.Error("what cannot be read is still wrong the second time")
	}
}

func TestAClusterIsOpenedAgainForOtherExclusionsAndNotForWrongOnes(t *testing.T) {
	t.Parallel()
	s := settingsWith(nil)
	c := NewClusters(opensWith(t, s))
	t.Cleanup(c.Close)
	dest := v1alpha1.ApplicationDestination{Server: v1alpha1.InClusterServer}
	open := func() *live.Cluster {
		t.Helper()
		target, err := c.Target(t.Context(), "shop", dest)
		if err != nil {
			t.Fatal(err)
		}
		return target.Live
	}
	set := func(text string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.configs[ConfigArgoCD] = map[string]string{diff.KeyExclusions: text}
	}
	pods := object.Kind{Kind: "Pod"}
	first := open()
	if first != open() || first.Excludes(pods) {
		t.Error("without settings it is one connection, and nothing is excluded")
	}
	set("[{kinds: [Pod]}]")
	second := open()
	if second == first || !second.Excludes(pods) {
		t.Error("it goes by the settings of before")
	}
	set("kinds: [Pod]")
	if _, err := c.Target(t.Context(), "shop", dest); err == nil || !strings.Contains(err.Error(), diff.KeyExclusions) {
		t.Errorf("settings that cannot be read: %v", err)
	}
	set("[{kinds: [Pod]}]")
	if open() != second {
		t.Error("it was opened again for the same settings")
	}
}
