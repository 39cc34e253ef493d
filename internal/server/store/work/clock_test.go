package work_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

// With SQLite the clock is that of the program, which jumps here. PostgreSQL's own does the same to the same statements.
func TestWorkThatWasHeldWhileTheClockWasAheadIsDoneWhenItGoesBack(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	ctx := t.Context()
	b := storetest.Open(t, filepath.Join(t.TempDir(), "slipway.db"), true)
	claim := func(job, holder string) bool {
		return storetest.Must[bool](t)(b.ClaimJob(ctx, job, holder, time.Minute))
	}
	b.Clock.Move(year)
	storetest.Must[[]work.Server](t)(b.KeepServer(ctx, work.Server{ID: "dead", Address: "10.0.0.9:1"}, time.Minute))
	if !claim("ended", "one") || !claim("held", "one") {
		t.Fatal("nobody has them")
	}
	if err := b.EndJob(ctx, "ended", "one", time.Hour); err != nil {
		t.Fatal(err)
	}
	b.Clock.Move(-year)
	for _, job := range []string{"ended", "held"} {
		if !claim(job, "two") {
			t.Errorf("job %s waits for a year", job)
		}
		if claim(job, "three") {
			t.Errorf("two have job %s", job)
		}
	}
	if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, work.Server{ID: "me"}, time.Minute)); len(others) != 0 {
		t.Errorf("a server that will have been seen in a year counts: %v", others)
	}
	if n := storetest.Must[int64](t)(b.BuryServers(ctx, work.Server{ID: "me"}, time.Minute)); n != 1 {
		t.Errorf("%d servers are buried", n)
	}
	// A little is the difference between two clocks, and no jump.
	b.Clock.Move(time.Second)
	if !claim("near", "one") {
		t.Fatal("nobody has it")
	}
	b.Clock.Move(-time.Second)
	if claim("near", "two") {
		t.Error("a job that is held is taken away")
	}
}
