// Command slipway is the command line: it works with applications in a cluster, renders and compares offline, and runs
// everything on one machine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-gitops/slipway/internal/cli"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/sandbox"
)

func main() {
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	if worker.IsChild(os.Args) {
		if err := worker.Main(os.Args, os.Stdin, os.Stdout); err != nil {
			os.Exit(iostream.CodeError)
		}
		return
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	return cli.Run(ctx, os.Args[1:], iostream.System())
}
