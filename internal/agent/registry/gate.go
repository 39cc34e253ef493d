package registry

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// gate keeps the Applications of one destination from taking all workers: a cluster that hangs holds up its own
// Applications only. Those that find no place are parked and get their turn when one of the others ends its own. Turns that
// wait for a render worker have no place there, but there are only so many of each project.
type gate struct {
	wide   int // turns at a time at a destination
	narrow int // the same while its last turn was slow

	mu     sync.Mutex
	dest   map[v1alpha1.ApplicationDestination]*lane
	called map[Name]v1alpha1.ApplicationDestination // where a place is free for one that was parked, until it comes
	away   map[string]*absence                      // by project
}

type lane struct {
	busy   int
	slow   bool
	coming []chan struct{} // turns that wait to be back; each is closed when it has its place
	parked []Name
}

// absence is how many turns of one project wait for a render worker, and which Applications of it are not to begin before
// some of them are back.
type absence struct {
	n      int
	parked []Name
}

// slowTurn is the length of a turn after which a destination is taken to be slow.
const slowTurn = 5 * time.Second

func newGate(workers int) *gate {
	return &gate{
		wide: max(1, workers*3/4), narrow: max(1, workers/8), dest: map[v1alpha1.ApplicationDestination]*lane{},
		called: map[Name]v1alpha1.ApplicationDestination{}, away: map[string]*absence{},
	}
}

// cluster is a destination without its namespace.
func cluster(app *v1alpha1.Application) v1alpha1.ApplicationDestination {
	return v1alpha1.ApplicationDestination{Server: app.Spec.Destination.Server, Name: app.Spec.Destination.Name}
}

// enter reports whether an Application may have its turn now; otherwise it is parked.
func (g *gate) enter(dest v1alpha1.ApplicationDestination, project string, id Name) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if away := g.away[project]; away != nil && away.n >= maxAway {
		if !slices.Contains(away.parked, id) {
			away.parked = append(away.parked, id)
		}
		return false
	}
	if from, ok := g.called[id]; ok && from == dest {
		delete(g.called, id)
	}
	l := g.lane(dest)
	if l.busy+len(l.coming) >= g.limit(l) {
		if !slices.Contains(l.parked, id) {
			l.parked = append(l.parked, id)
		}
		return false
	}
	l.busy++
	return true
}

func (g *gate) lane(dest v1alpha1.ApplicationDestination) *lane {
	l := g.dest[dest]
	if l == nil {
		l = &lane{}
		g.dest[dest] = l
	}
	return l
}

func (g *gate) limit(l *lane) int {
	if l.slow {
		return g.narrow
	}
	return g.wide
}

// pause takes the place of a turn that goes on later, and returns the Applications that can have theirs now.
func (g *gate) pause(dest v1alpha1.ApplicationDestination, project string) []Name {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.away[project] == nil {
		g.away[project] = &absence{}
	}
	g.away[project].n++
	l := g.dest[dest]
	l.busy--
	return g.call(dest, l)
}

// resume waits for a place for a turn that goes on, and returns the Applications that need not wait for it any more. When ctx
// ends it has a place in any case: there is little left to do.
func (g *gate) resume(ctx context.Context, dest v1alpha1.ApplicationDestination, project string) []Name {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.lane(dest); l.busy < g.limit(l) {
		l.busy++
	} else {
		comes := make(chan struct{})
		l.coming = append(l.coming, comes)
		g.mu.Unlock()
		select {
		case <-comes:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if i := slices.Index(l.coming, comes); i >= 0 {
			l.coming = slices.Delete(l.coming, i, i+1)
			l.busy++
		}
	}
	away := g.away[project]
	away.n--
	n := 0
	switch {
	case away.n == 0:
		n = len(away.parked)
		delete(g.away, project)
	case away.n < maxAway/2:
		n = min(len(away.parked), maxAway/2)
	}
	next := slices.Clone(away.parked[:n])
	away.parked = slices.Delete(away.parked, 0, n)
	return next
}

// leave ends a turn that took so long, and returns the Applications that can have theirs now.
func (g *gate) leave(dest v1alpha1.ApplicationDestination, took time.Duration) []Name {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.dest[dest]
	l.busy--
	l.slow = took > slowTurn
	return g.call(dest, l)
}

// pass returns the Applications that can have their turns because one that was called did not enter there: it is gone,
// another replica's or deployed elsewhere by now. Otherwise, nothing would call those parked behind it.
func (g *gate) pass(id Name) []Name {
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

// Overlooked returns the Applications that wait although they could have their turns: parked ones for which there is a place,
// and those that were called and neither came nor wait in the queue. They are called; none of them is to be found here as
// long as each event that ends a wait is heard. called is what the look before found to be called.
func (g *gate) Overlooked(called map[Name]v1alpha1.ApplicationDestination, queued func(Name) bool) (next []Name) {
	g.mu.Lock()
	defer g.mu.Unlock()
	promised := map[v1alpha1.ApplicationDestination]int{}
	for id, dest := range g.called {
		if called[id] == dest && !queued(id) {
			next = append(next, id)
		}
		promised[dest]++
	}
	for dest, l := range g.dest {
		n := min(len(l.parked), max(0, g.limit(l)-l.busy-len(l.coming)-promised[dest]))
		for _, id := range l.parked[:n] {
			g.called[id] = dest
		}
		next = append(next, l.parked[:n]...)
		l.parked = slices.Delete(l.parked, 0, n)
	}
	for _, away := range g.away {
		if away.n < maxAway/2 {
			next = append(next, away.parked...)
			away.parked = nil
		}
	}
	return next
}

// Promised returns the Applications that are called and have not come.
func (g *gate) Promised() map[Name]v1alpha1.ApplicationDestination {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.called)
}

// call gives the free places to turns that come back, and takes as many as are left from those that are parked. The lock is held.
func (g *gate) call(dest v1alpha1.ApplicationDestination, l *lane) []Name {
	for len(l.coming) > 0 && l.busy < g.limit(l) {
		close(l.coming[0])
		l.coming = slices.Delete(l.coming, 0, 1)
		l.busy++
	}
	n := min(len(l.parked), max(0, g.limit(l)-l.busy-len(l.coming)))
	next := slices.Clone(l.parked[:n])
	l.parked = slices.Delete(l.parked, 0, n)
	for _, id := range next {
		g.called[id] = dest
	}
	if l.busy == 0 && len(l.coming) == 0 && len(l.parked) == 0 && !l.slow {
		delete(g.dest, dest)
	}
	return next
}
