package drive

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// goal is a set of objects that all have to come to a state once.
type goal struct {
	size int
	// done closes when nothing is missing any more.
	done chan struct{}

	mu   sync.Mutex
	open map[string]struct{}
	at   map[string]time.Time
}

func newGoal(keys []string) *goal {
	g := &goal{done: make(chan struct{}), open: map[string]struct{}{}, at: map[string]time.Time{}}
	for _, key := range keys {
		g.open[key] = struct{}{}
	}
	g.size = len(g.open)
	if g.size == 0 {
		close(g.done)
	}
	return g
}

// reach notes that an object came to its state. Only the first time counts; strangers are ignored.
func (g *goal) reach(key string, at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, open := g.open[key]; !open {
		return
	}
	delete(g.open, key)
	g.at[key] = at
	if len(g.open) == 0 {
		close(g.done)
	}
}

func (g *goal) missing() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Sorted(maps.Keys(g.open))
}

func (g *goal) times() map[string]time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.at)
}

// last is the latest of some times; the zero time of none.
func last(times map[string]time.Time) time.Time {
	var latest time.Time
	for _, at := range times {
		if at.After(latest) {
			latest = at
		}
	}
	return latest
}

// since turns times into seconds after a start, in order of size.
func since(begin time.Time, times map[string]time.Time) []float64 {
	out := make([]float64, 0, len(times))
	for _, at := range times {
		out = append(out, max(0, at.Sub(begin).Seconds()))
	}
	slices.Sort(out)
	return out
}
