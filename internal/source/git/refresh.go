package gitsource

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source/pace"
)

func (r *Repo) lock(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Repo) unlock() { <-r.turn }

// held returns the kept error while a failing repository is left alone. The lock is held.
func (r *Repo) held(asked time.Time, fresh bool) error {
	return r.tries.Held(asked, fresh, r.pool.opts.Fresh)
}

// record notes how an attempt went. An attempt that the asker gave up says nothing about the repository.
func (r *Repo) record(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tries = r.tries.After(err, time.Now()); err == nil {
		return
	}
	r.pool.log.Warn("repository failed", slog.String("repo", r.URL()), slog.Int("failures", r.tries.Failed),
		slog.Time("retry", r.tries.Retry), slog.Any("err", err))
}

// refresh lists the references of the remote, unless another caller began to do so after asked. Calls that come together
// share one listing.
//
// HEAD is listed if a follower needs it: without, servers that know no better would send every pull request too.
func (r *Repo) refresh(ctx context.Context, asked time.Time, fresh, head bool) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	r.mu.Lock()
	patterns, head := r.patterns(head || r.refs.Default == "")
	done := r.listed.After(asked) && (!head || r.headed.After(asked))
	err := r.held(asked, fresh)
	r.mu.Unlock()
	if done || err != nil {
		return err
	}
	if err := r.gather(ctx); err != nil {
		return err
	}
	began := time.Now()
	refs, err := r.mirror.LsRemote(ctx, patterns...)
	if r.record(ctx, err); err != nil {
		return err
	}
	r.mu.Lock()
	if head {
		r.headed = began
	} else {
		refs.Default = r.refs.Default
	}
	r.refs, r.listed = refs, began
	r.mu.Unlock()
	return nil
}

// spacing is the least time between the beginnings of two listings. Many applications that are refreshed together
// come one after the other; the first listing is made immediately, the second one serves all who asked in the meantime.
const spacing = 200 * time.Millisecond

// gather waits until the last listing began long enough ago. The turn is held.
func (r *Repo) gather(ctx context.Context) error {
	r.mu.Lock()
	rest := spacing - time.Since(r.listed)
	r.mu.Unlock()
	if rest <= 0 {
		return nil
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// patterns lists branches and tags, and what else is followed by its full name, and reports whether HEAD is among
// them. The lock is held.
func (r *Repo) patterns(head bool) ([]string, bool) {
	p := []string{"refs/heads/*", "refs/tags/*"}
	for rev := range r.follows {
		head = head || isHead(rev)
		if strings.HasPrefix(rev.Name, "refs/") && !strings.HasPrefix(rev.Name, "refs/heads/") && !strings.HasPrefix(rev.Name, "refs/tags/") &&
			git.CheckRef(rev.Name) == nil {
			p = append(p, rev.Name)
		}
	}
	if head {
		p = append(p, "HEAD")
	}
	return p, head
}

func isHead(rev Revision) bool { return rev.Name == "" || rev.Name == "HEAD" }

// ensure brings a resolved reference into the mirror, together with every other followed one that has moved.
func (r *Repo) ensure(ctx context.Context, res git.Resolved) (git.Resolved, error) {
	asked := time.Now()
	if err := r.lock(ctx); err != nil {
		return res, err
	}
	defer r.unlock()
	r.mu.Lock()
	refs := r.moved(res.Ref)
	err := r.held(asked, true)
	r.mu.Unlock()
	if len(refs) > 0 {
		if err != nil {
			return res, err
		}
		if err := r.fetch(ctx, refs); err != nil {
			return res, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if res.Ref != "" {
		res.Commit = r.have[res.Ref].commit // it may have moved on between listing and fetching
	}
	return res, nil
}

// moved lists what is not in the mirror as the remote has it: the followed references, and also. The lock is held.
func (r *Repo) moved(also string) []string {
	refs := r.needed()
	if also != "" && !slices.Contains(refs, also) {
		refs = append(refs, also)
	}
	return slices.DeleteFunc(refs, func(ref string) bool {
		want := r.refs.IDs[ref]
		if r.has(ref, want) {
			return true
		}
		// After a restart the mirror has more than is known here.
		if now := mirrored(r.mirror, ref); now == (held{want, r.refs.Tags[ref]}) {
			r.have[ref] = now
			return true
		}
		return false
	})
}

// fetch fetches references and notes where they are. The turn is held.
func (r *Repo) fetch(ctx context.Context, refs []string) error {
	began := time.Now()
	err := r.mirror.Fetch(ctx, refs...)
	if errors.Is(err, git.ErrRefGone) {
		r.record(ctx, nil)
		return err
	}
	if r.record(ctx, err); err != nil {
		return err
	}
	got := make(map[string]held, len(refs))
	for _, ref := range refs {
		if _, err := r.mirror.Ref(ref); err != nil {
			return err
		}
		got[ref] = mirrored(r.mirror, ref)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for ref, now := range got {
		r.has(ref, "") // forgets what was fetched into a mirror that is gone
		r.have[ref], r.fetched[ref] = now, began
		if r.refs.IDs == nil {
			r.refs.IDs, r.refs.Tags = map[string]string{}, map[string]string{}
		}
		if r.refs.IDs[ref] = now.commit; now.tag != "" {
			r.refs.Tags[ref] = now.tag
		} else {
			delete(r.refs.Tags, ref)
		}
	}
	return nil
}

// notify fetches what moved and notifies the followers. What cannot be fetched now is reported later.
func (r *Repo) notify(ctx context.Context) {
	r.mu.Lock()
	changed := r.changed()
	r.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	if _, err := r.ensure(ctx, git.Resolved{}); err != nil && r.Err() == nil {
		return // a reference went away between listing and fetching: the next listing reports it
	}
	r.mu.Lock()
	changed = r.changed()
	revs := make([]Revision, 0, len(changed))
	for rev, state := range changed {
		if !strings.HasPrefix(state, "!") {
			if res, err := r.refs.Resolve(rev.Name, rev.TagPrefix); err != nil || res.Ref != "" && !r.has(res.Ref, res.Commit) {
				continue
			}
		}
		r.told[rev] = state
		revs = append(revs, rev)
	}
	r.mu.Unlock()
	if len(revs) == 0 {
		return
	}
	slices.SortFunc(revs, func(a, b Revision) int { return strings.Compare(a.Name+"\n"+a.TagPrefix, b.Name+"\n"+b.TagPrefix) })
	r.pool.opts.Changed(Change{URL: r.URL(), Scope: r.Scope(), Revisions: revs})
}

// changed compares what followers got with what holds now. The lock is held.
func (r *Repo) changed() map[Revision]string {
	stale := r.tries.Err != nil && time.Since(r.listed) > r.pool.opts.Stale
	out := map[Revision]string{}
	for rev := range r.follows {
		if !moves(rev) {
			continue
		}
		var state string
		if stale {
			state = "!" + r.tries.Err.Error()
		} else if r.listed.IsZero() {
			continue
		} else if res, err := r.refs.Resolve(rev.Name, rev.TagPrefix); err != nil {
			state = "!" + err.Error()
		} else {
			state = stateOf(r.refs, res)
		}
		if r.told[rev] != state {
			out[rev] = state
		}
	}
	return out
}

// moves reports whether a revision can come to stand for another commit.
func moves(rev Revision) bool {
	_, err := git.ParseID(rev.Name)
	return err != nil && !looksAbbreviated(rev.Name)
}

// followed reports whether there is a follower of something that can move.
func (r *Repo) followed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev := range r.follows {
		if moves(rev) {
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

// Poll looks at the remote and reports what moved. What it returns tidies up.
func (r *Repo) Poll(ctx context.Context) func() {
	err := r.refresh(ctx, time.Now(), false, false)
	r.notify(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = time.Now().Add(pace.Jitter(r.pool.opts.Interval))
	tidy := r.dropped && err == nil
	r.dropped = r.dropped && !tidy
	if err != nil {
		return nil
	}
	keep := r.needed()
	for rev := range r.follows {
		if !moves(rev) {
			keep = append(keep, rev.Name)
		}
	}
	return func() { r.tidy(ctx, tidy, keep) }
}

// tidy drops what nothing follows any more, and looks after the mirror.
func (r *Repo) tidy(ctx context.Context, drop bool, keep []string) {
	var err error
	if drop {
		err = r.mirror.Keep(ctx, keep)
	}
	if err == nil {
		err = r.mirror.Maintain(ctx)
	}
	if err != nil && r.Err() == nil {
		r.pool.log.Warn("tidy mirror", slog.String("repo", r.URL()), slog.Any("err", err))
	}
}

// wake fetches the hinted references that are followed, without listing first where they are known.
func (r *Repo) wake(ctx context.Context, asked time.Time, hints []string) {
	refs, list := r.concerned(hints)
	if len(refs) > 0 && !list {
		err := r.fetchHinted(ctx, asked, refs)
		list = errors.Is(err, git.ErrRefGone)
	}
	if list {
		_ = r.refresh(ctx, asked, true, false) // record keeps the error, notify reports it
	}
	if list || len(refs) > 0 {
		r.notify(ctx)
	}
}

// concerned sorts hints: known references that are followed, and whether a listing is needed because of the others.
func (r *Repo) concerned(hints []string) (refs []string, list bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(hints) == 0 || r.listed.IsZero() {
		return nil, true
	}
	needed := r.needed()
	for _, h := range hints {
		switch {
		case slices.Contains(needed, h):
			refs = append(refs, h)
		case r.mayConcern(h):
			list = true
		}
	}
	return refs, list
}

// mayConcern reports whether a reference that no followed revision stands for yet could be one. The lock is held.
func (r *Repo) mayConcern(ref string) bool {
	for rev := range r.follows {
		if strings.HasPrefix(ref, "refs/tags/"+rev.TagPrefix) && git.Range(rev.Name) {
			return true
		}
		if rev.Name != "" && (ref == rev.Name || strings.HasSuffix(ref, "/"+rev.Name)) {
			return true
		}
	}
	return false
}

func (r *Repo) fetchHinted(ctx context.Context, asked time.Time, refs []string) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	r.mu.Lock()
	err := r.held(asked, true)
	refs = slices.DeleteFunc(refs, func(ref string) bool { return r.fetched[ref].After(asked) })
	r.mu.Unlock()
	if err != nil || len(refs) == 0 {
		return err
	}
	return r.fetch(ctx, refs)
}
