package agent

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
		change func(secrets map[string]secret)
		pruned bool
	}{
		{"another Secret comes", func(s map[string]secret) {
			s["other"] = secret{kind: v1alpha1.SecretTypeCluster, data: map[string][]byte{"server": []byte("https://10.0.0.2")}}
		}, false},
		{"its name changes", func(s map[string]secret) { s["far"].data["name"] = []byte("near") }, false},
		{"it is deleted", func(s map[string]secret) { delete(s, "far") }, true},
		{"its credentials change", func(s map[string]secret) { s["far"].data["config"] = []byte(`{"bearerToken":"two"}`) }, true},
		{"its server changes", func(s map[string]secret) { s["far"].data["server"] = []byte("https://10.0.0.3") }, true},
		{"it is no cluster any more", func(s map[string]secret) { s["far"] = secret{kind: v1alpha1.SecretTypeRepository, data: there()} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := newSettings(func() {})
			set.secrets["far"] = secret{kind: v1alpha1.SecretTypeCluster, data: there()}
			clusters := newClusters(Config{REST: &rest.Config{Host: "https://127.0.0.1:4"}, Log: slog.New(slog.DiscardHandler), Outbound: &outward.Policy{Private: true}}, set, accountsOf(t), func(live.Event) {}, func() {})
			t.Cleanup(clusters.close)
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
