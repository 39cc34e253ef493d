package link

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// shelf is a Source of texts.
type shelf struct {
	mu      sync.Mutex
	items   map[agentapi.Key]string
	unready map[agentapi.ItemKind]bool
}

func newShelf(names ...string) *shelf {
	s := &shelf{items: map[agentapi.Key]string{}, unready: map[agentapi.ItemKind]bool{}}
	for _, n := range names {
		s.items[app(n)] = `{"name":"` + n + `"}`
	}
	return s
}

func app(name string) agentapi.Key {
	return agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name}
}

func (s *shelf) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unready[kind] {
		return nil, false
	}
	var out []agentapi.Key
	for k := range s.items {
		if k.Kind == kind {
			out = append(out, k)
		}
	}
	return out, true
}

func (s *shelf) Has(key agentapi.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.items[key]
	return ok
}

func (s *shelf) Body(key agentapi.Key) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.items[key]; ok {
		return []byte(text)
	}
	return nil
}

// hub keeps what it is sent, as a server does.
type hub struct {
	kept  map[agentapi.Key]string
	list  map[agentapi.Key]string
	sent  int // items received
	bytes int // of the largest batch
	ids   map[string]int
}

func newHub() *hub { return &hub{kept: map[agentapi.Key]string{}, ids: map[string]int{}} }

func (h *hub) digest() agentapi.Digest {
	var d agentapi.Digest
	for k, hash := range h.kept {
		d = d.Toggle(k, hash)
	}
	return d
}

func (h *hub) take(b *agentapi.Batch) agentapi.Ack {
	raw, _ := encode(b)
	h.bytes = max(h.bytes, len(raw))
	h.sent += len(b.Items)
	for _, i := range b.Items {
		if i.Deleted {
			delete(h.kept, i.Key)
		} else {
			h.kept[i.Key] = i.Hash
		}
	}
	for _, e := range b.Events {
		h.ids[e.ID]++
	}
	ack := agentapi.Ack{Seq: b.Seq}
	if inv := b.Inventory; inv != nil {
		if inv.Part == 0 {
			h.list = map[agentapi.Key]string{}
		}
		for _, e := range inv.Entries {
			h.list[e.Key] = e.Hash
		}
		if inv.Last {
			for k, hash := range h.list {
				if h.kept[k] != hash && len(ack.Missing) < 600 { // more do not fit
					ack.Missing = append(ack.Missing, k)
				}
			}
			for k := range h.kept {
				if _, there := h.list[k]; !there {
					delete(h.kept, k) // a server without scruples: what the agent must never rely on
				}
			}
		}
	}
	return ack
}

// session runs until nothing is left to send.
func (h *hub) session(t interface{ Fatalf(string, ...any) }, b *buffer) {
	digest, _, doubt := b.begin()
	if digest != h.digest() && !doubt {
		b.inventory()
	}
	for range 1000 {
		batch := b.next()
		if batch == nil {
			if b.backlog().digest == h.digest() {
				return
			}
			b.inventory() // what a heartbeat with nothing pending leads to
			continue
		}
		b.acknowledged(h.take(batch))
	}
	t.Fatalf("the server and the agent do not come to agree")
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestAServerThatHasEverythingIsSentNothing(t *testing.T) {
	t.Parallel()
	s, h := newShelf("a", "b", "c"), newHub()
	h.session(t, newBuffer(s, time.Now, quiet()))
	if h.sent != 3 {
		t.Errorf("%d items were sent to an empty server, want 3", h.sent)
	}
	h.session(t, newBuffer(s, time.Now, quiet())) // the agent was restarted
	if h.sent != 3 {
		t.Errorf("%d items were sent again after a restart, want none", h.sent-3)
	}
}

func TestAnEmptyServerIsFilledAlthoughItCannotNameAllThatItLacks(t *testing.T) {
	t.Parallel()
	s, h := newShelf(), newHub()
	for i := range 3000 {
		s.items[app(strconv.Itoa(i))] = "{}"
	}
	b := newBuffer(s, time.Now, quiet())
	b.begin()
	b.inventory() // once, and nobody asks again
	for batch := b.next(); batch != nil; batch = b.next() {
		b.acknowledged(h.take(batch))
	}
	if len(h.kept) != 3000 {
		t.Errorf("the server has %d of 3000 items", len(h.kept))
	}
}

func TestAfterABreakOnlyWhatChangedIsSent(t *testing.T) {
	t.Parallel()
	s, h := newShelf(), newHub()
	for i := range 500 {
		s.items[app(strconv.Itoa(i))] = `{"n":0}`
	}
	b := newBuffer(s, time.Now, quiet())
	h.session(t, b)
	h.sent = 0
	for n := range 100 { // while nobody listens
		for _, i := range []int{3, 5} {
			s.items[app(strconv.Itoa(i))] = fmt.Sprintf(`{"n":%d}`, n+1)
			b.mark(app(strconv.Itoa(i)))
		}
	}
	h.session(t, b)
	if h.sent != 2 {
		t.Errorf("%d items were sent, want the newest state of 2", h.sent)
	}
}

func TestABatchOfWhichTheAnswerGotLostIsNotFollowedByAnInventory(t *testing.T) {
	t.Parallel()
	s, h := newShelf("a", "b"), newHub()
	b := newBuffer(s, time.Now, quiet())
	h.session(t, b)
	s.items[app("a")] = `{"n":1}`
	b.mark(app("a"))
	h.take(b.next()) // and the connection is cut
	digest, _, doubt := b.begin()
	if digest == h.digest() || !doubt {
		t.Fatalf("the digest agrees: %v, doubt: %v", digest == h.digest(), doubt)
	}
	batch := b.next()
	if batch == nil || len(batch.Items) != 1 || batch.Inventory != nil {
		t.Fatalf("sent %+v, want the item again", batch)
	}
	b.acknowledged(h.take(batch))
	if b.backlog().digest != h.digest() || !b.settled() {
		t.Error("the server does not have what it should, or nobody makes sure of it")
	}
}

func TestMoreDeletionsThanCanBeBelievedAreLeftToTheServer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		have      int
		gone      int
		inventory bool
	}{
		{"a few of a few", 12, 10, false},
		{"half of many", 100, 50, false},
		{"nearly all", 100, 70, true},
		{"all", 40, 40, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := newShelf(), newHub()
			for i := range tt.have {
				s.items[app(strconv.Itoa(i))] = "{}"
			}
			b := newBuffer(s, time.Now, quiet())
			h.session(t, b)
			for i := range tt.gone {
				delete(s.items, app(strconv.Itoa(i)))
				b.mark(app(strconv.Itoa(i)))
			}
			var deleted, listed int
			inventory := false
			for batch := b.next(); batch != nil; batch = b.next() {
				for _, i := range batch.Items {
					if i.Deleted {
						deleted++
					}
				}
				if batch.Inventory != nil {
					inventory, listed = true, listed+len(batch.Inventory.Entries)
				}
				b.acknowledged(agentapi.Ack{})
			}
			if inventory != tt.inventory || (deleted > 0) == tt.inventory {
				t.Errorf("inventory %v with %d deletions, want inventory %v", inventory, deleted, tt.inventory)
			}
			if inventory && listed != tt.have-tt.gone {
				t.Errorf("the inventory has %d entries, want %d", listed, tt.have-tt.gone)
			}
		})
	}
}

func TestDeletionsThatComeOneAfterAnotherAreCountedTogether(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pause   time.Duration
		deleted int
	}{
		"at once":            {0, 25}, // ten, and half of thirty
		"one in two minutes": {2 * time.Minute, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, h := newShelf(), newHub()
			for i := range 30 {
				s.items[app(strconv.Itoa(i))] = "{}"
			}
			now := time.Now()
			b := newBuffer(s, func() time.Time { return now }, quiet())
			h.session(t, b)
			deleted := 0
			for i := range 30 {
				delete(s.items, app(strconv.Itoa(i)))
				b.mark(app(strconv.Itoa(i)))
				for batch := b.next(); batch != nil; batch = b.next() {
					deleted += len(batch.Items)
					b.acknowledged(agentapi.Ack{})
				}
				now = now.Add(tt.pause)
			}
			if deleted != tt.deleted {
				t.Errorf("%d deletions were told as such, want %d", deleted, tt.deleted)
			}
		})
	}
}

func TestWhatCannotBeListedIsNotGone(t *testing.T) {
	t.Parallel()
	s, h := newShelf("a"), newHub()
	set := agentapi.Key{Kind: agentapi.ItemApplicationSet, Namespace: "argocd", Name: "set"}
	s.items[set] = "{}"
	b := newBuffer(s, time.Now, quiet())
	h.session(t, b)
	s.unready[agentapi.ItemApplicationSet] = true
	b.rescan(agentapi.ItemApplicationSet)
	h.session(t, b)
	if _, kept := h.kept[set]; !kept {
		t.Error("the set is gone from the server")
	}
}

func TestWhatTheServerNeverTakesIsIsolatedAndNotSentAgain(t *testing.T) {
	t.Parallel()
	s := newShelf()
	for i := range 20 {
		s.items[app(strconv.Itoa(i))] = "{}"
	}
	b := newBuffer(s, time.Now, quiet())
	b.begin()
	h := newHub()
	b.inventory()
	tries := 0
	for batch := b.next(); batch != nil; batch = b.next() {
		if slices.ContainsFunc(batch.Items, func(i agentapi.Item) bool { return i.Name == "7" && !i.Deleted }) {
			tries++
			b.refused("no sevens")
			continue
		}
		b.acknowledged(h.take(batch))
	}
	if len(h.kept) != 19 || tries == 0 || tries > 12 {
		t.Errorf("the server has %d items after %d refusals", len(h.kept), tries)
	}
	if b.backlog().digest != h.digest() {
		t.Error("what was refused counts in the digest")
	}
	s.items[app("7")] = `{"n":1}`
	b.mark(app("7"))
	if batch := b.next(); batch == nil || len(batch.Items) != 1 {
		t.Errorf("sent %+v after it changed, want it again", batch)
	}
}

func TestABatchIsNoLargerThanItMayBe(t *testing.T) {
	t.Parallel()
	s, h := newShelf(), newHub()
	for i := range 60 {
		s.items[app(strconv.Itoa(i))] = `{"x":"` + strings.Repeat(`\"`, 50_000) + `"}`
	}
	s.items[app("huge")] = `{"status":{"resources":["` + strings.Repeat("x", agentapi.MaxItem) + `"],"health":"fine"}}`
	b := newBuffer(s, time.Now, quiet())
	for i := range maxEvents {
		b.event(agentapi.Event{ID: strconv.Itoa(i), Message: strings.Repeat("<", 5000)})
	}
	h.session(t, b)
	if h.bytes > agentapi.MaxBatch {
		t.Errorf("a batch has %d bytes", h.bytes)
	}
	if len(h.kept) != 61 || len(h.ids) != maxEvents {
		t.Errorf("the server has %d items and %d events", len(h.kept), len(h.ids))
	}
}

func TestTooManyEventsAreCountedAndTold(t *testing.T) {
	t.Parallel()
	b := newBuffer(newShelf(), time.Now, quiet())
	for i := range maxEvents + 7 {
		b.event(agentapi.Event{ID: strconv.Itoa(i)})
	}
	if lost := b.backlog().lost; lost != 7 {
		t.Errorf("%d events count as lost, want 7", lost)
	}
	b.begin()
	batch := b.next()
	if first := batch.Events[0]; first.Type != agentapi.EventLost || !strings.HasPrefix(first.Message, "7 events") {
		t.Errorf("the first event is %+v", first)
	}
	if got := batch.Events[1].ID; got != "7" {
		t.Errorf("the oldest event that is left is %s, want 7", got)
	}
}

func TestTooManyChangesBecomeALookAtEverything(t *testing.T) {
	t.Parallel()
	s, h := newShelf("a"), newHub()
	b := newBuffer(s, time.Now, quiet())
	h.session(t, b)
	for i := range 2*maxMarks + 10 { // created and deleted, all of them, while the server is away
		b.mark(app("gone" + strconv.Itoa(i)))
	}
	if n := len(b.marks); n > maxMarks {
		t.Errorf("%d changes are remembered", n)
	}
	s.items[app("a")] = `{"n":2}`
	h.sent = 0
	h.session(t, b)
	if h.sent != 1 || h.kept[app("a")] != agentapi.Hash([]byte(`{"n":2}`)) {
		t.Errorf("%d items were sent, want the one that changed", h.sent)
	}
}

func TestServerAndAgentComeToAgreeWhateverGetsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, h := newShelf("a", "b", "c", "d"), newHub()
		b := newBuffer(s, time.Now, quiet())
		b.begin()
		names := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		events := 0
		rt.Repeat(map[string]func(*rapid.T){
			"change": func(rt *rapid.T) {
				k := app(names.Draw(rt, "name"))
				s.items[k] = fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 5).Draw(rt, "n"))
				b.mark(k)
			},
			"delete": func(rt *rapid.T) {
				k := app(names.Draw(rt, "name"))
				delete(s.items, k)
				b.mark(k)
			},
			"silent change, then a look": func(rt *rapid.T) {
				s.items[app(names.Draw(rt, "name"))] = `{"silent":true}`
				b.rescan(agentapi.ItemApplication)
			},
			"event": func(*rapid.T) {
				events++
				b.event(agentapi.Event{ID: strconv.Itoa(events)})
			},
			"batch": func(*rapid.T) {
				if batch := b.next(); batch != nil {
					b.acknowledged(h.take(batch))
				}
			},
			"batch whose answer is lost": func(*rapid.T) {
				if batch := b.next(); batch != nil {
					h.take(batch)
				}
			},
			"batch that is lost": func(*rapid.T) { b.next() },
			"inventory":          func(*rapid.T) { b.inventory() },
			"another session":    func(*rapid.T) { b.begin() },
			"the server forgets": func(*rapid.T) { h.kept = map[agentapi.Key]string{} },
		})
		h.session(rt, b)
		want := map[agentapi.Key]string{}
		for k, text := range s.items {
			want[k] = agentapi.Hash([]byte(text))
		}
		if diff := cmp.Diff(want, maps.Clone(h.kept)); diff != "" {
			rt.Fatalf("the server has something else (-want +got):\n%s", diff)
		}
		if len(h.ids) != events {
			rt.Fatalf("%d of %d events arrived", len(h.ids), events)
		}
	})
}
