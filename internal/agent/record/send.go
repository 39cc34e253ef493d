package record

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/engine"
)

// Wake has something in it when there may be something to send.
func (b *Book) Wake() <-chan struct{} { return b.wake }

// Begin says that a session begins: what was sent and not answered is sent again.
func (b *Book) Begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent, b.lacking = 0, nil
	b.poke()
}

// Ask has the server asked about operations that were over before.
func (b *Book) Ask(checks []Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checks = append(b.checks, checks...)
	b.poke()
}

// Stats is how much waits for the server.
type Stats struct {
	// Entries wait, in files of so many Bytes together with their manifests.
	Entries int
	Bytes   int64
	// Lost is how many were dropped since the start, because there was no room or the disk failed.
	Lost int
}

// Stats returns how much waits for the server.
func (b *Book) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Stats{Entries: len(b.pending), Bytes: b.entries.size + b.contents.size, Lost: b.gone}
}

// Next returns what is to be sent; nil for nothing. It is the same until it was answered.
func (b *Book) Next() *agentapi.Records {
	b.mu.Lock()
	defer b.mu.Unlock()
	if out := b.nextContents(); out != nil {
		return out
	}
	b.settle()
	if out := b.nextEntries(); out != nil {
		return out
	}
	return b.nextChecks()
}

// nextContents are the manifests that the server reported as missing.
func (b *Book) nextContents() *agentapi.Records {
	var out agentapi.Records
	size := 0
	for _, c := range b.lacking {
		at, ok := b.spooled[c]
		if !ok {
			continue
		}
		data, err := b.contents.read(at)
		if err != nil || len(data) <= sha256.Size {
			b.said(err)
			delete(b.spooled, c)
			continue
		}
		if size += len(data); len(out.Contents) > 0 && (size > maxBody || len(out.Contents) == agentapi.MaxContents) {
			break
		}
		out.Contents = append(out.Contents, agentapi.Content{Hash: hex.EncodeToString(c[:]), Body: data[sha256.Size:]})
	}
	if len(out.Contents) == 0 {
		b.lacking = nil
		return nil
	}
	return &out
}

// settle lets go of entries that the server has with all that they name.
func (b *Book) settle() {
	for _, p := range b.pending[:b.sent] {
		for _, c := range p.needs {
			if _, there := b.spooled[c]; there { // it was not lacking
				b.unspool(c)
				b.known.add(c)
			}
		}
		if p.body != nil {
			b.held -= len(p.body)
			b.inMemory--
		}
		b.said(b.entries.done(p.place))
	}
	b.pending = slices.Delete(b.pending, 0, b.sent)
	b.sent = 0
}

func (b *Book) unspool(c engine.Content) {
	if at, ok := b.spooled[c]; ok {
		delete(b.spooled, c)
		b.said(b.contents.done(at))
	}
}

// nextEntries are the entries that wait longest.
func (b *Book) nextEntries() *agentapi.Records {
	var out agentapi.Records
	size := 0
	for i := 0; i < len(b.pending) && len(out.Records)+len(out.Healthy) < agentapi.MaxRecords; i++ {
		p := b.pending[i]
		if !p.healthy.IsZero() {
			out.Healthy = append(out.Healthy, agentapi.Healthy{ID: p.id, At: p.healthy})
			continue
		}
		l := line{Body: p.body}
		var err error
		if p.body == nil {
			var data []byte
			if data, err = b.entries.read(p.place); err == nil {
				err = json.Unmarshal(data, &l)
			}
		}
		if err != nil || p.id == "" {
			b.said(err)
			b.said(b.entries.done(p.place))
			b.pending = slices.Delete(b.pending, i, i+1)
			b.drop(1)
			i--
			continue
		}
		if size += len(l.Body); len(out.Records) > 0 && size > maxBody {
			break
		}
		r := agentapi.Record{ID: p.id, Body: l.Body}
		for _, c := range p.needs {
			if _, there := b.spooled[c]; !there && !b.known.has(c) {
				r.Lost++
			}
		}
		if len(out.Records) == 0 {
			r.Before = b.lost
		}
		out.Records = append(out.Records, r)
	}
	if len(out.Records)+len(out.Healthy) == 0 {
		return nil
	}
	return &out
}

// nextChecks are questions about what was over before.
func (b *Book) nextChecks() *agentapi.Records {
	if len(b.checks) == 0 {
		return nil
	}
	var out agentapi.Records
	for _, c := range b.checks[:min(len(b.checks), agentapi.MaxKnown/2)] {
		out.Known = append(out.Known, c.ID)
		if !c.Healthy.IsZero() {
			out.Healthy = append(out.Healthy, agentapi.Healthy{ID: c.ID, At: c.Healthy})
		}
	}
	return &out
}

// Answered takes in the server's answer to what Next gave.
func (b *Book) Answered(sent *agentapi.Records, ack agentapi.RecordAck) {
	for _, r := range ack.Rejected {
		b.cfg.Log.Warn("the server does not take an entry of the ledger", "record", r.ID, "why", r.Message)
	}
	b.mu.Lock()
	var missing []Check
	switch {
	case len(sent.Contents) > 0:
		done := map[engine.Content]bool{}
		for _, content := range sent.Contents {
			if raw, err := hex.DecodeString(content.Hash); err == nil && len(raw) == sha256.Size {
				c := engine.Content(raw)
				done[c] = true
				b.unspool(c)
				b.known.add(c)
			}
		}
		b.lacking = slices.DeleteFunc(b.lacking, func(c engine.Content) bool { return done[c] })
	case len(sent.Known) > 0:
		n := len(sent.Known)
		for _, c := range b.checks[:n] {
			if slices.Contains(ack.Unknown, c.ID) {
				missing = append(missing, c)
			}
		}
		b.checks = slices.Delete(b.checks, 0, n)
	default:
		b.entriesAnswered(sent, ack)
	}
	b.mu.Unlock()
	for _, c := range missing {
		c.Missing()
	}
}

func (b *Book) entriesAnswered(sent *agentapi.Records, ack agentapi.RecordAck) {
	got := map[string]bool{}
	for _, r := range sent.Records {
		got[r.ID] = true
		b.lost -= r.Before
	}
	for _, h := range sent.Healthy {
		got[h.ID+" "+h.At.String()] = true
	}
	for b.sent < len(b.pending) {
		p := b.pending[b.sent]
		name := p.id
		if !p.healthy.IsZero() {
			name += " " + p.healthy.String()
		}
		if !got[name] {
			break
		}
		b.sent++
	}
	for _, hash := range ack.Lacks {
		raw, err := hex.DecodeString(hash)
		if err != nil || len(raw) != sha256.Size {
			continue
		}
		c := engine.Content(raw)
		if _, there := b.spooled[c]; there {
			b.lacking = append(b.lacking, c)
		} else {
			b.known.drop(c) // the next operation brings it once more
		}
	}
}

// Refused drops what the server cannot read at all, so that what comes after it gets there.
func (b *Book) Refused(sent *agentapi.Records, why error) {
	b.cfg.Log.Error("the server does not take entries of the ledger", "records", len(sent.Records), "contents", len(sent.Contents), "err", why)
	b.Answered(sent, agentapi.RecordAck{})
}

// known remembers names of contents that the server has: the last maxKnown of them.
type known struct {
	set  map[engine.Content]int
	ring []engine.Content
	at   int
}

func newKnown() *known { return &known{set: map[engine.Content]int{}} }

func (k *known) has(c engine.Content) bool {
	_, ok := k.set[c]
	return ok
}

func (k *known) add(c engine.Content) {
	if k.has(c) {
		return
	}
	if len(k.ring) < maxKnown {
		k.set[c] = len(k.ring)
		k.ring = append(k.ring, c)
		return
	}
	if old := k.ring[k.at]; k.set[old] == k.at {
		delete(k.set, old)
	}
	k.ring[k.at], k.set[c] = c, k.at
	k.at = (k.at + 1) % maxKnown
}

func (k *known) drop(c engine.Content) { delete(k.set, c) }
