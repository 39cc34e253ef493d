package access_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/remote"
)

// Who signs in while the environment names another place learns that commands still go there.
func TestWhatOverrulesTheCurrentContextIsNamed(t *testing.T) {
	current := remote.Context{Name: "prod", Server: "https://prod.example.org"}
	for _, c := range []struct{ name, server, kubeconfig, want string }{
		{"nothing", "", "", ""},
		{"a cluster", "", "/tmp/kubeconfig", "KUBECONFIG is set"},
		{"another server", "https://other.example.org", "", "SLIPWAY_SERVER is https://other.example.org"},
		{"a server before a cluster", "https://other.example.org", "/tmp/kubeconfig", "SLIPWAY_SERVER is https://other.example.org"},
		{"this server by its address", "https://prod.example.org", "/tmp/kubeconfig", ""},
		{"this server by its name", "prod", "/tmp/kubeconfig", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("SLIPWAY_SERVER", c.server)
			t.Setenv("KUBECONFIG", c.kubeconfig)
			if got := access.Overruled(current); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}
