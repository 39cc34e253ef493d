package gateway

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// catchUpAtOnce is how many agents bring all that they have at a time, and how many large batches are stored at a time.
	// One more does not make it faster: the database writes one batch after the other. But each waits for the batches of all
	// others, and where that takes longer than agentapi.RequestTimeout, agents send again what is being stored, reconnect in
	// the end, and none makes progress.
	catchUpAtOnce = 8
	// catchUpIdle is after what time without a batch an agent has lost its place.
	catchUpIdle = 15 * time.Second
	// placeWait is how long a heartbeat waits for a place, and a large batch for its turn: well below
	// agentapi.RequestTimeout.
	placeWait = 7 * time.Second
	// largeBatch is from how many items on a batch waits for its turn.
	largeBatch = 20
)

// pace bounds how many agents catch up at a time. An agent without a place is not asked for its inventory; its next heartbeat
// asks for a place again.
type pace struct {
	free  *semaphore.Weighted // places; the one that waited longest gets the next
	turns *semaphore.Weighted // of large batches

	mu     sync.Mutex
	places map[string]*place // by uid
}

// place is that of an agent which catches up.
type place struct {
	heard time.Time
	// due is how many items it was asked for and has not brought; 0 before its inventory was compared.
	due int
}

func newPace() *pace {
	return &pace{free: semaphore.NewWeighted(catchUpAtOnce), turns: semaphore.NewWeighted(catchUpAtOnce), places: map[string]*place{}}
}

// enter reports whether an agent may catch up. It waits for a place, if it is to; one with a place keeps it.
func (p *pace) enter(ctx context.Context, uid string, now time.Time, wait time.Duration) bool {
	p.mu.Lock()
	for other, at := range p.places {
		if now.Sub(at.heard) >= catchUpIdle {
			p.drop(other)
		}
	}
	at := p.places[uid]
	if at != nil {
		at.heard = now
	}
	p.mu.Unlock()
	if at != nil {
		return true
	}
	if !acquire(ctx, p.free, wait) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(uid) // where two messages of one agent were served at a time
	p.places[uid] = &place{heard: now}
	return true
}

// turn waits until a large batch may be stored; done is to be called after it. False says that it waited too long.
func (p *pace) turn(ctx context.Context, items int) (done func(), ok bool) {
	if items < largeBatch {
		return func() {}, true
	}
	if !acquire(ctx, p.turns, placeWait) {
		return nil, false
	}
	return func() { p.turns.Release(1) }, true
}

func acquire(ctx context.Context, s *semaphore.Weighted, wait time.Duration) bool {
	if s.TryAcquire(1) {
		return true
	}
	if wait <= 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return s.Acquire(ctx, 1) == nil
}

// asked notes how many items an agent was asked for after its inventory. An agent that was asked for none has caught up.
func (p *pace) asked(uid string, items int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.places[uid]; at != nil {
		if at.due = items; items == 0 {
			p.drop(uid)
		}
	}
}

// brought notes how many items came. An agent that has sent all that it was asked for has caught up.
func (p *pace) brought(uid string, items int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.places[uid]
	if at == nil {
		return
	}
	at.heard = now
	if at.due == 0 {
		return
	}
	if at.due -= items; at.due <= 0 {
		p.drop(uid)
	}
}

// leave gives the place of an agent to others.
func (p *pace) leave(uid string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(uid)
}

// drop is leave for callers that hold the lock.
func (p *pace) drop(uid string) {
	if p.places[uid] != nil {
		delete(p.places, uid)
		p.free.Release(1)
	}
}
