package agent

import (
	"fmt"
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
		if g.enter(hangs, name{Name: fmt.Sprint(i)}) {
			entered++
		}
	}
	if entered != 6 {
		t.Errorf("%d of 8 workers are at one destination, want 6", entered)
	}
	if !g.enter(works, name{Name: "w"}) {
		t.Error("another destination has no place")
	}
	g.enter(hangs, name{Name: "7"}) // asked for again while it waits
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
	g.enter(slow, name{Name: "first"})
	g.leave(slow, time.Minute)
	entered := 0
	for i := range 16 {
		if g.enter(slow, name{Name: fmt.Sprint(i)}) {
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
	a := &Agent{queue: newQueue(), gate: newGate(4), shards: &shards{n: 2, wake: make(chan struct{}, 1), held: map[int]*holding{}}}
	a.registry = newRegistry("argocd", func(name) {}, func(*v1alpha1.Application) {})
	t.Cleanup(a.queue.close)
	for shard := range a.shards.n {
		a.shards.held[shard] = &holding{ctx: t.Context(), active: true}
		a.shards.held[shard].until.Store(new(time.Now().Add(time.Hour)))
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
		for _, next := range a.gate.leave(dest, time.Second) {
			a.queue.add(next)
		}
		leave()
	}
	var admitted []name
	for waiting, _ := a.queue.depth(); waiting > 0; waiting, _ = a.queue.depth() {
		id, _, _ := a.queue.next()
		if _, _, _, ok := a.admit(t.Context(), id); ok {
			admitted = append(admitted, id)
		}
		a.queue.done(id)
	}
	if d := cmp.Diff([]name{elsewhere, last}, admitted); d != "" {
		t.Errorf("who has a turn (-want +got):\n%s", d)
	}
	if len(a.gate.called) != 0 {
		t.Errorf("%v are still waited for", a.gate.called)
	}
}
