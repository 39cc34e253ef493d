package gitsource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/git"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

var main = gitsource.Revision{Name: "main"}

// watched is a pool whose changes arrive on a channel.
func watched(t testing.TB, o gitsource.PoolOptions) (*gitsource.Pool, chan gitsource.Change) {
	t.Helper()
	changes := make(chan gitsource.Change, 100)
	o.Changed = func(c gitsource.Change) { changes <- c }
	return gitsource.NewPool(client(t), o), changes
}

func run(t testing.TB, p *gitsource.Pool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return p.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func get(t testing.TB, p *gitsource.Pool, url string) *gitsource.Repo {
	t.Helper()
	r, err := p.Get(url, git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantChange(t testing.TB, changes chan gitsource.Change) gitsource.Change {
	t.Helper()
	select {
	case c := <-changes:
		return c
	case <-time.After(20 * time.Second):
		t.Fatal("nobody was told of the change")
		return gitsource.Change{}
	}
}

func wantCommit(t testing.TB, r *gitsource.Repo, rev gitsource.Revision, fresh bool, want string) {
	t.Helper()
	var since time.Time
	if fresh {
		since = time.Now()
	}
	res, err := r.Resolve(t.Context(), rev, since)
	if err != nil || res.Commit != want {
		t.Fatalf("Resolve(%v) = %v, %v; want %s", rev, res, err, want)
	}
}

func TestAPollTellsOfAMovedBranch(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	one := repo.Commit(map[string]string{"a": "1"}, "one")
	pool, changes := watched(t, gitsource.PoolOptions{Interval: 50 * time.Millisecond, Stale: time.Minute})
	r := get(t, pool, repo.URL())
	defer r.Follow(main)()
	wantCommit(t, r, main, false, one)
	run(t, pool)
	two := repo.Commit(map[string]string{"a": "2"}, "two")
	if c := wantChange(t, changes); len(c.Revisions) != 1 || c.Revisions[0] != main || c.URL != r.URL() {
		t.Errorf("change = %+v", c)
	}
	wantCommit(t, r, main, false, two)
}

func TestAWebhookFetchesAtOnceWithoutAListing(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	one := repo.Commit(map[string]string{"a": "1"}, "one")
	pool, changes := watched(t, gitsource.PoolOptions{Interval: time.Hour})
	r := get(t, pool, repo.URL())
	defer r.Follow(main)()
	wantCommit(t, r, main, false, one)
	two := repo.Commit(map[string]string{"a": "2"}, "two")
	wantCommit(t, r, main, false, one)
	before := server.RequestCount()
	pool.Wake(t.Context(), repo.URL(), "refs/heads/other")
	if n := server.RequestCount() - before; n != 0 {
		t.Errorf("a push to a branch that nobody follows cost %d requests", n)
	}
	pool.Wake(t.Context(), repo.URL(), "refs/heads/main")
	if n := server.RequestCount() - before; n > 3 {
		t.Errorf("a push cost %d requests, want at most 3: capabilities, references, pack", n)
	}
	wantChange(t, changes)
	wantCommit(t, r, main, false, two)
	tree, err := r.Tree(t.Context(), two)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := tree.ReadFile("a"); err != nil || string(b) != "2" {
		t.Errorf("a = %q, %v", b, err)
	}
}

func TestManyAskersShareOneListing(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	want := repo.Commit(map[string]string{"a": "1"}, "one")
	pool, _ := watched(t, gitsource.PoolOptions{})
	r := get(t, pool, repo.URL())
	var g errgroup.Group
	for range 50 {
		g.Go(func() error {
			res, err := r.Resolve(context.Background(), main, time.Time{})
			if err == nil && res.Commit != want {
				err = errors.New("wrong commit " + res.Commit)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := server.RequestCount(); n > 8 {
		t.Errorf("50 askers cost %d requests", n)
	}
}

func TestAFailingRepositoryIsNotHammeredAndRecovers(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	server.Break()
	pool, _ := watched(t, gitsource.PoolOptions{Fresh: time.Nanosecond})
	r := get(t, pool, repo.URL())
	want := repo.Commit(map[string]string{"a": "1"}, "one")
	if _, err := r.Resolve(t.Context(), main, time.Time{}); !errors.Is(err, git.ErrUnreachable) {
		t.Fatalf("err = %v, want %v", err, git.ErrUnreachable)
	}
	before := server.RequestCount()
	for range 10 {
		if _, err := r.Resolve(t.Context(), main, time.Time{}); !errors.Is(err, git.ErrUnreachable) {
			t.Fatalf("err = %v, want the kept one", err)
		}
	}
	if n := server.RequestCount() - before; n != 0 {
		t.Errorf("10 askers of a failing repository cost %d requests, want none", n)
	}
	server.Mend()
	wantCommit(t, r, main, true, want)
}

func TestADeletedBranchIsAnErrorAndIsTold(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	one := repo.Commit(map[string]string{"a": "1"}, "one")
	repo.Branch("gone", one)
	pool, changes := watched(t, gitsource.PoolOptions{Interval: time.Hour})
	r := get(t, pool, repo.URL())
	rev := gitsource.Revision{Name: "gone"}
	defer r.Follow(rev)()
	wantCommit(t, r, rev, false, one)
	repo.DeleteRef("refs/heads/gone")
	pool.Wake(t.Context(), repo.URL(), "refs/heads/gone")
	wantChange(t, changes)
	if res, err := r.Resolve(t.Context(), rev, time.Time{}); !errors.Is(err, git.ErrNoRevision) {
		t.Errorf("Resolve = %v, %v; want %v", res, err, git.ErrNoRevision)
	}
	if r.Err() != nil {
		t.Errorf("the whole repository counts as failing: %v", r.Err())
	}
}

func TestADamagedMirrorIsFetchedAnew(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	want := repo.Commit(map[string]string{"a": "1"}, "one")
	dir := t.TempDir()
	pool := gitsource.NewPool(client(t, func(o *git.Options) { o.Dir = dir }), gitsource.PoolOptions{})
	r := get(t, pool, repo.URL())
	wantCommit(t, r, main, false, want)
	destroy(t, dir)
	for range 3 { // the first reads may find what is missing
		tree, err := r.Tree(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := tree.ReadFile("a"); err == nil {
			if string(b) != "1" {
				t.Errorf("a = %q", b)
			}
			return
		}
	}
	t.Error("the mirror stays damaged")
}

func TestRevisionsOfEveryKindAreFound(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	one := repo.Commit(map[string]string{"a": "1"}, "one")
	repo.AnnotatedTag("v1.2.0", one, "release")
	repo.Tag("web-2.0.0", one)
	two := repo.Commit(map[string]string{"a": "2"}, "two")
	repo.Tag("v1.10.0", two)
	repo.Tag("both", one)
	repo.Branch("both", two)
	repo.Branch("x/y", one)
	side := repo.CommitTo("side", map[string]string{"b": "1"}, "side")
	pool, _ := watched(t, gitsource.PoolOptions{})
	r := get(t, pool, repo.URL())
	cases := []struct {
		name string
		rev  gitsource.Revision
		want string
	}{
		{"nothing is the default branch", gitsource.Revision{}, two},
		{"HEAD", gitsource.Revision{Name: "HEAD"}, two},
		{"a branch", gitsource.Revision{Name: "side"}, side},
		{"a branch with a slash", gitsource.Revision{Name: "x/y"}, one},
		{"a branch before a tag of the same name", gitsource.Revision{Name: "both"}, two},
		{"a tag by its full name", gitsource.Revision{Name: "refs/tags/both"}, one},
		{"an annotated tag", gitsource.Revision{Name: "v1.2.0"}, one},
		{"a range", gitsource.Revision{Name: "1.*"}, two},
		{"a narrow range", gitsource.Revision{Name: "~1.2"}, one},
		{"a range with two bounds", gitsource.Revision{Name: ">=1.0 <2"}, two},
		{"a range of tags with a prefix", gitsource.Revision{Name: ">=1.0", TagPrefix: "web-"}, one},
		{"a commit", gitsource.Revision{Name: side}, side},
		{"a commit in capital letters", gitsource.Revision{Name: upper(side)}, side},
		{"an abbreviated commit", gitsource.Revision{Name: side[:8]}, side},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wantCommit(t, r, c.rev, false, c.want)
			if _, err := r.Tree(t.Context(), c.want); err != nil {
				t.Errorf("open tree: %v", err)
			}
		})
	}
	for _, name := range []string{"mian", "deadbeefdeadbeef", "3.*", "0123456789012345678901234567890123456789"} {
		t.Run("not found: "+name, func(t *testing.T) {
			t.Parallel()
			if res, err := r.Resolve(t.Context(), gitsource.Revision{Name: name}, time.Time{}); !errors.Is(err, git.ErrNoRevision) {
				t.Errorf("Resolve = %v, %v; want %v", res, err, git.ErrNoRevision)
			} else {
				t.Log(err)
			}
		})
	}
}
