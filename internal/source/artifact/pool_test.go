package artifact_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

// shelf is a remote in memory.
type shelf struct {
	mu       sync.Mutex
	digests  map[string]string // by version
	down     error
	finds    int
	fetches  int
	recalled map[artifact.Revision]artifact.Found
}

var errDown = errors.New("the repository is down")

func (s *shelf) URL() string   { return "https://charts.example.test" }
func (s *shelf) Scope() string { return "scope" }

func (s *shelf) Find(_ context.Context, rev artifact.Revision, _ time.Time) (artifact.Found, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finds++
	if s.down != nil {
		return artifact.Found{}, s.down
	}
	have := make([]string, 0, len(s.digests))
	for v := range s.digests {
		have = append(have, v)
	}
	v, err := artifact.Choose(rev.Version, have)
	return artifact.Found{Version: v, Digest: s.digests[v]}, err
}

func (s *shelf) Fetch(context.Context, string, artifact.Found) (source.Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetches++
	return nil, s.down
}

func (s *shelf) Recall(rev artifact.Revision) (artifact.Found, bool) {
	f, ok := s.recalled[rev]
	return f, ok
}

func (s *shelf) set(version, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.digests[version] = digest
}

func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = err
}

func (s *shelf) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finds
}

// bed is a pool over one shelf, whose changes arrive on a channel.
type bed struct {
	*shelf
	pool    *artifact.Pool
	repo    *artifact.Repo
	changes chan artifact.Change
}

func newBed(o artifact.PoolOptions) *bed {
	b := &bed{shelf: &shelf{digests: map[string]string{"1.0.0": "sha256:a"}}, changes: make(chan artifact.Change, 100)}
	o.Changed = func(c artifact.Change) { b.changes <- c }
	b.pool = artifact.NewPool(o)
	b.repo = b.pool.Get(b.shelf)
	return b
}

func (b *bed) run(t testing.TB) {
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return b.pool.Run(ctx) })
	t.Cleanup(func() { cancel(); _ = g.Wait() })
}

func (b *bed) want(t testing.TB, rev artifact.Revision, since time.Time, version string) {
	t.Helper()
	if got, err := b.repo.Resolve(t.Context(), rev, since); err != nil || got.Version != version {
		t.Fatalf("%v is %v, %v; want %s", rev, got, err, version)
	}
}

func (b *bed) change(t testing.TB) artifact.Change {
	t.Helper()
	select {
	case c := <-b.changes:
		return c
	case <-time.After(20 * time.Second):
		t.Fatal("no follower was notified")
		return artifact.Change{}
	}
}

var latest, pinned = artifact.Revision{Chart: "app", Version: "*"}, artifact.Revision{Chart: "app", Version: "1.0.0"}

func TestAPollNotifiesOfANewVersion(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: 20 * time.Millisecond, Stale: time.Hour})
	defer b.repo.Follow(latest)()
	b.want(t, latest, time.Time{}, "1.0.0")
	b.run(t)
	b.set("1.1.0", "sha256:b")
	if c := b.change(t); len(c.Revisions) != 1 || c.Revisions[0] != latest || c.Scope != "scope" || len(c.Moved) > 0 {
		t.Errorf("the change is %+v", c)
	}
	b.want(t, latest, time.Time{}, "1.1.0")
}

func TestAVersionWithOtherContentIsNoticedAndReported(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: 20 * time.Millisecond, Stale: time.Hour})
	defer b.repo.Follow(pinned)()
	b.want(t, pinned, time.Time{}, "1.0.0")
	b.run(t)
	b.set("1.0.0", "sha256:other")
	c := b.change(t)
	if len(c.Moved) != 1 || c.Moved[0].Before.Digest != "sha256:a" || c.Moved[0].After.Digest != "sha256:other" {
		t.Errorf("the change is %+v", c)
	}
	if m, ok := b.repo.Moved(pinned); !ok || m.After.Digest != "sha256:other" {
		t.Errorf("moved is %+v, %v", m, ok)
	}
}

func TestWhatWasAskedAMomentAgoIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{})
	var g errgroup.Group
	for range 50 {
		g.Go(func() error {
			_, err := b.repo.Resolve(context.Background(), latest, time.Time{})
			return err
		})
	}
	if err := g.Wait(); err != nil || b.asked() != 1 {
		t.Errorf("50 askers cost %d requests, %v", b.asked(), err)
	}
	b.want(t, latest, time.Now(), "1.0.0")
	if b.asked() != 2 {
		t.Errorf("a refresh cost %d requests", b.asked()-1)
	}
}

func TestAnExactVersionStaysWhileTheRemoteIsDown(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Fresh: time.Nanosecond})
	b.want(t, pinned, time.Time{}, "1.0.0")
	b.want(t, latest, time.Time{}, "1.0.0")
	b.fail(errDown)
	b.want(t, pinned, time.Now(), "1.0.0")
	if _, err := b.repo.Resolve(t.Context(), latest, time.Now()); !errors.Is(err, errDown) {
		t.Errorf("a range: %v, want %v", err, errDown)
	}
	if _, err := b.repo.Resolve(t.Context(), latest, time.Time{}); !errors.Is(err, errDown) {
		t.Errorf("a range, from memory: %v, want %v", err, errDown)
	}
	if !errors.Is(b.repo.Err(), errDown) {
		t.Errorf("the repository reports %v", b.repo.Err())
	}
}

func TestAnExactVersionIsRecalledAfterARestart(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{})
	b.fail(errDown)
	b.recalled = map[artifact.Revision]artifact.Found{pinned: {Version: "1.0.0", Digest: "sha256:a"}, latest: {Version: "0.1.0"}}
	b.want(t, pinned, time.Time{}, "1.0.0")
	if got, err := b.repo.Resolve(t.Context(), latest, time.Time{}); !errors.Is(err, errDown) {
		t.Errorf("a range is %v, %v; want %v", got, err, errDown)
	}
}

func TestFailureAndRecoveryReachTheFollowers(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: 10 * time.Millisecond, Stale: time.Nanosecond, Fresh: time.Nanosecond})
	defer b.repo.Follow(latest)()
	defer b.repo.Follow(pinned)()
	b.want(t, latest, time.Time{}, "1.0.0")
	b.want(t, pinned, time.Time{}, "1.0.0")
	b.fail(errDown)
	b.run(t)
	if c := b.change(t); len(c.Revisions) != 1 || c.Revisions[0] != latest {
		t.Errorf("the failure reached %+v, and is not about the exact version", c)
	}
	b.fail(nil)
	b.pool.Wake(t.Context(), func(artifact.Remote) bool { return true })
	if c := b.change(t); len(c.Revisions) != 1 || c.Revisions[0] != latest {
		t.Errorf("the recovery reached %+v", c)
	}
	b.want(t, latest, time.Time{}, "1.0.0")
}

func TestAnErrorThatOneAskerGotIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: time.Hour, Fresh: time.Nanosecond})
	defer b.repo.Follow(latest)()
	b.want(t, latest, time.Time{}, "1.0.0")
	b.fail(errDown)
	if _, err := b.repo.Resolve(t.Context(), latest, time.Now()); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	b.fail(nil)
	b.pool.Wake(t.Context(), func(artifact.Remote) bool { return true })
	if c := b.change(t); len(c.Revisions) != 1 {
		t.Errorf("the recovery reached %+v", c)
	}
}

func TestAFailingRemoteIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Fresh: time.Hour})
	b.fail(errDown)
	for range 10 {
		if _, err := b.repo.Resolve(t.Context(), latest, time.Time{}); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
		if _, err := b.repo.Tree(t.Context(), "app", artifact.Found{Version: "1.0.0"}); !errors.Is(err, errDown) {
			t.Fatal(err)
		}
	}
	if b.finds != 1 || b.fetches != 1 {
		t.Errorf("10 askers cost %d requests and %d fetches", b.finds, b.fetches)
	}
}

func TestAVersionThatIsMissingIsNoFailureOfTheRemote(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: time.Hour})
	next := artifact.Revision{Chart: "app", Version: "2.x"}
	defer b.repo.Follow(next)()
	if _, err := b.repo.Resolve(t.Context(), next, time.Time{}); !errors.Is(err, artifact.ErrNoVersion) || b.repo.Err() != nil {
		t.Fatalf("%v, and the repository reports %v", err, b.repo.Err())
	}
	b.set("2.0.0", "sha256:c")
	b.pool.Wake(t.Context(), func(artifact.Remote) bool { return true })
	b.change(t)
	b.want(t, next, time.Time{}, "2.0.0")
}

func TestWhatIsNotFollowedIsNotPolled(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: time.Millisecond})
	b.repo.Follow(latest)()
	if n := len(b.pool.Repos()); n != 0 {
		t.Errorf("%d remotes are polled", n)
	}
	defer b.repo.Follow(artifact.Revision{Version: "sha256:abc"})()
	if n := len(b.pool.Repos()); n != 0 {
		t.Errorf("%d remotes are polled for a digest", n)
	}
	if b.pool.Get(&shelf{}) != b.repo {
		t.Error("one scope has two repos")
	}
}

func TestATipIsWhatTheRemoteHasAndSinceWhen(t *testing.T) {
	t.Parallel()
	b := newBed(artifact.PoolOptions{Interval: time.Hour})
	begun := time.Now()
	version, seen, err := b.repo.Tip(t.Context(), latest, time.Hour)
	if version != "1.0.0" || seen.Before(begun) || err != nil {
		t.Errorf("the tip is %q, looked at %s, %v", version, seen, err)
	}
	b.set("1.1.0", "sha256:b")
	if version, again, err := b.repo.Tip(t.Context(), latest, time.Hour); version != "1.0.0" || !again.Equal(seen) || err != nil {
		t.Errorf("what is known is not old, and the tip is %q, looked at %s, %v", version, again, err)
	}
	if version, _, err := b.repo.Tip(t.Context(), latest, 0); version != "1.1.0" || err != nil {
		t.Errorf("the tip is %q, %v", version, err)
	}
	if digest, _, err := b.repo.Tip(t.Context(), artifact.Revision{Version: "*"}, 0); digest != "sha256:b" || err != nil {
		t.Errorf("the tip of an artifact is %q, %v", digest, err)
	}
	b.fail(errDown)
	if version, was, err := b.repo.Tip(t.Context(), latest, 0); version != "1.1.0" || was.IsZero() || !errors.Is(err, errDown) {
		t.Errorf("the tip of a remote that is down is %q, looked at %s, %v", version, was, err)
	}
}
