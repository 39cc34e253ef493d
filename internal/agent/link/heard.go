package link

import (
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

const (
	// maxHeard is how many commands are remembered. More at a time no server sends that is not taken over.
	maxHeard = 50_000
	// longestDeadline is the longest that a command has. It is kept for no longer, whatever the deadline says.
	longestDeadline = 24 * time.Hour
)

// heard are the ids of commands that had their turn and that no journal has: those that read, open a stream, or were
// refused. A recorded message that comes again opens no second terminal, and does not do after all what was refused. A
// command counts for one session only, and only until its deadline, so no more has to be remembered than that.
//
// Times are those of the monotonic clock: a clock that jumps makes nothing be forgotten.
type heard struct {
	mu    sync.Mutex
	until map[string]time.Time
	clean time.Time // when what is over was removed last
}

func newHeard() *heard { return &heard{until: map[string]time.Time{}} }

// life is how long a command has from its start to its deadline, by the one clock of the server: how long it still has cannot be
// known while a clock is wrong.
func life(cmd agentapi.Command) time.Duration {
	if d := cmd.Deadline.Sub(cmd.Issued); d >= 0 && d <= longestDeadline {
		return d
	}
	return longestDeadline
}

// first notes a command and reports whether it is the first time, and whether there was room for it.
func (h *heard) first(cmd agentapi.Command) (first, room bool) {
	id := cmd.ID
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	if _, known := h.until[id]; known {
		return false, true
	}
	if now.Sub(h.clean) > time.Minute || len(h.until) >= maxHeard && now.Sub(h.clean) > time.Second {
		for id, until := range h.until {
			if now.After(until) {
				delete(h.until, id)
			}
		}
		h.clean = now
	}
	if len(h.until) >= maxHeard {
		return false, false
	}
	h.until[id] = now.Add(life(cmd) + keepAfter)
	return true, true
}

// has reports whether a command had its turn.
func (h *heard) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.until[id]
	return known
}

// firstTime notes a command that comes down, and reports whether it may have its turn. A copy is dropped.
func (w *worker) firstTime(cmd agentapi.Command) bool {
	first, room := w.heard.first(cmd)
	switch {
	case !room:
		w.log.Warn("a command is dropped: too many came in a short time", "command", cmd.ID, "kind", cmd.Kind)
	case !first:
		w.log.Warn("a command is dropped: it came before", "command", cmd.ID, "kind", cmd.Kind)
	}
	return first
}
