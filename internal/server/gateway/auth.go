package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// maxConnections is how many connections of an agent there may be: a new leader, the old one, and some that are dead and
// not noticed yet. One more cuts the oldest.
const maxConnections = 8

// signed reports whether who connects has signed the nonce of this connection with the key that it names.
func signed(c connecting) bool {
	opts, nonce := c.GetOpts(), c.GetNonce()
	if c.Kind() != server.CLIENT || len(nonce) == 0 || len(opts.Nkey) > 64 || len(opts.Sig) > 128 {
		return false
	}
	if !nkeys.IsValidPublicUserKey(opts.Nkey) {
		return false
	}
	signature, err := base64.RawURLEncoding.DecodeString(opts.Sig)
	if err != nil {
		return false
	}
	key, err := nkeys.FromPublicKey(opts.Nkey)
	return err == nil && key.Verify(nonce, signature) == nil
}

// authenticate lets agents in that prove their key, each to its own subjects.
func (reg *registrar) authenticate(ctx context.Context, c connecting) bool {
	if !signed(c) {
		return false
	}
	key := c.GetOpts().Nkey
	limited, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	for {
		// A revocation between the look into the store and the entry into the list would find nothing to cut.
		seen := reg.conns.revocations()
		agent, err := reg.cfg.Agents.AgentByKey(limited, key)
		if err != nil {
			if !errors.Is(err, ErrUnknown) {
				reg.cfg.Log.Error("look up an agent by its key", "error", err)
				// Cut off, it comes back immediately. If its key was refused, it would leave the server alone for a minute.
				reg.conns.disconnect([]uint64{c.GetID()})
			}
			return false
		}
		if agent.Revoked || !agentapi.ValidUID(agent.UID) || agent.PublicKey != key && agent.NextKey != key {
			return false
		}
		over, ok := reg.conns.enter(agent.UID, key, c.GetID(), seen)
		if !ok {
			continue
		}
		reg.arriving.settle(c.RemoteAddress())
		c.RegisterUser(&server.User{Username: agent.UID, Permissions: permissions(agent.UID)})
		reg.lanes.must(agent.UID, func() {
			reg.conns.disconnect(over)
			if agent.PublicKey != key {
				reg.promote(ctx, agent, key)
			}
		})
		return true
	}
}

// permissions are what an agent may do on the link.
func permissions(uid string) *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{agentapi.UpAll(uid)}},
		Subscribe: &server.SubjectPermission{Allow: []string{agentapi.DownAll(uid)}},
	}
}

// connections are those of each agent at the broker, oldest first. Some may be closed already.
type connections struct {
	broker atomic.Pointer[broker] // nil before Gateway.Run has started it

	mu      sync.Mutex
	agents  map[string][]connection
	revoked uint64
}

type connection struct {
	id  uint64
	key string
}

func newConnections() *connections { return &connections{agents: map[string][]connection{}} }

// revocations counts how often connections were forgotten.
func (c *connections) revocations() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revoked
}

// enter adds a connection unless some were forgotten since seen, and returns those that are too many.
func (c *connections) enter(uid, key string, id, seen uint64) (over []uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.revoked != seen {
		return nil, false
	}
	all := append(c.agents[uid], connection{id: id, key: key})
	for len(all) > maxConnections {
		over, all = append(over, all[0].id), all[1:]
	}
	c.agents[uid] = all
	return over, true
}

// cut closes the connections of an agent that were made with another key than these, and returns how many there were.
func (c *connections) cut(uid string, keys ...string) int {
	return c.disconnect(c.forget(uid, keys...))
}

// forget removes the connections of an agent that were made with another key than these.
func (c *connections) forget(uid string, keys ...string) []uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked++
	var gone []uint64
	rest := slices.DeleteFunc(c.agents[uid], func(at connection) bool {
		if slices.Contains(keys, at.key) {
			return false
		}
		gone = append(gone, at.id)
		return true
	})
	if c.agents[uid] = rest; len(rest) == 0 {
		delete(c.agents, uid)
	}
	return gone
}

// has reports whether an agent connected with a key.
func (c *connections) has(uid, key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.agents[uid], func(at connection) bool { return at.key == key })
}

// newest returns the connection of an agent that was made last.
func (c *connections) newest(uid string) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.agents[uid]
	if len(all) == 0 {
		return 0, false
	}
	return all[len(all)-1].id, true
}

// disconnect closes connections and returns how many there were.
func (c *connections) disconnect(ids []uint64) int {
	b, n := c.broker.Load(), 0
	for _, id := range ids {
		if b != nil && b.server.DisconnectClientByID(id) == nil {
			n++
		}
	}
	return n
}

// address returns where the newest connection of an agent comes from, as far as that is known.
func (c *connections) address(uid string) string {
	b := c.broker.Load()
	id, ok := c.newest(uid)
	if !ok || b == nil {
		return ""
	}
	list, err := b.server.Connz(&server.ConnzOptions{CID: id})
	if err != nil || len(list.Conns) == 0 {
		return ""
	}
	return list.Conns[0].IP
}

// publish sends something to an agent or to other servers.
func (c *connections) publish(subject string, data []byte) error {
	b := c.broker.Load()
	if b == nil {
		return errors.New("the link has not started yet")
	}
	if len(data) > agentapi.MaxMessage {
		return fmt.Errorf("a message has %d bytes, more than %d", len(data), agentapi.MaxMessage)
	}
	return b.conn.Publish(subject, data)
}
