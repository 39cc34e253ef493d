// Command slipway-agent keeps clusters at what Git says: it reads Applications and brings their destinations to the
// revisions that they name.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-gitops/slipway/internal/agent"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/sandbox"
)

// version is what the linker puts here (see the Makefile).
var version = "devel"

func main() {
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	if worker.IsChild(os.Args) {
		if err := worker.Main(os.Args, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := agent.Command()
	command.Version = version
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slipway-agent:", err)
		os.Exit(1)
	}
}
