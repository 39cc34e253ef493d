package wave

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/claim"
)

const (
	// hold is for how long an upgrade is claimed, and every how often its agents are looked at: that they stay healthy for a while is
	// no event.
	hold, every = 30 * time.Second, time.Second
	// atATime is how many upgrades a server runs at a time.
	atATime = 5
)

// Storage keeps upgrades. What another server has by now is an error of Config.Lost.
type Storage interface {
	// ClaimUpgrade takes an upgrade that no server has; nil where there is none.
	ClaimUpgrade(ctx context.Context, holder string, hold time.Duration) (u *api.Upgrade, token string, err error)
	// HoldUpgrade keeps it for longer, and reads what people have asked for since.
	HoldUpgrade(ctx context.Context, id, holder string, hold time.Duration) (*api.Upgrade, error)
	UpgradeTargets(ctx context.Context, id string) ([]api.UpgradeTarget, error)
	KeepUpgrade(ctx context.Context, id, holder string, changed []api.UpgradeTarget) error
	EndUpgrade(ctx context.Context, id, holder, state, message string) error
	// ReleaseUpgrade gives it back, for any server to claim after a while.
	ReleaseUpgrade(ctx context.Context, id, holder string, after time.Duration) error
}

// Order is what an agent is to do.
type Order struct {
	Upgrade *api.Upgrade
	// Token is the id of the token that the upgrade was asked for with; "" for none.
	Token  string
	Target api.UpgradeTarget
}

// Doer looks at agents, and has them do things.
type Doer interface {
	Sight(ctx context.Context, agents []string) (map[string]Sight, error)
	// Do has an agent do what its state says: upgrade, or go back. The error is a Refusal where nothing was changed.
	Do(ctx context.Context, o Order) error
}

// Refusal is the error of an agent that was not changed.
type Refusal struct{ Why string }

// Error says why.
func (r *Refusal) Error() string { return r.Why }

// Config is what a Runner needs.
type Config struct {
	Storage Storage
	Doer    Doer
	Holder  string // this server
	// Changed is called for an upgrade of which something changed.
	Changed func(context.Context, *api.Upgrade)
	Lost    func(error) bool
	Log     *slog.Logger
	Now     func() time.Time
	// Every is the time between two looks at the agents of an upgrade; 0 for a second.
	Every time.Duration
}

// Runner runs upgrades.
type Runner struct {
	cfg    Config
	claims *claim.Runner[claimed]
}

// New is a Runner.
func New(cfg Config) *Runner {
	if cfg.Every == 0 {
		cfg.Every = every
	}
	r := &Runner{cfg: cfg}
	r.claims = claim.New(claim.Config[claimed]{
		Noun: "upgrade of agents", Most: atATime, Take: r.take, Do: r.one, Lost: cfg.Lost, Log: cfg.Log,
		Release: func(ctx context.Context, id string, after time.Duration) error {
			return cfg.Storage.ReleaseUpgrade(ctx, id, cfg.Holder, after)
		},
	})
	return r
}

// claimed is an upgrade that this server has.
type claimed struct {
	upgrade *api.Upgrade
	token   string
}

// Wake has it look for upgrades immediately.
func (r *Runner) Wake() { r.claims.Wake() }

// Run runs upgrades until ctx ends. Others go on with what it has begun.
func (r *Runner) Run(ctx context.Context) { r.claims.Run(ctx) }

// take claims an upgrade.
func (r *Runner) take(ctx context.Context) (claimed, string, error) {
	u, token, err := r.cfg.Storage.ClaimUpgrade(ctx, r.cfg.Holder, hold)
	if err != nil || u == nil {
		return claimed{}, "", err
	}
	return claimed{u, token}, u.ID, nil
}

// one runs an upgrade to its end, or until it is another server's.
func (r *Runner) one(ctx context.Context, c claimed) error {
	run := &running{Runner: r, u: c.upgrade, token: c.token, asked: map[string]bool{}, faults: map[string]error{}}
	return run.all(ctx)
}

// running is an upgrade that this server runs.
type running struct {
	*Runner
	u     *api.Upgrade
	token string

	mu     sync.Mutex
	asked  map[string]bool  // commands that this server has given
	faults map[string]error // what came of those that are answered; nil for what the agent does
}

func (r *running) all(ctx context.Context) error {
	var orders sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer orders.Wait()
	defer cancel()
	targets, err := r.cfg.Storage.UpgradeTargets(ctx, r.u.ID)
	if err != nil {
		return fmt.Errorf("read the agents of the upgrade: %w", err)
	}
	agents := make([]string, len(targets))
	for i := range targets {
		agents[i] = targets[i].Agent
	}
	ticker := time.NewTicker(r.cfg.Every)
	defer ticker.Stop()
	for {
		over, err := r.turn(ctx, targets, agents, &orders)
		if over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// turn looks at all agents once and does what comes next. What is to be done is kept before it is done.
func (r *running) turn(ctx context.Context, targets []api.UpgradeTarget, agents []string, orders *sync.WaitGroup) (over bool, err error) {
	fresh, err := r.cfg.Storage.HoldUpgrade(ctx, r.u.ID, r.cfg.Holder, hold)
	if err != nil {
		return false, err
	}
	r.u = fresh
	sight, err := r.cfg.Doer.Sight(ctx, agents)
	if err != nil {
		return false, fmt.Errorf("look at the agents of the upgrade: %w", err)
	}
	changed := r.answers(targets)
	move := Next(r.u, targets, sight, r.cfg.Now().UTC())
	for _, t := range move.Changed {
		targets[t.Place-1] = t
		changed[t.Place] = true
	}
	if len(changed) > 0 {
		kept := make([]api.UpgradeTarget, 0, len(changed))
		for place := range changed {
			kept = append(kept, targets[place-1])
		}
		if err := r.cfg.Storage.KeepUpgrade(ctx, r.u.ID, r.cfg.Holder, kept); err != nil {
			return false, err
		}
	}
	if move.State != "" {
		err := r.cfg.Storage.EndUpgrade(ctx, r.u.ID, r.cfg.Holder, move.State, move.Message)
		if err == nil {
			r.u.State, r.u.Message = move.State, move.Message
			r.cfg.Log.Info("upgrade of agents is over", "upgrade", r.u.ID, "state", move.State, "message", move.Message)
			r.cfg.Changed(ctx, r.u)
		}
		return err == nil, err
	}
	if len(changed) > 0 {
		r.cfg.Changed(ctx, r.u)
	}
	for _, t := range targets {
		r.order(ctx, t, orders)
	}
	return false, nil
}

// answers takes what came of commands. An agent that refused was not changed.
func (r *running) answers(targets []api.UpgradeTarget) map[int]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed := map[int]bool{}
	for i := range targets {
		t := &targets[i]
		err, answered := r.faults[t.Command]
		if !answered || t.Answered {
			continue
		}
		t.Answered, changed[t.Place] = true, true
		var no *Refusal
		switch {
		case !errors.As(err, &no):
		case t.State == api.UpgradeTargetUpgrading:
			t.State, t.Message, t.FinishedAt = api.UpgradeTargetRefused, no.Why, r.cfg.Now().UTC()
		case t.State == api.UpgradeTargetReturning:
			t.State, t.Message, t.FinishedAt = api.UpgradeTargetFailed, t.Message+"; it does not go back: "+no.Why, r.cfg.Now().UTC()
		}
	}
	return changed
}

// order gives an agent its command, once by this server. Another server may have given it before: it has the same id.
func (r *running) order(ctx context.Context, t api.UpgradeTarget, orders *sync.WaitGroup) {
	if t.Answered || t.Command == "" || t.State != api.UpgradeTargetUpgrading && t.State != api.UpgradeTargetReturning {
		return
	}
	r.mu.Lock()
	given := r.asked[t.Command]
	r.asked[t.Command] = true
	r.mu.Unlock()
	if given {
		return
	}
	order := Order{Upgrade: r.u, Token: r.token, Target: t}
	orders.Go(func() {
		err := r.cfg.Doer.Do(ctx, order)
		if ctx.Err() != nil {
			return // another server asks again
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.faults[t.Command] = err
	})
}
