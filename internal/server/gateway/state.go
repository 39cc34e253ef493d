package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// maxMissing is how many keys an Ack names at most.
const maxMissing = 2000

// errInventory says that the parts of an inventory do not fit together.
var errInventory = errors.New("the inventory")

// copies takes in what agents report: batches of their state, inventories, and records of operations.
type copies struct {
	cfg      *Config
	sessions *sessions
	presence *presence
	pace     *pace
}

// state takes a Batch. Items come first, then events, then the inventory; the answer says that all of it is stored.
func (k *copies) state(ctx context.Context, uid string, b *agentapi.Batch) (ack agentapi.Ack) {
	start := time.Now() // not Config.Now, which may stand still
	defer func() { k.cfg.Meter.Batch(len(b.Items), time.Since(start), ack.Error) }()
	s := k.sessions.of(uid, b.Epoch)
	switch {
	case s == nil:
		return agentapi.Ack{Error: fenced()}
	case b.Seq == s.last.Seq && b.Seq > 0:
		return s.last // the answer was lost
	}
	done, ok := k.pace.turn(ctx, len(b.Items))
	if !ok {
		return agentapi.Ack{Error: busy("many agents bring much")}
	}
	defer done()
	ack = k.store(ctx, uid, s, b)
	if ack.Error == nil {
		s.last = ack
		k.pace.brought(uid, len(b.Items), k.cfg.Now())
	}
	return ack
}

// store keeps what a batch brings. What is wrong with one item, event or entry is no matter of the others.
func (k *copies) store(ctx context.Context, uid string, s *session, b *agentapi.Batch) agentapi.Ack {
	switch {
	case b.Seq < 1:
		return agentapi.Ack{Error: malformed(fmt.Errorf("the sequence %d is none", b.Seq))}
	case len(b.Events) > agentapi.MaxEvents:
		return agentapi.Ack{Error: malformed(fmt.Errorf("a batch has at most %d events", agentapi.MaxEvents))}
	case b.Inventory != nil && len(b.Inventory.Entries) > agentapi.MaxInventoryPart:
		return agentapi.Ack{Error: malformed(fmt.Errorf("a part of an inventory has at most %d entries", agentapi.MaxInventoryPart))}
	}
	ack := agentapi.Ack{Seq: b.Seq}
	kept, events := []agentapi.Item(nil), []agentapi.Event(nil)
	kept, ack.Rejected = sift(b.Items)
	events, ack.RejectedEvents = siftEvents(b.Events)
	start := time.Now()
	changed, err := k.cfg.Copies.ApplyItems(ctx, uid, b.Epoch, b.Seq, kept, k.cfg.Now())
	if err != nil {
		return agentapi.Ack{Error: k.presence.fault(k.cfg.Log, uid, "keep what changed", err)}
	}
	k.traced(ctx, s, start, kept, changed)
	k.applied(s, changed)
	if len(events) > 0 {
		if err := k.cfg.Audit.AgentEvents(ctx, s.agent, events); err != nil {
			return agentapi.Ack{Error: k.presence.fault(k.cfg.Log, uid, "keep what happened", err)}
		}
	}
	if b.Inventory != nil {
		var odd []agentapi.Rejected
		switch ack.Missing, ack.Stale, odd, err = k.take(ctx, s, b.Inventory); {
		case errors.Is(err, errInventory):
			return agentapi.Ack{Error: malformed(err)}
		case err != nil:
			return agentapi.Ack{Error: k.presence.fault(k.cfg.Log, uid, "compare the inventory", err)}
		}
		ack.Rejected = append(ack.Rejected, odd...)
	}
	k.rejected(s, ack)
	ack.Rejected = ack.Rejected[:min(len(ack.Rejected), maxRejected)]
	return ack
}

// maxToldRejected is how many of the things that one batch has and that cannot be kept are logged one by one.
const maxToldRejected = 20

// rejected counts and logs what of a batch cannot be kept.
func (k *copies) rejected(s *session, ack agentapi.Ack) {
	n := len(ack.Rejected) + len(ack.RejectedEvents)
	if n == 0 {
		return
	}
	k.cfg.Meter.Rejected(len(ack.Rejected), len(ack.RejectedEvents))
	for _, r := range ack.Rejected[:min(len(ack.Rejected), maxToldRejected)] {
		k.cfg.Log.Warn("an item of an agent cannot be kept", "agent", s.agent.ID, "item", line(r.Key.String(), maxName), "why", r.Message)
	}
	for _, r := range ack.RejectedEvents[:min(len(ack.RejectedEvents), maxToldRejected)] {
		k.cfg.Log.Warn("an event of an agent cannot be kept", "agent", s.agent.ID, "event", line(r.ID, maxName), "why", r.Message)
	}
	if n > 2*maxToldRejected {
		k.cfg.Log.Warn("many items or events of an agent cannot be kept", "agent", s.agent.ID, "items", len(ack.Rejected),
			"events", len(ack.RejectedEvents))
	}
}

// applied follows the digest, and reports what changed.
func (k *copies) applied(s *session, changed []Changed) {
	var told []Changed
	for _, c := range changed {
		if c.Before != "" {
			s.digest = s.digest.Toggle(c.Key, c.Before)
		}
		if c.After != "" {
			s.digest = s.digest.Toggle(c.Key, c.After)
		}
		if c.Before != c.After || c.Removed {
			told = append(told, c)
		}
	}
	if len(told) == 0 {
		return
	}
	k.cfg.Notify(Change{UID: s.agent.UID, Items: told})
}

// recount makes the digest again, and returns how many copies are stale.
func (k *copies) recount(ctx context.Context, s *session) (stale int, err error) {
	entries, err := k.cfg.Copies.Entries(ctx, s.agent.UID)
	if err != nil {
		return 0, err
	}
	s.digest = 0
	for _, e := range entries {
		if e.Stale {
			stale++
			continue
		}
		s.digest = s.digest.Toggle(e.Key, e.Hash)
	}
	return stale, nil
}

// differs reports whether the agent is to send an inventory: its digest is another one than that of the copies, and it has
// a place among those that catch up, for which it may wait.
func (k *copies) differs(ctx context.Context, uid string, s *session, digest agentapi.Digest, pending int,
	wait time.Duration,
) (bool, error) {
	if pending > 0 {
		return false, nil
	}
	if digest == s.digest {
		k.pace.leave(uid)
		return false, nil
	}
	if s.settled == digest && k.cfg.Now().Sub(s.settledAt) < askAgain {
		return false, nil
	}
	if !k.pace.enter(ctx, uid, k.cfg.Now(), wait) {
		return false, nil
	}
	// Another server may have changed what is kept, or an administrator.
	if _, err := k.recount(ctx, s); err != nil {
		return false, err
	}
	if digest == s.digest {
		k.pace.leave(uid)
		return false, nil
	}
	k.cfg.Log.Info("the copies differ from what the agent has: it sends an inventory", "agent", k.presence.name(uid))
	return true, nil
}

// take adds a part of an inventory, and acts on it when it was the last. An entry whose key cannot be is left out and
// returned. One whose hash cannot be stays, as one that differs: the item is there.
func (k *copies) take(ctx context.Context, s *session,
	part *agentapi.Inventory,
) (missing []agentapi.Key, stale int, odd []agentapi.Rejected, err error) {
	if part.Part == 0 {
		s.inventory, s.nextPart, s.settling = map[agentapi.Key]string{}, 0, 0
	}
	if s.inventory == nil || part.Part != s.nextPart {
		s.inventory = nil
		return nil, 0, nil, fmt.Errorf("%w: part %d came where part %d was due", errInventory, part.Part, s.nextPart)
	}
	for _, e := range part.Entries {
		s.settling = s.settling.Toggle(e.Key, e.Hash)
		if err := e.Check(); err != nil {
			odd = append(odd, agentapi.Rejected{Key: echo(e.Key), Message: "in the inventory: " + err.Error()})
			continue
		}
		if !isHash(e.Hash) {
			e.Hash = "" // no copy has that
		}
		s.inventory[e.Key] = e.Hash
	}
	s.nextPart = part.Part + 1
	if len(s.inventory) > agentapi.MaxInventory {
		s.inventory = nil
		return nil, 0, nil, fmt.Errorf("%w: it has more than %d entries", errInventory, agentapi.MaxInventory)
	}
	if !part.Last {
		return nil, 0, odd, nil
	}
	inventory := s.inventory
	s.inventory = nil
	missing, stale, err = k.reconcile(ctx, s, inventory)
	return missing, stale, odd, err
}

// reconcile makes the copies agree with an inventory, as far as that can be done without the items themselves.
func (k *copies) reconcile(ctx context.Context, s *session,
	inventory map[agentapi.Key]string,
) (missing []agentapi.Key, stale int, err error) {
	entries, err := k.cfg.Copies.Entries(ctx, s.agent.UID)
	if err != nil {
		return nil, 0, err
	}
	s.settled, s.settledAt = s.settling, k.cfg.Now()
	r, missing := compare(entries, inventory, s.sameCluster)
	if len(r.Remove)+len(r.MarkStale)+len(r.Unmark) > 0 {
		changed, err := k.cfg.Copies.Reconcile(ctx, s.agent.UID, s.epoch, r, k.cfg.Now())
		if err != nil {
			return nil, 0, err
		}
		k.applied(s, changed)
	}
	if stale, err = k.recount(ctx, s); err != nil {
		return nil, 0, err
	}
	k.presence.update(s.agent.UID, func(at *seen) { at.health.Stale = stale })
	k.cfg.Log.Info("inventory compared", "agent", s.agent.ID, "entries", len(inventory), "missing", len(missing), "removed", len(r.Remove),
		"stale", len(r.MarkStale), "back", len(r.Unmark))
	if len(r.MarkStale) > 0 {
		k.cfg.Log.Warn("the agent has lost more than can be believed: the copies are kept and marked", "agent", s.agent.ID,
			"stale", len(r.MarkStale))
	}
	if len(missing) > maxMissing {
		missing, s.settledAt = missing[:maxMissing], time.Time{} // the next digest asks for the rest
	}
	k.pace.asked(s.agent.UID, len(missing))
	return missing, stale, nil
}

// compare says what follows from an inventory. What is missing from it is removed where the agent is in the same cluster
// as before and at most half of the copies of a kind are missing. Otherwise it is more likely that the agent, its
// definitions or its rights were taken away than that all of it was deleted, and the copies are kept and marked.
// Instances come and go on their own: nothing is lost with them, and they say nothing of what else is missing.
func compare(entries []Entry, inventory map[agentapi.Key]string, sameCluster bool) (r Reconciliation, missing []agentapi.Key) {
	kept := make(map[agentapi.Key]bool, len(entries))
	gone, all := map[agentapi.ItemKind][]agentapi.Key{}, map[agentapi.ItemKind]int{}
	for _, e := range entries {
		hash, there := inventory[e.Key]
		if there && hash == e.Hash {
			kept[e.Key] = true
		}
		switch {
		case e.Kind == agentapi.ItemInstances && !there && sameCluster:
			r.Remove = append(r.Remove, e.Key)
		case there && hash == e.Hash && e.Stale:
			r.Unmark = append(r.Unmark, e.Key)
		case !e.Stale:
			if all[e.Kind]++; !there {
				gone[e.Kind] = append(gone[e.Kind], e.Key)
			}
		}
	}
	lost, total := 0, 0
	for kind, n := range all {
		lost, total = lost+len(gone[kind]), total+n
	}
	for _, kind := range agentapi.ItemKinds() {
		if sameCluster && 2*lost <= total && 2*len(gone[kind]) <= all[kind] {
			r.Remove = append(r.Remove, gone[kind]...)
		} else {
			r.MarkStale = append(r.MarkStale, gone[kind]...)
		}
	}
	for key := range inventory {
		if !kept[key] {
			missing = append(missing, key)
		}
	}
	return r, missing
}

// traced adds that items were stored to the traces that they changed in, and says so in what changed.
func (k *copies) traced(ctx context.Context, s *session, start time.Time, items []agentapi.Item, changed []Changed) {
	seen := map[string]bool{}
	for i := range min(len(items), len(changed)) {
		parent := items[i].Traceparent
		id := trace.ID(parent)
		if id == "" {
			continue
		}
		changed[i].Traceparent = parent
		if !seen[id] && len(seen) < maxTraces {
			seen[id] = true
			k.cfg.Tracer.Past(trace.Trusted(ctx, parent), "store state", start, time.Now(), "slipway.agent", s.agent.ID,
				"slipway.application", items[i].Name, "slipway.namespace", items[i].Namespace)
		}
	}
}

// maxTraces is how many traces a batch of an agent gets spans in.
const maxTraces = 50
