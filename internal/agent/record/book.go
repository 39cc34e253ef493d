// Package record keeps what operations were until the server has it: entries of the ledger, and the manifests that they
// name. What waits is in files, so that it outlives the process, and is bounded.
package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const (
	// DefaultLimit is how much waits on disk at most, in bytes.
	DefaultLimit = 64 << 20
	// maxHeld is how much waits in memory at most when the disk takes nothing, in bytes, and maxHeldEntries how many.
	maxHeld, maxHeldEntries = 4 << 20, 10_000
	// nowhere is the file of what is in memory only.
	nowhere = -1
	// maxKnown is how many contents are remembered that the server has.
	maxKnown = 1 << 15
	// maxBody bounds the bodies of one message, so that the message is one that may be sent.
	maxBody = 640 << 10
)

// Config is what a Book is made of.
type Config struct {
	Dir   string // for the files; made where it is missing
	Limit int64  // of all files, in bytes; 0: DefaultLimit
	// Key returns what values of Secrets are hashed with; nil while there is no server.
	Key func() []byte
	// Clean takes known secrets, and those in addresses, out of JSON; nil: nothing is known.
	Clean func([]byte) []byte
	// Hidden returns the annotations whose values are not to be seen; nil: none.
	Hidden func() []string
	// Sync has a file reach the disk; nil: (*os.File).Sync.
	Sync func(*os.File) error
	Log  *slog.Logger
}

// Book is what waits for the server. It is safe for concurrent use.
type Book struct {
	cfg    Config
	wake   chan struct{}
	encode *zstd.Encoder
	flush  flusher

	mu       sync.Mutex
	entries  *reel
	contents *reel
	pending  []pending // in the order of their end
	spooled  map[engine.Content]place
	known    *known
	gone     int // entries that were dropped, ever
	lost     int // entries that were dropped and not reported
	sent     int // entries at the front that the server has, but for contents
	lacking  []engine.Content
	checks   []Check
	broken   error // what was logged last
	// held are the bytes of entries that the disk did not take, inMemory is how many they are.
	held, inMemory int
}

// pending is something that waits: an entry, or that one has become healthy.
type pending struct {
	place
	id      string
	healthy time.Time
	needs   []engine.Content // that were not known to be at the server
	body    []byte           // of an entry that the disk did not take; nil where it did
}

// line is a frame of the reel of entries.
type line struct {
	ID      string    `json:"id"`
	Healthy time.Time `json:"healthy,omitzero"`
	Needs   []byte    `json:"needs,omitempty"`
	Body    []byte    `json:"body,omitempty"`
}

// Check is an operation that was over before the agent was started: the server is asked whether it knows of it.
type Check struct {
	ID      string
	Healthy time.Time // when its application was healthy after it; zero where it is not
	// Missing is called where the server does not; it may add the entry. It must not block for long.
	Missing func()
}

// Open reads what waits.
func Open(cfg Config) (*Book, error) {
	if cfg.Limit == 0 {
		cfg.Limit = DefaultLimit
	}
	if cfg.Clean == nil {
		cfg.Clean = func(b []byte) []byte { return b }
	}
	if cfg.Hidden == nil {
		cfg.Hidden = func() []string { return nil }
	}
	if cfg.Sync == nil {
		cfg.Sync = (*os.File).Sync
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of the ledger: %w", err)
	}
	encode, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make an encoder: %w", err)
	}
	b := &Book{cfg: cfg, wake: make(chan struct{}, 1), encode: encode, spooled: map[engine.Content]place{}, known: newKnown()}
	b.contents, err = openReel(cfg.Dir, "contents", cfg.Limit/4*3, cfg.Sync, func(at place, data []byte) {
		if len(data) > sha256.Size {
			b.spooled[engine.Content(data[:sha256.Size])] = at
		}
	})
	if err == nil {
		b.entries, err = openReel(cfg.Dir, "entries", cfg.Limit/4, cfg.Sync, b.replay)
	}
	if err != nil {
		return nil, fmt.Errorf("read what waits for the ledger in %s: %w: remove the directory if it is damaged; what waits there is lost then",
			cfg.Dir, err)
	}
	b.drop(b.entries.damaged)
	b.dropOrphans()
	b.poke()
	b.flush.begin(b.reachDisk)
	return b, nil
}

// replay takes in what was there at the start.
func (b *Book) replay(at place, data []byte) {
	p := pending{place: at}
	var l line
	if json.Unmarshal(data, &l) == nil {
		p.id, p.healthy = l.ID, l.Healthy
		for part := range slices.Chunk(l.Needs, sha256.Size) {
			if len(part) == sha256.Size {
				p.needs = append(p.needs, engine.Content(part))
			}
		}
	}
	b.pending = append(b.pending, p)
}

// dropOrphans removes contents that no entry waits with: the process was ended between the two.
func (b *Book) dropOrphans() {
	wanted := map[engine.Content]bool{}
	for _, p := range b.pending {
		for _, c := range p.needs {
			wanted[c] = true
		}
	}
	for c := range b.spooled {
		if !wanted[c] {
			b.unspool(c)
		}
	}
}

// Close closes the files, when all of them is on the disk.
func (b *Book) Close() error {
	b.flush.end()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.contents.close(); err != nil {
		return err
	}
	return b.entries.close()
}

// Open implements engine.Ledger.
func (b *Book) Open() bool { return b.cfg.Key() != nil }

// Keeps implements engine.Ledger.
func (b *Book) Keeps(c engine.Content) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known.has(c) {
		return true
	}
	_, ok := b.spooled[c]
	return ok
}

// Keep implements engine.Ledger: it takes the content of an object in, without secrets, and returns its name.
func (b *Book) Keep(cluster string, m object.Manifest, private bool) engine.Content {
	k := masker{key: b.cfg.Key(), cluster: cluster, object: m.Key, hidden: b.cfg.Hidden(), private: private}
	raw, err := k.mask(m)
	if err != nil || k.key == nil {
		raw = []byte("{}") // better nothing than a secret
	}
	raw = b.cfg.Clean(raw)
	c := engine.Content(sha256.Sum256(raw))
	if b.Keeps(c) || len(raw) > api.MaxLedgerManifest {
		return c
	}
	packed := b.encode.EncodeAll(raw, append(make([]byte, 0, sha256.Size+len(raw)/2+64), c[:]...))
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.spooled[c]; there {
		return c
	}
	at, dropped, err := b.contents.append(packed)
	b.said(err)
	if err == nil {
		b.spooled[c] = at
		b.flush.soon()
	}
	for _, n := range dropped { // the oldest go first
		for c, at := range b.spooled {
			if at.segment == n {
				delete(b.spooled, c)
			}
		}
	}
	return c
}

// said logs a fault of the disk once.
func (b *Book) said(err error) {
	if err != nil && (b.broken == nil || b.broken.Error() != err.Error()) {
		b.cfg.Log.Warn("the disk does not take an entry of the ledger: it is lost unless the server gets it before the agent ends", "err", err)
	}
	b.broken = err
}

// Add has an entry sent.
func (b *Book) Add(id string, d *api.LedgerDetail) {
	body, err := b.pack(d)
	if err != nil {
		b.cfg.Log.Warn("an entry of the ledger cannot be written", "app", d.Namespace+"/"+d.Name, "err", err)
		return
	}
	p := pending{id: id}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range d.Objects {
		var c engine.Content
		if raw, err := hex.DecodeString(o.Hash); err == nil && len(raw) == len(c) {
			c = engine.Content(raw)
		}
		if !b.known.has(c) {
			p.needs = append(p.needs, c)
		}
	}
	b.put(p, body)
}

// Healthy reports to the server when the application of an entry was first healthy after it.
func (b *Book) Healthy(id string, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(pending{id: id, healthy: at}, nil)
}

func (b *Book) put(p pending, body []byte) {
	l := line{ID: p.id, Healthy: p.healthy, Body: body, Needs: make([]byte, 0, len(p.needs)*sha256.Size)}
	for _, c := range p.needs {
		l.Needs = append(l.Needs, c[:]...)
	}
	raw, err := json.Marshal(l)
	var dropped []int64
	if err == nil {
		p.place, dropped, err = b.entries.append(raw)
	}
	b.said(err)
	if p.length == 0 { // the disk did not take it
		if b.held+len(body) > maxHeld || b.inMemory == maxHeldEntries {
			b.drop(1)
			return
		}
		p.place, p.body = place{segment: nowhere}, append([]byte{}, body...)
		b.held += len(body)
		b.inMemory++
	}
	b.flush.soon()
	b.pending = append(b.pending, p)
	for _, n := range dropped {
		before := len(b.pending)
		for i := range b.pending[:b.sent] {
			if b.pending[i].segment == n {
				b.sent--
			}
		}
		b.pending = slices.DeleteFunc(b.pending, func(p pending) bool { return p.segment == n })
		b.drop(before - len(b.pending))
	}
	b.poke()
}

// drop counts entries that are not kept any more. Callers hold the lock.
func (b *Book) drop(n int) {
	b.lost += n
	b.gone += n
}

// pack writes an entry as it is sent: without secrets, and not larger than it may be.
func (b *Book) pack(d *api.LedgerDetail) ([]byte, error) {
	for {
		raw, err := json.Marshal(d)
		if err != nil {
			return nil, err
		}
		raw = b.cfg.Clean(raw)
		packed := b.encode.EncodeAll(raw, make([]byte, 0, len(raw)/2))
		if len(raw) <= agentapi.MaxRecordJSON && len(packed) <= agentapi.MaxRecord {
			return packed, nil
		}
		if len(d.Changes)+len(d.Objects) == 0 {
			return nil, fmt.Errorf("it has %d bytes, more than %d", len(packed), agentapi.MaxRecord)
		}
		smaller := *d
		smaller.Changes, smaller.Objects = d.Changes[:len(d.Changes)/2], d.Objects[:len(d.Objects)/2]
		smaller.Notes = append(slices.Clone(d.Notes),
			fmt.Sprintf("only %d changes and %d objects are named: it was too large", len(smaller.Changes), len(smaller.Objects)))
		if n := len(d.Notes); n > 0 && len(d.Notes[n-1]) > 5 && d.Notes[n-1][:5] == "only " {
			smaller.Notes = slices.Delete(smaller.Notes, n-1, n)
		}
		d = &smaller
	}
}

// poke wakes who sends.
func (b *Book) poke() {
	select {
	case b.wake <- struct{}{}:
	default: // it is notified already
	}
}
