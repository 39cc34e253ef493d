package apply

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestNoMoreRequestsAreInFlightThanTheBound(t *testing.T) {
	t.Parallel()
	l := NewLimiter()
	var inFlight, most atomic.Int64
	var wait sync.WaitGroup
	for range 500 {
		wait.Go(func() {
			if err := l.Acquire(t.Context()); err != nil {
				t.Error(err)
				return
			}
			n := inFlight.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			inFlight.Add(-1)
			l.Release(time.Millisecond, false, time.Unix(0, 0))
		})
	}
	wait.Wait()
	now, bound := l.InFlight()
	if most.Load() > maxInFlight || now != 0 {
		t.Errorf("%d in flight at most, %d at the end; the bound is %d", most.Load(), now, bound)
	}
	if bound <= startInFlight {
		t.Errorf("the bound is %d after 500 good answers; it began at %d", bound, startInFlight)
	}
}

// answer takes a place and gives it back.
func answer(t *testing.T, l *Limiter, took time.Duration, overloaded bool, at time.Time) {
	t.Helper()
	if err := l.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Release(took, overloaded, at)
}

func TestTheBoundFollowsTheServersAnswers(t *testing.T) {
	t.Parallel()
	l, at := NewLimiter(), time.Unix(1000, 0)
	bound := func() int { _, n := l.InFlight(); return n }
	for range 10_000 {
		answer(t, l, 5*time.Millisecond, false, at)
	}
	if bound() != maxInFlight {
		t.Errorf("the bound is %d after many good answers, want %d", bound(), maxInFlight)
	}
	answer(t, l, 5*time.Millisecond, true, at)
	answer(t, l, 5*time.Millisecond, true, at.Add(100*time.Millisecond))
	if bound() != maxInFlight/2 {
		t.Errorf("the bound is %d after one burst of bad answers, want %d", bound(), maxInFlight/2)
	}
	answer(t, l, 2*time.Second, false, at.Add(2*time.Second))
	if bound() != maxInFlight/4 {
		t.Errorf("the bound is %d after an answer that took long, want %d", bound(), maxInFlight/4)
	}
	for i := range 20 {
		answer(t, l, 5*time.Millisecond, true, at.Add(time.Duration(4+2*i)*time.Second))
	}
	if bound() != minInFlight {
		t.Errorf("the bound is %d after many bad answers, want %d", bound(), minInFlight)
	}
}

func TestWhoGivesUpWaitingTakesNoPlace(t *testing.T) {
	t.Parallel()
	l := NewLimiter()
	for range startInFlight {
		if err := l.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			if err := l.Acquire(ctx); err == nil {
				l.Release(time.Millisecond, true, time.Unix(0, 0))
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	wait.Go(cancel)
	for range startInFlight { // places become free while others give up
		l.Release(time.Millisecond, true, time.Unix(0, 0))
	}
	wait.Wait()
	if now, _ := l.InFlight(); now != 0 {
		t.Errorf("%d places are taken by nobody", now)
	}
	if err := l.Acquire(t.Context()); err != nil {
		t.Error(err)
	}
}
