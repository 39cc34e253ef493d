// Package gatewaytest has what tests of the gateway, and of stores for it, need: a store in memory, and cases that every
// store must pass.
package gatewaytest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// Memory is a store of the gateway that keeps everything in memory. Its methods are those of gateway.Agents, Copies,
// Commands and Audit.
type Memory struct {
	mu       sync.Mutex
	agents   map[string]*kept
	tokens   map[string]token
	commands []*gateway.Command
	events   map[string]agentapi.Event
	links    []gateway.LinkEvent
	finished []gateway.Command
	changed  chan struct{} // closed and replaced with each change
}

// kept is what Memory keeps of an agent.
type kept struct {
	gateway.Agent
	session gateway.Session
	seq     int64
	copies  map[agentapi.Key]*item
}

type item struct {
	agentapi.Item
	stale bool
}

type token struct {
	uid     string
	expires time.Time
	// key is that of the agent that used it; "" before that.
	key string
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{agents: map[string]*kept{}, tokens: map[string]token{}, events: map[string]agentapi.Event{}, changed: make(chan struct{})}
}

// AddAgent adds an agent that never connected, as an administrator does.
func (m *Memory) AddAgent(_ context.Context, uid, id string) error {
	defer m.lock()()
	m.agents[uid] = &kept{
		Agent:  gateway.Agent{UID: uid, ID: id, Health: gateway.Health{State: agentapi.StateNever}},
		copies: map[agentapi.Key]*item{},
	}
	return nil
}

// SetEngine says what an agent was created for, as an administrator does.
func (m *Memory) SetEngine(_ context.Context, uid string, engine agentapi.Engine) error {
	defer m.lock()()
	m.agents[uid].Engine = engine
	return nil
}

// AddToken adds a one-time token for an agent, known by its hash.
func (m *Memory) AddToken(_ context.Context, uid, hash string, expires time.Time) error {
	defer m.lock()()
	m.tokens[hash] = token{uid: uid, expires: expires}
	return nil
}

// RevokeAgent ends the identity of an agent.
func (m *Memory) RevokeAgent(_ context.Context, uid string) error {
	defer m.lock()()
	a := m.agents[uid]
	a.Revoked, a.PublicKey, a.NextKey = true, "", ""
	a.Epoch++
	return nil
}

// lock locks, and returns what unlocks and notifies those who wait for changes.
func (m *Memory) lock() func() {
	m.mu.Lock()
	return func() {
		close(m.changed)
		m.changed = make(chan struct{})
		m.mu.Unlock()
	}
}

// Until waits until a condition holds, which is asked after each change.
func (m *Memory) Until(ctx context.Context, holds func() bool) error {
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// RegisterAgent implements gateway.Agents.
func (m *Memory) RegisterAgent(_ context.Context, hash string, r gateway.Registration, now time.Time) (gateway.Agent, error) {
	defer m.lock()()
	t, ok := m.tokens[hash]
	if !ok || t.key != "" || !now.Before(t.expires) || m.agents[t.uid] == nil {
		return gateway.Agent{}, gateway.ErrToken
	}
	if m.taken(t.uid, r.PublicKey) {
		return gateway.Agent{}, gateway.ErrKeyTaken
	}
	t.key = r.PublicKey
	m.tokens[hash] = t
	a := m.agents[t.uid]
	a.PublicKey, a.NextKey, a.Revoked = r.PublicKey, "", false
	a.session.SealKey = r.SealKey
	a.Health.LastHeartbeat = time.Time{}
	a.Epoch++
	a.Generation = 0
	return a.Agent, nil
}

// RegisteredWith implements gateway.Agents.
func (m *Memory) RegisteredWith(_ context.Context, hash, key string, now time.Time) (gateway.Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tokens[hash]
	a := m.agents[t.uid]
	if a == nil || key == "" || t.key != key || a.PublicKey != key || a.Revoked || !now.Before(t.expires) {
		return gateway.Agent{}, gateway.ErrToken
	}
	return a.Agent, nil
}

func (m *Memory) taken(uid, key string) bool {
	for _, a := range m.agents {
		if a.UID != uid && (a.PublicKey == key || a.NextKey == key) {
			return true
		}
	}
	return false
}

// AgentByKey implements gateway.Agents.
func (m *Memory) AgentByKey(_ context.Context, key string) (gateway.Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.agents {
		if key != "" && !a.Revoked && (a.PublicKey == key || a.NextKey == key) {
			return a.Agent, nil
		}
	}
	return gateway.Agent{}, gateway.ErrUnknown
}

// AgentByUID implements gateway.Agents.
func (m *Memory) AgentByUID(_ context.Context, uid string) (gateway.Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if a := m.agents[uid]; a != nil {
		return a.Agent, nil
	}
	return gateway.Agent{}, gateway.ErrUnknown
}

// LinkedAgents implements gateway.Agents.
func (m *Memory) LinkedAgents(context.Context) ([]gateway.Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []gateway.Agent
	for _, a := range m.agents {
		if a.PublicKey != "" && !a.Revoked {
			all = append(all, a.Agent)
		}
	}
	return all, nil
}

// BeginSession implements gateway.Agents.
func (m *Memory) BeginSession(_ context.Context, uid string, s gateway.Session, _ time.Time) (gateway.Agent, error) {
	defer m.lock()()
	a := m.agents[uid]
	switch {
	case a == nil:
		return gateway.Agent{}, gateway.ErrUnknown
	case a.Revoked, s.Generation < a.Generation:
		return gateway.Agent{}, gateway.ErrFenced
	}
	if s.SealKey == nil {
		s.SealKey = a.session.SealKey
	}
	a.Epoch, a.seq, a.session, a.ClusterUID = a.Epoch+1, 0, s, s.ClusterUID
	a.Generation = s.Generation
	return a.Agent, nil
}

// at returns an agent whose epoch it is.
func (m *Memory) at(uid string, epoch int64) (*kept, error) {
	a := m.agents[uid]
	if a == nil {
		return nil, gateway.ErrUnknown
	}
	if a.Revoked || a.Epoch != epoch {
		return nil, gateway.ErrFenced
	}
	return a, nil
}

// SaveHealth implements gateway.Agents.
func (m *Memory) SaveHealth(_ context.Context, uid string, epoch int64, h gateway.Health) error {
	defer m.lock()()
	a, err := m.at(uid, epoch)
	if err == nil {
		a.Health = h
	}
	return err
}

// MarkLost implements gateway.Agents.
func (m *Memory) MarkLost(ctx context.Context, uid string, epoch int64, h gateway.Health, before time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("begin transaction: %w", err) // as a database does
	}
	defer m.lock()()
	a, err := m.at(uid, epoch)
	if err != nil || a.Health.State == h.State || a.Health.LastHeartbeat.After(before) {
		return false, nil
	}
	a.Health.State, a.Health.Since, a.Health.Message = h.State, h.Since, h.Message
	if h.LastHeartbeat.After(a.Health.LastHeartbeat) {
		a.Health.LastHeartbeat = h.LastHeartbeat
	}
	return true, nil
}

// SetNextKey implements gateway.Agents.
func (m *Memory) SetNextKey(_ context.Context, uid string, epoch int64, key string) error {
	defer m.lock()()
	a, err := m.at(uid, epoch)
	if err != nil {
		return err
	}
	if key != "" && m.taken(uid, key) {
		return gateway.ErrKeyTaken
	}
	a.NextKey = key
	return nil
}

// PromoteKey implements gateway.Agents.
func (m *Memory) PromoteKey(_ context.Context, uid, key string) error {
	defer m.lock()()
	a := m.agents[uid]
	switch {
	case a == nil || key == "" || a.PublicKey != key && a.NextKey != key:
		return gateway.ErrUnknown
	case a.NextKey == key:
		a.PublicKey, a.NextKey = key, ""
	}
	return nil
}

// ApplyItems implements gateway.Copies.
func (m *Memory) ApplyItems(
	_ context.Context, uid string, epoch, seq int64, items []agentapi.Item, _ time.Time,
) ([]gateway.Changed, error) {
	defer m.lock()()
	a, err := m.at(uid, epoch)
	if err != nil {
		return nil, err
	}
	if seq < a.seq {
		return nil, gateway.ErrStale
	}
	a.seq = seq
	var changed []gateway.Changed
	for _, it := range items {
		c := gateway.Changed{Key: it.Key, Before: a.hash(it.Key), After: it.Hash, Scope: "account"}
		if it.Deleted {
			c.After, c.Removed = "", a.copies[it.Key] != nil
			delete(a.copies, it.Key)
		} else {
			a.copies[it.Key] = &item{Item: it}
		}
		changed = append(changed, c)
	}
	return changed, nil
}

// hash returns the hash that a copy counts with.
func (k *kept) hash(key agentapi.Key) string {
	if at := k.copies[key]; at != nil && !at.stale {
		return at.Hash
	}
	return ""
}

// Entries implements gateway.Copies.
func (m *Memory) Entries(_ context.Context, uid string) ([]gateway.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.agents[uid]
	if a == nil {
		return nil, gateway.ErrUnknown
	}
	var all []gateway.Entry
	for key, at := range a.copies {
		all = append(all, gateway.Entry{Entry: agentapi.Entry{Key: key, Hash: at.Hash}, Stale: at.stale})
	}
	slices.SortFunc(all, func(x, y gateway.Entry) int { return cmp.Compare(x.Key.String(), y.Key.String()) })
	return all, nil
}

// Reconcile implements gateway.Copies.
func (m *Memory) Reconcile(
	_ context.Context, uid string, epoch int64, r gateway.Reconciliation, _ time.Time,
) ([]gateway.Changed, error) {
	defer m.lock()()
	a, err := m.at(uid, epoch)
	if err != nil {
		return nil, err
	}
	var changed []gateway.Changed
	each := func(keys []agentapi.Key, do func(agentapi.Key, *item, *gateway.Changed)) {
		for _, key := range keys {
			if at := a.copies[key]; at != nil {
				c := gateway.Changed{Key: key, Before: a.hash(key), Scope: "account"}
				do(key, at, &c)
				c.After = a.hash(key)
				changed = append(changed, c)
			}
		}
	}
	each(r.Remove, func(key agentapi.Key, _ *item, c *gateway.Changed) { delete(a.copies, key); c.Removed = true })
	each(r.MarkStale, func(_ agentapi.Key, at *item, _ *gateway.Changed) { at.stale = true })
	each(r.Unmark, func(_ agentapi.Key, at *item, _ *gateway.Changed) { at.stale = false })
	return changed, nil
}

// AddCommand implements gateway.Commands.
func (m *Memory) AddCommand(_ context.Context, c gateway.Command) error {
	defer m.lock()()
	if m.agents[c.Agent] == nil {
		return gateway.ErrUnknown
	}
	if m.command(c.ID) != nil {
		return gateway.ErrExists
	}
	c.Result = agentapi.Result{ID: c.ID, Status: agentapi.StatusPending}
	m.commands = append(m.commands, &c)
	return nil
}

func (m *Memory) command(id string) *gateway.Command {
	for _, c := range m.commands {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// MarkSent implements gateway.Commands.
func (m *Memory) MarkSent(_ context.Context, uid string, ids []string, _ time.Time) ([]string, error) {
	defer m.lock()()
	var open []string
	for _, id := range ids {
		if c := m.command(id); c != nil && c.Agent == uid && !c.Result.Status.Final() {
			c.Result.Status = agentapi.StatusSent
			open = append(open, id)
		}
	}
	return open, nil
}

// FinishCommand implements gateway.Commands.
func (m *Memory) FinishCommand(_ context.Context, uid string, r agentapi.Result, pendingOnly bool, _ time.Time) (bool, error) {
	defer m.lock()()
	c := m.command(r.ID)
	if c == nil || c.Agent != uid {
		return false, gateway.ErrUnknown
	}
	if c.Result.Status.Final() || pendingOnly && c.Result.Status != agentapi.StatusPending {
		return false, nil
	}
	c.Result, c.Body = r, nil
	return true, nil
}

// OpenCommands implements gateway.Commands.
func (m *Memory) OpenCommands(_ context.Context, uid string) ([]gateway.Command, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var open []gateway.Command
	for _, c := range m.commands {
		if (uid == "" || c.Agent == uid) && !c.Result.Status.Final() {
			open = append(open, *c)
		}
	}
	return open, nil
}

// OverdueCommands implements gateway.Commands.
func (m *Memory) OverdueCommands(_ context.Context, now time.Time) (map[string][]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late := map[string][]string{}
	for _, c := range m.commands {
		if !c.Result.Status.Final() && !c.Deadline.After(now) {
			late[c.Agent] = append(late[c.Agent], c.ID)
		}
	}
	return late, nil
}

// GetCommand implements gateway.Commands.
func (m *Memory) GetCommand(_ context.Context, id string) (gateway.Command, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.command(id); c != nil {
		return *c, nil
	}
	return gateway.Command{}, gateway.ErrUnknown
}

// AgentEvents implements gateway.Audit.
func (m *Memory) AgentEvents(_ context.Context, agent gateway.Agent, events []agentapi.Event) error {
	defer m.lock()()
	for _, e := range events {
		if _, there := m.events[agent.UID+"/"+e.ID]; !there {
			m.events[agent.UID+"/"+e.ID] = e
		}
	}
	return nil
}

// LinkEvent implements gateway.Audit.
func (m *Memory) LinkEvent(_ context.Context, e gateway.LinkEvent) {
	defer m.lock()()
	m.links = append(m.links, e)
}

// CommandFinished implements gateway.Audit.
func (m *Memory) CommandFinished(_ context.Context, c gateway.Command) {
	defer m.lock()()
	if !slices.ContainsFunc(m.finished, func(old gateway.Command) bool { return old.ID == c.ID }) {
		m.finished = append(m.finished, c)
	}
}

// Links returns what happened to links, in order.
func (m *Memory) Links() []gateway.LinkEvent {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.links)
}

// Finished returns the commands whose outcome was reported, in order.
func (m *Memory) Finished() []gateway.Command {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.finished)
}

// Events returns how many events of some types are kept; of any type where none is named.
func (m *Memory) Events(of ...agentapi.EventType) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.events {
		if len(of) == 0 || slices.Contains(of, e.Type) {
			n++
		}
	}
	return n
}
