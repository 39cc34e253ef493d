package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
)

// The names of waits for Meter.Missed.
const (
	// WaitResult is the wait for the result of a command that is kept.
	WaitResult = "result"
	// WaitAgent is the wait for the heartbeats that other servers get.
	WaitAgent = "agent"
	// WaitRevoked is the wait for the end of an agent that another server has cut.
	WaitRevoked = "revoked"
	// WaitKey is the wait for the end of connections with a key that was rotated at another server.
	WaitKey = "key"
	// WaitStream is the wait for the next piece of a stream.
	WaitStream = "stream"
)

// Waits lists the names of waits.
func Waits() []string { return []string{WaitResult, WaitAgent, WaitRevoked, WaitKey, WaitStream} }

const (
	// resultLook is the time between two slow looks at a command whose result is awaited.
	resultLook = 15 * time.Second
	// agentLook is how long an agent may take to answer before the other servers are asked where it is.
	agentLook = 500 * time.Millisecond
	// keyLook is the time between two slow looks at connections of an agent whose session is with another server.
	keyLook = 5 * time.Minute
	// eventGrace is how long an event may take to report what a look found, before it counts as missed.
	eventGrace = 5 * time.Second
)

// await waits for the result of a command that is kept, until ctx ends. The report of it can be lost between servers, so it
// reads the command slowly once more.
func (d *Dispatcher) await(ctx context.Context, id string, w *waiter) (a answer, there bool) {
	timer := time.NewTimer(clock.About(resultLook))
	defer timer.Stop()
	for {
		select {
		case a = <-w.done:
			return a, true
		case <-ctx.Done():
			return answer{}, false
		case <-timer.C:
		}
		kept, err := d.readCommand(ctx, id)
		switch {
		case errors.Is(err, ErrUnknown):
			return answer{fault: &agentapi.Error{Code: agentapi.CodeNotFound, Message: "the command is gone, with its agent"}}, true
		case err == nil && kept.Result.Status.Final():
			return d.late(ctx, kept.Result, w), true
		}
		timer.Reset(clock.About(resultLook))
	}
}

func (d *Dispatcher) readCommand(ctx context.Context, id string) (Command, error) {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	return d.cfg.Commands.GetCommand(ctx, id)
}

// awaitAgent begins to wait for an answer of an agent that is known as was, and returns what ends that. The server that the agent
// was connected to may have been killed, and the note of its next session been lost: where no answer comes soon, the other
// servers are asked. A report about a later session ends the wait.
func (d *Dispatcher) awaitAgent(uid string, was seen) (end func()) {
	if d.cfg.Cluster == nil {
		return func() {}
	}
	timer := time.AfterFunc(clock.About(agentLook), func() { d.peers.askAbout(uid) })
	return func() {
		if timer.Stop() {
			return
		}
		if at, _ := d.presence.get(uid); at.epoch > was.epoch && at.alive.Before(at.asked.Add(-askEvery)) {
			d.cfg.Meter.Missed(WaitAgent)
		}
	}
}

// late waits a moment for the report of a result that is kept, which counts as missed where it does not come.
func (d *Dispatcher) late(ctx context.Context, result agentapi.Result, w *waiter) answer {
	timer := time.NewTimer(eventGrace)
	defer timer.Stop()
	select {
	case a := <-w.done:
		return a
	case <-ctx.Done():
	case <-timer.C:
		d.cfg.Meter.Missed(WaitResult)
	}
	return answer{result: result}
}

// doubt looks after a moment whether an agent is still one, since the store took nothing of it. The word of the server that
// has cut it may have been lost.
func (m *monitor) doubt(ctx context.Context, uid string) {
	if m.cfg.Cluster == nil {
		return // the one server cuts it itself
	}
	ctx = context.WithoutCancel(ctx)
	m.presence.update(uid, func(at *seen) {
		if at.doubt == nil { // however often it reports something in the meantime
			at.doubt = time.AfterFunc(eventGrace, func() { m.lanes.must(uid, func() { m.settleDoubt(ctx, uid) }) })
		}
	})
}

func (m *monitor) settleDoubt(ctx context.Context, uid string) {
	if _, known := m.presence.get(uid); known {
		m.presence.update(uid, func(at *seen) { at.doubt = nil })
	}
	m.cutRevoked(ctx, uid)
}

// cutRevoked cuts an agent that has connections here and none of the rights to them.
func (m *monitor) cutRevoked(ctx context.Context, uid string) {
	if _, open := m.conns.newest(uid); !open {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	if agent, err := m.cfg.Agents.AgentByUID(ctx, uid); !errors.Is(err, ErrUnknown) && (err != nil || !agent.Revoked) {
		return
	}
	if m.conns.cut(uid) > 0 { // those that closed on their own are not forgotten either
		m.cfg.Meter.Missed(WaitRevoked)
	}
	m.cut(uid, "its identity was revoked")
}

// judge looks, slowly, at connections that an agent has here although its session is with another server: their key may have
// been replaced there.
func (m *monitor) judge(ctx context.Context, uid string) {
	if _, open := m.conns.newest(uid); !open || m.sessions.has(uid) {
		return
	}
	due, now := false, m.cfg.Now()
	m.presence.update(uid, func(at *seen) {
		due = !at.judged.IsZero() && now.Sub(at.judged) >= keyLook
		if due || at.judged.IsZero() || at.judged.After(now) {
			at.judged = now
		}
	})
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	agent, err := m.cfg.Agents.AgentByUID(ctx, uid)
	if err != nil {
		return
	}
	if m.conns.cut(uid, agent.PublicKey, agent.NextKey) > 0 {
		m.cfg.Meter.Missed(WaitKey)
	}
}
