package chaos

import (
	"path/filepath"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// newAgent prepares an agent with a data directory of its own.
func newAgent(t *testing.T, kubeconfig string, args ...string) *testenv.Process {
	t.Helper()
	dir := t.TempDir()
	return testenv.NewProcess(t, "agent", "slipway-agent", dir, append([]string{
		"--standalone", "--kubeconfig", kubeconfig, "--data", filepath.Join(dir, "data"),
	}, args...)...)
}
