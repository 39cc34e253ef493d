package agent

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// seats bounds how many turns are at work. A turn that waits for a render worker has none: it costs a little memory, and
// others go on.
type seats chan struct{}

func (s seats) take() { s <- struct{}{} }
func (s seats) give() { <-s }

// maxAway bounds how many turns of one project wait for render workers at a time. More of its Applications have their turns
// when these are back.
const maxAway = 128

// seat is the place of one turn: among those at work, and at its destination.
type seat struct {
	agent   *Agent
	id      name
	project string
	dest    v1alpha1.ApplicationDestination
	end     func() // ends the turn

	mu    sync.Mutex
	since time.Time     // it has its places since then
	took  time.Duration // with its places, before that
	away  int
	back  func() // from being away, in the shard
}

type seatKey struct{}

func withSeat(ctx context.Context, s *seat) context.Context {
	return context.WithValue(ctx, seatKey{}, s)
}

// leave gives the places of the turn in ctx to others until back is called. Contexts without a turn have none.
func leave(ctx context.Context) (back func()) {
	s, _ := ctx.Value(seatKey{}).(*seat)
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away++; s.away == 1 {
		s.took += time.Since(s.since)
		s.agent.requeue(s.agent.gate.pause(s.dest, s.project))
		s.agent.seats.give()
		s.back = s.agent.shards.away(s.id, s.end)
	}
	return func() { s.comeBack(ctx) }
}

func (s *seat) comeBack(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away--; s.away > 0 {
		return
	}
	s.back()
	s.agent.requeue(s.agent.gate.resume(ctx, s.dest, s.project))
	s.agent.seats.take()
	s.since = time.Now()
}

// lasted is how long the turn has had its places.
func (s *seat) lasted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took + time.Since(s.since)
}

func (a *Agent) requeue(ids []name) {
	for _, id := range ids {
		a.queue.add(id)
	}
}

// projectOf is the project of an Application that is known, "" otherwise.
func (a *Agent) projectOf(id name) string {
	if app, ok := a.registry.get(id); ok {
		return app.Spec.ProjectName()
	}
	return ""
}

// unseated is a Renderer that may have to wait for others. The turn that waits for it gives its places to others.
type unseated struct{ render.Renderer }

// Render implements render.Renderer.
func (u unseated) Render(ctx context.Context, req render.Request) (render.Result, error) {
	back := leave(ctx)
	defer back()
	return u.Renderer.Render(ctx, req)
}

// slowSource is how long a turn waits for a repository with its places.
const slowSource = time.Second

// leaveAfter is leave for what takes long only now and then: the turn gives its places to others after a while, so that
// servers of repositories that hang hold up their own Applications.
func leaveAfter(ctx context.Context, while time.Duration) (back func()) {
	var mu sync.Mutex
	left, over := func() {}, false
	timer := time.AfterFunc(while, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			left = leave(ctx)
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		left()
	}
}
