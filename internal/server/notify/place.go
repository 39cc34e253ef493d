package notify

import (
	"context"
	"sync"
)

// place is one of those that bound how many messages are sent at a time.
type place struct {
	of chan struct{} // has one thing in it for each place that is taken
}

// enter waits for a place for a message of a channel; nil where ctx ended. Channels that let one wait have places of their
// own, so that however many hang, those that do not are served.
func (n *Notifier) enter(ctx context.Context, channel string) *place {
	n.mu.Lock()
	of := n.prompt
	if n.late[channel] {
		of = n.slow
	}
	n.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil
	case of <- struct{}{}:
		return &place{of: of}
	}
}

// judge notes whether a channel let one wait. One that does not any more is served with the others again.
func (n *Notifier) judge(channel string, late bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if late {
		n.late[channel] = true
	} else {
		delete(n.late, channel)
	}
}

// moves has a message that is still being sent after a while take another place as soon as one is free. The returned
// function, called on arrival, ends that.
func (p *place) moves(ctx context.Context, to chan struct{}) (arrived func()) {
	if p.of == to {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var moving sync.WaitGroup
	moving.Go(func() {
		if !rest(ctx, patience) {
			return
		}
		select {
		case <-ctx.Done():
		case to <- struct{}{}:
			<-p.of
			p.of = to
		}
	})
	return func() {
		cancel()
		moving.Wait()
	}
}

// leave leaves the place to another message.
func (p *place) leave() { <-p.of }
