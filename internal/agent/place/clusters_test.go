package place

import (
	"log/slog"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/outward"
)

func TestAClusterWhoseSecretIsGoneIsWatchedNoMore(t *testing.T) {
	t.Parallel()
	there := func() map[string][]byte {
		return map[string][]byte{"server": []byte("https://10.0.0.1"), "name": []byte("far"), "config": []byte(`{"bearerToken":"one"}`)}
	}
	for _, c := range []struct {
		name   string
		change func(secrets map[string]Secret)
		pruned bool
	}{
		{"another Secret comes", func(s map[string]Secret) {
			s["other"] = Secret{kind: v1alpha1.SecretTypeCluster, Data: map[string][]byte{"server": []byte("https://10.0.0.2")}}
		}, false},
		{"its name changes", func(s map[string]Secret) { s["far"].Data["name"] = []byte("near") }, false},
		{"it is deleted", func(s map[string]Secret) { delete(s, "far") }, true},
		{"its credentials change", func(s map[string]Secret) { s["far"].Data["config"] = []byte(`{"bearerToken":"two"}`) }, false},
		{"its credentials cannot be read any more", func(s map[string]Secret) { s["far"].Data["config"] = []byte(`{"bearerToken":2}`) }, true},
		{"it permits some namespaces only", func(s map[string]Secret) { s["far"].Data["namespaces"] = []byte("a") }, true},
		{"it permits what cannot be read", func(s map[string]Secret) { s["far"].Data["namespaces"] = []byte("*") }, true},
		{"its server changes", func(s map[string]Secret) { s["far"].Data["server"] = []byte("https://10.0.0.3") }, true},
		{"it is no cluster any more", func(s map[string]Secret) { s["far"] = Secret{kind: v1alpha1.SecretTypeRepository, Data: there()} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := NewSettings(func() {})
			set.secrets["far"] = Secret{kind: v1alpha1.SecretTypeCluster, Data: there()}
			clusters := NewClusters(opensWith(t, set))
			t.Cleanup(clusters.Close)
			for _, server := range []string{v1alpha1.InClusterServer, "https://10.0.0.1"} {
				if _, err := clusters.Target(t.Context(), "shop", v1alpha1.ApplicationDestination{Server: server}); err != nil {
					t.Fatal(err)
				}
			}
			if clusters.prune() {
				t.Error("closed although nothing has changed")
			}
			c.change(set.secrets)
			if pruned := clusters.prune(); pruned != c.pruned {
				t.Errorf("closed: %v, want %v", pruned, c.pruned)
			}
			clusters.closing.Wait() // its watches have ended
			if _, open := clusters.open["https://10.0.0.1 far"]; open == c.pruned || len(clusters.open) == 0 {
				t.Errorf("open are %d clusters, the one of the Secret %v", len(clusters.open), open)
			}
		})
	}
}

// opensWith are those of an agent that reaches nothing, with these settings.
func opensWith(t *testing.T, s *Settings) Options {
	return Options{
		REST: &rest.Config{Host: "https://127.0.0.1:4"}, Log: slog.New(slog.DiscardHandler), Outbound: &outward.Policy{Private: true},
		Settings: s, Rules: accountsOf(t), Notify: func(live.Event) {}, Kinds: func() {},
	}
}
