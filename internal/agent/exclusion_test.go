package agent

import (
	"log/slog"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/outward"
)

func TestAChangeOfExclusionsIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newSettings(func() {})
	e := newExclusions(s, slog.New(slog.DiscardHandler))
	if _, changed, err := e.refresh(); changed || err != nil {
		t.Errorf("nothing has changed: %t, %v", changed, err)
	}
	s.configs[configArgoCD] = map[string]string{diff.KeyExclusions: "[{kinds: [Pod]}]"}
	if read, changed, err := e.refresh(); !changed || err != nil || !read.Excludes(object.Kind{Kind: "Pod"}, "") {
		t.Errorf("%v, %t, %v", read, changed, err)
	}
	if _, changed, _ := e.refresh(); changed {
		t.Error("it is the same as before")
	}
	s.configs[configArgoCD] = map[string]string{diff.KeyExclusions: "[{"}
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
	c := newClusters(Config{REST: &rest.Config{Host: "https://127.0.0.1:4"}, Log: slog.New(slog.DiscardHandler), Outbound: &outward.Policy{Private: true}},
		s, accountsOf(t), func(live.Event) {}, func() {})
	t.Cleanup(c.close)
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
		s.configs[configArgoCD] = map[string]string{diff.KeyExclusions: text}
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
