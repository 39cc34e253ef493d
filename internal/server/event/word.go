package event

import (
	"slices"
	"sync"
	"time"
)

// WaitEvents names the wait for the report of another server that it has kept events.
const WaitEvents = "events"

const (
	// wordGrace is how long the report of events may take that were found already, before it counts as missed.
	wordGrace = 5 * time.Second
	// vagueFor is how long nothing counts as missed after a report without a number: servers of an earlier version send such.
	vagueFor = time.Minute
)

// span is events from one number to another, both included; it is empty where first is above last.
type span struct{ first, last int64 }

// word is what servers have reported of the events in a log. The zero value knows of nothing.
type word struct {
	mu    sync.Mutex
	heard int64     // other servers have reported events up to this one
	vague time.Time // a report without a number came then
	own   []span    // of this server, in their order
	// doubt is what was found and no server had reported, since a time; the zero time for nothing.
	doubt span
	since time.Time
}

// hear notes the report of another server.
func (w *word) hear(last int64, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard = max(w.heard, last); last == 0 {
		w.vague = now
	}
}

// keep notes events of this server itself.
func (w *word) keep(s span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.own); n > 0 && w.own[n-1].last+1 == s.first {
		w.own[n-1].last = s.last
		return
	}
	w.own = append(w.own, s)
}

// missed notes what was found now, and reports whether events that were found seconds ago were reported by no server since.
func (w *word) missed(found span, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	missed := false
	if !w.since.IsZero() && now.Sub(w.since) >= wordGrace {
		missed = w.unreported(w.doubt) && now.Sub(w.vague) >= vagueFor
		w.since = time.Time{}
	}
	if w.since.IsZero() && w.unreported(found) {
		w.doubt, w.since = found, now
	}
	past := found.last // what is before it is not found any more
	if !w.since.IsZero() {
		past = w.doubt.first - 1
	}
	w.own = slices.DeleteFunc(w.own, func(s span) bool { return s.last <= past })
	return missed
}

// unreported reports whether there are events in a span that neither another server has reported nor this one has made. The
// caller holds the lock.
func (w *word) unreported(s span) bool {
	next := max(s.first, w.heard+1)
	for _, own := range w.own {
		if own.first <= next && next <= own.last {
			next = own.last + 1
		}
	}
	return next <= s.last
}
