// Command slipway-server is the control plane: where people and programs meet the agents.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/slipway-gitops/slipway/internal/server"
)

// version is what the linker puts here (see the Makefile).
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := server.Command(version).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slipway-server:", err)
		os.Exit(1)
	}
}
