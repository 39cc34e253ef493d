package gitsource_test

import (
	"testing"
	"time"

	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestATipIsKnownWithTheAgeOfTheLook(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	one := repo.Commit(map[string]string{"a": "1"}, "one")
	pool, _ := watched(t, gitsource.PoolOptions{Interval: time.Hour})
	r := get(t, pool, repo.URL())
	tip := func(rev gitsource.Revision, age time.Duration, want string) time.Time {
		t.Helper()
		commit, seen, err := r.Tip(t.Context(), rev, age)
		if err != nil || commit != want {
			t.Fatalf("the tip of %q is %s (%v), not %s", rev.Name, commit, err, want)
		}
		return seen
	}
	first := tip(main, time.Hour, one) // nobody has looked: the remote is asked
	two := repo.Commit(map[string]string{"a": "2"}, "two")
	before := server.RequestCount()
	if seen := tip(main, time.Hour, one); !seen.Equal(first) || server.RequestCount() != before {
		t.Errorf("what is not old is asked again: seen %s, then %s", first, seen)
	}
	if seen := tip(main, 0, two); !seen.After(first) {
		t.Errorf("a new look is of %s, the one before of %s", seen, first)
	}
	// A webhook tells of one branch, and that is a look as well.
	defer r.Follow(main)()
	wantCommit(t, r, main, false, two)
	three := repo.Commit(map[string]string{"a": "3"}, "three")
	pool.Wake(t.Context(), repo.URL(), "refs/heads/main")
	tip(main, time.Hour, three)
	tip(gitsource.Revision{}, time.Hour, three) // HEAD, which was not listed before
	if seen := tip(gitsource.Revision{Name: one}, time.Hour, one); !seen.IsZero() {
		t.Errorf("a commit was looked for at %s", seen)
	}
	if _, _, err := r.Tip(t.Context(), gitsource.Revision{Name: "nowhere"}, time.Hour); err == nil {
		t.Error("a branch that is not there has a tip")
	}
	// While the remote does not answer, what was known stays, with its age and with the error.
	server.Break()
	if commit, seen, err := r.Tip(t.Context(), main, 0); commit != three || seen.IsZero() || err == nil {
		t.Errorf("without the remote the tip is %q of %s (%v)", commit, seen, err)
	}
}
