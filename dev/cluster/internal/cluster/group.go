package cluster

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errEarly is what a component ends with that returns without being asked to.
var errEarly = errors.New("a component ended unexpectedly: see the logs")

// group is a number of components that start and stop together.
type group struct {
	ctx    context.Context //nolint:containedctx // the one of the components: the group is its owner
	cancel context.CancelFunc
	fail   context.CancelCauseFunc
	wait   sync.WaitGroup
}

// newGroup returns an empty group that reports a failure to fail.
func newGroup(fail context.CancelCauseFunc) *group {
	ctx, cancel := context.WithCancel(context.Background())
	return &group{ctx: ctx, cancel: cancel, fail: fail}
}

// run starts a component.
func (g *group) run(component func(context.Context) error) {
	g.wait.Go(func() {
		err := component(g.ctx)
		switch {
		case err != nil:
			g.fail(err)
		case g.ctx.Err() == nil:
			g.fail(errEarly)
		}
	})
}

// stop asks the components to end and reports whether they did within limit.
func (g *group) stop(limit time.Duration) bool {
	g.cancel()
	done := make(chan struct{})
	go func() {
		g.wait.Wait()
		close(done)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
