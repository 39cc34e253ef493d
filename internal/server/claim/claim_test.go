package claim

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf has one thing to do, which servers take when it may be taken.
type shelf struct {
	mu    sync.Mutex
	open  time.Time // when it may be taken; the zero time for when it is over
	taken []time.Time
	fault error
}

func (s *shelf) runner(lost error) *Runner[string] {
	return New(Config[string]{
		Noun: "thing", Most: 2, Log: slog.New(slog.DiscardHandler),
		Take: func(context.Context) (string, string, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.open.IsZero() || time.Now().Before(s.open) {
				return "", "", nil
			}
			s.open = time.Time{}
			s.taken = append(s.taken, time.Now())
			return "the thing", "1", nil
		},
		Do:   func(context.Context, string) error { return s.fault },
		Lost: func(err error) bool { return errors.Is(err, lost) },
		Release: func(_ context.Context, id string, after time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if id == "1" {
				s.open = time.Now().Add(after)
			}
			return nil
		},
	})
}

// during runs a runner for a while.
func during(t *testing.T, r *Runner[string], long time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	r.Run(ctx)
}

func TestWhatCannotBeGoneOnWithIsTriedAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{open: time.Now(), fault: errors.New("the database is away")}
		r := s.runner(errors.New("lost"))
		during(t, r, time.Hour)
		// 5 min at most between two tries, and half of it at least once that is reached.
		if n := len(s.taken); n < 12 || n > 32 {
			t.Fatalf("it was tried %d times in an hour", n)
		}
		if first, last := s.taken[1].Sub(s.taken[0]), s.taken[len(s.taken)-1].Sub(s.taken[len(s.taken)-2]); first < look/2 || last < longest/2 {
			t.Errorf("it was tried again after %s, and at last after %s", first, last)
		}
		s.fault = nil
		during(t, r, 2*longest)
		if len(r.faults) > 0 || !s.open.IsZero() {
			t.Errorf("it is over, and known still: %v, %v", r.faults, s.open)
		}
	})
}

func TestWhatAnotherServerHasIsNotGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("lost")
		s := &shelf{open: time.Now(), fault: lost}
		during(t, s.runner(lost), time.Minute)
		if len(s.taken) != 1 || !s.open.IsZero() {
			t.Errorf("it was taken %d times, and is open since %v", len(s.taken), s.open)
		}
	})
}

func TestAServerThatStopsGivesItsWorkBackForNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{open: time.Now()}
		r := s.runner(errors.New("lost"))
		r.cfg.Do = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		during(t, r, time.Minute)
		if len(s.taken) != 1 || !s.open.Equal(time.Now()) {
			t.Errorf("it was taken %d times, and may be taken again at %v", len(s.taken), s.open)
		}
	})
}
