package event_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/event"
)

// memory is a log in memory.
type memory struct {
	mu     sync.Mutex
	run    string
	gone   int64 // events up to this number are gone
	events []event.Numbered
	away   error
}

func (m *memory) OpenEvents(context.Context) (string, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.run, int64(len(m.events)), m.away
}

func (m *memory) AppendEvents(_ context.Context, events []api.Event) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away != nil {
		return 0, m.away
	}
	for _, e := range events {
		m.events = append(m.events, event.Numbered{Number: int64(len(m.events)) + 1, Event: e})
	}
	return int64(len(m.events)), nil
}

func (m *memory) EventsAfter(_ context.Context, after int64, limit int) ([]event.Numbered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away != nil {
		return nil, m.away
	}
	after = max(after, m.gone)
	if after >= int64(len(m.events)) {
		return nil, nil
	}
	return m.events[after:min(after+int64(limit), int64(len(m.events)))], nil
}

func (m *memory) set(away error, gone int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away, m.gone = away, gone
}

// shared starts the events of a server, in a bubble. It ends with the context.
func shared(ctx context.Context, t *testing.T, m *memory, change func(*event.SharedConfig)) *event.Shared {
	t.Helper()
	cfg := event.SharedConfig{Storage: m, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&cfg)
	}
	s, err := event.NewShared(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Run(ctx) }()
	return s
}

// comes waits until the log was looked at, and returns what there is then.
func comes(events <-chan api.Event) (types, last string) {
	<-time.After(2 * event.DefaultPoll)
	return there(events)
}

func watching(ctx context.Context, t *testing.T, s *event.Shared, after string) <-chan api.Event {
	t.Helper()
	events, err := s.Subscribe(ctx, after)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func say(ctx context.Context, s *event.Shared, types string) {
	for name := range strings.FieldsSeq(types) {
		s.Publish(ctx, api.Event{Type: name})
	}
}

func TestWatchersOfAllServersSeeAllEventsInOneOrderAndGoOnAnywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &memory{run: "r"}
		one, two := shared(ctx, t, m, nil), shared(ctx, t, m, nil)
		atOne, atTwo := watching(ctx, t, one, ""), watching(ctx, t, two, "")
		say(ctx, one, "a b")
		say(ctx, two, "c")
		synctest.Wait()
		say(ctx, one, "d")
		first, last := comes(atOne)
		if second, _ := comes(atTwo); first != second || len(strings.Fields(first)) != 4 || !strings.HasSuffix(first, "d") {
			t.Errorf("one says %q, two %q", first, second)
		}
		say(ctx, two, "e")
		synctest.Wait()
		if got, _ := comes(watching(ctx, t, two, last)); got != "e" {
			t.Errorf("at the other server: %q", got)
		}
		three := shared(ctx, t, m, nil)
		if got, _ := comes(watching(ctx, t, three, last)); got != "e" {
			t.Errorf("at a server that starts: %q", got)
		}
		// Nobody has woken it yet, and who comes has seen more than it.
		m.mu.Lock()
		m.events = append(m.events, event.Numbered{Number: 6, Event: api.Event{Type: "f"}}, event.Numbered{Number: 7, Event: api.Event{Type: "g"}})
		m.mu.Unlock()
		if got, _ := there(watching(ctx, t, three, "r-6")); got != "g" {
			t.Errorf("at a server that is behind: %q", got)
		}
		for _, id := range []string{"other-6", "r-99", "r-x", "6"} {
			if got, _ := comes(watching(ctx, t, three, id)); got != api.EventReset {
				t.Errorf("after %s: %q", id, got)
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestEventsWaitForALogThatIsAwayAndAreSaidToBeLostWhenTheyAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &memory{run: "r"}
		one, two := shared(ctx, t, m, func(c *event.SharedConfig) { c.Waiting = 3 }), shared(ctx, t, m, nil)
		events := watching(ctx, t, two, "")
		m.set(errors.New("away"), 0)
		say(ctx, one, "a b")
		if got, _ := comes(events); got != "" {
			t.Errorf("got %q without a log", got)
		}
		if _, err := two.Subscribe(ctx, "r-9"); api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("who may have seen more: %v", err)
		}
		m.set(nil, 0)
		if got, _ := comes(events); got != "a b" {
			t.Errorf("got %q when it is back", got)
		}
		m.set(errors.New("away"), 0)
		say(ctx, one, "1 2 3 4 5")
		<-time.After(time.Second)
		m.set(nil, 0)
		if got, _ := comes(events); got != "reset 4 5" {
			t.Errorf("got %q after too many", got)
		}
		two.Reset(ctx)
		if got, _ := comes(events); got != "reset" {
			t.Errorf("got %q", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestWhoIsOvertakenByTheLogBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := &memory{run: "r"}
		s := shared(ctx, t, m, nil)
		events := watching(ctx, t, s, "")
		m.mu.Lock()
		for n := range int64(10) {
			m.events = append(m.events, event.Numbered{Number: n + 1, Event: api.Event{Type: fmt.Sprint(n + 1)}})
		}
		m.gone = 7
		m.mu.Unlock()
		if got, last := comes(events); got != "reset" || last != "r-10" {
			t.Errorf("got %q, the last is %s", got, last)
		}
		if got, _ := comes(watching(ctx, t, s, "r-8")); got != "9 10" {
			t.Errorf("got %q", got)
		}
		if got, _ := comes(watching(ctx, t, s, "r-5")); got != "reset" {
			t.Errorf("got %q", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestWhatIsLeftAtTheEndIsWritten(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := &memory{run: "r"}
	s, err := event.NewShared(ctx, event.SharedConfig{Storage: m, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	say(ctx, s, "a b c")
	cancel()
	if err := s.Run(ctx); err != nil || len(m.events) != 3 {
		t.Errorf("%d events are kept: %v", len(m.events), err)
	}
	m.set(errors.New("away"), 0)
	say(t.Context(), s, "d")
	if err := s.Run(ctx); err == nil {
		t.Error("no error although an event is lost")
	}
}
