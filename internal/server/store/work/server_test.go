package work_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/event"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

func TestServersFindEachOtherAndTheDeadAreBuriedOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		one, two := work.Server{ID: "one", Address: "10.0.0.1:6222", KeyPrint: "k"}, work.Server{ID: "two", KeyPrint: "k", Version: "v"}
		if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, one, storetest.Life)); len(others) != 0 {
			t.Errorf("the first finds %v", others)
		}
		if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, two, storetest.Life)); len(others) != 1 || others[0] != one {
			t.Errorf("the second finds %v", others)
		}
		if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, one, storetest.Life)); len(others) != 1 || others[0] != two {
			t.Errorf("the first finds %v", others)
		}
		if n := storetest.Must[int64](t)(b.BuryServers(ctx, one, storetest.Life)); n != 0 {
			t.Errorf("%d buried that live", n)
		}
		// One is killed and starts at the same address: two has no address, and stays.
		again := work.Server{ID: "again", Address: one.Address}
		if n := storetest.Must[int64](t)(b.BuryServers(ctx, again, storetest.Life)); n != 1 {
			t.Errorf("%d buried that were replaced", n)
		}
		if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, again, storetest.Life)); len(others) != 1 || others[0].ID != "two" {
			t.Errorf("the first finds after its return %v", others)
		}
		// Whoever was not seen for no time at all is dead.
		if n := storetest.Must[int64](t)(b.BuryServers(ctx, again, 0)); n != 1 {
			t.Errorf("%d buried that are dead", n)
		}
		if err := b.DropServer(ctx, "again"); err != nil {
			t.Fatal(err)
		}
		if others := storetest.Must[[]work.Server](t)(b.KeepServer(ctx, two, storetest.Life)); len(others) != 0 {
			t.Errorf("after all left: %v", others)
		}
	})
}

func TestAJobIsDoneByOneAtATimeAndTakenOver(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		claim := func(holder string, hold time.Duration) bool {
			return storetest.Must[bool](t)(b.ClaimJob(ctx, "tidy", holder, hold))
		}
		var got atomic.Int64
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if mine, err := b.ClaimJob(ctx, "race", fmt.Sprint(n), storetest.Life); err != nil {
					t.Error(err)
				} else if mine {
					got.Add(1)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 {
			t.Errorf("%d have the job", got.Load())
		}
		first, again, other := claim("one", storetest.Life), claim("one", storetest.Life), claim("two", storetest.Life)
		if !first || !again || other {
			t.Error("who has a job keeps it, and nobody else gets it")
		}
		if err := b.EndJob(ctx, "tidy", "two", 0); err != nil || claim("two", storetest.Life) {
			t.Errorf("somebody ended the job of another: %v", err)
		}
		// The holder is killed: its time is over at once.
		if !claim("one", 0) || !claim("two", storetest.Life) || claim("one", storetest.Life) {
			t.Error("a job whose holder is gone is taken over")
		}
		if err := b.EndJob(ctx, "tidy", "two", storetest.Life); err != nil || claim("one", storetest.Life) || claim("two", storetest.Life) {
			t.Errorf("done, and done again before it is due: %v", err)
		}
		if claim("one", storetest.Life); storetest.Must[bool](t)(b.ClaimJob(ctx, "other", "one", storetest.Life)) != true {
			t.Error("another job is another one")
		}
	})
}

func TestEventsHaveOneOrderWithoutGaps(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		run, newest, err := b.OpenEvents(ctx)
		if err != nil || run == "" || newest != 0 {
			t.Fatalf("%q %d %v", run, newest, err)
		}
		const writers, each = 4, 30
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for n := range each {
					e := api.Event{Type: fmt.Sprintf("%d-%d", w, n), Object: api.Ref{ID: "x", Scope: "account"}, Labels: map[string]string{"a": "b"}}
					if last, err := b.AppendEvents(ctx, []api.Event{e, {Type: "more"}}); err != nil || last < 2 {
						t.Errorf("the last one is %d: %v", last, err)
					}
				}
			})
		}
		// Who reads meanwhile misses none: a number is there when all before it are.
		var all []event.Numbered
		for last := int64(0); last < 2*writers*each && !t.Failed(); {
			list := storetest.Must[[]event.Numbered](t)(b.EventsAfter(ctx, last, 7))
			for _, e := range list {
				if last++; e.Number != last {
					t.Fatalf("after %d comes %d", last-1, e.Number)
				}
			}
			all = append(all, list...)
		}
		wg.Wait()
		next := make([]int, writers)
		for _, e := range all {
			var w, n int
			if _, err := fmt.Sscanf(e.Event.Type, "%d-%d", &w, &n); err != nil {
				continue
			}
			if n != next[w] || e.Event.Labels["a"] != "b" || e.Event.Object.Scope != "account" {
				t.Errorf("%+v out of order", e)
			}
			next[w]++
		}
		if slices.Min(next) != each {
			t.Errorf("read %v", next)
		}
		if again, newest, err := b.OpenEvents(ctx); again != run || newest != 2*writers*each || err != nil {
			t.Errorf("opened again: %q %d %v", again, newest, err)
		}
		many := make([]api.Event, 3*event.DefaultKept)
		if last, err := b.AppendEvents(ctx, many); err != nil || last != 2*writers*each+3*event.DefaultKept {
			t.Fatal(last, err)
		}
		if list := storetest.Must[[]event.Numbered](t)(b.EventsAfter(ctx, 0, 1)); len(list) != 1 || list[0].Number != 2*writers*each+event.DefaultKept+1 {
			t.Errorf("the oldest that is kept: %+v", list)
		}
	})
}
