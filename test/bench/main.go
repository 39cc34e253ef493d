// Command bench measures a GitOps engine on a real Kubernetes control plane: how long it takes, what it costs and
// what it asks of the API server, each beside a bare client that writes the same objects. See README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1/crd"
	"github.com/slipway-gitops/slipway/test/bench/drive"
	"github.com/slipway-gitops/slipway/test/bench/rig"
	"github.com/slipway-gitops/slipway/test/bench/score"
)

// Exit codes.
const (
	exitOK     = 0
	exitError  = 1
	exitUsage  = 2
	exitMissed = 3
)

const (
	engineSlipway  = "slipway"
	engineExternal = "external"
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
		fmt.Fprintf(stderr, "bench: %v; see --help\n", err)
		return exitUsage
	}
	result, err := measure(ctx, o, stderr)
	if len(result.Workloads) > 0 {
		if printed := publish(o, result, err == nil, stdout); printed != nil {
			err = errors.Join(err, printed)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: %v\n", err)
		return exitError
	}
	if missed := result.Missed(); o.targets && len(missed) > 0 {
		fmt.Fprintf(stderr, "bench: missed targets: %s\n", strings.Join(missed, ", "))
		return exitMissed
	}
	return exitOK
}

// measure starts everything, runs the workloads and stops everything.
func measure(ctx context.Context, o options, stderr io.Writer) (result score.Result, err error) {
	log := slog.New(slog.NewTextHandler(stderr, nil))
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return result, fmt.Errorf("make directory: %w", err)
	}
	defer func() {
		if o.keep {
			log.Info("kept", "directory", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	load := rig.Load()
	if o.links() {
		if err := rig.FindServer(o.server); err != nil {
			return result, err
		}
	}
	if o.kubeconfig == "" {
		log.Info("starting a development cluster")
		cluster, err := rig.StartCluster(ctx, o.devcluster, dir)
		if err != nil {
			return result, err
		}
		defer cluster.Close()
		o.kubeconfig = cluster.Kubeconfig
	}
	forge, err := rig.StartForge(dir)
	if err != nil {
		return result, err
	}
	defer forge.Close()
	crds := [][]byte{}
	if o.engine == engineSlipway {
		if crds, err = crd.Manifests(); err != nil {
			return result, err
		}
	}
	result, err = drive.Run(ctx, drive.Config{
		Shape: o.shape, Waves: o.waves, Workloads: o.workloads, Runs: o.runs, Kubeconfig: o.kubeconfig, Namespace: o.namespace,
		Commits: o.commits, Drifted: o.drifted, IdleFor: o.idle, Timeout: o.timeout, AllObjects: o.allObjects,
		ProfileDir: o.profile, ProfileLength: o.profileFor, CRDs: crds, Forge: forge, Keep: o.keep, Log: log,
		Start: func(ctx context.Context, number int) (*rig.Engine, error) { return startEngine(ctx, o, dir, number) },
		StartSite: func(ctx context.Context, name string) (string, func(), error) {
			site, err := rig.StartSite(ctx, o.devcluster, dir, name)
			if err != nil {
				return "", nil, err
			}
			return site.Kubeconfig, site.Close, nil
		},
		StartLinked: func(ctx context.Context, number int) (*rig.Engine, error) {
			return rig.StartLinked(ctx, o.agentOptions(fmt.Sprintf("%s/agent-%d-linked", dir, number+1)), o.server, o.shape.Apps)
		},
	})
	result.Engine.Kind, result.Load = o.engine, load
	if o.engine == engineSlipway {
		result.Engine.Version = rig.Version(ctx, o.agent)
	}
	return result, err
}

func startEngine(ctx context.Context, o options, dir string, number int) (*rig.Engine, error) {
	if o.engine == engineExternal {
		return rig.External(o.pids, o.webhook, o.metrics)
	}
	return rig.StartAgent(ctx, o.agentOptions(fmt.Sprintf("%s/agent-%d", dir, number+1)))
}

func (o options) agentOptions(dir string) rig.AgentOptions {
	return rig.AgentOptions{
		Binary: o.agent, Kubeconfig: o.kubeconfig, Namespace: o.namespace, Dir: dir, Profiling: o.profile != "", Extra: o.agentArgs,
	}
}

// publish prints the result and stores it. A result that is not whole never becomes the baseline.
func publish(o options, result score.Result, whole bool, stdout io.Writer) error {
	if err := score.WriteTable(stdout, result); err != nil {
		return err
	}
	if o.out != "" {
		if err := save(o.out, result); err != nil {
			return err
		}
	}
	if o.record && whole {
		return save(o.baseline, result)
	}
	if o.baseline == "" {
		return nil
	}
	text, err := os.ReadFile(o.baseline)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(stdout, "\nno baseline at %s; record one with --record\n", o.baseline)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read baseline: %w", err)
	}
	var baseline score.Result
	if err := json.Unmarshal(text, &baseline); err != nil {
		return fmt.Errorf("read baseline %s: %w; record it again with --record", o.baseline, err)
	}
	changes, err := score.Compare(baseline, result)
	if err != nil {
		// Other sizes on purpose are no fault of the run.
		fmt.Fprintf(stdout, "\n%v\n", err)
		return nil
	}
	return score.WriteChanges(stdout, baseline, result, changes)
}

func save(file string, result score.Result) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}
