package agent

import (
	"log/slog"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
)

func TestWhatWaitsForATimeIsLookedAtAgainWhenTheClockWasSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		res   engine.Result
		again bool
	}{
		{"nothing", engine.Result{}, false},
		{"a window, or the next attempt", engine.Result{Retry: time.Hour}, true},
		{"the end of allowed drift", engine.Result{Wake: 24 * time.Hour}, true},
		{"an operation that may overrun its window", engine.Result{Operation: waitingOperation("a")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := &turner{queue: registry.NewQueue(nil), log: slog.New(slog.DiscardHandler)}
			a.registry = registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})
			defer a.queue.Close()
			app := &v1alpha1.Application{}
			app.Namespace, app.Name, app.ResourceVersion = "argocd", "web", "1"
			a.registry.Seen(app, nil)
			id := registry.Name{Namespace: "argocd", Name: "web"}
			a.followUp(id, app, engine.Result{Wake: time.Minute}, 0)
			a.followUp(id, app, c.res, 0) // the last one counts
			a.registry.Answered(app, nil)
			if n, _ := a.queue.Depth(); n != 0 {
				t.Fatalf("%d wait for a turn before the clock was set", n)
			}
			a.clockSet(-time.Hour)
			if n, _ := a.queue.Depth(); (n == 1) != c.again {
				t.Errorf("%d wait for a turn, want one: %v", n, c.again)
			}
		})
	}
}

func TestTheWaitBeforeAnAttemptIsToldToTheEngine(t *testing.T) {
	t.Parallel()
	a, now := &turner{}, time.Now()
	app := &v1alpha1.Application{}
	for _, c := range []struct {
		due  time.Time
		rest time.Duration
		over bool
	}{{time.Time{}, 0, true}, {now.Add(-time.Second), 0, true}, {now.Add(time.Minute), time.Minute, false}} {
		req := a.request(registry.Entry{App: app, Due: c.due}, now)
		if req.Due != c.over || req.Rest != c.rest {
			t.Errorf("due %s: over %v, rest %s; want %v, %s", c.due, req.Due, req.Rest, c.over, c.rest)
		}
	}
}
