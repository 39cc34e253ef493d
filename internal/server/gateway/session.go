package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// session is what is known of an agent from its Hello on. Only the lane of the agent uses it.
type session struct {
	agent Agent
	epoch int64
	// sameCluster says that the session before came from the same cluster: only then can what is missing be gone.
	sameCluster bool
	digest      agentapi.Digest
	// settled is the digest of the inventory that was compared last, at a time.
	settled   agentapi.Digest
	settledAt time.Time
	// last is the answer to the batch that was stored last.
	last agentapi.Ack
	// inventory is what has come of one, and settling its digest, with the entries that cannot be.
	inventory map[agentapi.Key]string
	settling  agentapi.Digest
	nextPart  int
}

// askAgain is how long the same difference does not bring another inventory: an item that cannot be kept always differs.
const askAgain = 10 * time.Minute

// sessions has the session of each agent that is connected here, by uid.
type sessions struct {
	mu    sync.Mutex
	byUID map[string]*session
}

func newSessions() *sessions { return &sessions{byUID: map[string]*session{}} }

// of returns the session of an agent, if the epoch is its.
func (a *sessions) of(uid string, epoch int64) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.byUID[uid]; s != nil && s.epoch == epoch {
		return s
	}
	return nil
}

// set begins a session in place of another one; nil ends it.
func (a *sessions) set(uid string, s *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s == nil {
		delete(a.byUID, uid)
		return
	}
	a.byUID[uid] = s
}

// has reports whether an agent has a session.
func (a *sessions) has(uid string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byUID[uid] != nil
}

// reception begins the sessions of agents and takes their heartbeats.
type reception struct {
	cfg       *Config
	conns     *connections
	presence  *presence
	sessions  *sessions
	copies    *copies
	monitor   *monitor
	registrar *registrar
	commands  *Dispatcher
	peers     *Peers
}

// hello takes a Hello: it refuses a twin, and begins a session otherwise.
func (r *reception) hello(ctx context.Context, uid string, h *agentapi.Hello) agentapi.Welcome {
	if h.Protocol != agentapi.Protocol {
		return agentapi.Welcome{Error: &agentapi.Error{
			Code:    agentapi.CodeProtocol,
			Message: fmt.Sprintf("the agent speaks protocol %d, the server %d: update the older of them", h.Protocol, agentapi.Protocol),
		}}
	}
	if err := checkHello(h); err != nil {
		return agentapi.Welcome{Error: malformed(err)}
	}
	agent, err := r.cfg.Agents.AgentByUID(ctx, uid)
	if err != nil {
		return agentapi.Welcome{Error: r.presence.fault(r.cfg.Log, uid, "look up the agent", err)}
	}
	if agent.Revoked {
		return agentapi.Welcome{Error: revoked()}
	}
	now := r.cfg.Now()
	if h.Generation < agent.Generation {
		r.refuseSuperseded(ctx, agent, h, now)
		return agentapi.Welcome{Generation: agent.Generation, Error: &agentapi.Error{
			Code: agentapi.CodeSuperseded, RetryAfter: int(agentapi.TwinRetry.Seconds()),
			Message: fmt.Sprintf("another agent took over from this one as %s, from cluster %s: "+
				"`slipway agent promote` makes this one take over again", agent.ID, agent.ClusterUID),
		}}
	}
	if h.Generation == agent.Generation && r.isTwin(agent, h, now) {
		r.refuseTwin(ctx, agent, h, now)
		return agentapi.Welcome{Error: &agentapi.Error{
			Code: agentapi.CodeTwin, RetryAfter: int(agentapi.TwinRetry.Seconds()),
			Message: fmt.Sprintf("agent %s is connected from another cluster (%s): if this one was copied from there, "+
				"create an agent of its own for it", agent.ID, agent.ClusterUID),
		}}
	}
	if h.Versions.Engine.Known() != agent.Engine.Known() {
		why := otherEngine(agent)
		r.refuseEngine(ctx, agent, why, now)
		return agentapi.Welcome{Engine: agent.Engine.Known(), Error: &agentapi.Error{Code: agentapi.CodeEngine, Message: why}}
	}
	begun, err := r.cfg.Agents.BeginSession(ctx, uid, Session{
		ClusterUID: h.ClusterUID, Namespace: h.Namespace, Namespaced: h.Namespaced, Instance: h.Instance, SealKey: h.SealKey,
		Versions: h.Versions, Generation: h.Generation,
	}, now)
	if err != nil {
		return agentapi.Welcome{Error: r.presence.fault(r.cfg.Log, uid, "begin a session", err)}
	}
	r.registrar.dropNextKey(ctx, begun)
	if h.Generation > agent.Generation {
		r.reportPromotion(ctx, agent, h, now)
	}
	s := &session{agent: begun, epoch: begun.Epoch, sameCluster: agent.ClusterUID == h.ClusterUID}
	stale, err := r.copies.recount(ctx, s)
	if err != nil {
		return agentapi.Welcome{Error: r.presence.fault(r.cfg.Log, uid, "read what is kept of the agent", err)}
	}
	r.begin(ctx, s, stale, now)
	ask := false
	if !h.Unsure { // else a heartbeat has the digest
		if ask, err = r.copies.differs(ctx, uid, s, h.Digest, 0, 0); err != nil {
			return agentapi.Welcome{Error: r.presence.fault(r.cfg.Log, uid, "compare the digest", err)}
		}
	}
	return agentapi.Welcome{
		Epoch: s.epoch, Heartbeat: int(agentapi.HeartbeatInterval.Seconds()), Inventory: ask, Time: now.UTC(), Version: r.cfg.Version,
		Engine: agent.Engine.Known(),
	}
}

// begin ends what was under way in the session before, and makes this one the present one.
func (r *reception) begin(ctx context.Context, s *session, stale int, now time.Time) {
	uid := s.agent.UID
	fault := &agentapi.Error{Code: agentapi.CodeDisconnected, Message: "agent " + s.agent.ID + " reconnected: try again"}
	r.commands.drop(uid, s.epoch, fault)
	before := r.presence.update(uid, func(at *seen) {
		if at.health.State == agentapi.StateNever || at.id == "" {
			at.health = s.agent.Health
		}
		if at.health.State == "" {
			at.health.State = agentapi.StateNever
		}
		at.id, at.epoch, at.ready = s.agent.ID, s.epoch, false
		at.hear(now)
		at.health.Stale = stale
	})
	r.sessions.set(uid, s)
	r.monitor.watch(ctx, uid)
	r.peers.tell(peerNote{Type: noteBegun, UID: uid, ID: s.agent.ID, Epoch: s.epoch, At: now})
	r.cfg.Log.Info("agent connected", "agent", s.agent.ID, "uid", uid, "epoch", s.epoch, "cluster", s.agent.ClusterUID)
	if state := before.health.State; state == agentapi.StateNever || state == agentapi.StateDisconnected {
		r.cfg.Audit.LinkEvent(ctx, LinkEvent{
			Type: LinkConnected, UID: uid, ID: s.agent.ID, Address: r.conns.address(uid), At: now,
			Message: "connected from cluster " + s.agent.ClusterUID,
		})
	}
}

// isTwin reports whether an agent says Hello from another cluster than the one that holds the identity and lives.
func (r *reception) isTwin(agent Agent, h *agentapi.Hello, now time.Time) bool {
	if agent.ClusterUID == "" || agent.ClusterUID == h.ClusterUID {
		return false
	}
	// A time that is ahead was kept before the clock went back. It would hold the identity until it comes.
	lately := func(at time.Time) bool {
		since := now.Sub(at)
		return since < agentapi.HolderAlive && since > -clockAhead
	}
	at, ok := r.presence.get(agent.UID)
	return lately(agent.Health.LastHeartbeat) || ok && at.epoch == agent.Epoch && lately(at.alive)
}

// reportPromotion reports an agent that took over.
func (r *reception) reportPromotion(ctx context.Context, agent Agent, h *agentapi.Hello, now time.Time) {
	r.cfg.Log.Warn("an agent took over", "agent", agent.ID, "from", agent.ClusterUID, "to", h.ClusterUID, "generation", h.Generation)
	r.cfg.Audit.LinkEvent(ctx, LinkEvent{
		Type: LinkPromoted, UID: agent.UID, ID: agent.ID, Address: r.conns.address(agent.UID), At: now,
		Message: fmt.Sprintf("the agent of cluster %s, namespace %s, took over from that of cluster %s, as generation %d",
			h.ClusterUID, h.Namespace, agent.ClusterUID, h.Generation),
	})
}

// refuseSuperseded reports an agent that was refused because its standby took over.
func (r *reception) refuseSuperseded(ctx context.Context, agent Agent, h *agentapi.Hello, now time.Time) {
	at, _ := r.presence.get(agent.UID)
	r.cfg.Log.Warn("an agent whose standby took over was refused", "agent", agent.ID, "holder", agent.ClusterUID, "refused", h.ClusterUID)
	r.refused(ctx, agent, at.health, LinkEvent{
		Type: LinkSuperseded, Address: r.conns.address(agent.UID), At: now,
		Message: fmt.Sprintf("an agent of cluster %s, namespace %s, was refused: the agent of cluster %s took over from it",
			h.ClusterUID, h.Namespace, agent.ClusterUID),
	})
}

func (r *reception) refuseTwin(ctx context.Context, agent Agent, h *agentapi.Hello, now time.Time) {
	twin := &Twin{ClusterUID: h.ClusterUID, Address: r.conns.address(agent.UID), At: now}
	var again bool
	at := r.presence.update(agent.UID, func(at *seen) {
		before := at.health.Twin
		again = before != nil && before.ClusterUID == twin.ClusterUID && now.Sub(before.At) < agentapi.TwinRetry
		if !again {
			at.id, at.health.Twin = agent.ID, twin
		}
	})
	if again { // it tries more often than it may; it was reported already
		return
	}
	r.cfg.Log.Warn("A SECOND AGENT USES AN IDENTITY AND WAS REFUSED", "agent", agent.ID, "holder", agent.ClusterUID, "twin", h.ClusterUID,
		"from", twin.Address)
	r.refused(ctx, agent, at.health, LinkEvent{
		Type: LinkTwin, Address: twin.Address, At: now,
		Message: fmt.Sprintf("an agent of cluster %s, namespace %s, was refused: cluster %s holds the identity",
			h.ClusterUID, h.Namespace, agent.ClusterUID),
	})
}

// refused keeps the health of an agent that was refused, and reports the reason.
func (r *reception) refused(ctx context.Context, agent Agent, health Health, e LinkEvent) {
	if err := r.cfg.Agents.SaveHealth(ctx, agent.UID, agent.Epoch, health); err != nil {
		r.cfg.Log.Warn("keep why an agent was refused", "agent", agent.ID, "error", err)
	}
	e.UID, e.ID = agent.UID, agent.ID
	r.cfg.Audit.LinkEvent(ctx, e)
	r.cfg.Notify(Change{UID: agent.UID, Agent: true})
}

// rotate keeps the next key of an agent.
func (reg *registrar) rotate(ctx context.Context, uid string, r *agentapi.Rotation) agentapi.RotationAck {
	s := reg.sessions.of(uid, r.Epoch)
	if s == nil {
		return agentapi.RotationAck{Error: fenced()}
	}
	agent, err := reg.cfg.Agents.AgentByUID(ctx, uid)
	if err != nil {
		return agentapi.RotationAck{Error: reg.presence.fault(reg.cfg.Log, uid, "look up the agent", err)}
	}
	text := agentapi.RotationText(uid, r.Epoch, r.PublicKey)
	if !verify(agent.PublicKey, text, r.Signature) || !verify(r.PublicKey, text, r.Proof) {
		return agentapi.RotationAck{Error: &agentapi.Error{
			Code: agentapi.CodeSignature, Message: "the next key must be signed for this session with the present one, and with itself",
		}}
	}
	if r.PublicKey == agent.PublicKey {
		return agentapi.RotationAck{}
	}
	if err := reg.cfg.Agents.SetNextKey(ctx, uid, r.Epoch, r.PublicKey); err != nil {
		return agentapi.RotationAck{Error: reg.presence.fault(reg.cfg.Log, uid, "keep the next key", err)}
	}
	return agentapi.RotationAck{}
}

func verify(publicKey string, text, signature []byte) bool {
	if !nkeys.IsValidPublicUserKey(publicKey) {
		return false
	}
	key, err := nkeys.FromPublicKey(publicKey)
	return err == nil && key.Verify(text, signature) == nil
}

// dropNextKey ends a key that was announced in an earlier session and that the agent has not connected with: a rotation was
// interrupted, and a client that copied the key then must have nothing from it. The agent tries a key that it announced first.
func (reg *registrar) dropNextKey(ctx context.Context, agent Agent) {
	if agent.NextKey == "" || reg.conns.has(agent.UID, agent.NextKey) { // the latter becomes the present one in a moment
		return
	}
	if err := reg.cfg.Agents.SetNextKey(ctx, agent.UID, agent.Epoch, ""); err != nil {
		reg.cfg.Log.Warn("end a key that was announced and not used", "agent", agent.ID, "error", err) // with the next session
		return
	}
	reg.cfg.Log.Info("a key that was announced and not used ended", "agent", agent.ID, "uid", agent.UID)
}

// promoteAgain is the pause before the end of a key is kept once more that could not be.
const promoteAgain = time.Second

// promote makes the key that an agent connected with its present one, and cuts what is connected with the one before.
func (reg *registrar) promote(ctx context.Context, agent Agent, key string) {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	switch err := reg.cfg.Agents.PromoteKey(ctx, agent.UID, key); {
	case errors.Is(err, ErrUnknown):
		reg.cfg.Log.Warn("a key is neither the present one nor the next any more", "agent", agent.ID)
		return
	case err != nil:
		// The key before may be a stolen one: it ends as soon as that can be kept.
		reg.cfg.Log.Error("end the key before; it is tried again", "agent", agent.ID, "error", err)
		ctx := context.WithoutCancel(ctx)
		time.AfterFunc(promoteAgain, func() { reg.lanes.must(agent.UID, func() { reg.promote(ctx, agent, key) }) })
		return
	}
	reg.conns.cut(agent.UID, key)
	reg.peers.tell(peerNote{Type: noteRotated, UID: agent.UID, Key: key})
	reg.cfg.Log.Info("agent has a new key", "agent", agent.ID, "uid", agent.UID)
	reg.cfg.Audit.LinkEvent(ctx, LinkEvent{
		Type: LinkRotated, UID: agent.UID, ID: agent.ID, Address: reg.conns.address(agent.UID), At: reg.cfg.Now(),
		Message: "the key before it ended",
	})
	reg.cfg.Notify(Change{UID: agent.UID, Agent: true})
}
