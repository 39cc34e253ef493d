package project

import "time"

// look is one look at windows: around a time, and ahead. It remembers how clocks are set, since to find that out takes
// longer than all the rest, and bounds what the look ahead may cost, however many windows there are.
type look struct {
	far    time.Time // nothing is looked for after it
	left   int       // of maxLook
	clocks map[*time.Location][]stretch
}

// maxLook bounds a look ahead, in units of some ten nanoseconds. The rest says what its parts cost.
const (
	maxLook   = 100_000
	costPhase = 20 // to see how one window stands
	costDay   = 3  // to go on to the next day of a schedule
	costJudge = 1  // to see what one of the windows makes of the answer
)

func newLook(now time.Time) *look {
	return &look{far: now.Add(horizon * day * time.Second), left: maxLook}
}

// spend takes from what is left, and reports whether there was something.
func (l *look) spend(cost int) bool {
	l.left -= cost
	return l.left+cost > 0
}

// stretch is a time in which the clock is not changed: from start until before end, each zero when there is none.
type stretch struct {
	start, end     time.Time
	before, offset int64 // of the wall clock, in seconds: until start, and from then on
}

func (l *look) stretch(zone *time.Location, t time.Time) stretch {
	if zone == time.UTC {
		return stretch{}
	}
	for _, c := range l.clocks[zone] {
		if !t.Before(c.start) && (c.end.IsZero() || t.Before(c.end)) {
			return c
		}
	}
	local := t.In(zone)
	start, end := local.ZoneBounds()
	_, offset := local.Zone()
	before := offset
	if !start.IsZero() {
		_, before = start.Add(-time.Second).Zone()
	}
	c := stretch{start, end, int64(before), int64(offset)}
	if l.clocks == nil {
		l.clocks = map[*time.Location][]stretch{}
	}
	l.clocks[zone] = append(l.clocks[zone], c)
	return c
}

// phase is how one window stands, and when that changes; zero is never. Of a window that has one opening follow the
// other for long, it may be sooner: then that is when to look again.
type phase struct {
	open  bool
	until time.Time
}

// open reports whether the window is open at a time.
func (w *window) open(l *look, at time.Time) bool {
	if w.always {
		return true
	}
	start, ok := w.schedule.last(l, at)
	return ok && at.Before(start.Add(w.length))
}

func (w *window) phase(l *look, now time.Time) phase {
	if w.always {
		return phase{open: true}
	}
	start, ok := w.schedule.last(l, now)
	if !ok || !now.Before(start.Add(w.length)) {
		next, _ := w.schedule.next(l, now)
		return phase{until: next}
	}
	end := start.Add(w.length)
	for end.Before(l.far) {
		if !l.spend(costPhase) {
			return phase{true, end}
		}
		start = w.schedule.lastOfRun(l, start, w.length)
		end = start.Add(w.length)
		next, ok := w.schedule.next(l, start.Add(time.Second))
		if !ok || next.After(end) {
			return phase{true, end}
		}
		start, end = next, next.Add(w.length)
	}
	return phase{open: true}
}
