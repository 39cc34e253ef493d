package gitsource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source/pace"
)

const (
	missingFor = time.Minute // a commit that was looked for in vain is not looked for again
	maxMissing = 1000
	maxOpened  = 64 // commits kept open
	minAbbrev  = 7  // digits of an abbreviated commit id, as in Argo CD
)

// Repo is one repository as seen with one credential. It is safe for concurrent use.
type Repo struct {
	pool   *Pool
	mirror *git.Mirror
	memo   *memo
	turn   chan struct{} // holds one token: the right to talk to the remote

	mu      sync.Mutex
	refs    git.Refs
	listed  time.Time            // when the last good listing began
	headed  time.Time            // when the last good listing with HEAD began
	have    map[string]held      // reference -> what it is in the mirror
	fetched map[string]time.Time // reference -> when its last good fetch began
	epoch   uint64               // of the mirror that have is about
	follows map[Revision]int
	told    map[Revision]string // what the followers know: a commit with its tag, or "!" and an error
	missing map[string]missed
	tries   pace.Tries        // to reach the remote
	next    time.Time         // when to look again
	dropped bool              // a revision is no longer followed
	opened  map[string]opened // by commit
	damaged bool              // the mirror lacks objects that it must have
}

type missed struct {
	at  time.Time
	err error
}

func newRepo(p *Pool, m *git.Mirror) *Repo {
	return &Repo{
		pool: p, mirror: m, memo: newMemo(), turn: make(chan struct{}, 1),
		have: map[string]held{}, fetched: map[string]time.Time{}, follows: map[Revision]int{}, told: map[Revision]string{},
		missing: map[string]missed{}, opened: map[string]opened{},
	}
}

// URL is the address without user information, spelled one way.
func (r *Repo) URL() string { return r.mirror.URL() }

// Remote is the parsed address.
func (r *Repo) Remote() git.Remote { return r.mirror.Remote() }

// Scope identifies (repository, credential) without revealing the credential, also over restarts. It belongs in the
// key of every cache of what was made from the repository.
func (r *Repo) Scope() string { return r.mirror.Scope() }

// Err is the error of the last attempt to reach the repository, nil after a good one.
func (r *Repo) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries.Err
}

// Follow keeps an eye on a revision until the returned function is called. Pool.Run looks at it, Changed reports it.
func (r *Repo) Follow(rev Revision) (unfollow func()) {
	r.mu.Lock()
	r.follows[rev]++
	if r.next.IsZero() {
		r.next = time.Now().Add(pace.Jitter(r.pool.opts.Interval))
	}
	r.mu.Unlock()
	r.pool.loop.Poke()
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.follows[rev]--; r.follows[rev] <= 0 {
			delete(r.follows, rev)
			delete(r.told, rev)
			r.dropped = true
		}
	})
}

// Resolve returns the commit that a revision stands for, with its files in the mirror. It answers from what is known,
// and asks the remote where that is too old or does not have the revision. Where since is set, what was learned from
// the remote before it is ignored; many who ask together are answered by one listing. A repository that fails is
// left alone for a while: until then its last error is returned, also to calls with a since that come too soon.
func (r *Repo) Resolve(ctx context.Context, rev Revision, since time.Time) (git.Resolved, error) {
	asked, fresh := time.Now(), !since.IsZero()
	if fresh {
		asked = since
	}
	if _, err := git.ParseID(rev.Name); err == nil {
		return r.pinned(ctx, strings.ToLower(rev.Name), fresh)
	}
	if !fresh || r.listedAfter(asked) {
		if res, ok := r.known(rev, asked); ok {
			return res, nil
		}
	}
	if err := r.refresh(ctx, asked, fresh, isHead(rev)); err != nil {
		return git.Resolved{}, err
	}
	r.mu.Lock()
	res, err := r.refs.Resolve(rev.Name, rev.TagPrefix)
	r.mu.Unlock()
	if err != nil {
		if looksAbbreviated(rev.Name) {
			return r.abbreviated(ctx, rev.Name, fresh)
		}
		r.notify(ctx)
		return git.Resolved{}, fmt.Errorf("%s: %w", r.URL(), err)
	}
	if res.Ref == "" { // HEAD names a commit, not a branch
		return r.pinned(ctx, res.Commit, fresh)
	}
	if res, err = r.ensure(ctx, res); err != nil {
		return git.Resolved{}, err
	}
	r.mu.Lock()
	if _, ok := r.told[rev]; !ok && r.follows[rev] > 0 {
		r.told[rev] = stateOf(r.refs, res)
	}
	r.mu.Unlock()
	// What was learned for one asker concerns every follower of something that moved.
	r.notify(ctx)
	return res, nil
}

// listedAfter reports whether the last good listing began after t.
func (r *Repo) listedAfter(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed.After(t)
}

// known answers from memory. A revision that is not among the known references may have been pushed since.
func (r *Repo) known(rev Revision, now time.Time) (git.Resolved, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	// After a failure every follower is notified, not only the caller: else an error would come and go with what asks next.
	if r.tries.Err != nil || r.listed.IsZero() || now.Sub(r.listed) > r.pool.opts.Stale {
		return git.Resolved{}, false
	}
	res, err := r.refs.Resolve(rev.Name, rev.TagPrefix)
	if err != nil || res.Ref == "" || !r.has(res.Ref, res.Commit) {
		return git.Resolved{}, false
	}
	if _, ok := r.told[rev]; !ok && r.follows[rev] > 0 {
		r.told[rev] = stateOf(r.refs, res)
	}
	return res, true
}

// has reports whether a reference is in the mirror at a commit. The lock is held.
func (r *Repo) has(ref, commit string) bool {
	if e := r.mirror.Epoch(); e != r.epoch {
		r.epoch = e
		clear(r.have)
	}
	return r.have[ref] == held{commit, r.refs.Tags[ref]}
}

func looksAbbreviated(s string) bool {
	return len(s) >= minAbbrev && len(s) < 40 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Tree opens the files of a commit that Resolve returned. Where the mirror was damaged or emptied since, it is
// fetched again.
func (r *Repo) Tree(ctx context.Context, commit string) (*Tree, error) {
	r.mu.Lock()
	damaged := r.damaged
	r.mu.Unlock()
	if !damaged {
		t, err := r.open(commit)
		if !errors.Is(err, git.ErrMissing) && !errors.Is(err, git.ErrCorrupt) {
			return t, err
		}
		damaged = errors.Is(err, git.ErrCorrupt)
	}
	if damaged {
		r.pool.log.Warn("mirror lacks objects: fetch it again", slog.String("repo", r.URL()))
		if err := r.mirror.Reset(ctx); err != nil {
			return nil, err
		}
		r.mu.Lock()
		r.damaged = false
		r.mu.Unlock()
	}
	if _, err := r.pinned(ctx, commit, true); err != nil {
		return nil, err
	}
	return r.open(commit)
}

// open opens a commit, and looks first whether the mirror still has it. Thousands of applications open the same one
// after a push: one look serves them all, until the mirror was made again.
func (r *Repo) open(commit string) (*Tree, error) {
	epoch := r.mirror.Epoch()
	r.mu.Lock()
	kept, ok := r.opened[commit]
	r.mu.Unlock()
	if ok && kept.epoch == epoch {
		return kept.tree, nil
	}
	id, err := git.ParseID(commit)
	if err != nil {
		return nil, err
	}
	if _, err := r.mirror.Commit(id); err != nil {
		return nil, err
	}
	tree, err := newTree(r.mirror, commit, r.pool.opts.FileLimit, r.memo, func() {
		r.mu.Lock()
		r.damaged = true
		clear(r.opened)
		r.mu.Unlock()
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.opened) >= maxOpened {
		clear(r.opened)
	}
	r.opened[commit] = opened{epoch: epoch, tree: tree}
	return tree, nil
}

// opened is a commit that was found in the mirror as it was at an epoch.
type opened struct {
	epoch uint64
	tree  *Tree
}

// Commit describes a commit that Resolve returned.
func (r *Repo) Commit(commit string) (*git.Commit, error) {
	id, err := git.ParseID(commit)
	if err != nil {
		return nil, err
	}
	return r.mirror.Commit(id)
}

// Prefetch makes sure that the files below dir of a commit are in a blobless mirror, with one request at most.
func (r *Repo) Prefetch(ctx context.Context, commit, dir string) error {
	return r.mirror.Prefetch(ctx, commit, dir)
}

// Refs is what the last good listing of the remote had, and when it was made; zero before the first.
func (r *Repo) Refs() (git.Refs, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return git.Refs{Default: r.refs.Default, IDs: maps.Clone(r.refs.IDs), Tags: maps.Clone(r.refs.Tags)}, r.listed
}

// Tip returns the commit that a revision stands for at the remote, and when that was looked at; a zero time for a commit id. It
// answers from what is known where that is not older than age, and asks the remote otherwise. Nothing is fetched. With an
// error it returns what was known before, if anything was.
func (r *Repo) Tip(ctx context.Context, rev Revision, age time.Duration) (commit string, seen time.Time, err error) {
	if _, wrong := git.ParseID(rev.Name); wrong == nil {
		return strings.ToLower(rev.Name), time.Time{}, nil
	}
	since := time.Now().Add(-age)
	if _, seen, _ = r.tip(rev); !seen.After(since) {
		err = r.refresh(ctx, since, true, isHead(rev))
	}
	commit, seen, wrong := r.tip(rev)
	if err == nil && wrong != nil {
		err = fmt.Errorf("%s: %w", r.URL(), wrong)
	}
	return commit, seen, err
}

// tip is what is known of a revision, and since when.
func (r *Repo) tip(rev Revision) (commit string, seen time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen = r.listed
	if isHead(rev) {
		seen = r.headed
	}
	if seen.IsZero() {
		return "", seen, nil
	}
	res, err := r.refs.Resolve(rev.Name, rev.TagPrefix)
	if at := r.fetched[res.Ref]; err == nil && at.After(seen) {
		seen = at
	}
	return res.Commit, seen, err
}

// pinned makes sure that a commit is in the mirror.
func (r *Repo) pinned(ctx context.Context, commit string, fresh bool) (git.Resolved, error) {
	return r.search(ctx, commit, fresh, func(ctx context.Context) (string, error) {
		return commit, r.mirror.FetchCommit(ctx, commit)
	})
}

// abbreviated finds the commit that begins with short, among all branches and tags if need be.
func (r *Repo) abbreviated(ctx context.Context, short string, fresh bool) (git.Resolved, error) {
	return r.search(ctx, short, fresh, func(ctx context.Context) (string, error) {
		id, err := r.mirror.Expand(short)
		if errors.Is(err, git.ErrMissing) {
			if err = r.mirror.FetchAll(ctx); err == nil {
				id, err = r.mirror.Expand(short)
			}
		}
		switch {
		case errors.Is(err, git.ErrMissing):
			err = fmt.Errorf("%s: resolve %q: %w: no branch, tag or commit has this name", r.URL(), short, git.ErrNoRevision)
		case errors.Is(err, git.ErrAmbiguous):
			err = fmt.Errorf("%s: resolve %q: %w: %w: give more digits", r.URL(), short, git.ErrNoRevision, err)
		}
		return id.String(), err
	})
}

// search runs find, one at a time, and remembers for a while that it failed.
func (r *Repo) search(ctx context.Context, name string, fresh bool, find func(context.Context) (string, error)) (git.Resolved, error) {
	if len(name) == 40 && r.mirror.Has(name) {
		return git.Resolved{Commit: name}, nil
	}
	asked := time.Now()
	if err := r.lock(ctx); err != nil {
		return git.Resolved{}, err
	}
	defer r.unlock()
	r.mu.Lock()
	miss, ok := r.missing[name]
	err := r.held(asked, fresh)
	r.mu.Unlock()
	if ok && (miss.at.After(asked) || !fresh && asked.Sub(miss.at) < missingFor) {
		return git.Resolved{}, miss.err
	}
	if err != nil {
		return git.Resolved{}, err
	}
	commit, err := find(ctx)
	if errors.Is(err, git.ErrNoRevision) {
		r.mu.Lock()
		if len(r.missing) >= maxMissing {
			clear(r.missing)
		}
		r.missing[name] = missed{at: time.Now(), err: err}
		r.mu.Unlock()
		r.record(ctx, nil)
		return git.Resolved{}, err
	}
	if r.record(ctx, err); err != nil {
		return git.Resolved{}, err
	}
	return git.Resolved{Commit: commit}, nil
}

// needed lists the references that followed revisions stand for, as far as known. The lock is held.
func (r *Repo) needed() []string {
	var refs []string
	for rev := range r.follows {
		if res, err := r.refs.Resolve(rev.Name, rev.TagPrefix); err == nil && res.Ref != "" && !slices.Contains(refs, res.Ref) {
			refs = append(refs, res.Ref)
		}
	}
	slices.Sort(refs)
	return refs
}
