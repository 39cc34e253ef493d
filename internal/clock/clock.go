// Package clock reads the two clocks of a machine and notices when one of them is set.
//
// The clock on the wall says which time it is. An administrator, a time server or a hypervisor may set it, by a year too. The
// clock of the process counts from the start of the process and nothing sets it, but it stands still while the machine does.
// What lasts for a while is measured by the clock of the process; what has a date follows the clock on the wall as it is now.
package clock

import (
	"context"
	"math/rand/v2"
	"time"
)

// begun is when the process began to count. A time that Round has not touched holds the clock of the process.
var begun = time.Now() //nolint:gochecknoglobals // it never changes

// Ran returns how long the process has run, by the clock that nothing sets.
func Ran() time.Duration { return time.Since(begun) }

// Instant is a moment by both clocks.
type Instant struct {
	Wall time.Time
	Ran  time.Duration
}

// Now returns the present moment.
func Now() Instant { return Instant{Wall: time.Now().Round(0), Ran: Ran()} }

// Add returns the moment after d by both clocks.
func (i Instant) Add(d time.Duration) Instant { return Instant{Wall: i.Wall.Add(d), Ran: i.Ran + d} }

// Since returns how long ago before was, by the clock that nothing sets.
func (i Instant) Since(before Instant) time.Duration { return i.Ran - before.Ran }

// Passed reports whether a moment has passed by now, by either clock: what must not last too long ends by the faster one.
func (i Instant) Passed(now Instant) bool { return now.Ran > i.Ran || now.Wall.After(i.Wall) }

const (
	// step is by how much the clock on the wall has to be set before that counts. Time servers correct less all the time.
	step = time.Second
	// lookEvery is how often the clocks are compared where the system does not report that one was set.
	lookEvery = 30 * time.Second
)

// About returns d, up to a fifth shorter or longer: processes that began together do not look together.
func About(d time.Duration) time.Duration { return d*4/5 + rand.N(d*2/5+1) }

// Watch calls set each time the clock on the wall was set by a second or more, with how far it went ahead, until ctx ends.
// Linux reports it; elsewhere Watch compares the clocks every 30 seconds.
func Watch(ctx context.Context, set func(ahead time.Duration)) {
	w := &watch{now: Now, set: set}
	w.last = w.offset()
	if w.reported(ctx) {
		return
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.look()
		}
	}
}

// watch compares the clocks.
type watch struct {
	now  func() Instant
	set  func(ahead time.Duration)
	last time.Time
}

// offset is the start of the process by the clock on the wall as it is now.
func (w *watch) offset() time.Time {
	now := w.now()
	return now.Wall.Add(-now.Ran)
}

// look calls set if the clock on the wall was set since the last look.
func (w *watch) look() {
	at := w.offset()
	if ahead := at.Sub(w.last); ahead >= step || ahead <= -step {
		w.last = at
		w.set(ahead)
	}
}
