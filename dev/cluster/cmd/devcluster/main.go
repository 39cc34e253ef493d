// Command devcluster runs a Kubernetes control plane with simulated nodes on
// the loopback interface, for development and tests. See dev/cluster/README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/component-base/version"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/cluster"
)

// gcPercent is the growth of the heap that starts a garbage collection.
const gcPercent = 200

func main() {
	os.Exit(run(os.Args[1:]))
}

// given reports whether a flag was set.
func given(flags *flag.FlagSet, name string) (set bool) {
	flags.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

func run(arguments []string) int {
	config := cluster.Config{Out: os.Stderr}
	flags := flag.NewFlagSet("devcluster", flag.ContinueOnError)
	flags.StringVar(&config.Data, "data", "", "directory of everything the cluster keeps (required)")
	flags.IntVar(&config.Port, "port", 0, "port of the API server on 127.0.0.1; 0 is the one used before, or a free one")
	flags.IntVar(&config.Nodes, "nodes", 3, "number of simulated nodes")
	flags.BoolVar(&config.Bare, "bare", false, "etcd and the API server only: no controllers, no scheduler, no nodes")
	flags.StringVar(&config.AuditLog, "audit-log", "", "file for the audit log of the API server: a line of JSON for each request")
	flags.StringVar(&config.WhileLocked, "while-locked", "", "stop once no process holds a shared lock (flock) on this file")
	flags.DurationVar(&config.Grace, "grace", time.Minute, "with --while-locked: for how long the lock must be free")
	showVersion := flags.Bool("version", false, "print the version of Kubernetes and exit")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if *showVersion {
		fmt.Fprintln(os.Stdout, version.Get().GitVersion)
		return 0
	}
	if config.Bare && !given(flags, "nodes") {
		config.Nodes = 0
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "devcluster: unexpected argument %q: see --help\n", flags.Arg(0))
		return 2
	}
	if err := config.Validate(); err != nil {
		fmt.Fprintf(os.Stderr, "devcluster: %v\n", err)
		return 2
	}

	if os.Getenv("GOGC") == "" {
		// Speed for memory: many short-lived objects on a small heap.
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process immediately.
	context.AfterFunc(ctx, stop)
	if err := cluster.Run(ctx, config); err != nil {
		fmt.Fprintf(os.Stderr, "devcluster: %v\n", err)
		return 1
	}
	return 0
}
