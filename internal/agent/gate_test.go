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
