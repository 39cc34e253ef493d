package clock

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestAMomentHasPassedWhenEitherClockSaysSo(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	until := Instant{Wall: time.Unix(1_000_000, 0), Ran: time.Hour}
	for _, c := range []struct {
		name   string
		now    Instant
		passed bool
	}{
		{"before it", until.Add(-time.Second), false},
		{"after it", until.Add(time.Second), true},
		{"the clock was set back, before it", Instant{until.Wall.Add(-year), until.Ran - time.Second}, false},
		{"the clock was set back, after it", Instant{until.Wall.Add(-year), until.Ran + time.Second}, true},
		{"the clock was set ahead", Instant{until.Wall.Add(year), until.Ran - time.Second}, true},
		{"the machine stood still", Instant{until.Wall.Add(time.Second), until.Ran - time.Minute}, true},
	} {
		if until.Passed(c.now) != c.passed {
			t.Errorf("%s: passed is %v, want %v", c.name, !c.passed, c.passed)
		}
	}
	if d := until.Add(time.Minute).Since(until); d != time.Minute {
		t.Errorf("a minute later is %s later", d)
	}
}

func TestAClockThatIsSetIsNoticedAndOneThatIsCorrectedABitIsNot(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	now := Instant{Wall: time.Unix(1_000_000, 0), Ran: time.Minute}
	var got []time.Duration
	w := &watch{now: func() Instant { return now }, set: func(ahead time.Duration) { got = append(got, ahead) }}
	w.last = w.offset()
	for _, set := range []time.Duration{0, 300 * time.Millisecond, year, 0, -year, -time.Hour, 900 * time.Millisecond} {
		now = now.Add(time.Hour) // time goes by
		now.Wall = now.Wall.Add(set)
		w.look()
	}
	// Small corrections add up: what was noticed is how far the clock is from where it was.
	if want := []time.Duration{year + 300*time.Millisecond, -year, -time.Hour}; !slices.Equal(got, want) {
		t.Errorf("noticed %v, want %v", got, want)
	}
}

func TestWatchingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Watch(ctx, func(ahead time.Duration) { t.Logf("this machine's clock was set by %s", ahead) })
	}()
	cancel()
	<-done
	if w := (&watch{now: Now, set: func(time.Duration) {}}); !w.reported(ctx) && runtime.GOOS == "linux" {
		t.Error("the system does not report that the clock was set")
	}
}
