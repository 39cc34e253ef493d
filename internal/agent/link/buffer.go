package link

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Bounds of what one batch takes, with room for what is around the bodies.
const (
	batchBytes   = agentapi.MaxBatch - 64<<10
	batchEvents  = 100
	entryBytes   = 200 // of an item without its body
	plausible    = 10  // deletions in one step that are reported as such however few items there are
	atOnce       = time.Minute
	manyMissing  = 500 // items that an answer to an inventory names, from which there may be more than it could name
	maxRejection = 500 // characters of a reason that are logged
)

// buffer holds what the server does not have yet: keys of items, not their bodies, and events. Of what the server has, it
// keeps hashes. It is safe for concurrent use; what changes comes in by the intake, where nothing waits.
type buffer struct {
	*intake
	source Source
	trace  func(agentapi.Key) string // in which an item changed
	log    *slog.Logger

	mu       sync.Mutex
	sent     map[agentapi.Key]string // hashes that the server has, or is believed to have; nil before the first scan
	digest   agentapi.Digest         // of sent
	rejected map[agentapi.Key]string // hashes that the server does not take
	dirty    map[agentapi.Key]time.Time
	order    []agentapi.Key // of dirty, oldest first
	scans    map[agentapi.ItemKind]bool
	flight   *flight
	told     []time.Time // when deletions were sent, oldest first, no longer ago than atOnce
	limit    int         // items of one batch; 0: as many as fit
	unsure   bool        // a batch was in transit when a session ended

	wanted bool             // an inventory is to be sent
	again  bool             // another one follows when nothing is left to send
	list   []agentapi.Entry // what is left of one that is being sent
	part   int
}

// flight is a batch that is not acknowledged.
type flight struct {
	batch  agentapi.Batch
	hashes map[agentapi.Key]string // "" for what is gone
	since  map[agentapi.Key]time.Time
}

func newBuffer(source Source, now func() time.Time, log *slog.Logger) *buffer {
	return &buffer{
		intake: newIntake(now), source: &properSource{Source: source, log: log},
		trace: func(agentapi.Key) string { return "" }, log: log, rejected: map[agentapi.Key]string{},
		dirty: map[agentapi.Key]time.Time{}, scans: map[agentapi.ItemKind]bool{},
	}
}

// gather takes what came in. Callers hold the lock.
func (b *buffer) gather() {
	marks, kinds := b.drain()
	first := len(b.order)
	for key, since := range marks {
		b.markDirty(key, since)
	}
	slices.SortFunc(b.order[first:], func(x, y agentapi.Key) int { return b.dirty[x].Compare(b.dirty[y]) })
	maps.Copy(b.scans, kinds)
}

// markDirty notes that an item may be another one. Callers hold the lock.
func (b *buffer) markDirty(key agentapi.Key, since time.Time) {
	if _, known := b.dirty[key]; known {
		return
	}
	b.dirty[key] = since
	b.order = append(b.order, key)
}

// set changes what the server has of an item; "" for nothing. Callers hold the lock.
func (b *buffer) set(key agentapi.Key, hash string) {
	if old, known := b.sent[key]; known {
		b.digest = b.digest.Toggle(key, old)
		delete(b.sent, key)
	}
	if hash != "" {
		b.digest = b.digest.Toggle(key, hash)
		b.sent[key] = hash
	}
}

// begin prepares for a session, and returns the digest of what the server is believed to have, and how many items that is.
// Before the first session, it is believed to have everything: it says so where that is wrong. What was in flight is sent
// again; doubt says that the server may have it already, so that its digest may be another one without a fault.
func (b *buffer) begin() (digest agentapi.Digest, items int, doubt bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unsure = b.unsure || b.flight != nil && len(b.flight.batch.Items) > 0
	b.land()
	b.wanted, b.again, b.list, b.part, b.limit = false, false, nil, 0, 0
	if b.sent == nil {
		b.drain() // before the scan, which sees more
		b.scan()
	}
	return b.digest, len(b.sent), b.unsure
}

// settled says that everything is acknowledged, and returns whether there was doubt.
func (b *buffer) settled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	was := b.unsure
	b.unsure = false
	return was
}

// scan takes all items as what the server has. Callers hold the lock.
func (b *buffer) scan() {
	b.sent = map[agentapi.Key]string{}
	for _, kind := range agentapi.ItemKinds() {
		keys, _ := b.source.Keys(kind)
		for _, key := range keys {
			if body := b.source.Body(key); body != nil {
				fitted, _ := fit(body)
				b.set(key, agentapi.Hash(fitted))
			}
		}
	}
}

// land puts what was in flight back, before what came since. Callers hold the lock.
func (b *buffer) land() {
	f := b.flight
	b.flight = nil
	if f == nil {
		return
	}
	var front []agentapi.Key
	for _, item := range f.batch.Items {
		if _, again := b.dirty[item.Key]; !again {
			front = append(front, item.Key)
		}
		b.dirty[item.Key] = f.since[item.Key]
	}
	b.order = append(front, b.order...)
}

// inventory says that the server asks for one.
func (b *buffer) inventory() {
	b.mu.Lock()
	if b.list == nil && b.part == 0 {
		b.wanted = true
	}
	b.mu.Unlock()
	b.stir()
}

// next returns what is to be sent now, without epoch and sequence; nil for nothing. It stays in flight until acknowledged
// or landed.
func (b *buffer) next() *agentapi.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.flight != nil {
		return &b.flight.batch
	}
	b.gather()
	f := &flight{hashes: map[agentapi.Key]string{}, since: map[agentapi.Key]time.Time{}}
	if b.list == nil {
		b.look()
		b.holdBack()
	}
	if b.again && b.list == nil && len(b.order) == 0 {
		b.again, b.wanted = false, true
	}
	if b.wanted {
		b.wanted, b.part = false, 0
		b.list = b.entries()
	}
	if b.list != nil {
		b.nextPart(f)
	} else {
		b.take(f)
	}
	if len(f.batch.Items) == 0 && len(f.batch.Events) == 0 && f.batch.Inventory == nil {
		return nil
	}
	b.flight = f
	return &f.batch
}

// entries lists what the server should have. Callers hold the lock.
func (b *buffer) entries() []agentapi.Entry {
	out := make([]agentapi.Entry, 0, len(b.sent))
	for key, hash := range b.sent {
		out = append(out, agentapi.Entry{Key: key, Hash: hash})
	}
	slices.SortFunc(out, func(x, y agentapi.Entry) int { return strings.Compare(x.String(), y.String()) })
	return out
}

// nextPart takes the next part of the inventory. Callers hold the lock.
func (b *buffer) nextPart(f *flight) {
	n := min(len(b.list), agentapi.MaxInventoryPart)
	f.batch.Inventory = &agentapi.Inventory{Part: b.part, Last: n == len(b.list), Entries: b.list[:n:n]}
}

// look finds what changed among the kinds that are to be looked through. Callers hold the lock.
func (b *buffer) look() {
	for kind := range b.scans {
		delete(b.scans, kind)
		keys, ok := b.source.Keys(kind)
		if !ok {
			continue // it reports it again when it can
		}
		there := make(map[agentapi.Key]bool, len(keys))
		now := b.now()
		for _, key := range keys {
			there[key] = true
			if body, _ := fit(b.source.Body(key)); body == nil || b.sent[key] != agentapi.Hash(body) {
				b.markDirty(key, now)
			}
		}
		for key := range b.sent {
			if key.Kind == kind && !there[key] {
				b.markDirty(key, now)
			}
		}
	}
}

// holdBack keeps deletions back that are too many to be believed: they are reported as an inventory, and the server decides.
// Callers hold the lock.
//
// A cluster that lost everything says so item by item: what was reported just now is included.
func (b *buffer) holdBack() {
	b.told = slices.DeleteFunc(b.told, func(at time.Time) bool { return b.now().Sub(at) > atOnce })
	if len(b.dirty)+len(b.told) <= plausible {
		return
	}
	var gone []agentapi.Key
	for _, key := range b.order {
		if b.sent[key] != "" && !b.source.Has(key) {
			gone = append(gone, key)
		}
	}
	before := len(b.sent) + len(b.told)
	if len(gone) == 0 || len(gone)+len(b.told) <= plausible+before/2 {
		return
	}
	b.log.Warn("very many items are gone in one step: the agent reports what is left, and the server decides", "gone", len(gone),
		"told", len(b.told), "before", before)
	lost := make(map[agentapi.Key]bool, len(gone))
	for _, key := range gone {
		b.set(key, "")
		delete(b.dirty, key)
		lost[key] = true
	}
	b.order = slices.DeleteFunc(b.order, func(key agentapi.Key) bool { return lost[key] })
	b.wanted = true
}

// take fills a batch with items and events. Callers hold the lock.
func (b *buffer) take(f *flight) {
	size, taken := 0, 0
	for _, key := range b.order {
		item := agentapi.Item{Key: key, Deleted: true}
		if body := b.source.Body(key); body != nil {
			fitted, cut := fit(body)
			item = agentapi.Item{Key: key, Hash: agentapi.Hash(fitted), Body: fitted, Truncated: cut}
		}
		if item.Deleted {
			delete(b.rejected, key)
		}
		_, known := b.sent[key]
		same := item.Hash == b.sent[key] && known == !item.Deleted || (!item.Deleted && b.rejected[key] == item.Hash)
		if !same {
			n := entryBytes + len(item.Body)
			if len(f.batch.Items) > 0 && (size+n > batchBytes || b.limit > 0 && len(f.batch.Items) >= b.limit) {
				break
			}
			size += n
			item.Traceparent = b.trace(key)
			f.batch.Items = append(f.batch.Items, item)
			f.hashes[key], f.since[key] = item.Hash, b.dirty[key]
		}
		delete(b.dirty, key)
		taken++
	}
	b.order = b.order[taken:]
	if len(b.order) == 0 {
		b.order = nil
	}
	b.events(func(r *ring) {
		for _, e := range r.first(batchEvents) {
			n := eventBytes(e)
			if size+n > batchBytes && size > 0 {
				break
			}
			size += n
			f.batch.Events = append(f.batch.Events, e)
		}
	})
}

// acknowledged takes the server's answer to what is in flight.
func (b *buffer) acknowledged(ack agentapi.Ack) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.flight
	if f == nil {
		return
	}
	b.flight, b.limit = nil, 0
	for _, item := range f.batch.Items {
		if item.Deleted {
			b.told = append(b.told, b.now())
		}
		b.set(item.Key, f.hashes[item.Key])
		delete(b.rejected, item.Key)
	}
	b.events(func(r *ring) {
		r.drop(f.batch.Events)
		r.lost += uint64(len(ack.RejectedEvents)) // the server has refused
	})
	for _, e := range ack.RejectedEvents {
		b.log.Warn("the server does not take an event", "event", legible.Cut(e.ID, maxRejection), "reason", legible.Cut(e.Message, maxRejection))
	}
	for _, r := range ack.Rejected {
		if hash, asked := f.hashes[r.Key]; asked {
			b.reject(r.Key, hash, r.Message)
		}
	}
	if f.batch.Inventory != nil {
		b.list = b.list[len(f.batch.Inventory.Entries):]
		b.part++
		if f.batch.Inventory.Last {
			b.list, b.part = nil, 0
		}
	}
	b.again = b.again || len(ack.Missing) >= manyMissing
	for _, key := range ack.Missing {
		b.set(key, "")
		b.markDirty(key, b.now())
	}
	if ack.Stale > 0 {
		b.log.Warn("the server keeps items that this agent does not see any more", "items", ack.Stale)
	}
	b.stir()
}

// reject notes that the server does not take an item as it is now. Callers hold the lock.
func (b *buffer) reject(key agentapi.Key, hash, why string) {
	b.set(key, "")
	if hash != "" {
		b.rejected[key] = hash
	}
	b.log.Warn("the server does not take an item", "item", key.String(), "reason", fmt.Sprintf("%.*s", maxRejection, why))
}

// refused handles that the server will never take what is in flight: it is sent in smaller pieces, and what is left of it
// then is not sent before it changes.
func (b *buffer) refused(why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.flight
	if f == nil {
		return
	}
	switch {
	case f.batch.Inventory != nil:
		b.flight, b.list, b.part = nil, nil, 0 // the next digest asks again
	case len(f.batch.Items) > 1:
		b.land()
		b.limit = max(1, len(f.batch.Items)/2)
	case len(f.batch.Items) == 1:
		item := f.batch.Items[0]
		b.flight = nil
		b.reject(item.Key, f.hashes[item.Key], why)
	default:
		b.flight = nil
		b.events(func(r *ring) { r.lose(f.batch.Events) })
		b.log.Warn("the server does not take events", "events", len(f.batch.Events), "reason", fmt.Sprintf("%.*s", maxRejection, why))
	}
	b.stir()
}

// backlog is what waits.
type backlog struct {
	digest  agentapi.Digest
	items   int
	pending int
	oldest  time.Duration
	lost    uint64 // events, ever
}

// backlog returns how much is not acknowledged, and for how long.
func (b *buffer) backlog() backlog {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gather()
	now := b.now()
	out := backlog{digest: b.digest, items: len(b.sent), pending: len(b.dirty) + len(b.scans)}
	since := func(t time.Time) {
		if !t.IsZero() {
			out.oldest = max(out.oldest, now.Sub(t))
		}
	}
	if b.flight != nil {
		out.pending += len(b.flight.batch.Items)
		if b.flight.batch.Inventory != nil {
			out.pending++
		}
		for _, t := range b.flight.since {
			since(t)
		}
	}
	if b.list != nil || b.wanted {
		out.pending++
	}
	if len(b.order) > 0 {
		since(b.dirty[b.order[0]])
	}
	b.events(func(r *ring) {
		out.pending += r.len()
		out.lost = r.lost
		since(r.oldest())
	})
	return out
}
