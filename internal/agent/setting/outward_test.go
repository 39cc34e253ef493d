package setting

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/archive"
)

// keeperWith tries connections under a policy, and keeps nothing.
func keeperWith(t *testing.T, policy *outward.Policy) *keeper {
	t.Helper()
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	artifacts := &place.Artifacts{Policy: policy, Store: store}
	settings := place.NewSettings(nil)
	clusters := place.NewClusters(place.Options{Settings: settings, Outbound: policy, Log: slog.New(slog.DiscardHandler)})
	return &keeper{Config: Config{Outbound: policy, Settings: settings, Artifacts: artifacts, Clusters: clusters}}
}

func TestATryOfAConnectionReachesNothingOfThisMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("apiVersion: v1\nsecret: of this machine"))
	}))
	t.Cleanup(inside.Close)
	v := keeperWith(t, &outward.Policy{Private: true})
	for _, c := range []struct {
		kind agentapi.SettingType
		data map[string]string
	}{
		{agentapi.SettingRepository, map[string]string{"type": "helm", "url": inside.URL}},
		{agentapi.SettingRepository, map[string]string{"type": "helm", "url": strings.Replace(inside.URL, "127.0.0.1", "127.1", 1)}},
		{agentapi.SettingRepository, map[string]string{"type": "helm", "url": "http://169.254.169.254/latest"}},
		{agentapi.SettingRepository, map[string]string{"type": "helm", "url": "http://charts.example.org", "proxy": inside.URL}},
		{agentapi.SettingRepository, map[string]string{"type": "helm", "url": "http://169.254.169.254", "proxy": "http://10.0.0.1:3128"}},
		{agentapi.SettingCluster, map[string]string{"server": inside.URL, "config": `{}`}},
		{agentapi.SettingCluster, map[string]string{"server": "https://metadata.google.internal", "config": `{}`}},
	} {
		data := map[string][]byte{}
		for name, value := range c.data {
			data[name] = []byte(value)
		}
		message, err := v.try(context.WithoutCancel(t.Context()), c.kind, data, "")
		if err == nil || !strings.Contains(err.Error(), "--outbound-allow") && !strings.Contains(err.Error(), "is not a plain host") || strings.Contains(err.Error(), "of this machine\n") {
			t.Errorf("%v: %v %v", c.data, message, err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("this machine was asked %d times", n)
	}
}

func TestARedirectOfAHelmRepositoryDoesNotLeadToThisMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(inside.Close)
	front := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusFound))
	t.Cleanup(front.Close)
	allow, err := outward.ReadList([]string{"localhost"}) // the first host, whatever it leads to; not the second
	if err != nil {
		t.Fatal(err)
	}
	v := keeperWith(t, &outward.Policy{Private: true, Allow: allow})
	data := map[string][]byte{"url": []byte(strings.Replace(front.URL, "127.0.0.1", "localhost", 1)), "type": []byte("helm")}
	if message, err := v.try(t.Context(), agentapi.SettingRepository, data, ""); err == nil || asked.Load() > 0 {
		raw, _ := json.Marshal(message)
		t.Errorf("followed: %s, asked %d times", raw, asked.Load())
	}
}
