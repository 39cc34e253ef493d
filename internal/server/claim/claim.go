// Package claim has servers share work that is kept in the database: each takes what no other one has, and gives back, for later, what it
// could not go on with. So any server goes on with the work of one that ended.
package claim

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/clock"
)

const (
	// look is how often it is looked for work of other servers, and how long work waits that could not be gone on with the first time;
	// longest is the longest that it waits.
	look, longest = 5 * time.Second, 5 * time.Minute
	// giving bounds giving work back, also while the server stops.
	giving = 5 * time.Second
)

// Config is what a Runner needs.
type Config[T any] struct {
	Noun string // of the work, for the log
	Most int    // how much of it a server does at a time
	// Take takes work that no server has; the id is "" where there is none.
	Take func(ctx context.Context) (work T, id string, err error)
	// Do does it to its end. An error of Lost says that another server has it by now; after any other it is given back.
	Do   func(ctx context.Context, work T) error
	Lost func(error) bool
	// Release gives it back, for any server to take after a while.
	Release func(ctx context.Context, id string, after time.Duration) error
	Log     *slog.Logger
}

// Runner does work. Make it with New.
type Runner[T any] struct {
	cfg  Config[T]
	wake chan struct{}

	mu     sync.Mutex
	faults map[string]int // how often in a row this server could not go on with some work
}

// New is a Runner.
func New[T any](cfg Config[T]) *Runner[T] {
	return &Runner[T]{cfg: cfg, wake: make(chan struct{}, 1), faults: map[string]int{}}
}

// Wake has it look for work immediately.
func (r *Runner[T]) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run does work until ctx ends.
func (r *Runner[T]) Run(ctx context.Context) {
	timer := time.NewTimer(clock.About(look))
	defer timer.Stop()
	var group sync.WaitGroup
	defer group.Wait()
	slots := make(chan struct{}, r.cfg.Most)
	for {
		for len(slots) < r.cfg.Most {
			work, id, err := r.cfg.Take(ctx)
			if err != nil && ctx.Err() == nil {
				r.cfg.Log.Error("look for work", "noun", r.cfg.Noun, "err", err)
			}
			if err != nil || id == "" {
				break
			}
			slots <- struct{}{}
			group.Go(func() {
				defer func() { <-slots; r.Wake() }()
				r.one(ctx, work, id)
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
			timer.Reset(clock.About(look))
		}
	}
}

// one does one thing to its end, or until it is another server's.
func (r *Runner[T]) one(ctx context.Context, work T, id string) {
	err := r.cfg.Do(ctx, work)
	if err == nil || r.cfg.Lost(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.faults, id)
		return
	}
	after := time.Duration(0) // a server that stops gives it back for now
	if ctx.Err() == nil {
		after = r.pause(id)
		r.cfg.Log.Error("go on with work; it is given back", "noun", r.cfg.Noun, "id", id, "err", err, "again", after)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), giving)
	defer cancel()
	if err := r.cfg.Release(last, id, after); err != nil && ctx.Err() == nil {
		r.cfg.Log.Error("give work back", "noun", r.cfg.Noun, "id", id, "err", err)
	}
}

// pause is how long work waits that this server could not go on with: longer each time.
func (r *Runner[T]) pause(id string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[id]++
	wait := min(look<<min(r.faults[id]-1, 10), longest)
	return wait/2 + rand.N(wait/2)
}
