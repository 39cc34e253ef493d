package hosting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/clock"
)

const (
	// look is how often it is looked which agents there are. hold is for how long one is claimed: another server may start
	// it after that. give is after what time without the database its process is killed, so that it runs nowhere twice.
	look, hold, give = 5 * time.Second, 30 * time.Second, 20 * time.Second
	// renew is the age at which a registration token that was not used is replaced; it ends after an hour.
	renew = 45 * time.Minute
)

// Agent is a hosted agent, as it is kept.
type Agent struct {
	ID, UID            string
	Cluster, Namespace string
	// Registered means that it has keys, Revoked that they are invalid, Invited that it is to register again.
	Registered, Revoked, Invited bool
	// HeardAt is when it was heard last.
	HeardAt time.Time
}

// Storage keeps which agents are hosted, and the servers that run them.
type Storage interface {
	HostedAgents(context.Context) ([]Agent, error)
	// ClaimHosted takes an agent for a while, and reports whether it did: no other server has it. The server that has it claims
	// it again.
	ClaimHosted(ctx context.Context, uid, holder string, hold time.Duration) (bool, error)
	// ReleaseHosted gives an agent back.
	ReleaseHosted(ctx context.Context, uid, holder string) error
	// KeepHosted keeps how an agent is that holder has.
	KeepHosted(ctx context.Context, uid, holder string, how api.Hosting) error
}

// Options are what the operator decides.
type Options struct {
	// Dir holds the kubeconfigs; nothing is hosted where it is empty.
	Dir string
	// Program is slipway-agent.
	Program string
	// Data holds a directory for each agent.
	Data string
	// Memory is GOMEMLIMIT of each, such as 512MiB.
	Memory string
	// Users are those that agents run as, FIRST-LAST; empty for that of the server.
	Users string
	// Server is the URL that agents dial, CA a file with certificates that they trust beside the system's.
	Server, CA string
	// Outbound are variables that say what agents may connect to where users choose the address.
	Outbound []string
	// Environment names the variables that are handed on, beside PATH.
	Environment []string
}

// Config is what a Host needs.
type Config struct {
	Options
	Storage Storage
	// Register makes a token that registers an agent, once, within an hour.
	Register func(ctx context.Context, id string) (token string, err error)
	// Changed is called for an agent that is in another state.
	Changed func(ctx context.Context, uid string)
	// Holder names this server among those that share the storage.
	Holder string
	Log    *slog.Logger
}

// Host runs agents.
type Host struct {
	cfg      Config
	clusters Clusters
	users    users
	machine  string
	owners   sync.Mutex // while a user is given to an agent
	wake     chan struct{}
	units    map[string]*unit // by uid; of Run
}

// New is a Host. It fails where an option is none.
func New(cfg Config) (*Host, error) {
	h := &Host{cfg: cfg, clusters: Clusters(cfg.Dir), wake: make(chan struct{}, 1), units: map[string]*unit{}}
	var err error
	if h.users, err = parseUsers(cfg.Users); err != nil {
		return nil, err
	}
	if _, err := h.clusters.list(); err != nil {
		return nil, err
	}
	info, err := os.Stat(cfg.Program)
	if err != nil || info.IsDir() {
		return nil, fmt.Errorf("--hosted-agent %s is no program: give the path of slipway-agent", cfg.Program)
	}
	mode := os.FileMode(0o700)
	if h.users.some() {
		mode = 0o711 // others pass through to what is theirs
	}
	if err := os.MkdirAll(cfg.Data, mode); err != nil {
		return nil, fmt.Errorf("make --hosted-data directory: %w", err)
	}
	if err := h.copyCA(); err != nil {
		return nil, err
	}
	if h.machine, err = os.Hostname(); err != nil {
		h.machine = cfg.Holder
	}
	return h, nil
}

// caFile is a copy of the certificates that agents trust: they cannot look into the data directory of the server.
const caFile = "server-ca.crt"

func (h *Host) copyCA() error {
	if h.cfg.CA == "" {
		return nil
	}
	raw, err := os.ReadFile(h.cfg.CA)
	if err == nil {
		h.cfg.CA = filepath.Join(h.cfg.Data, caFile)
		err = os.WriteFile(h.cfg.CA, raw, 0o644) //nolint:gosec // certificates are public
	}
	if err != nil {
		return fmt.Errorf("copy the server's certificate for hosted agents: %w", err)
	}
	return nil
}

// Wake has it look immediately.
func (h *Host) Wake() {
	if h == nil {
		return
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Run runs agents until ctx ends. They end before it returns.
func (h *Host) Run(ctx context.Context) {
	timer := time.NewTimer(clock.About(look))
	defer timer.Stop()
	defer h.end(ctx)
	for {
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			h.cfg.Log.Error("look for hosted agents", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		case <-timer.C:
			timer.Reset(clock.About(look))
		}
	}
}

// end stops all agents and gives them back.
func (h *Host) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for _, u := range h.units {
		u.cancel()
	}
	for _, u := range h.units {
		<-u.done
		h.release(ctx, u)
	}
}

// look makes what runs what shall run.
func (h *Host) look(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, look)
	agents, err := h.cfg.Storage.HostedAgents(bounded)
	cancel()
	if err != nil {
		h.abandon()
		return err
	}
	known := map[string]bool{}
	var errs []error
	for _, a := range agents {
		known[a.UID] = true
		if err := h.one(ctx, a); err != nil {
			errs = append(errs, fmt.Errorf("hosted agent %s: %w", a.ID, err))
		}
	}
	h.abandon()
	// All are asked to end before one is waited for: until then, nothing renews this server's claims on the others.
	var gone []*unit
	for uid, u := range h.units {
		if !known[uid] {
			u.cancel()
			gone = append(gone, u)
		}
	}
	for _, u := range gone {
		h.stop(u)
		h.cfg.Log.Info("hosted agent is gone", "agent", u.agent.ID)
	}
	return errors.Join(append(errs, h.sweep(known))...)
}

// one starts an agent that no server runs, and goes on with one that this server runs.
func (h *Host) one(ctx context.Context, a Agent) error {
	u := h.units[a.UID]
	if _, err := h.clusters.Kubeconfig(a.Cluster); err != nil && u == nil {
		return nil // it is for a server that has the cluster
	} else if err != nil {
		h.stop(u)
		h.release(ctx, u)
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, look)
	defer cancel()
	began := time.Now()
	mine, err := h.cfg.Storage.ClaimHosted(bounded, a.UID, h.cfg.Holder, hold)
	if err != nil {
		return err
	}
	if !mine {
		if u != nil {
			h.cfg.Log.Warn("another server has the hosted agent", "agent", a.ID)
			u.kill()
			h.stop(u)
		}
		return nil
	}
	if u == nil {
		u = h.begin(ctx, a)
	}
	u.claimed = began
	return u.see(ctx, a)
}

// abandon kills what another server may start soon, since the claim could not be renewed.
func (h *Host) abandon() {
	for _, u := range h.units {
		if time.Since(u.claimed) > give {
			h.cfg.Log.Warn("hosted agent is ended: the database could not be asked in time whether it is this server's", "agent", u.agent.ID)
			u.kill()
			h.stop(u)
		}
	}
}

// stop ends an agent, and waits for that.
func (h *Host) stop(u *unit) {
	u.cancel()
	<-u.done
	delete(h.units, u.agent.UID)
}

// release lets another server have an agent immediately.
func (h *Host) release(ctx context.Context, u *unit) {
	if err := h.cfg.Storage.ReleaseHosted(ctx, u.agent.UID, h.cfg.Holder); err != nil {
		h.cfg.Log.Warn("give hosted agent back", "agent", u.agent.ID, "err", err)
	}
}

// begin takes an agent on.
func (h *Host) begin(ctx context.Context, a Agent) *unit {
	u := &unit{host: h, agent: a, done: make(chan struct{}), changed: make(chan struct{}, 1), hard: make(chan struct{})}
	var running context.Context
	running, u.cancel = context.WithCancel(ctx)
	h.units[a.UID] = u
	u.revoked.Store(a.Revoked && !a.Invited)
	go func() {
		defer close(u.done)
		u.run(running)
	}()
	return u
}
