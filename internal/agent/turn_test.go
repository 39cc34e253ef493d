package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
)

// Those who are called and do not come must not keep their places from those parked behind them.
func TestThoseParkedBehindOthersThatDoNotComeHaveTheirTurns(t *testing.T) {
	t.Parallel()
	a := &turner{queue: registry.NewQueue(nil), shards: shard.New(shard.Config{
		N: 2, Times: shard.TimesOf(0), Log: slog.New(slog.DiscardHandler), Taken: func(context.Context, []int) error { return nil }, Begun: func([]int) {},
	})}
	a.turns = registry.NewTurns(4, a.queue, a.shards.Away)
	a.registry = registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})
	t.Cleanup(a.queue.Close)
	for shard := range 2 {
		a.shards.Hold(t.Context(), shard, nil, clock.Now())
	}
	if err := a.shards.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	see := func(id registry.Name, version, cluster string) {
		app := &v1alpha1.Application{}
		app.Namespace, app.Name, app.ResourceVersion = id.Namespace, id.Name, version
		app.Spec.Destination.Name = cluster
		a.registry.Seen(app, nil)
	}
	serial := 0
	add := func(shard int) registry.Name {
		for {
			id := registry.Name{Namespace: "argocd", Name: fmt.Sprint("app", serial)}
			if serial++; a.shards.Has([]int{shard}, id) {
				see(id, "1", "one")
				return id
			}
		}
	}
	var ends []func()
	for range 3 {
		_, s, leave, ok := a.admit(t.Context(), add(0))
		if !ok {
			t.Fatal("a free place is not given")
		}
		ends = append(ends, func() { s.Free(); leave() })
	}
	gone, elsewhere, last := add(0), add(0), add(0)
	for _, id := range []registry.Name{add(1), add(1), add(1), add(1), gone, elsewhere, last} {
		if _, _, _, ok := a.admit(t.Context(), id); ok {
			t.Fatalf("%s has a place at a full destination", id)
		}
	}
	a.shards.GiveUp(1)
	a.registry.Removed(gone)
	see(elsewhere, "2", "two")

	for _, end := range ends {
		end()
	}
	var admitted []registry.Name
	for waiting, _ := a.queue.Depth(); waiting > 0; waiting, _ = a.queue.Depth() {
		id, _ := a.queue.Next()
		a.queue.Begun(id)
		if _, _, _, ok := a.admit(t.Context(), id); ok {
			admitted = append(admitted, id)
		}
		a.queue.Done(id)
	}
	if d := cmp.Diff([]registry.Name{elsewhere, last}, admitted); d != "" {
		t.Errorf("who has a turn (-want +got):\n%s", d)
	}
	if called := a.turns.Promised(); len(called) != 0 {
		t.Errorf("%v are still waited for", called)
	}
}

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

// waitingOperation is an operation under way with some hooks that have begun.
func waitingOperation(hooks ...string) *v1alpha1.OperationState {
	o := &v1alpha1.OperationState{
		Phase: v1alpha1.OperationRunning, StartedAt: metav1.NewTime(time.Unix(1000, 0)), SyncResult: &v1alpha1.SyncOperationResult{},
	}
	for _, h := range hooks {
		o.SyncResult.Resources = append(o.SyncResult.Resources, v1alpha1.ResourceResult{
			Kind: "Job", Name: h, HookType: v1alpha1.HookSync, HookPhase: v1alpha1.OperationRunning, SyncPhase: v1alpha1.PhaseSync,
		})
	}
	return o
}

func TestWordsAboutAnOperationAreAsFarApartAsTheyAreDear(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		told, took time.Duration // since then; of the last write
		known, now *v1alpha1.OperationState
		change     func(*v1alpha1.Application, *engine.Result)
		want       bool // it waits
	}{
		{name: "told just now", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(), want: true},
		{name: "told before the window", told: 2 * time.Second, known: waitingOperation(), now: waitingOperation()},
		{name: "the last word was dear", told: 2 * time.Second, took: time.Second, known: waitingOperation(), now: waitingOperation(), want: true},
		{name: "it was dear, and long ago", told: 11 * time.Second, took: time.Second, known: waitingOperation(), now: waitingOperation()},
		{name: "never told", told: 1000 * time.Hour, now: waitingOperation()},
		{name: "the operation is new", told: 100 * time.Millisecond, now: waitingOperation(), want: true},
		{name: "a hook has begun", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a", "b")},
		{name: "a hook is as it was", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a"), want: true},
		{
			name: "a hook of an earlier operation", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a"),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Status.OperationState.StartedAt = metav1.NewTime(time.Unix(900, 0))
			},
		},
		{
			name: "its end is asked for", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Status.OperationState.Phase = v1alpha1.OperationTerminating
			},
		},
		{
			name: "somebody asks for a refresh", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal"}
			},
		},
		{
			name: "it waits for its next attempt", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(_ *v1alpha1.Application, res *engine.Result) { res.Retry = time.Minute },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := &turner{queue: registry.NewQueue(nil), registry: registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})}
			defer a.queue.Close()
			app := &v1alpha1.Application{}
			app.Namespace, app.Name, app.ResourceVersion = "argocd", "web", "1"
			app.Status.OperationState = test.known
			res := engine.Result{Operation: test.now}
			if test.change != nil {
				test.change(app, &res)
			}
			a.registry.Seen(app, nil)
			id := registry.Name{Namespace: "argocd", Name: "web"}
			now := time.Unix(2000, 0)
			a.registry.Wrote(id, now.Add(-test.told), test.took)
			e, _ := a.registry.Take(id)
			if got := a.settles(id, e, res, now); got != test.want {
				t.Errorf("settles() = %v", got)
			}
			after, _ := a.registry.Take(id)
			if seen := registry.View(app, after.Unreported); test.want && seen.Status.OperationState != test.now {
				t.Error("the next turn does not build on the operation")
			}
		})
	}
}

// resting is an Application that nothing is to be done about.
func resting() *v1alpha1.Application {
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/shop", Path: "web"}}}
	app.Status.Sync = v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusSynced, Revision: "r1", ComparedTo: v1alpha1.ComparedTo{Source: *app.Spec.Source}}
	app.Status.Health.Status = v1alpha1.HealthHealthy
	return app
}

// restful is an Agent that has a queue and a registry with one Application, and nothing else.
func restful(t *testing.T, app *v1alpha1.Application) (*Agent, registry.Name) {
	t.Helper()
	app.Name, app.Namespace, app.ResourceVersion = "web", "argocd", "1"
	a := &Agent{turner: turner{queue: registry.NewQueue(nil)}}
	t.Cleanup(a.queue.Close)
	a.registry = registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})
	a.registry.Seen(app, nil)
	return a, registry.Name{Namespace: "argocd", Name: "web"}
}

func TestAnotherAttemptIsNotForgottenOverADateThatIsFarAway(t *testing.T) {
	t.Parallel()
	a, id := restful(t, resting())
	a.followUp(id, resting(), engine.Result{Wake: 30 * 24 * time.Hour, Retry: time.Millisecond}, a.heard.Load())
	if e, _ := a.registry.Take(id); e.Due.IsZero() {
		t.Error("the attempt is not noted")
	}
	if got, ok := a.queue.Next(); !ok || got != id {
		t.Errorf("the next turn is for %s", got)
	}
}

func TestADeploymentOfSomethingElseIsComparedAgainOnceItIsOver(t *testing.T) {
	t.Parallel()
	app := resting()
	app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "r2"}}
	for phase, want := range map[v1alpha1.OperationPhase]int{v1alpha1.OperationRunning: 0, v1alpha1.OperationSucceeded: 1, v1alpha1.OperationFailed: 1} {
		a, id := restful(t, app)
		a.followUp(id, app, engine.Result{Operation: &v1alpha1.OperationState{Phase: phase}}, a.heard.Load())
		if n, _ := a.queue.Depth(); n != want {
			t.Errorf("%s: %d turns, want %d", phase, n, want)
		}
	}
}

func TestManifestsOfAnOperationAreSomethingElseThanTheSpecification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op   *v1alpha1.SyncOperation
		want bool
	}{
		{nil, false},
		{&v1alpha1.SyncOperation{Prune: true}, false},
		{&v1alpha1.SyncOperation{Revision: "r2"}, true},
		{&v1alpha1.SyncOperation{Manifests: []string{"{}"}}, true},
		{&v1alpha1.SyncOperation{Sources: []v1alpha1.ApplicationSource{{}}}, true},
	} {
		if got := decide.Overrides(c.op); got != c.want {
			t.Errorf("%+v: %t", c.op, got)
		}
	}
}

// TestAnApplicationThatFailedGetsItsNextTurnWithoutAnEvent has it fail again and again, and nothing report the fix.
func TestAnApplicationThatFailedGetsItsNextTurnWithoutAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, id := restful(t, resting())
		defer a.queue.Close()
		time.AfterFunc(time.Hour, a.queue.Close)
		for n := range 10 {
			a.followUp(id, resting(), engine.Result{Err: &engine.StageError{Err: errors.New("no such kind")}}, a.heard.Load())
			began := time.Now()
			got, ok := a.queue.Next()
			if took := time.Since(began); !ok || got != id || took < errorPause || took > longestPause+time.Second || n == 9 && took < longestPause {
				t.Errorf("turn %d is for %s after %s", n, got, took)
			}
			a.queue.Done(id)
		}
	})
}
