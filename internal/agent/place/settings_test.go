package place

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/credential"
)

// keep makes settings with Secrets given as name, kind and pairs of key and value.
func keep(secrets ...[]string) *Settings {
	s := NewSettings(func() {})
	for _, in := range secrets {
		sec := Secret{kind: in[1], Data: map[string][]byte{}}
		for i := 2; i+1 < len(in); i += 2 {
			sec.Data[in[i]] = []byte(in[i+1])
		}
		s.secrets[in[0]] = sec
	}
	return s
}

func TestAClusterIsFoundByItsServerOrItsName(t *testing.T) {
	t.Parallel()
	kind := string(v1alpha1.SecretTypeCluster)
	s := keep(
		[]string{"one", kind, "server", "https://one.example", "name", "one", "config", `{"bearerToken":"hidden","tlsClientConfig":{"insecure":true}}`},
		[]string{"two", kind, "server", "https://two.example", "name", "two", "project", "shop", "config", `{"execProviderConfig":{"command":"x"}}`},
		[]string{"bad", kind, "server", "https://bad.example", "name", "bad", "config", `{"bearerToken":"hidden"`},
	)
	if c, ok := s.cluster("any", "https://one.example", ""); !ok || c.secret != "one" {
		t.Errorf("by server: %v, %q", ok, c.secret)
	}
	c, ok := s.cluster("any", "", "one")
	if !ok {
		t.Fatal("not found by name")
	}
	if cfg, err := c.rest(&credential.Maker{}); err != nil || cfg.Host != "https://one.example" || cfg.BearerToken != "hidden" || !cfg.Insecure {
		t.Errorf("connection: %v", err)
	}
	if _, ok := s.cluster("any", "", "two"); ok {
		t.Error("another project's cluster is found")
	}
	for called, want := range map[string]string{"two": "execProviderConfig", "bad": "the JSON ends early"} {
		c, ok := s.cluster("shop", "", called)
		if !ok {
			t.Fatalf("%s is not found", called)
		}
		if _, err := c.rest(&credential.Maker{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: error %v; want one about %s that quotes nothing", called, err, want)
		}
	}
	before, _ := s.cluster("any", "", "one")
	s.secrets["one"].Data["config"] = []byte(`{}`)
	if after, _ := s.cluster("any", "", "one"); before.id == after.id {
		t.Error("a changed connection has the same identity: the old one stays open")
	}
}
