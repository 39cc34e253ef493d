package agent

import (
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// gate keeps the Applications of one destination from taking all workers: a cluster that hangs holds up its own
// Applications only. Those that find no place are parked and get their turn when one of the others ends its own.
type gate struct {
	wide   int // turns at a time at a destination
	narrow int // the same while its last turn was slow

	mu     sync.Mutex
	dest   map[v1alpha1.ApplicationDestination]*lane
	called map[name]v1alpha1.ApplicationDestination // where a place is free for one that was parked, until it comes
}

type lane struct {
	busy   int
	slow   bool
	parked []name
}

// slowTurn is the length of a turn after which a destination is taken to be slow.
const slowTurn = 5 * time.Second

func newGate(workers int) *gate {
	return &gate{
		wide: max(1, workers*3/4), narrow: max(1, workers/8), dest: map[v1alpha1.ApplicationDestination]*lane{},
		called: map[name]v1alpha1.ApplicationDestination{},
	}
}

// cluster is a destination without its namespace.
func cluster(app *v1alpha1.Application) v1alpha1.ApplicationDestination {
	return v1alpha1.ApplicationDestination{Server: app.Spec.Destination.Server, Name: app.Spec.Destination.Name}
}

// enter reports whether an Application may have its turn now; otherwise it is parked.
func (g *gate) enter(dest v1alpha1.ApplicationDestination, id name) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if from, ok := g.called[id]; ok && from == dest {
		delete(g.called, id)
	}
	l := g.dest[dest]
	if l == nil {
		l = &lane{}
		g.dest[dest] = l
	}
	limit := g.wide
	if l.slow {
		limit = g.narrow
	}
	if l.busy >= limit {
		if !slices.Contains(l.parked, id) {
			l.parked = append(l.parked, id)
		}
		return false
	}
	l.busy++
	return true
}

// leave ends a turn that took so long, and returns the Applications that can have theirs now.
func (g *gate) leave(dest v1alpha1.ApplicationDestination, took time.Duration) []name {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.dest[dest]
	l.busy--
	l.slow = took > slowTurn
	return g.call(dest, l)
}

// pass returns the Applications that can have their turns because one that was called did not enter there: it is gone,
// another replica's or deployed elsewhere by now. Without, nobody would call those parked behind it.
func (g *gate) pass(id name) []name {
	g.mu.Lock()
	defer g.mu.Unlock()
	dest, ok := g.called[id]
	if !ok {
		return nil
	}
	delete(g.called, id)
	if l := g.dest[dest]; l != nil {
		return g.call(dest, l)
	}
	return nil
}

// call takes as many as there are places from those that are parked. The lock is held.
func (g *gate) call(dest v1alpha1.ApplicationDestination, l *lane) []name {
	limit := g.wide
	if l.slow {
		limit = g.narrow
	}
	n := min(len(l.parked), max(0, limit-l.busy))
	next := slices.Clone(l.parked[:n])
	l.parked = slices.Delete(l.parked, 0, n)
	for _, id := range next {
		g.called[id] = dest
	}
	if l.busy == 0 && len(l.parked) == 0 && !l.slow {
		delete(g.dest, dest)
	}
	return next
}
