package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/internal/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
