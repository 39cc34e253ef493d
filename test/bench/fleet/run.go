package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/test/bench/fleet/plane"
	"github.com/slipway-gitops/slipway/test/bench/fleet/swarm"
	"github.com/slipway-gitops/slipway/test/bench/meter"
	"github.com/slipway-gitops/slipway/test/bench/rig"
)

// Targets, on two cores with the agents on the same machine.
const (
	limitStorm     = 60  // seconds
	limitPage      = 50  // milliseconds
	limitDashboard = 100 // milliseconds
	limitCommand   = 100 // milliseconds
	limitMemory    = 400 // MiB
)

// lookEvery is the time between two looks at what has no event.
const lookEvery = 100 * time.Millisecond

// bench is one run.
type bench struct {
	o      options
	log    *slog.Logger
	server *plane.Server
	world  *plane.World
	swarm  *swarm.Swarm
	result result
	peak   float64 // MiB, of all phases
}

// measure starts everything, goes through the phases, and stops everything.
func measure(ctx context.Context, o options, log *slog.Logger, stdout io.Writer) (r result, err error) {
	dir, err := os.MkdirTemp("", "slipway-bench-fleet-")
	if err != nil {
		return r, fmt.Errorf("make directory: %w", err)
	}
	defer func() {
		if o.keep {
			log.Info("kept", "directory", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	b := &bench{o: o, log: log, result: result{
		Version: resultVersion, Time: time.Now().UTC(), Machine: rig.Machine(), Load: rig.Load(), Database: "SQLite",
		Server: rig.Version(ctx, o.server), Agents: o.agents, Applications: o.agents * (o.applications + min(o.big, 1)),
		Seed: o.seed, Churn: o.churn,
	}}
	if o.postgres {
		db, err := plane.StartPostgres(ctx)
		if err != nil {
			return r, err
		}
		defer db.Close()
		b.o.database = db.URL
	}
	if b.o.database != "" {
		b.result.Database = "PostgreSQL"
	}
	if b.server, err = plane.Start(ctx, plane.Options{Binary: o.server, Dir: dir, Database: b.o.database, Listen: o.listen}); err != nil {
		return r, err
	}
	defer b.server.Close()
	if err := b.prepare(ctx); err != nil {
		return b.result, err
	}
	defer b.swarm.Close()
	if o.hold {
		return b.result, b.holdOn(ctx, stdout)
	}
	for _, phase := range []struct {
		name string
		run  func(context.Context, string) error
	}{
		{"connect storm", b.storm}, {"churn", b.churn}, {"reconnect storm", b.reconnect},
	} {
		if err := b.phase(ctx, phase.name, phase.run); err != nil {
			return b.result, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	b.add(figure{Phase: "all", Name: "peak memory (PSS)", Unit: "MiB", Value: b.peak, Limit: limitMemory})
	return b.result, nil
}

func (b *bench) add(figures ...figure) { b.result.Figures = append(b.result.Figures, figures...) }

// prepare makes who owns what, and agents that are registered and not connected.
func (b *bench) prepare(ctx context.Context) (err error) {
	begun := time.Now()
	var projects []string
	for i := range swarm.Teams {
		projects = append(projects, swarm.Team(i))
	}
	if b.world, err = b.server.Populate(ctx, b.o.organizations, b.o.agents, projects); err != nil {
		return err
	}
	b.swarm, err = swarm.New(ctx, swarm.Options{
		Agents: b.o.agents, Applications: b.o.applications, Big: b.o.big, Seed: b.o.seed, Server: b.server.URL, CA: b.server.CA,
		Log: slog.New(quiet{b.log.Handler()}),
	}, b.world.Tokens)
	if err != nil {
		return err
	}
	b.result.MeanBytes = b.swarm.Bytes() / b.result.Applications
	b.log.Info("registered", "agents", b.o.agents, "took", time.Since(begun).Round(time.Millisecond).String())
	return nil
}

// quiet drops what agents say that is no error.
type quiet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q quiet) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

// WithAttrs implements slog.Handler.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// phase runs one phase and adds what it cost the server.
func (b *bench) phase(ctx context.Context, name string, do func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, b.o.timeout+b.o.length)
	defer cancel()
	b.log.Info("begin", "phase", name)
	tree := meter.NewTree(b.server.PID())
	before, err := tree.CPU()
	if err != nil {
		return err
	}
	sampler := meter.NewSampler(ctx, tree)
	defer sampler.Close()
	pid := b.server.PID()
	if err := do(ctx, name); err != nil {
		return err
	}
	peak := sampler.Take()
	if b.server.PID() != pid { // it was killed: the one that runs now counts
		tree, before = meter.NewTree(b.server.PID()), 0
		if peak, err = tree.Memory(); err != nil {
			return err
		}
		peak.PSS = max(peak.PSS, peak.HWM)
	}
	after, err := tree.CPU()
	if err != nil {
		return err
	}
	mebibytes := float64(peak.Judged()) / (1 << 20)
	b.peak = max(b.peak, mebibytes)
	b.add(
		figure{Phase: name, Name: "processor time of the server", Unit: "s", Value: (after - before).Seconds()},
		figure{Phase: name, Name: "peak memory of the server (PSS)", Unit: "MiB", Value: mebibytes},
	)
	return nil
}

// storm lets all agents connect simultaneously.
func (b *bench) storm(ctx context.Context, name string) error {
	begun := time.Now()
	b.swarm.Start(context.WithoutCancel(ctx)) // they go on after this phase
	connected, err := b.complete(ctx, begun)
	if err != nil {
		return err
	}
	b.add(
		figure{Phase: name, Name: "all agents connected", Unit: "s", Value: connected.Seconds()},
		figure{Phase: name, Name: "list complete, nothing pending", Unit: "s", Value: time.Since(begun).Seconds(), Limit: limitStorm},
	)
	return nil
}

// complete waits until the server has all of all agents, and returns when all were connected.
func (b *bench) complete(ctx context.Context, begun time.Time) (connected time.Duration, err error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := b.server.Alive(); err != nil {
			return 0, err
		}
		here := b.swarm.Connected()
		if here == b.o.agents && connected == 0 {
			connected = time.Since(begun)
		}
		pending, total := b.swarm.Pending(), int64(-1)
		if connected > 0 && pending == 0 {
			page, err := b.server.Admin.Applications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Limit: 1}}})
			if total = page.Total; err == nil && total == int64(b.result.Applications) {
				return connected, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, fmt.Errorf("wait until the server has everything: %w: %d of %d agents are connected, %d changes pending, "+
				"%d of %d applications there",
				ctx.Err(), here, b.o.agents, pending, total, b.result.Applications)
		}
	}
}

// reconnect kills the server, changes something in the meantime, and waits until all agents are back and all of it is reported.
func (b *bench) reconnect(ctx context.Context, name string) error {
	epochs, err := b.epochs(ctx)
	if err != nil {
		return err
	}
	b.server.Kill()
	away, stop := context.WithTimeout(ctx, 2*time.Second)
	changed, err := b.swarm.Churn(away, b.o.churn, rand.New(rand.NewPCG(b.o.seed, 2)), func(int, string) {})
	stop()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := b.server.Restart(); err != nil {
		return err
	}
	if err := b.server.Ready(ctx); err != nil {
		return err
	}
	ready := time.Since(begun)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for back := 0; back < b.o.agents; {
		now, err := b.epochs(ctx)
		back = 0
		for id, was := range epochs {
			if err == nil && now[id] > was {
				back++
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the agents: %w: %d of %d are back", ctx.Err(), back, b.o.agents)
		}
	}
	returned := time.Since(begun)
	if _, err := b.complete(ctx, begun); err != nil {
		return err
	}
	b.add(
		figure{Phase: name, Name: "server ready", Unit: "s", Value: ready.Seconds()},
		figure{Phase: name, Name: "all agents back", Unit: "s", Value: returned.Seconds()},
		figure{
			Phase: name, Name: fmt.Sprintf("%d changes of that time reported", changed), Unit: "s",
			Value: time.Since(begun).Seconds(), Limit: limitStorm,
		},
	)
	return nil
}

// epochs returns the session that each connected agent has, by id.
func (b *bench) epochs(ctx context.Context) (map[string]int64, error) {
	all, err := b.server.Admin.AgentEntities().All(ctx, api.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, a := range all {
		if a.Status.State == api.AgentConnected {
			out[a.ID] = a.Status.Epoch
		}
	}
	return out, nil
}

// holdOn lets a fleet live until ctx ends.
func (b *bench) holdOn(ctx context.Context, stdout io.Writer) error {
	begun := time.Now()
	b.swarm.Start(context.WithoutCancel(ctx))
	if _, err := b.complete(ctx, begun); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\nCA: %s\nsign in as %s with %s\n%d agents, %d applications, %g changes/s; stop with Ctrl-C\n",
		b.server.URL, b.server.CA, plane.User, plane.Password, b.o.agents, b.result.Applications, b.o.churn)
	_, err := b.swarm.Churn(ctx, b.o.churn, rand.New(rand.NewPCG(b.o.seed, 1)), func(int, string) {})
	return err
}
