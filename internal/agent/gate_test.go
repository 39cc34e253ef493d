package agent

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/clock"
)

func TestADestinationLeavesWorkersToOthers(t *testing.T) {
	t.Parallel()
	g := newGate(8)
	hangs, works := v1alpha1.ApplicationDestination{Name: "hangs"}, v1alpha1.ApplicationDestination{Name: "works"}
	entered := 0
	for i := range 8 {
		if g.enter(hangs, "shop", name{Name: fmt.Sprint(i)}) {
			entered++
		}
	}
	if entered != 6 {
		t.Errorf("%d of 8 workers are at one destination, want 6", entered)
	}
	if !g.enter(works, "shop", name{Name: "w"}) {
		t.Error("another destination has no place")
	}
	g.enter(hangs, "shop", name{Name: "7"}) // asked for again while it waits
	if d := cmp.Diff([]name{{Name: "6"}}, g.leave(hangs, time.Second)); d != "" {
		t.Errorf("who is next (-want +got):\n%s", d)
	}
	if next := g.leave(hangs, time.Minute); len(next) != 0 {
		t.Errorf("%v are next at a destination that has become slow and is full", next)
	}
	if d := cmp.Diff([]name{{Name: "7"}}, g.leave(hangs, time.Second)); d != "" {
		t.Errorf("who is next when it is quick again (-want +got):\n%s", d)
	}
}

func TestASlowDestinationGetsFewerWorkers(t *testing.T) {
	t.Parallel()
	g := newGate(16)
	slow := v1alpha1.ApplicationDestination{Name: "slow"}
	g.enter(slow, "shop", name{Name: "first"})
	g.leave(slow, time.Minute)
	entered := 0
	for i := range 16 {
		if g.enter(slow, "shop", name{Name: fmt.Sprint(i)}) {
			entered++
		}
	}
	if entered != 2 {
		t.Errorf("%d of 16 workers are at a slow destination, want 2", entered)
	}
}

// Those who are called and do not come must not keep their places from those parked behind them.
func TestThoseParkedBehindOthersThatDoNotComeHaveTheirTurns(t *testing.T) {
	t.Parallel()
	a := &Agent{queue: newQueue(nil), shards: &shards{n: 2, wake: make(chan struct{}, 1), held: map[int]*holding{}}}
	a.turns = newTurns(4, a.queue, a.shards.away)
	a.registry = newRegistry("argocd", func(name) {}, func(*v1alpha1.Application) {})
	t.Cleanup(a.queue.close)
	for shard := range a.shards.n {
		a.shards.held[shard] = &holding{ctx: t.Context(), active: true, now: clock.Now}
		a.shards.held[shard].until.Store(new(clock.Now().Add(time.Hour)))
	}
	see := func(id name, version, cluster string) {
		app := &v1alpha1.Application{}
		app.Namespace, app.Name, app.ResourceVersion = id.Namespace, id.Name, version
		app.Spec.Destination.Name = cluster
		a.registry.seen(app, nil)
	}
	serial := 0
	add := func(shard int) name {
		for {
			id := name{Namespace: "argocd", Name: fmt.Sprint("app", serial)}
			if serial++; shardOf(id, a.shards.n) == shard {
				see(id, "1", "one")
				return id
			}
		}
	}
	var leaves []func()
	for range 3 {
		_, _, leave, ok := a.admit(t.Context(), add(0))
		if !ok {
			t.Fatal("a free place is not given")
		}
		leaves = append(leaves, leave)
	}
	gone, elsewhere, last := add(0), add(0), add(0)
	for _, id := range []name{add(1), add(1), add(1), add(1), gone, elsewhere, last} {
		if _, _, _, ok := a.admit(t.Context(), id); ok {
			t.Fatalf("%s has a place at a full destination", id)
		}
	}
	a.shards.held[1].giving = true
	a.registry.removed(gone)
	see(elsewhere, "2", "two")

	dest := v1alpha1.ApplicationDestination{Name: "one"}
	for _, leave := range leaves {
		for _, next := range a.turns.leave(dest, time.Second) {
			a.queue.add(next)
		}
		leave()
	}
	var admitted []name
	for waiting, _ := a.queue.depth(); waiting > 0; waiting, _ = a.queue.depth() {
		id, _ := a.queue.next()
		a.queue.begun(id)
		if _, _, _, ok := a.admit(t.Context(), id); ok {
			admitted = append(admitted, id)
		}
		a.queue.done(id)
	}
	if d := cmp.Diff([]name{elsewhere, last}, admitted); d != "" {
		t.Errorf("who has a turn (-want +got):\n%s", d)
	}
	if len(a.turns.called) != 0 {
		t.Errorf("%v are still waited for", a.turns.called)
	}
}

// floor is where turns are had, with a queue of its own.
func floor(t *testing.T, workers int) *turns {
	t.Helper()
	q := newQueue(func(name) string { return "shop" })
	t.Cleanup(q.close)
	return newTurns(workers, q, func(name, func()) func() { return func() {} })
}

// sit begins a turn, as an agent does.
func sit(t *testing.T, turns *turns, name string) context.Context {
	t.Helper()
	app := &v1alpha1.Application{}
	app.Name, app.Spec.Project, app.Spec.Destination.Name = name, "shop", "one"
	ctx, end := context.WithCancel(t.Context())
	turns.take()
	s := turns.admit(app, end)
	if s == nil {
		t.Fatalf("%s has no place", name)
	}
	return withSeat(ctx, s)
}

func TestATurnThatWaitsForARenderWorkerLeavesItsPlacesToOthers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	var backs []func()
	for i := range 20 { // many more than there are workers, or places at a destination
		backs = append(backs, leave(sit(t, a, fmt.Sprint("burns", i))))
	}
	if n := len(a.seats); n != 0 {
		t.Errorf("turns that wait have %d seats", n)
	}
	ctx := sit(t, a, "works")
	for _, back := range backs[:2] {
		back()
	}
	if busy := a.dest[v1alpha1.ApplicationDestination{Name: "one"}].busy; busy != 3 || len(a.seats) != 3 {
		t.Errorf("%d at the destination on %d seats, want 3 and 3", busy, len(a.seats))
	}
	// The destination is full: a turn that comes back waits for a place without a seat, and goes before those that are parked.
	if a.enter(v1alpha1.ApplicationDestination{Name: "one"}, "shop", name{Name: "parked"}) {
		t.Error("a fourth turn has a place, three may")
	}
	came := make(chan struct{})
	go func() { backs[2](); close(came) }()
	for {
		a.mu.Lock()
		n := len(a.dest[v1alpha1.ApplicationDestination{Name: "one"}].coming)
		a.mu.Unlock()
		if n == 1 {
			break
		}
		runtime.Gosched()
	}
	if next := a.leave(v1alpha1.ApplicationDestination{Name: "one"}, time.Second); len(next) != 0 {
		t.Errorf("%v are called before the turn that comes back", next)
	}
	a.give()
	<-came
	leave(ctx)
}

func TestAProjectHasOnlySoManyTurnsThatWaitForRenderWorkers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	var backs []func()
	for i := range maxAway {
		backs = append(backs, leave(sit(t, a, fmt.Sprint("burns", i))))
	}
	one := v1alpha1.ApplicationDestination{Name: "one"}
	for i := range 3 * maxAway {
		if a.enter(one, "shop", name{Name: fmt.Sprint("more", i)}) {
			t.Fatal("another turn of the project has a place")
		}
	}
	if !a.enter(one, "other", name{Name: "web"}) {
		t.Fatal("a turn of another project has no place")
	}
	a.leave(one, time.Second)
	for _, back := range backs {
		back()
		a.give()
		a.leave(one, time.Second)
	}
	if n, _ := a.queue.depth(); n != 3*maxAway {
		t.Errorf("%d Applications that were parked are called, want %d", n, 3*maxAway)
	}
	if len(a.gate.away) != 0 {
		t.Errorf("%v is kept of turns that are back", a.gate.away)
	}
}

func TestATurnThatComesBackDoesNotWaitOnceItIsStopped(t *testing.T) {
	t.Parallel()
	a := floor(t, 1)
	ctx, cancel := context.WithCancel(sit(t, a, "burns"))
	back := leave(ctx)
	one := v1alpha1.ApplicationDestination{Name: "one"}
	if !a.enter(one, "other", name{Name: "web"}) {
		t.Fatal("the place is not free")
	}
	cancel()
	back()
	if busy := a.dest[one].busy; busy != 2 {
		t.Errorf("%d are counted at the destination, want 2", busy)
	}
}

func TestProjectsHaveTheirTurnsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	q := newQueue(func(id name) string { return id.Namespace })
	t.Cleanup(q.close)
	for i := range 1000 {
		q.add(name{Namespace: "many", Name: fmt.Sprint(i)})
	}
	q.add(name{Namespace: "one", Name: "a"})
	q.add(name{Namespace: "two", Name: "a"})
	q.add(name{Namespace: "one", Name: "b"})
	q.add(name{Namespace: "many", Name: "0"}) // again
	var got []name
	for range 6 {
		id, _ := q.next()
		q.begun(id)
		q.done(id)
		got = append(got, id)
	}
	want := []name{{Namespace: "many", Name: "0"}, {Namespace: "one", Name: "a"}, {Namespace: "two", Name: "a"}, {Namespace: "many", Name: "1"}, {Namespace: "one", Name: "b"}, {Namespace: "many", Name: "2"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the order of turns (-want +got):\n%s", d)
	}
	if n, _ := q.depth(); n != 997 {
		t.Errorf("%d wait, want 997", n)
	}
}

func TestATurnThatWaitsForARenderWorkerDoesNotKeepItsShard(t *testing.T) {
	t.Parallel()
	held := &shards{n: 1, wake: make(chan struct{}, 1), held: map[int]*holding{0: {ctx: t.Context(), active: true, now: clock.Now}}}
	held.held[0].until.Store(new(clock.Now().Add(time.Hour)))
	a := floor(t, 4)
	a.away = held.away
	for name, before := range map[string]bool{"it waits before": true, "it waits after": false} {
		held.held[0].giving = false
		ctx := sit(t, a, name)
		var back func()
		if before {
			back = leave(ctx)
		}
		held.giveUp(0)
		if !before {
			back = leave(ctx)
		}
		if ctx.Err() == nil {
			t.Errorf("%s: the turn goes on", name)
		}
		back()
		if len(held.held[0].away) != 0 {
			t.Errorf("%s: it is kept as one that waits", name)
		}
	}
}

func TestATurnThatWaitsForARepositoryLeavesItsPlacesToOthers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	quick := leaveAfter(sit(t, a, "quick"), time.Hour)
	quick()
	if n := len(a.seats); n != 1 {
		t.Errorf("a turn that did not wait has %d seats, want its one", n)
	}
	var backs []func()
	for i := range 20 { // many more than there are workers, or places at a destination: each sits down when another one has left
		backs = append(backs, leaveAfter(sit(t, a, fmt.Sprint("hangs", i)), time.Millisecond))
		for end := time.Now().Add(time.Minute); a.gone() < i+1 || len(a.seats) > 1; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatalf("%d turns of %d are away, on %d seats", a.gone(), i+1, len(a.seats)-1)
			}
		}
	}
	backs[0]()
	if n := len(a.seats); n != 2 {
		t.Errorf("a turn that is back has %d seats", n-1)
	}
}

// gone is how many turns of the project are away.
func (t *turns) gone() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.gate.away["shop"]; at != nil {
		return at.n
	}
	return 0
}
