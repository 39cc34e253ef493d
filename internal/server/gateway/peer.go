package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// noteType is the kind of a message between servers of a cluster.
type noteType string

const (
	// noteBegun: a server began a session, and the others drop theirs.
	noteBegun noteType = "begun"
	// noteAlive: an agent sent a heartbeat.
	noteAlive noteType = "alive"
	// noteCut: an agent is to be cut.
	noteCut noteType = "cut"
	// noteRotated: connections with another key are to be cut.
	noteRotated noteType = "rotated"
	// noteResult: a command that is kept has its result.
	noteResult noteType = "result"
	// noteWho: a server that began asks which servers have sessions with agents.
	noteWho noteType = "who"
	// noteBroadcast: something that is not the gateway's.
	noteBroadcast noteType = "broadcast"
)

// A server that began asks the others every askEvery, about so many agents in a note.
const (
	askEvery = 250 * time.Millisecond
	mostAsks = 5000
)

// peerNote is a message between servers of a cluster. None of it is needed to be right: what counts is in the store.
type peerNote struct {
	Type    noteType         `json:"type"`
	UID     string           `json:"uid,omitempty"`
	ID      string           `json:"id,omitempty"`
	Epoch   int64            `json:"epoch,omitempty"`
	At      time.Time        `json:"at,omitzero"`
	Key     string           `json:"key,omitempty"`
	Health  *Health          `json:"health,omitempty"`
	Changed bool             `json:"changed,omitempty"`
	Result  *agentapi.Result `json:"result,omitempty"`
	Data    []byte           `json:"data,omitempty"`
	UIDs    []string         `json:"uids,omitempty"`
}

// Peers sends notes to the other servers of the cluster. The Gateway takes theirs.
type Peers struct {
	cfg      *Config
	conns    *connections
	presence *presence
	sessions *sessions
}

// tell sends a note to the other servers.
func (p *Peers) tell(note peerNote) {
	if p.cfg.Cluster == nil {
		return
	}
	data, err := json.Marshal(note)
	if err == nil {
		err = p.conns.publish(peerSubject, data)
	}
	if err != nil {
		p.cfg.Log.Warn("notify other servers", "what", note.Type, "error", err)
	}
}

// hear takes a note of another server. It never waits: all that may do so is done in the lane of the agent.
func (g *Gateway) hear(ctx context.Context, data []byte) {
	var note peerNote
	if err := strict.Decode(data, &note, strict.Unknown, strict.Envelope); err != nil {
		return
	}
	if note.Type == noteBroadcast {
		g.lanes.must(string(noteBroadcast), func() { g.cfg.Heard(note.Data) })
		return
	}
	if note.Type == noteWho {
		for _, uid := range note.UIDs[:min(len(note.UIDs), mostAsks)] {
			if agentapi.ValidUID(uid) && g.sessions.has(uid) {
				g.lanes.must(uid, func() { g.Peers.tellOf(uid) })
			}
		}
		return
	}
	if agentapi.ValidUID(note.UID) {
		g.lanes.must(note.UID, func() { g.heed(ctx, note) })
	}
}

// heed acts on another server's note about an agent.
func (g *Gateway) heed(ctx context.Context, note peerNote) {
	switch note.Type {
	case noteBegun:
		if at, known := g.presence.get(note.UID); known && at.epoch > note.Epoch {
			return // it came late: a later session has begun, maybe here
		}
		g.sessions.set(note.UID, nil)
		g.overtaken(note)
		g.presence.update(note.UID, func(at *seen) {
			at.id, at.epoch, at.ready = note.ID, note.Epoch, false
			at.hear(earliest(note.At, g.cfg.Now()))
		})
		g.monitor.watch(ctx, note.UID)
	case noteAlive:
		g.overtaken(note)
		g.presence.update(note.UID, func(at *seen) {
			if at.epoch <= note.Epoch && note.Health != nil {
				at.id, at.epoch, at.ready, at.health = note.ID, note.Epoch, true, *note.Health
				at.hear(earliest(note.At, g.cfg.Now()))
			}
		})
		g.monitor.watch(ctx, note.UID)
		g.monitor.judge(ctx, note.UID)
		if note.Changed {
			g.cfg.Notify(Change{UID: note.UID, Agent: true, Heard: true})
		}
	case noteCut:
		g.monitor.cut(note.UID, "another server reported it")
	case noteRotated:
		g.conns.cut(note.UID, note.Key)
	case noteResult:
		if note.Result != nil {
			g.Commands.waiting.deliver(note.UID, *note.Result)
			g.Commands.open.drop(note.UID, note.Result.ID)
			g.cfg.Notify(Change{UID: note.UID, Command: note.Result.ID, Heard: true})
		}
	case noteWho, noteBroadcast:
	}
}

// askAround asks the other servers about the agents that were connected when this one began: until their next heartbeats it
// could give them nothing. It ends when all are known, or would have been heard anyway.
func (p *Peers) askAround(ctx context.Context) {
	if p.cfg.Cluster == nil {
		return
	}
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for range agentapi.HeartbeatInterval / askEvery {
		missing := p.presence.unheard()
		if len(missing) == 0 {
			return
		}
		for part := range slices.Chunk(missing, mostAsks) {
			p.tell(peerNote{Type: noteWho, UIDs: part})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// askAbout asks the other servers about an agent of which a note may have been lost, as where the server that it was connected to
// is killed: it may have another session since, and would be reached only after its next heartbeat. The one that has the session
// answers with noteAlive. It asks at most every askEvery.
func (p *Peers) askAbout(uid string) {
	if p.cfg.Cluster == nil || p.sessions.has(uid) {
		return
	}
	ask, now := false, p.cfg.Now()
	p.presence.update(uid, func(at *seen) {
		if since := now.Sub(at.asked); since >= askEvery || since < 0 {
			ask, at.asked = true, now
		}
	})
	if ask {
		p.tell(peerNote{Type: noteWho, UIDs: []string{uid}})
	}
}

// tellOf notifies the other servers of an agent that has a session with this one and takes commands.
func (p *Peers) tellOf(uid string) {
	at, known := p.presence.get(uid)
	if known && at.ready && p.sessions.of(uid, at.epoch) != nil {
		p.tell(peerNote{Type: noteAlive, UID: uid, ID: at.id, Epoch: at.epoch, At: at.alive, Health: &at.health})
	}
}

// overtaken refuses immediately what was asked of the session before, if the note is of a later one: that session may have ended
// with the server that had it, and none would answer. A new request reaches the agent through its present session.
func (g *Gateway) overtaken(note peerNote) {
	if at, known := g.presence.get(note.UID); !known || at.epoch >= note.Epoch {
		return
	}
	fault := &agentapi.Error{Code: agentapi.CodeDisconnected, Message: "agent " + note.ID + " reconnected: try again"}
	g.Commands.drop(note.UID, note.Epoch, fault)
}

// Broadcast gives data to Config.Heard of all other servers. It is lost where they cannot be reached.
func (p *Peers) Broadcast(data []byte) {
	p.tell(peerNote{Type: noteBroadcast, Data: data})
}

// Meets reports whether the Bus of the cluster is reached; false where there is none.
func (p *Peers) Meets() bool {
	b := p.conns.broker.Load()
	return b != nil && b.server.NumLeafNodes() > 0
}
