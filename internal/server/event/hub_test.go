package event_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/event"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// publish publishes events named from first to last.
func publish(ctx context.Context, h *event.Hub, first, last int) {
	for n := first; n <= last; n++ {
		h.Publish(ctx, api.Event{Type: fmt.Sprint(n)})
	}
}

// there returns the types of events that can be read without waiting, and the id of the last.
func there(events <-chan api.Event) (types, last string) {
	var all []string
	for {
		synctest.Wait()
		select {
		case e, open := <-events:
			if !open {
				return strings.Join(append(all, "end"), " "), last
			}
			all, last = append(all, e.Type), e.ID
		default:
			return strings.Join(all, " "), last
		}
	}
}

func subscribe(ctx context.Context, t *testing.T, h *event.Hub, after string) <-chan api.Event {
	t.Helper()
	events, err := h.Subscribe(ctx, after)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestAWatcherGetsWhatComesAndGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := event.New(event.Config{Kept: 4})
		publish(ctx, h, 1, 2)
		watching, leave := context.WithCancel(ctx)
		events := subscribe(watching, t, h, "")
		if got, _ := there(events); got != "" {
			t.Errorf("got %s from before", got)
		}
		publish(ctx, h, 3, 5)
		got, last := there(events)
		if got != "3 4 5" {
			t.Errorf("got %s", got)
		}
		leave()
		if got, _ := there(events); got != "end" {
			t.Errorf("after it left: %s", got)
		}
		publish(ctx, h, 6, 9)
		if got, _ := there(subscribe(ctx, t, h, last)); got != "6 7 8 9" {
			t.Errorf("after it came back: %s", got)
		}
		publish(ctx, h, 10, 10)
		back := subscribe(ctx, t, h, last)
		if got, last := there(back); got != "reset" || last == "" {
			t.Errorf("when 6 is not kept any more: %s", got)
		}
		publish(ctx, h, 11, 11)
		if got, _ := there(back); got != "11" {
			t.Errorf("after the reset: %s", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestAnIDOfAnotherProcessBeginsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := event.New(event.Config{})
		publish(ctx, h, 1, 3)
		all := subscribe(ctx, t, h, "")
		publish(ctx, h, 4, 4)
		_, id := there(all)
		run, _, _ := strings.Cut(id, "-")
		for _, after := range []string{"other-1", "1", "-", "x", run + "-99", run + "-", run + "--1", id + "0", strings.Repeat("9", 1000)} {
			if got, _ := there(subscribe(ctx, t, h, after)); got != "reset" {
				t.Errorf("after %.20q: %s", after, got)
			}
		}
		if got, _ := there(subscribe(ctx, t, h, run+"-0")); got != "1 2 3 4" {
			t.Errorf("from the beginning: %s", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestASlowWatcherHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := event.New(event.Config{Kept: 100})
		slow, quick := subscribe(ctx, t, h, ""), subscribe(ctx, t, h, "")
		for n := range 50 {
			publish(ctx, h, n*10, n*10+9)
			if got, _ := there(quick); len(strings.Fields(got)) != 10 {
				t.Fatalf("the quick one got %s", got)
			}
		}
		got, _ := there(slow)
		// It took some before it stopped to read; what came after these is not kept.
		if !strings.HasSuffix(got, " reset") || strings.Count(got, "reset") != 1 {
			t.Errorf("the slow one got %s", got)
		}
		publish(ctx, h, 1000, 1000)
		if got, _ := there(slow); got != "1000" {
			t.Errorf("after the reset: %s", got)
		}
		cancel()
		synctest.Wait()
	})
}

func TestOnlySoManyWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := event.New(event.Config{Watchers: 1})
		subscribe(ctx, t, h, "")
		if _, err := h.Subscribe(ctx, ""); api.CodeOf(err) != api.CodeUnavailable {
			t.Errorf("a second one: %v", err)
		}
		cancel()
		synctest.Wait()
		ctx, cancel = context.WithCancel(t.Context())
		subscribe(ctx, t, h, "") // there is room again
		cancel()
		synctest.Wait()
	})
}

func TestEventsOfManyKeepOneOrder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const publishers, each = 8, 200
	h := event.New(event.Config{Kept: publishers * each})
	var seen [2][]string
	var readers, writers sync.WaitGroup
	for n := range seen {
		events := subscribe(ctx, t, h, "")
		readers.Go(func() {
			for range publishers * each {
				seen[n] = append(seen[n], (<-events).ID)
			}
		})
	}
	for range publishers {
		writers.Go(func() { publish(ctx, h, 1, each) })
	}
	writers.Wait()
	readers.Wait()
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Error(diff)
	}
	ids := map[string]bool{}
	for _, id := range seen[0] {
		ids[id] = true
	}
	if len(ids) != publishers*each {
		t.Errorf("%d different ids", len(ids))
	}
	cancel()
}
