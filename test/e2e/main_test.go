// Package e2e tells how Slipway behaves, as stories: each *.txtar file is a script that works with a real API server, a
// real Git server and a real agent process, and says what must come of it. Begin with commit.txtar. README.md lists the
// commands that the scripts have.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/slipway-gitops/slipway/internal/agent"
	"github.com/slipway-gitops/slipway/internal/cli"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/sandbox"
	"github.com/slipway-gitops/slipway/internal/server"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// parallelStories is how many stories run at a time: they wait most of the time.
const parallelStories = "8"

// TestMain makes this binary four programs in one, so that server, agent and command line are real processes and yet
// always as new as the sources: the tests, slipway-server, slipway-agent and slipway. What these do here is what their
// mains do.
func TestMain(m *testing.M) {
	if worker.IsChild(os.Args) {
		if err := worker.Main(os.Args, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	testscript.Main(checked{m}, map[string]func(){"slipway-agent": agentMain, "slipway-server": serverMain, "slipway": cliMain})
}

// checked runs the tests and then looks for goroutines that were left behind.
type checked struct{ m *testing.M }

// Run runs the tests.
func (c checked) Run() int {
	flag.Parse()
	parallelChosen := false
	flag.Visit(func(f *flag.Flag) { parallelChosen = parallelChosen || f.Name == "test.parallel" })
	if !parallelChosen {
		if err := flag.Set("test.parallel", parallelStories); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := c.m.Run()
	if code == 0 {
		if err := testenv.Leaked(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func agentMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := agent.Command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slipway-agent:", err)
		os.Exit(1)
	}
}

func serverMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := server.Command("test").ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "slipway-server:", err)
		os.Exit(1)
	}
}

func cliMain() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Run(ctx, os.Args[1:], iostream.System()))
}
