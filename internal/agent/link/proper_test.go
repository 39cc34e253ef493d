package link

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAnItemWithANameThatNoServerTakesIsNeverSentAndTheOthersAre(t *testing.T) {
	t.Parallel()
	s := newShelf("a", "b/c", "\u017fhop", "d")
	log := testenv.NewRecord()
	b := newBuffer(s, time.Now, slog.New(slog.NewTextHandler(log, nil)))
	h := newHub()
	h.session(t, b) // server and agent come to agree
	for range 3 {
		b.mark(app("b/c"))
		b.rescan(agentapi.ItemApplication)
		if batch := b.next(); batch != nil {
			t.Fatalf("sent: %+v", batch)
		}
	}
	if len(h.kept) != 2 || h.kept[app("a")] == "" || h.kept[app("d")] == "" {
		t.Errorf("the server has %v", h.kept)
	}
	if n := strings.Count(log.String(), "b/c"); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log)
	}
}

func TestAnEventThatTheServerRejectsIsCountedAndNotSentAgain(t *testing.T) {
	t.Parallel()
	b := newBuffer(newShelf(), time.Now, quiet())
	b.begin()
	for _, id := range []string{"good", "bad"} {
		b.event(agentapi.Event{ID: id, At: time.Now(), Type: agentapi.EventDrift})
	}
	batch := b.next()
	if batch == nil || len(batch.Events) != 2 {
		t.Fatalf("sent: %+v", batch)
	}
	b.acknowledged(agentapi.Ack{Seq: 1, RejectedEvents: []agentapi.RejectedEvent{{ID: "bad", Message: "no such type"}}})
	if batch := b.next(); batch != nil {
		t.Errorf("sent again: %+v", batch)
	}
	if got := b.backlog(); got.lost != 1 || got.pending != 0 {
		t.Errorf("%+v", got)
	}
}
