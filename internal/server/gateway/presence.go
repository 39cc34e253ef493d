package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// saveEvery is how often a heartbeat is kept that brings nothing new. Where there are other servers, each one is: they may
// not have heard of it.
const saveEvery = 30 * time.Second

// presence is how each agent is, as this server has heard.
type presence struct {
	mu     sync.Mutex
	agents map[string]*seen
}

// seen is what is known of one agent.
type seen struct {
	id    string
	epoch int64
	// ready says that the agent takes commands: it sent a heartbeat in this epoch.
	ready bool
	// heard is when the agent was last heard, alive from when on its silence counts: a server that starts gives it time.
	heard  time.Time
	alive  time.Time
	health Health
	saved  time.Time
	// owing says that changes were pending when health was kept last.
	owing bool
	timer *time.Timer
	// doubt looks whether the agent is still one, judged is when its connections were looked at last; see look.go.
	doubt  *time.Timer
	judged time.Time
	// asked is when the other servers were asked about it last.
	asked time.Time
}

func newPresence() *presence { return &presence{agents: map[string]*seen{}} }

// load takes over what the store knows of an agent, and reports whether it was connected then. Such a one counts as alive
// at started: it had no chance to say anything while the server was away.
func (p *presence) load(agent Agent, started time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at(agent.UID)
	at.id, at.epoch, at.health, at.ready = agent.ID, agent.Epoch, agent.Health, false
	at.hear(agent.Health.LastHeartbeat)
	at.owing = at.health.Pending > 0
	if at.health.State == "" {
		at.health.State = agentapi.StateNever
	}
	connected := at.health.State == agentapi.StateConnected || at.health.State == agentapi.StateDegraded
	if connected && !started.IsZero() {
		at.alive = started
	}
	return connected
}

// at returns what is known of an agent. The caller holds the lock.
func (p *presence) at(uid string) *seen {
	at := p.agents[uid]
	if at == nil {
		at = &seen{health: Health{State: agentapi.StateNever}}
		p.agents[uid] = at
	}
	return at
}

// unheard are the agents that the store says are connected, and of which nothing was heard since.
func (p *presence) unheard() (uids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for uid, at := range p.agents {
		if state := at.health.State; !at.ready && (state == agentapi.StateConnected || state == agentapi.StateDegraded) {
			uids = append(uids, uid)
		}
	}
	return uids
}

func (p *presence) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.agents)
}

// name is what people call an agent.
func (p *presence) name(uid string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.agents[uid]; at != nil && at.id != "" {
		return at.id
	}
	return uid
}

// get returns what is known of an agent.
func (p *presence) get(uid string) (seen, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.agents[uid]; at != nil {
		return *at, true
	}
	return seen{}, false
}

// update changes what is known of an agent and returns it as it is then.
func (p *presence) update(uid string, change func(*seen)) seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at(uid)
	change(at)
	return *at
}

// hear notes when an agent was heard.
func (at *seen) hear(when time.Time) { at.heard, at.alive = when, when }

// away reports whether an agent is known to be disconnected, or never connected.
func (at *seen) away() bool {
	return at.health.State == agentapi.StateDisconnected || at.health.State == agentapi.StateNever || at.health.State == ""
}

// end stops the timers of an agent.
func (at *seen) end() {
	for _, timer := range []*time.Timer{at.timer, at.doubt} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// drop forgets an agent and returns what people call it.
func (p *presence) drop(uid string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.agents[uid]
	if at == nil {
		return uid
	}
	at.end()
	delete(p.agents, uid)
	return at.id
}

func (p *presence) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.agents {
		at.end()
	}
}

// monitor detects agents that are lost or revoked, and ends what they have open on this server.
type monitor struct {
	cfg      *Config
	lanes    *lanes
	conns    *connections
	limits   *limits
	presence *presence
	sessions *sessions
	commands *Dispatcher
}

// cut ends all that an agent has going on this server, and returns what people call it.
func (m *monitor) cut(uid, why string) string {
	id := m.presence.drop(uid)
	m.limits.drop(uid)
	fault := &agentapi.Error{Code: agentapi.CodeDisconnected, Message: "the agent was disconnected: " + why}
	m.commands.drop(uid, 0, fault)
	m.sessions.set(uid, nil)
	n := m.conns.cut(uid)
	m.cfg.Log.Info("agent cut", "agent", id, "uid", uid, "connections", n, "why", why)
	m.cfg.Notify(Change{UID: uid, Agent: true, Turn: TurnAway})
	return id
}

// forgetLater removes what a message left behind that was being served while the agent was cut.
func (m *monitor) forgetLater(uid string) {
	m.lanes.must(uid, func() {
		m.sessions.set(uid, nil)
		m.presence.drop(uid)
	})
}

// watch has an agent found Disconnected when it was not heard for DisconnectedAfter. Each call starts over.
func (m *monitor) watch(ctx context.Context, uid string) {
	ctx = context.WithoutCancel(ctx) // the timer outlives the message or session that began it; stop ends it
	m.presence.update(uid, func(at *seen) {
		if at.timer != nil {
			at.timer.Reset(agentapi.DisconnectedAfter)
			return
		}
		at.timer = time.AfterFunc(agentapi.DisconnectedAfter, func() {
			// In the lane of the agent: a heartbeat that is being taken counts.
			m.lanes.must(uid, func() { m.lost(ctx, uid) })
		})
	})
}

// lost makes an agent Disconnected, unless it was heard in between, by whichever server. One of the servers reports it.
func (m *monitor) lost(ctx context.Context, uid string) {
	now := m.cfg.Now()
	var gone, ahead bool
	before := now.Add(-agentapi.DisconnectedAfter)
	at := m.presence.update(uid, func(at *seen) {
		if ahead = at.alive.After(now); ahead { // the clock went back since: the time until it is there again says nothing
			at.hear(now)
		}
		if heard := at.health.LastHeartbeat; heard.Round(0).After(before) {
			before = heard // as far as is known here; what was kept later is news
		}
		if gone = now.Sub(at.alive) >= agentapi.DisconnectedAfter && !at.away(); gone {
			at.health.State, at.health.Since, at.ready = agentapi.StateDisconnected, now, false
			at.health.LastHeartbeat = at.heard
			at.health.Message = "no heartbeat since " + at.heard.UTC().Format(time.RFC3339) +
				": see whether the agent runs and reaches the server"
		}
	})
	if ahead {
		m.watch(ctx, uid)
	}
	if !gone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	mine, err := m.cfg.Agents.MarkLost(ctx, uid, at.epoch, at.health, before)
	if err != nil {
		m.cfg.Log.Warn("keep that an agent is disconnected", "agent", at.id, "error", err)
	}
	if !mine && m.elsewhere(ctx, uid, at.alive, err, now) {
		return
	}
	fault := disconnected(at)
	m.commands.drop(uid, 0, fault)
	if !mine {
		return // another server reported it
	}
	m.cfg.Log.Warn("agent disconnected", "agent", at.id, "uid", uid, "last", at.heard)
	m.cfg.Audit.LinkEvent(ctx, LinkEvent{Type: LinkLost, UID: uid, ID: at.id, At: now, Message: at.health.Message})
	m.cfg.Notify(Change{UID: uid, Agent: true, Turn: TurnAway})
}

// elsewhere takes over what the store knows of an agent that this server has not heard since a time, and reports whether it
// lives, or whether that cannot be found out now.
func (m *monitor) elsewhere(ctx context.Context, uid string, heard time.Time, err error, now time.Time) bool {
	var agent Agent
	if err == nil {
		agent, err = m.cfg.Agents.AgentByUID(ctx, uid)
	}
	if errors.Is(err, ErrUnknown) || agent.Revoked {
		m.cutRevoked(ctx, uid)
		return false
	}
	lives := err != nil || agent.Health.State != agentapi.StateDisconnected
	if !lives {
		return false
	}
	if err == nil && m.cfg.Cluster != nil && agent.Health.LastHeartbeat.Sub(heard) > eventGrace {
		m.cfg.Meter.Missed(WaitAgent)
	}
	m.presence.update(uid, func(at *seen) {
		if err != nil { // it is looked at again
			at.health.State = agentapi.StateConnected
			return
		}
		at.id, at.epoch, at.health = agent.ID, agent.Epoch, agent.Health
		at.hear(agent.Health.LastHeartbeat)
		if now.Sub(at.alive) >= agentapi.DisconnectedAfter || at.alive.After(now) { // it sent hello, and no more yet, or a clock is wrong
			at.alive = now
		}
	})
	m.watch(ctx, uid)
	return true
}

// disconnected says that an agent cannot be asked now.
func disconnected(at seen) *agentapi.Error {
	message := fmt.Sprintf("agent %s is not connected", at.id)
	if !at.heard.IsZero() {
		message = fmt.Sprintf("agent %s is not connected; it was last heard at %s", at.id, at.heard.UTC().Format(time.RFC3339))
	}
	return &agentapi.Error{Code: agentapi.CodeDisconnected, Message: message}
}

// heartbeat takes a Heartbeat.
func (r *reception) heartbeat(ctx context.Context, uid string, h *agentapi.Heartbeat) agentapi.HeartbeatAck {
	if err := checkHeartbeat(h); err != nil {
		return agentapi.HeartbeatAck{Error: malformed(err)}
	}
	s := r.sessions.of(uid, h.Epoch)
	if s == nil {
		return agentapi.HeartbeatAck{Error: fenced()}
	}
	now := r.cfg.Now()
	var first, changed, save bool
	var turn Turn
	at := r.presence.update(uid, func(at *seen) {
		if first, at.ready = !at.ready, true; at.away() {
			turn = TurnBack
		}
		at.hear(now)
		next := health(at.health, h, now)
		changed = news(at.health, next) || at.owing && next.Pending == 0
		save = first || changed || now.Sub(at.saved) >= saveEvery || r.cfg.Cluster != nil
		if at.health = next; save {
			at.saved, at.owing = now, next.Pending > 0
		}
	})
	r.monitor.watch(ctx, uid)
	if save {
		if err := r.cfg.Agents.SaveHealth(ctx, uid, h.Epoch, at.health); err != nil {
			if errors.Is(err, ErrFenced) {
				r.monitor.doubt(ctx, uid)
			}
			return agentapi.HeartbeatAck{Error: r.presence.fault(r.cfg.Log, uid, "keep the heartbeat", err)}
		}
	}
	r.peers.tell(peerNote{Type: noteAlive, UID: uid, ID: at.id, Epoch: h.Epoch, At: now, Health: &at.health, Changed: first || changed})
	if changed {
		r.cfg.Notify(Change{UID: uid, Agent: true, Turn: turn})
	}
	if first {
		r.commands.sendOpen(ctx, uid, h.Epoch)
	} else {
		r.commands.sendAgain(ctx, uid, h.Epoch, h.Running)
	}
	ask, err := r.copies.differs(ctx, uid, s, h.Digest, h.Pending, placeWait)
	if err != nil {
		return agentapi.HeartbeatAck{Error: r.presence.fault(r.cfg.Log, uid, "compare the digest", err)}
	}
	return agentapi.HeartbeatAck{Inventory: ask, Time: r.cfg.Now().UTC()}
}

// health returns how an agent is that sent a heartbeat.
func health(before Health, h *agentapi.Heartbeat, now time.Time) Health {
	next := before
	next.LastHeartbeat, next.Components, next.Versions = now, h.Components, h.Versions
	next.Pending, next.Items = h.Pending, h.Items
	next.Lag = time.Duration(min(h.Lag, int64(365*24*time.Hour/time.Millisecond))) * time.Millisecond
	var wrong []string
	for _, c := range h.Components {
		if c.Status != agentapi.ComponentHealthy {
			wrong = append(wrong, c.Name+": "+c.Message)
		}
	}
	state := agentapi.StateConnected
	if next.Lag > agentapi.DegradedLag {
		wrong = append(wrong, fmt.Sprintf("what changed %s ago is not acknowledged", agentapi.DegradedLag))
	}
	if len(wrong) > 0 {
		state = agentapi.StateDegraded
	}
	if next.Stale > 0 {
		wrong = append(wrong, fmt.Sprintf("%d copies are kept that the agent has no more: "+
			"delete them from the server, if they are gone for good", next.Stale))
	}
	if next.State != state {
		next.State, next.Since = state, now
	}
	next.Message = line(strings.Join(wrong, "; "), agentapi.MaxText)
	return next
}

// news reports whether a watcher of an agent sees a difference.
func news(a, b Health) bool {
	return a.State != b.State || a.Message != b.Message || a.Versions != b.Versions || a.Items != b.Items ||
		!slices.Equal(a.Components, b.Components)
}

// fault sends an agent the result of an error, and logs the error.
func (p *presence) fault(log *slog.Logger, uid, what string, err error) *agentapi.Error {
	switch {
	case errors.Is(err, ErrFenced):
		return fenced()
	case errors.Is(err, ErrUnknown):
		return revoked()
	case errors.Is(err, ErrStale):
		return &agentapi.Error{Code: agentapi.CodeStale, Message: "a later batch is stored"}
	}
	log.Error(what, "agent", p.name(uid), "uid", uid, "error", err)
	return &agentapi.Error{Code: agentapi.CodeInternal, Message: "the server could not " + what + ": see its log"}
}
