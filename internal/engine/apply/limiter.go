package apply

import (
	"context"
	"sync"
	"time"
)

// Limiter bounds the requests in flight to one API server and adapts the bound to its answers: it grows by one per
// round of good answers, and halves when the server says that it is overloaded or answers much slower than it can.
// There is no fixed rate: a fast API server is used fully, a slow one is spared.
type Limiter struct {
	mu       sync.Mutex
	limit    float64
	inFlight int
	waiting  []chan struct{}
	best     time.Duration // shortest answer seen, slowly forgotten
	halved   time.Time
}

// Bounds of a Limiter.
const (
	minInFlight   = 2
	startInFlight = 16
	maxInFlight   = 64
	slowFactor    = 20 // an answer this many times slower than the best counts as overload
	slowFloor     = 500 * time.Millisecond
)

// NewLimiter makes a Limiter at its starting bound.
func NewLimiter() *Limiter { return &Limiter{limit: startInFlight} }

// Acquire waits for a place. It fails only when ctx ends.
func (l *Limiter) Acquire(ctx context.Context) error {
	l.mu.Lock()
	if l.inFlight < int(l.limit) && len(l.waiting) == 0 {
		l.inFlight++
		l.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		l.abandon(turn)
		return ctx.Err()
	}
}

func (l *Limiter) abandon(turn chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w == turn {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			return
		}
	}
	l.inFlight-- // the place was given since
	l.admit()
}

// Release gives the place back and learns from the answer: how long it took, and whether the server was overloaded.
func (l *Limiter) Release(took time.Duration, overloaded bool, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if l.best == 0 || took < l.best {
		l.best = took
	} else {
		l.best += l.best / 256
	}
	slow := took > slowFloor && took > slowFactor*l.best
	if overloaded || slow {
		if now.Sub(l.halved) > time.Second { // one burst of bad answers halves once
			l.limit = max(minInFlight, l.limit/2)
			l.halved = now
		}
	} else {
		l.limit = min(maxInFlight, l.limit+1/l.limit)
	}
	l.admit()
}

func (l *Limiter) admit() {
	for l.inFlight < int(l.limit) && len(l.waiting) > 0 {
		l.inFlight++
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
	}
}

// InFlight returns the requests under way and the present bound.
func (l *Limiter) InFlight() (now, bound int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight, int(l.limit)
}
