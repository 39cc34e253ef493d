package artifact

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/source/pace"
)

// DefaultInterval is the time between two looks at a remote.
const DefaultInterval = 3 * time.Minute

const (
	maxRepos    = 2000 // from here on, remotes without followers are dropped
	wakesAtOnce = 16
)

// PoolOptions configure a Pool. The zero value of a field means its default.
type PoolOptions struct {
	Interval time.Duration // between two looks at a remote, ±10 %
	Stale    time.Duration // age from which what is known is not answered any more, default three intervals
	Fresh    time.Duration // least time between two attempts at a failing remote, default 2 s
	Changed  func(Change)  // called without locks when followed revisions moved, failed or recovered; must not block
	Log      *slog.Logger
}

// Change says that followed revisions of a remote are to be resolved again.
type Change struct {
	URL       string // as Remote.URL
	Scope     string // as Remote.Scope
	Revisions []Revision
	Moved     []Moved // versions among them that were published again with other content
}

// Moved is a version whose content is another than it was.
type Moved struct {
	Revision      Revision
	Before, After Found
}

// Pool is the registry of remotes that all applications share. It is safe for concurrent use.
type Pool struct {
	opts PoolOptions
	log  *slog.Logger
	loop *pace.Loop[*Repo]

	mu    sync.Mutex
	repos map[string]*Repo // by scope
}

// NewPool makes an empty registry.
func NewPool(o PoolOptions) *Pool {
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
	p := &Pool{opts: o, log: o.Log, repos: map[string]*Repo{}}
	p.loop = pace.NewLoop(o.Interval, p.all, o.Log)
	return p
}

// Get returns what the pool knows of a remote. Of remotes with one scope the first is used, so making one must cost nothing: no
// connection and no goroutine.
func (p *Pool) Get(remote Remote) *Repo { return p.keep(newRepo(p, remote)) }

// keep returns the one repo of a scope, which is r where there was none.
func (p *Pool) keep(r *Repo) *Repo {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.repos[r.Scope()]; have != nil {
		return have
	}
	if len(p.repos) >= maxRepos {
		for scope, other := range p.repos {
			if !other.followed() {
				delete(p.repos, scope)
			}
		}
	}
	p.repos[r.Scope()] = r
	return r
}

// Wake reports that something was published: every followed remote that concerns accepts is asked immediately. It returns when
// that is done; failures reach the followers through Changed.
func (p *Pool) Wake(ctx context.Context, concerns func(Remote) bool) {
	asked := time.Now()
	var g errgroup.Group
	g.SetLimit(wakesAtOnce)
	for _, r := range p.Repos() {
		if concerns(r.remote) {
			g.Go(func() error {
				p.loop.Do(r, func() { r.look(ctx, asked) })
				return nil
			})
		}
	}
	_ = g.Wait() // no function returns an error
}

// Run looks at every followed remote at its interval until ctx ends.
func (p *Pool) Run(ctx context.Context) error { return p.loop.Run(ctx) }

// Repos returns the remotes with followers of something that can move, in no order.
func (p *Pool) Repos() []*Repo {
	return slices.DeleteFunc(p.all(), func(r *Repo) bool { return !r.followed() })
}

func (p *Pool) all() []*Repo {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.repos))
}

func (p *Pool) nextLook() time.Time { return time.Now().Add(pace.Jitter(p.opts.Interval)) }
