// Package event publishes changes to watchers: the last events are kept in memory, so that a watcher that was cut off
// goes on where it was.
package event

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// DefaultKept is how many events are kept for those who come back, or are slow.
	DefaultKept = 4096
	// DefaultWatchers is how many may watch at a time.
	DefaultWatchers = 2000
	// atOnce is how many events a watcher takes from the ring at a time.
	atOnce = 64
)

// Config is what a Hub needs. What is zero has a default.
type Config struct {
	// Kept is how many events are kept: DefaultKept.
	Kept int
	// Watchers is how many may watch at a time: DefaultWatchers.
	Watchers int
	// Now is time.Now where it is nil.
	Now func() time.Time
}

// Hub gives each event to all watchers. It never waits for one: each goes through the ring of what is kept at its own
// pace, and starts over if the ring has overtaken it.
type Hub struct {
	now func() time.Time
	// run distinguishes the ids of this process from those of another.
	run string

	mu       sync.Mutex
	next     uint64      // the number of the event to come; the first has 1
	given    uint64      // how many were added
	first    uint64      // that of the oldest event that was given to this process
	kept     []api.Event // event n is at n modulo its length
	watchers map[*watcher]struct{}
	limit    int
}

// watcher is one who watches.
type watcher struct {
	next uint64        // the number of the event to be given next
	lost bool          // what was before next is not kept any more
	wake chan struct{} // has room for one
}

// New makes a Hub.
func New(cfg Config) *Hub {
	if cfg.Kept <= 0 {
		cfg.Kept = DefaultKept
	}
	if cfg.Watchers <= 0 {
		cfg.Watchers = DefaultWatchers
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Hub{
		now: cfg.Now, run: strings.ToLower(rand.Text()[:10]), next: 1, first: 1, kept: make([]api.Event, cfg.Kept),
		watchers: map[*watcher]struct{}{}, limit: cfg.Watchers,
	}
}

// Publish gives an event an id and passes it on.
func (h *Hub) Publish(_ context.Context, e api.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(e)
}

// Watchers is how many watch now.
func (h *Hub) Watchers() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.watchers)
}

// Given is how many events this process gave to its watchers, or would have.
func (h *Hub) Given() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.given
}

// Waiting is how many events are not given yet: none here.
func (h *Hub) Waiting() int { return 0 }

// add adds an event. The caller holds the lock.
func (h *Hub) add(e api.Event) {
	if e.At.IsZero() {
		e.At = h.now().UTC()
	}
	e.ID = h.id(h.next)
	h.kept[h.next%uint64(len(h.kept))] = e
	h.next++
	h.given++
	for w := range h.watchers {
		select {
		case w.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

func (h *Hub) id(n uint64) string { return h.run + "-" + strconv.FormatUint(n, 10) }

// Subscribe gives what comes after the event with that id; from now on where it is empty. Where what is between is not
// kept, or was not read in time, an api.EventReset comes in its place. The channel is closed when ctx has ended.
func (h *Hub) Subscribe(ctx context.Context, after string) (<-chan api.Event, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) >= h.limit {
		return nil, api.Errorf(api.CodeUnavailable, "%d watch already, which is the limit: try again later, or ask in intervals", h.limit)
	}
	w := &watcher{next: h.next, wake: make(chan struct{}, 1)}
	if after != "" {
		if n, ok := h.number(after); ok && n < h.next {
			w.next = n + 1
		} else {
			w.lost = true
		}
	}
	h.watchers[w] = struct{}{}
	out := make(chan api.Event)
	go h.serve(ctx, w, out)
	return out, nil
}

// number reads an id with the run of this Hub.
func (h *Hub) number(id string) (uint64, bool) {
	run, number, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	return n, err == nil && run == h.run
}

// serve gives a watcher its events until ctx ends.
func (h *Hub) serve(ctx context.Context, w *watcher, out chan<- api.Event) {
	defer close(out)
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}()
	for {
		events := h.take(w)
		for _, e := range events {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			}
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

// take returns the next events for a watcher.
func (h *Hub) take(w *watcher) []api.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.next < h.first || h.next-w.next > uint64(len(h.kept)) {
		w.lost = true
	}
	if w.lost {
		w.lost, w.next = false, h.next
		return []api.Event{{ID: h.id(h.next - 1), Type: api.EventReset, At: h.now().UTC()}}
	}
	var events []api.Event
	for w.next < h.next && len(events) < atOnce {
		events = append(events, h.kept[w.next%uint64(len(h.kept))])
		w.next++
	}
	return events
}
