package artifact

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/pace"
)

const (
	maxKnown   = 2000 // revisions whose answer is kept; what is not followed goes first
	maxFetches = 1000 // contents whose failures are kept
	fetchAgain = 10 * time.Second
)

// Repo is a remote with those who follow it. It is safe for concurrent use.
type Repo struct {
	pool   *Pool
	remote Remote
	turn   chan struct{} // holds one token: the right to ask the remote

	mu      sync.Mutex
	known   map[Revision]answer
	follows map[Revision]int
	told    map[Revision]string // what the followers know: a version and its digest, or "!" and an error
	moved   map[Revision]Moved
	tries   pace.Tries // to reach the remote
	good    time.Time  // when the last good attempt began
	next    time.Time  // when to look again
	fetches map[content]*fetch
}

// answer is what the remote answered about a revision.
type answer struct {
	found Found
	err   error // that it has no such version; nil where it has one
	at    time.Time
}

// content is one version of a chart.
type content struct {
	chart string
	found Found
}

// fetch is how fetching a content went.
type fetch struct {
	turn  chan struct{} // holds one token: the right to fetch it
	tries pace.Tries
}

func newRepo(p *Pool, remote Remote) *Repo {
	return &Repo{
		pool: p, remote: remote, turn: make(chan struct{}, 1), known: map[Revision]answer{}, follows: map[Revision]int{},
		told: map[Revision]string{}, moved: map[Revision]Moved{}, fetches: map[content]*fetch{},
	}
}

// URL is the address without user information, spelled one way.
func (r *Repo) URL() string { return r.remote.URL() }

// Scope identifies (address, credential) without revealing the credential, also over restarts.
func (r *Repo) Scope() string { return r.remote.Scope() }

// Remote is what the repo asks.
func (r *Repo) Remote() Remote { return r.remote }

// Err is the error of the last attempt to reach the remote, nil after a good one.
func (r *Repo) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries.Err
}

// Moved returns how the content of a revision changed under its version, where it did since the agent started.
func (r *Repo) Moved(rev Revision) (Moved, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.moved[rev]
	return m, ok && m.After == r.known[rev].found
}

// Follow keeps an eye on a revision until the returned function is called. Pool.Run looks at it, Changed reports it.
func (r *Repo) Follow(rev Revision) (unfollow func()) {
	if kept := r.pool.keep(r); kept != r {
		return kept.Follow(rev)
	}
	r.mu.Lock()
	r.follows[rev]++
	if r.next.IsZero() {
		r.next = r.pool.nextLook()
	}
	r.mu.Unlock()
	r.pool.loop.Poke()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.follows[rev]--; r.follows[rev] <= 0 {
			delete(r.follows, rev)
			delete(r.told, rev)
		}
	})
}

// Resolve returns what a revision stands for. It answers from what is known, and asks the remote where that is too old. Where
// since is set, what was learned from the remote before it is ignored. A remote that fails is left alone for a while: until then its
// last error is returned. An exact version that was found once is answered also while the remote fails: its content is at hand.
func (r *Repo) Resolve(ctx context.Context, rev Revision, since time.Time) (Found, error) {
	asked, fresh := time.Now(), !since.IsZero()
	if fresh {
		asked = since
	}
	a, ok := r.answered(rev, asked, fresh)
	if !ok {
		var err error
		if a, err = r.ask(ctx, rev, asked, fresh); err != nil {
			a = r.withoutRemote(ctx, rev, err)
		}
	}
	r.mu.Lock()
	if r.follows[rev] > 0 && ctx.Err() == nil {
		r.told[rev] = a.state()
	}
	r.mu.Unlock()
	if !ok {
		r.notify() // what was learned for one asker concerns every follower
	}
	return a.found, a.err
}

// Tip returns the revision that a tree of rev would have, and when the remote was asked. It answers from what is known where that is
// not older than age, and asks the remote otherwise. Nothing is fetched. With an error it returns what was known before, if anything
// was.
func (r *Repo) Tip(ctx context.Context, rev Revision, age time.Duration) (revision string, seen time.Time, err error) {
	since := time.Now().Add(-age)
	if _, seen = r.tip(rev); !seen.After(since) {
		_, err = r.Resolve(ctx, rev, since)
	}
	revision, seen = r.tip(rev)
	return revision, seen, err
}

// tip is what is known of a revision, and since when.
func (r *Repo) tip(rev Revision) (string, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.known[rev]
	if rev.Chart == "" {
		return a.found.Digest, a.at
	}
	return a.found.Version, a.at
}

// answered answers from memory.
func (r *Repo) answered(rev Revision, asked time.Time, fresh bool) (answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.known[rev]
	switch {
	case !ok:
		return a, false
	case fresh:
		return a, a.at.After(asked) || a.err == nil && Pinned(rev.Version)
	case a.err != nil:
		return a, r.tries.Err == nil && asked.Sub(a.at) < r.pool.opts.Interval
	case Exact(rev.Version):
		return a, true
	}
	// After a failure every follower gets the error, not only the caller: else it would come and go with what asks next.
	return a, r.tries.Err == nil && asked.Sub(a.at) <= r.pool.opts.Stale
}

// withoutRemote is the answer where the remote could not be asked because of err.
func (r *Repo) withoutRemote(ctx context.Context, rev Revision, err error) answer {
	r.mu.Lock()
	a, ok := r.known[rev]
	r.mu.Unlock()
	if ctx.Err() != nil || !Exact(rev.Version) {
		return answer{err: err}
	}
	if ok && a.err == nil {
		return a
	}
	if memory, can := r.remote.(Recalling); can {
		if f, ok := memory.Recall(rev); ok {
			return answer{found: f}
		}
	}
	return answer{err: err}
}

// ask asks the remote about a revision, unless another caller did so after asked. The error is about the remote; what it answers
// is in the answer, also that it has no such version.
func (r *Repo) ask(ctx context.Context, rev Revision, asked time.Time, fresh bool) (answer, error) {
	if err := take(ctx, r.turn); err != nil {
		return answer{}, err
	}
	defer func() { <-r.turn }()
	if a, ok := r.answered(rev, asked, fresh); ok { // another caller asked while this one waited
		return a, nil
	}
	r.mu.Lock()
	a, ok := r.known[rev]
	err := r.tries.Held(asked, fresh, r.pool.opts.Fresh)
	r.mu.Unlock()
	if ok && a.at.After(asked) {
		return a, nil
	}
	if err != nil {
		return answer{}, err
	}
	since := asked
	if !fresh {
		since = asked.Add(-r.pool.opts.Interval) // what was read for other revisions a moment ago is good enough
	}
	return r.find(ctx, rev, since)
}

// find asks the remote and keeps what it answers. The turn is held.
func (r *Repo) find(ctx context.Context, rev Revision, since time.Time) (answer, error) {
	began := time.Now()
	found, err := r.remote.Find(ctx, rev, since)
	if err != nil && ctx.Err() != nil {
		return answer{}, err // an attempt that the asker gave up says nothing about the remote
	}
	a := answer{found: found, at: began}
	if isAbsent(err) {
		a.err, err = err, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries = r.tries.After(err, time.Now())
	if err != nil {
		r.pool.log.Warn("repository failed", slog.String("repo", r.URL()), slog.Int("failures", r.tries.Failed),
			slog.Time("retry", r.tries.Retry), slog.Any("err", err))
		return answer{}, err
	}
	r.good = began
	before, had := r.known[rev]
	if had && before.err == nil && a.err == nil && sameVersionOtherContent(before.found, found) {
		r.moved[rev] = Moved{Revision: rev, Before: before.found, After: found}
		r.pool.log.Warn("version was published again with other content", slog.String("repo", r.URL()), slog.String("chart", rev.Chart),
			slog.String("version", found.Version), slog.String("before", before.found.Digest), slog.String("after", found.Digest))
	}
	if !had && len(r.known) >= maxKnown {
		for other := range r.known {
			if r.follows[other] == 0 {
				delete(r.known, other)
				delete(r.moved, other)
			}
		}
	}
	r.known[rev] = a
	return a, nil
}

func sameVersionOtherContent(before, after Found) bool {
	return before.Version == after.Version && before.Digest != "" && after.Digest != "" && before.Digest != after.Digest
}

// state stands for an answer among those that followers got.
func (a answer) state() string {
	if a.err != nil {
		return "!" + a.err.Error()
	}
	return a.found.Version + " " + a.found.Digest
}

// look asks about every followed revision, as it is after asked, and notifies the followers.
func (r *Repo) look(ctx context.Context, asked time.Time) {
	r.mu.Lock()
	revs := make([]Revision, 0, len(r.follows))
	for rev := range r.follows {
		if !Pinned(rev.Version) {
			revs = append(revs, rev)
		}
	}
	r.mu.Unlock()
	for _, rev := range revs {
		if _, err := r.ask(ctx, rev, asked, true); err != nil {
			break // find has kept the error, and notify reports it
		}
	}
	r.notify()
}

// Poll is look at the interval.
func (r *Repo) Poll(ctx context.Context) func() {
	r.look(ctx, time.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = r.pool.nextLook()
	return nil
}

// notify reports what followers do not know yet.
func (r *Repo) notify() {
	r.mu.Lock()
	c := Change{URL: r.URL(), Scope: r.Scope()}
	lost := r.tries.Err != nil && time.Since(r.good) > r.pool.opts.Stale
	for rev := range r.follows {
		a, ok := r.known[rev]
		state := a.state()
		switch {
		case lost && !(ok && a.err == nil && Exact(rev.Version)):
			state = "!" + r.tries.Err.Error()
		case !ok, r.tries.Err != nil:
			continue
		}
		if r.told[rev] == state {
			continue
		}
		r.told[rev] = state
		c.Revisions = append(c.Revisions, rev)
		if m, ok := r.moved[rev]; ok && m.After == a.found {
			c.Moved = append(c.Moved, m)
		}
	}
	r.mu.Unlock()
	if len(c.Revisions) == 0 {
		return
	}
	slices.SortFunc(c.Revisions, func(a, b Revision) int {
		return cmp.Or(cmp.Compare(a.Chart, b.Chart), cmp.Compare(a.Version, b.Version))
	})
	r.pool.opts.Changed(c)
}

// followed reports whether there is a follower of something that can move.
func (r *Repo) followed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev := range r.follows {
		if !Pinned(rev.Version) {
			return true
		}
	}
	return false
}

// Due is when to look next; false without followers.
func (r *Repo) Due() (time.Time, bool) {
	if !r.followed() {
		return time.Time{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next.Before(r.tries.Retry) {
		return r.tries.Retry, true
	}
	return r.next, true
}

// Tree returns the files of what Resolve found. One content is fetched once at a time, and one that cannot be fetched is left alone
// for a while.
func (r *Repo) Tree(ctx context.Context, chart string, f Found) (source.Tree, error) {
	asked, key := time.Now(), content{chart, f}
	r.mu.Lock()
	one := r.fetches[key]
	if one == nil {
		if len(r.fetches) >= maxFetches {
			clear(r.fetches)
		}
		one = &fetch{turn: make(chan struct{}, 1)}
		r.fetches[key] = one
	}
	r.mu.Unlock()
	if err := take(ctx, one.turn); err != nil {
		return nil, err
	}
	defer func() { <-one.turn }()
	if err := one.tries.Held(asked, true, fetchAgain); err != nil {
		return nil, err
	}
	tree, err := r.remote.Fetch(ctx, chart, f)
	if err == nil || ctx.Err() == nil {
		one.tries = one.tries.After(err, time.Now())
	}
	return tree, err
}

// take takes the one token of a turn.
func take(ctx context.Context, turn chan struct{}) error {
	select {
	case turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
