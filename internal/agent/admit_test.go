package agent

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/clock"
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
