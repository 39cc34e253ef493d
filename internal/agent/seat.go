package agent

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// turns is where Applications have their turns: so many at work at a time, so many at each destination. A turn that waits for
// a render worker has no seat: it costs a little memory, and others go on.
type turns struct {
	*gate
	queue *queue
	seats chan struct{}
	away  func(id name, end func()) (back func()) // told of a turn that waits for others, which end ends
}

func newTurns(workers int, q *queue, away func(id name, end func()) (back func())) *turns {
	return &turns{gate: newGate(workers), queue: q, seats: make(chan struct{}, workers), away: away}
}

// take waits for a seat of a turn at work.
func (t *turns) take() { t.seats <- struct{}{} }

// give gives a seat back.
func (t *turns) give() { <-t.seats }

// admit gives the turn of an Application, which end ends, its place; nil where there is none now.
func (t *turns) admit(app *v1alpha1.Application, end func()) *seat {
	s := &seat{turns: t, id: nameOf(app), project: app.Spec.ProjectName(), dest: cluster(app), end: end, since: time.Now()}
	if !t.enter(s.dest, s.project, s.id) {
		return nil
	}
	return s
}

// pass calls others in the place of an Application that was called and did not come.
func (t *turns) pass(id name) { t.requeue(t.gate.pass(id)) }

func (t *turns) requeue(ids []name) {
	for _, id := range ids {
		t.queue.add(id)
	}
}

// maxAway bounds how many turns of one project wait for render workers at a time. More of its Applications have their turns
// when these are back.
const maxAway = 128

// seat is the place of one turn: among those at work, and at its destination.
type seat struct {
	turns   *turns
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
		s.turns.requeue(s.turns.pause(s.dest, s.project))
		s.turns.give()
		s.back = s.turns.away(s.id, s.end)
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
	s.turns.requeue(s.turns.resume(ctx, s.dest, s.project))
	s.turns.take()
	s.since = time.Now()
}

// free gives the place at the destination to others.
func (s *seat) free() { s.turns.requeue(s.turns.leave(s.dest, s.lasted())) }

// lasted is how long the turn has had its places.
func (s *seat) lasted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took + time.Since(s.since)
}

// projectOf is the project of an Application that is known, "" otherwise.
func (r *registry) projectOf(id name) string {
	if app, ok := r.get(id); ok {
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
