package registry

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestADestinationLeavesWorkersToOthers(t *testing.T) {
	t.Parallel()
	g := newGate(8)
	hangs, works := v1alpha1.ApplicationDestination{Name: "hangs"}, v1alpha1.ApplicationDestination{Name: "works"}
	entered := 0
	for i := range 8 {
		if g.enter(hangs, "shop", Name{Name: fmt.Sprint(i)}) {
			entered++
		}
	}
	if entered != 6 {
		t.Errorf("%d of 8 workers are at one destination, want 6", entered)
	}
	if !g.enter(works, "shop", Name{Name: "w"}) {
		t.Error("another destination has no place")
	}
	g.enter(hangs, "shop", Name{Name: "7"}) // asked for again while it waits
	if d := cmp.Diff([]Name{{Name: "6"}}, g.leave(hangs, time.Second)); d != "" {
		t.Errorf("who is next (-want +got):\n%s", d)
	}
	if next := g.leave(hangs, time.Minute); len(next) != 0 {
		t.Errorf("%v are next at a destination that has become slow and is full", next)
	}
	if d := cmp.Diff([]Name{{Name: "7"}}, g.leave(hangs, time.Second)); d != "" {
		t.Errorf("who is next when it is quick again (-want +got):\n%s", d)
	}
}

func TestASlowDestinationGetsFewerWorkers(t *testing.T) {
	t.Parallel()
	g := newGate(16)
	slow := v1alpha1.ApplicationDestination{Name: "slow"}
	g.enter(slow, "shop", Name{Name: "first"})
	g.leave(slow, time.Minute)
	entered := 0
	for i := range 16 {
		if g.enter(slow, "shop", Name{Name: fmt.Sprint(i)}) {
			entered++
		}
	}
	if entered != 2 {
		t.Errorf("%d of 16 workers are at a slow destination, want 2", entered)
	}
}

// floor is where turns are had, with a queue of its own.
func floor(t *testing.T, workers int) *Turns {
	t.Helper()
	q := NewQueue(func(Name) string { return "shop" })
	t.Cleanup(q.Close)
	return NewTurns(workers, q, func(Name, func()) func() { return func() {} })
}

// sit begins a turn, as an agent does.
func sit(t *testing.T, turns *Turns, name string) context.Context {
	t.Helper()
	app := &v1alpha1.Application{}
	app.Name, app.Spec.Project, app.Spec.Destination.Name = name, "shop", "one"
	ctx, end := context.WithCancel(t.Context())
	turns.Take()
	s := turns.Admit(app, end)
	if s == nil {
		t.Fatalf("%s has no place", name)
	}
	return WithSeat(ctx, s)
}

func TestATurnThatWaitsForARenderWorkerLeavesItsPlacesToOthers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	var backs []func()
	for i := range 20 { // many more than there are workers, or places at a destination
		backs = append(backs, Leave(sit(t, a, fmt.Sprint("burns", i))))
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
	if a.enter(v1alpha1.ApplicationDestination{Name: "one"}, "shop", Name{Name: "parked"}) {
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
	a.Give()
	<-came
	Leave(ctx)
}

func TestAProjectHasOnlySoManyTurnsThatWaitForRenderWorkers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	var backs []func()
	for i := range maxAway {
		backs = append(backs, Leave(sit(t, a, fmt.Sprint("burns", i))))
	}
	one := v1alpha1.ApplicationDestination{Name: "one"}
	for i := range 3 * maxAway {
		if a.enter(one, "shop", Name{Name: fmt.Sprint("more", i)}) {
			t.Fatal("another turn of the project has a place")
		}
	}
	if !a.enter(one, "other", Name{Name: "web"}) {
		t.Fatal("a turn of another project has no place")
	}
	a.leave(one, time.Second)
	for _, back := range backs {
		back()
		a.Give()
		a.leave(one, time.Second)
	}
	if n, _ := a.queue.Depth(); n != 3*maxAway {
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
	back := Leave(ctx)
	one := v1alpha1.ApplicationDestination{Name: "one"}
	if !a.enter(one, "other", Name{Name: "web"}) {
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
	q := NewQueue(func(id Name) string { return id.Namespace })
	t.Cleanup(q.Close)
	for i := range 1000 {
		q.Add(Name{Namespace: "many", Name: fmt.Sprint(i)})
	}
	q.Add(Name{Namespace: "one", Name: "a"})
	q.Add(Name{Namespace: "two", Name: "a"})
	q.Add(Name{Namespace: "one", Name: "b"})
	q.Add(Name{Namespace: "many", Name: "0"}) // again
	var got []Name
	for range 6 {
		id, _ := q.Next()
		q.Begun(id)
		q.Done(id)
		got = append(got, id)
	}
	want := []Name{{Namespace: "many", Name: "0"}, {Namespace: "one", Name: "a"}, {Namespace: "two", Name: "a"}, {Namespace: "many", Name: "1"}, {Namespace: "one", Name: "b"}, {Namespace: "many", Name: "2"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the order of turns (-want +got):\n%s", d)
	}
	if n, _ := q.Depth(); n != 997 {
		t.Errorf("%d wait, want 997", n)
	}
}

func TestATurnThatWaitsForARepositoryLeavesItsPlacesToOthers(t *testing.T) {
	t.Parallel()
	a := floor(t, 4)
	quick := LeaveAfter(sit(t, a, "quick"), time.Hour)
	quick()
	if n := len(a.seats); n != 1 {
		t.Errorf("a turn that did not wait has %d seats, want its one", n)
	}
	var backs []func()
	for i := range 20 { // many more than there are workers, or places at a destination: each sits down when another one has left
		backs = append(backs, LeaveAfter(sit(t, a, fmt.Sprint("hangs", i)), time.Millisecond))
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
func (t *Turns) gone() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.gate.away["shop"]; at != nil {
		return at.n
	}
	return 0
}
