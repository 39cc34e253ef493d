// Command bench-fleet measures the control plane with a fleet that is simulated: the real server, and in this process many
// agents with the real link that report Applications which are deployed nowhere. See docs/benchmark.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2
	exitMissed = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process immediately; the kernel takes its children with it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	o, err := parse(arguments, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "bench-fleet: %v; see --help\n", err)
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	result, err := measure(ctx, o, log, stdout)
	if len(result.Figures) > 0 && !o.hold {
		err = errors.Join(err, publish(o, result, err == nil, stdout))
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench-fleet: %v\n", err)
		return exitError
	}
	if missed := result.missed(); o.targets && len(missed) > 0 {
		fmt.Fprintf(stderr, "bench-fleet: missed targets: %s\n", strings.Join(missed, ", "))
		return exitMissed
	}
	return exitOK
}
