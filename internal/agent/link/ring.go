package link

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// maxEvents is how many events wait for the server.
const maxEvents = 4000

// maxEventText is how much of a text of an event is kept, in bytes.
const maxEventText = 1 << 10

// ring holds events until the server has them. When there are too many, the oldest are dropped and counted.
type ring struct {
	waiting []agentapi.Event
	since   []time.Time
	lost    uint64 // ever
	untold  uint64 // of these, in no event yet
}

func (r *ring) len() int { return len(r.waiting) }

// put adds an event.
func (r *ring) put(e agentapi.Event, now time.Time) {
	e.Message, e.Reason, e.User = legible.Cut(e.Message, maxEventText), legible.Cut(e.Reason, maxEventText), legible.Cut(e.User, maxEventText)
	e.Revision, e.Before = legible.Cut(e.Revision, maxEventText), legible.Cut(e.Before, maxEventText)
	r.waiting = append(r.waiting, e)
	r.since = append(r.since, now)
	if over := len(r.waiting) - maxEvents; over > 0 {
		r.waiting = append([]agentapi.Event(nil), r.waiting[over:]...)
		r.since = append([]time.Time(nil), r.since[over:]...)
		r.miss(over)
	}
}

func (r *ring) miss(n int) {
	r.lost += uint64(n)
	r.untold += uint64(n)
}

// first returns the oldest n events, before them one about those that were lost.
func (r *ring) first(n int) []agentapi.Event {
	if r.untold > 0 && len(r.waiting) > 0 {
		at := r.waiting[0].At
		text := strconv.FormatUint(r.untold, 10) + " events were lost while the server was away"
		sum := sha256.Sum256([]byte(text + r.waiting[0].ID))
		e := agentapi.Event{ID: hex.EncodeToString(sum[:16]), At: at, Type: agentapi.EventLost, Outcome: "Failed", Automatic: true, Message: text}
		r.waiting = append([]agentapi.Event{e}, r.waiting...)
		r.since = append([]time.Time{r.since[0]}, r.since...)
		r.untold = 0
	}
	return r.waiting[:min(n, len(r.waiting))]
}

// drop takes out what the server has.
func (r *ring) drop(done []agentapi.Event) {
	had := make(map[string]bool, len(done))
	for _, e := range done {
		had[e.ID] = true
	}
	n := 0
	for n < len(r.waiting) && had[r.waiting[n].ID] {
		n++
	}
	r.waiting, r.since = r.waiting[n:], r.since[n:]
	if len(r.waiting) == 0 {
		r.waiting, r.since = nil, nil
	}
}

// lose takes out what the server does not want.
func (r *ring) lose(refused []agentapi.Event) {
	r.drop(refused)
	r.lost += uint64(len(refused)) // not sent: the server has refused
}

// oldest returns since when the first event waits.
func (r *ring) oldest() time.Time {
	if len(r.since) == 0 {
		return time.Time{}
	}
	return r.since[0]
}

// eventBytes is how much an event takes in a batch.
func eventBytes(e agentapi.Event) int {
	raw, err := encode(e)
	if err != nil {
		return 0 // it cannot be sent, and the batch says so
	}
	return len(raw) + 1
}
