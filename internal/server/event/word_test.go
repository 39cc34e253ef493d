package event_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/event"
)

// TestEventsOfWhichTheReportWasLostArriveByThePollAndCount has one server keep events, and the reports of it dropped, late or
// without a number on their way to another one.
func TestEventsOfWhichTheReportWasLostArriveByThePollAndCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		report func(two *event.Shared, last int64)
		missed int
	}{
		"lost":                            {func(*event.Shared, int64) {}, 1},
		"in time":                         {func(two *event.Shared, last int64) { two.Heard(last) }, 0},
		"after the poll":                  {func(two *event.Shared, last int64) { time.AfterFunc(3*time.Second, func() { two.Heard(last) }) }, 0},
		"of a server that names no event": {func(two *event.Shared, _ int64) { two.Heard(0) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				m := &memory{run: "r"}
				var two *event.Shared
				missed := 0
				one := shared(ctx, t, m, func(c *event.SharedConfig) { c.Told = func(last int64) { test.report(two, last) } })
				two = shared(ctx, t, m, func(c *event.SharedConfig) { c.Missed = func() { missed++ } })
				events := watching(ctx, t, two, "")
				say(ctx, one, "a b")
				say(ctx, two, "own") // an event of its own is no report of those
				if got, _ := comes(events); got != "a b own" && got != "own a b" {
					t.Errorf("got %q", got)
				}
				<-time.After(time.Minute)
				say(ctx, two, "c")
				<-time.After(time.Minute)
				if got, _ := there(events); got != "c" {
					t.Errorf("got %q", got)
				}
				if missed != test.missed {
					t.Errorf("%d times missed, want %d", missed, test.missed)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}
