package pace

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Looked is a remote that a Loop looks at.
type Looked interface {
	comparable
	URL() string
	// Due is when to look at it again; false where nothing follows it.
	Due() (at time.Time, wanted bool)
	// Poll looks at it once, and decides when it is due again. What it returns, if anything, is called then, beside later looks.
	Poll(ctx context.Context) (then func())
}

// Loop looks at remotes when they are due, each at most once at a time. A crash in a look is an error of that remote alone: it is left
// alone for longer and longer. A Loop is safe for concurrent use.
type Loop[R Looked] struct {
	interval time.Duration // the longest time between two passes
	all      func() []R
	log      *slog.Logger
	kick     chan struct{}

	mu    sync.Mutex
	looks map[R]look // those that are under way or crashed
}

// look is how it is with looking at one remote.
type look struct {
	underWay bool
	crashes  int       // in a row
	held     time.Time // not before, after a crash
}

// NewLoop makes a loop over the remotes that all returns.
func NewLoop[R Looked](interval time.Duration, all func() []R, log *slog.Logger) *Loop[R] {
	return &Loop[R]{interval: interval, all: all, log: log, kick: make(chan struct{}, 1), looks: map[R]look{}}
}

// Poke has the loop see whether something is due earlier than it expected.
func (l *Loop[R]) Poke() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Run looks at the remotes until ctx ends. One that hangs does not hold up others.
func (l *Loop[R]) Run(ctx context.Context) error {
	var g errgroup.Group // without a limit: the remotes bound what they do
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return g.Wait()
		case <-timer.C:
		case <-l.kick:
		}
		now := time.Now()
		next := l.interval
		for _, r := range l.all() {
			due, wanted := r.Due()
			if !wanted {
				l.forget(r)
				continue
			}
			wait, ok := l.begin(r, due, now)
			switch {
			case ok:
				g.Go(func() error {
					defer l.Poke()
					var then func()
					l.end(r, l.Do(r, func() { then = r.Poll(ctx) }))
					if then != nil {
						l.Poke()
						l.Do(r, then)
					}
					return nil
				})
			case wait > 0:
				next = min(next, wait)
			}
		}
		timer.Reset(max(next, time.Millisecond))
	}
}

// Do calls f, which concerns a remote, and reports whether it came to its end. A crash is logged, and ends here.
func (l *Loop[R]) Do(r R, f func()) (ended bool) {
	const most = 4 << 10
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			l.log.Error("look at repository crashed", "repo", r.URL(), "err", fmt.Sprint(p), "stack", string(stack[:min(len(stack), most)]))
		}
	}()
	f()
	return true
}

// begin reports whether a look at a remote is to begin, and otherwise how long it has time; 0 while one is under way.
func (l *Loop[R]) begin(r R, due, now time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.looks[r]
	if one.underWay {
		return 0, false
	}
	if due.Before(one.held) {
		due = one.held
	}
	if due.After(now) {
		return due.Sub(now), false
	}
	one.underWay = true
	l.looks[r] = one
	return 0, true
}

// end notes how a look ended.
func (l *Loop[R]) end(r R, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ended {
		delete(l.looks, r)
		return
	}
	crashes := l.looks[r].crashes + 1
	l.looks[r] = look{crashes: crashes, held: time.Now().Add(Backoff(crashes))}
}

// forget drops what is known of a remote that is not wanted.
func (l *Loop[R]) forget(r R) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.looks[r].underWay {
		delete(l.looks, r)
	}
}
