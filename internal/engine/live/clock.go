package live

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// promptClock is the real clock, but what waits on it waits no longer than until done. A reflector whose server refuses
// connections waits out its pause, up to a minute, whatever its context says: on the real clock every caller that
// closes it would wait as long.
type promptClock struct {
	clock.RealClock
	atEnd func(func()) (stop func() bool)
}

// ClockUntil returns the real clock for a reflector that runs with ctx: pauses on it end with ctx.
func ClockUntil(ctx context.Context) clock.Clock {
	return promptClock{atEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
}

// After returns a channel that gets a time after d, or at the end of the context where that is sooner.
func (c promptClock) After(d time.Duration) <-chan time.Time {
	out := make(chan time.Time, 1)
	fire := func() {
		select {
		case out <- time.Now():
		default:
		}
	}
	stop := c.atEnd(fire)
	time.AfterFunc(d, func() {
		stop()
		fire()
	})
	return out
}
