package gitsource

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source/pace"
)

// Defaults of PoolOptions.
const (
	DefaultInterval = time.Minute
	wakesAtOnce     = 16
)

// PoolOptions configure a Pool. The zero value of a field means its default.
type PoolOptions struct {
	Interval  time.Duration // between two looks at a repository, ±10 %
	Stale     time.Duration // age from which known references are not answered any more, default three intervals
	Fresh     time.Duration // least time between two attempts at a failing repository, default 2 s
	FileLimit int64         // bytes of one file, default DefaultFileLimit
	Changed   func(Change)  // called without locks when followed revisions moved, failed or recovered; must not block
	Log       *slog.Logger
}

// Revision is what an application follows: a name as Refs.Resolve takes it.
type Revision struct {
	Name      string // branch, tag, range of versions, commit id, "" or HEAD
	TagPrefix string // of the tags that a range looks at
}

// Change says that followed revisions of a repository are to be resolved again.
type Change struct {
	URL       string // as Repo.URL
	Scope     string // as Repo.Scope
	Revisions []Revision
}

// Pool is the registry of repositories that all applications share. It is safe for concurrent use.
type Pool struct {
	client *git.Client
	opts   PoolOptions
	log    *slog.Logger
	loop   *pace.Loop[*Repo]

	mu    sync.Mutex
	repos map[string]*Repo
}

// NewPool makes a registry over a client.
func NewPool(client *git.Client, o PoolOptions) *Pool {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Stale <= 0 {
		o.Stale = 3 * o.Interval
	}
	if o.Fresh <= 0 {
		o.Fresh = 2 * time.Second
	}
	if o.Changed == nil {
		o.Changed = func(Change) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{client: client, opts: o, log: o.Log, repos: map[string]*Repo{}}
	p.loop = pace.NewLoop(o.Interval, p.all, o.Log)
	return p
}

// Get returns the repository at address as seen with cred, the same one for every spelling of the address. Nothing is
// asked of the remote yet. An error means that address or credential can never work.
func (p *Pool) Get(address string, cred git.Credential) (*Repo, error) {
	m, err := p.client.Mirror(address, cred)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.repos[m.Scope()]; r != nil {
		return r, nil
	}
	r := newRepo(p, m)
	p.repos[m.Scope()] = r
	return r, nil
}

// Wake reports a push to a repository, as a webhook announced it. Every repository with this address is read
// immediately, whatever its credential and however the address is spelled. Full reference names as hints limit it: those
// without followers are ignored. It returns when that is done; failures reach the followers through Changed.
func (p *Pool) Wake(ctx context.Context, address string, hints ...string) {
	remote, _, err := git.ParseRemote(address, true)
	if err != nil {
		return // a hint about what cannot be an address concerns no repository
	}
	asked := time.Now()
	var g errgroup.Group
	g.SetLimit(wakesAtOnce)
	for _, r := range p.all() {
		if r.mirror.Remote().Same(remote) && r.followed() {
			g.Go(func() error {
				p.loop.Do(r, func() { r.wake(ctx, asked, hints) })
				return nil
			})
		}
	}
	_ = g.Wait() // no function returns an error
}

// Run looks at every followed repository at its interval until ctx ends.
func (p *Pool) Run(ctx context.Context) error { return p.loop.Run(ctx) }

// Repos returns the repositories with followers, in no order.
func (p *Pool) Repos() []*Repo {
	return slices.DeleteFunc(p.all(), func(r *Repo) bool { return !r.followed() })
}

func (p *Pool) all() []*Repo {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*Repo, 0, len(p.repos))
	for _, r := range p.repos {
		out = append(out, r)
	}
	return out
}
