package git

import (
	"context"
	"sync"
	"time"
)

const (
	defaultPatience = 10 * time.Second
	slowPlaces      = 8 // slow commands for each quick one
)

// lanes bound the commands that talk to remotes. A command that takes long gives its place in the quick lane up and goes on
// in the slow one, so that servers which hang hold up only each other. Where the slow lane is full as well, a command
// keeps its place until it ends.
type lanes struct {
	quick, slow chan struct{}
	patience    time.Duration
}

func newLanes(quick int, patience time.Duration) *lanes {
	return &lanes{quick: make(chan struct{}, quick), slow: make(chan struct{}, quick*slowPlaces), patience: patience}
}

// place is what a command holds while it runs.
type place struct {
	lanes *lanes
	timer *time.Timer

	mu   sync.Mutex
	lane chan struct{} // where it is now; nil after it left
}

// enter waits for a place in the quick lane.
func (l *lanes) enter(ctx context.Context) (*place, error) {
	select {
	case l.quick <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p := &place{lanes: l, lane: l.quick}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(l.patience, p.yield)
	return p, nil
}

// yield moves to the slow lane, or tries again later where that is full.
func (p *place) yield() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lane == nil {
		return
	}
	select {
	case p.lanes.slow <- struct{}{}:
		<-p.lane
		p.lane = p.lanes.slow
	default:
		p.timer.Reset(p.lanes.patience)
	}
}

func (p *place) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Stop()
	<-p.lane
	p.lane = nil
}
