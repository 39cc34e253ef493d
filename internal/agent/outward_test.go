package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/outward"
)

// private is what an agent may reach where its operator says nothing.
func private() *clusters { return &clusters{outbound: &outward.Policy{Private: true}} }

func TestAClusterIsReachedWhereItWasChecked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
	}))
	t.Cleanup(api.Close)
	entry := clusterEntry{server: api.URL, secret: "east", config: []byte(`{"bearerToken":"hidden","tlsClientConfig":{"insecure":true}}`)}
	for _, server := range []string{
		api.URL, "https://localhost:1", "https://127.1:6443", "https://2130706433", "https://[::1]", "https://[::ffff:127.0.0.1]:6443", "https://169.254.169.254",
		"https://metadata.google.internal", "http://169.254.169.254", "169.254.169.254:80",
	} {
		config, err := clusterEntry{server: server, secret: "east", config: entry.config}.rest()
		if err != nil {
			t.Fatal(err)
		}
		bounded, err := bounded(config, private().outbound)
		if errors.Is(err, outward.ErrRefused) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		client, err := discovery.NewDiscoveryClientForConfig(bounded)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.RESTClient().Get().AbsPath("/version").Do(t.Context()).Raw(); !errors.Is(err, outward.ErrRefused) {
			t.Errorf("%s: %v", server, err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("this machine was asked %d times", n)
	}
	// Where the operator allows it, all clients use the connections of one transport, with TLS as the Secret says.
	socket, err := entry.rest()
	if err != nil {
		t.Fatal(err)
	}
	allowed := &outward.Policy{Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	config, err := bounded(socket, allowed)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := client.ServerVersion(); err != nil || v.GitVersion != "v1.36.3" {
			t.Errorf("%v %v", v, err)
		}
	}
	if config.Transport == nil || socket.Dial == nil || !socket.Insecure {
		t.Error("clients do not share a transport, or what dials by itself has lost its TLS")
	}
}

func TestATryOfAConnectionReachesNothingOfThisMachine(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("apiVersion: v1\nsecret: of this machine"))
	}))
	t.Cleanup(inside.Close)
	v := &verbs{clusters: private(), settings: settingsWith(nil)}
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
		message, err := v.try(context.WithoutCancel(t.Context()), c.kind, data)
		if err == nil || !strings.Contains(err.Error(), "--outbound-allow") && !strings.Contains(err.Error(), "is not a plain host") || strings.Contains(err.Error(), "of this machine\n") {
			t.Errorf("%v: %q %v", c.data, message, err)
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
	v := &verbs{clusters: &clusters{outbound: &outward.Policy{Private: true, Allow: allow}}, settings: settingsWith(nil)}
	data := map[string][]byte{"url": []byte(strings.Replace(front.URL, "127.0.0.1", "localhost", 1)), "type": []byte("helm")}
	if message, err := v.try(t.Context(), agentapi.SettingRepository, data); err == nil || asked.Load() > 0 {
		raw, _ := json.Marshal(message)
		t.Errorf("followed: %s, asked %d times", raw, asked.Load())
	}
}
