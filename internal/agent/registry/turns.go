package registry

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// Turns is where Applications have their turns: so many at work at a time, so many at each destination. A turn that waits for
// a render worker has no seat: it costs a little memory, and others go on.
type Turns struct {
	*gate
	queue *Queue
	seats chan struct{}
	away  func(id Name, end func()) (back func()) // called for a turn that waits for others, which end ends
}

// NewTurns makes room for so many turns at work. It calls away for a turn that waits for others.
func NewTurns(workers int, q *Queue, away func(id Name, end func()) (back func())) *Turns {
	return &Turns{gate: newGate(workers), queue: q, seats: make(chan struct{}, workers), away: away}
}

// Take waits for a seat of a turn at work.
func (t *Turns) Take() { t.seats <- struct{}{} }

// Give gives a seat back.
func (t *Turns) Give() { <-t.seats }

// Admit gives the turn of an Application, which end ends, its place; nil where there is none now.
func (t *Turns) Admit(app *v1alpha1.Application, end func()) *Seat {
	s := &Seat{turns: t, id: NameOf(app), project: app.Spec.ProjectName(), dest: cluster(app), end: end, since: time.Now()}
	if !t.enter(s.dest, s.project, s.id) {
		return nil
	}
	return s
}

// Pass calls others in the place of an Application that was called and did not come.
func (t *Turns) Pass(id Name) { t.requeue(t.gate.pass(id)) }

func (t *Turns) requeue(ids []Name) {
	for _, id := range ids {
		t.queue.Add(id)
	}
}

// maxAway bounds how many turns of one project wait for render workers at a time. More of its Applications have their turns
// when these are back.
const maxAway = 128

// Seat is the place of one turn: among those at work, and at its destination.
type Seat struct {
	turns   *Turns
	id      Name
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

// WithSeat is a context of the turn in a seat.
func WithSeat(ctx context.Context, s *Seat) context.Context {
	return context.WithValue(ctx, seatKey{}, s)
}

// Leave gives the places of the turn in ctx to others until back is called. Contexts without a turn have none.
func Leave(ctx context.Context) (back func()) {
	s, _ := ctx.Value(seatKey{}).(*Seat)
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away++; s.away == 1 {
		s.took += time.Since(s.since)
		s.turns.requeue(s.turns.pause(s.dest, s.project))
		s.turns.Give()
		s.back = s.turns.away(s.id, s.end)
	}
	return func() { s.comeBack(ctx) }
}

func (s *Seat) comeBack(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away--; s.away > 0 {
		return
	}
	s.back()
	s.turns.requeue(s.turns.resume(ctx, s.dest, s.project))
	s.turns.Take()
	s.since = time.Now()
}

// Free gives the place at the destination to others.
func (s *Seat) Free() { s.turns.requeue(s.turns.leave(s.dest, s.lasted())) }

// lasted is how long the turn has had its places.
func (s *Seat) lasted() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.took + time.Since(s.since)
}

// Unseated is a Renderer that may have to wait for others. The turn that waits for it gives its places to others.
type Unseated struct{ render.Renderer }

// Render implements render.Renderer.
func (u Unseated) Render(ctx context.Context, req render.Request) (render.Result, error) {
	back := Leave(ctx)
	defer back()
	return u.Renderer.Render(ctx, req)
}

// LeaveAfter is leave for what takes long only now and then: the turn gives its places to others after a while, so that
// servers of repositories that hang hold up their own Applications.
func LeaveAfter(ctx context.Context, while time.Duration) (back func()) {
	var mu sync.Mutex
	left, over := func() {}, false
	timer := time.AfterFunc(while, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			left = Leave(ctx)
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
