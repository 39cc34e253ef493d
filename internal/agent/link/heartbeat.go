package link

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// heartbeats says at intervals that the agent lives.
func (s *session) heartbeats(ctx context.Context) error {
	ticker := time.NewTicker(s.beat)
	defer ticker.Stop()
	for {
		if err := s.heartbeat(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.nudge:
		}
	}
}

func (s *session) heartbeat(ctx context.Context) error {
	l := s.link
	b := l.buffer.backlog()
	components := append([]agentapi.Component{l.Status().Component()}, l.cfg.Components()...)
	for i := range components {
		components[i].Message = legible.Cut(l.cfg.RedactText(components[i].Message), maxEventText)
	}
	beat := agentapi.Heartbeat{
		Epoch: s.epoch, Digest: b.digest, Items: b.items, Pending: b.pending, Lag: b.oldest.Milliseconds(),
		Components: components, Versions: l.cfg.Versions(), Running: l.worker.underWay(),
	}
	asked := l.now()
	ack, err := request(ctx, s, agentapi.UpHeartbeat(s.id.uid), beat, func(a agentapi.HeartbeatAck) *agentapi.Error { return a.Error })
	if err != nil {
		return s.end(ctx, err)
	}
	s.told(b)
	l.server.compare(ack.Time, asked)
	if ack.Inventory {
		l.buffer.inventory()
	}
	return nil
}

// told notes what the server knows from a heartbeat. What was pending may have been acknowledged while that was under way.
func (s *session) told(b backlog) {
	s.owing.Store(b.pending > 0)
	if b.pending > 0 && s.link.buffer.backlog().pending == 0 {
		s.settled()
	}
}

// underWay returns the ids of commands that the agent has and has not reported.
func (w *worker) underWay() []string {
	const most = 1000
	ids := w.running.list(most)
	for _, r := range w.outbox.all() {
		if len(ids) < most {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// settled asks for a heartbeat when nothing is pending any more, if the last one reported otherwise, or where it is not sure
// that the server has what it should.
func (s *session) settled() {
	if doubt, owing := s.link.buffer.settled(), s.owing.Swap(false); doubt || owing {
		select {
		case s.nudge <- struct{}{}:
		default: // one is due
		}
	}
}
