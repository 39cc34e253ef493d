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
	if len(os.Args) == 3 && os.Args[1] == cloneWord {
		clone(os.Args[2])
	}
	goleak.VerifyTestMain(m)
}
