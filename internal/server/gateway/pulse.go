package gateway

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
)

// pulse shows agents, slowly, that their streams still have a reader, until ctx ends: a piece that was lost shows by it.
func (d *Dispatcher) pulse(ctx context.Context) {
	timer := time.NewTimer(clock.About(agentapi.PulseEvery))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		d.streams.pulse(d.cfg.Now())
		timer.Reset(clock.About(agentapi.PulseEvery))
	}
}

// pulse shows the agents of all streams that these are there, and ends streams whose agents have fallen silent.
func (s *streams) pulse(now time.Time) {
	s.mu.Lock()
	all := make([]*Stream, 0, len(s.all))
	for _, stream := range s.all {
		all = append(all, stream)
	}
	s.mu.Unlock()
	for _, stream := range all {
		stream.pulse(now)
	}
}

// pulse shows the agent that the stream is there. One that the agent has not opened yet is not known to it.
func (s *Stream) pulse(now time.Time) {
	s.mu.Lock()
	open := s.nextIn > 0 && !s.ended
	silent := open && s.pulses && now.Sub(s.heard) >= agentapi.SilentFor
	if open && !silent {
		_ = s.publish(agentapi.Chunk{}) // where there is no connection, the session ends it
	}
	s.mu.Unlock()
	if silent {
		s.by.cfg.Meter.Missed(WaitStream)
		s.end(&agentapi.Error{Code: agentapi.CodeDisconnected, Message: "the agent shows nothing of the stream any more: open it again"})
	}
}
