package link

import (
	"sync"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// outbox holds results of commands until the server has them. The journal bounds how many there are.
type outbox struct {
	wake chan struct{} // has something in it when there may be something to send

	mu      sync.Mutex
	waiting map[string]agentapi.Result
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), waiting: map[string]agentapi.Result{}}
}

// put adds a result.
func (o *outbox) put(r agentapi.Result) {
	o.mu.Lock()
	if len(o.waiting) < maxRecords {
		o.waiting[r.ID] = r
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default: // it is reported already
	}
}

// all returns what waits.
func (o *outbox) all() []agentapi.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]agentapi.Result, 0, len(o.waiting))
	for _, r := range o.waiting {
		out = append(out, r)
	}
	return out
}

// drop forgets a result.
func (o *outbox) drop(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, id)
}

func (o *outbox) has(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.waiting[id]
	return ok
}

// running are the ids of commands that are under way in this process.
type running struct {
	mu  sync.Mutex
	ids map[string]bool
}

func newRunning() *running { return &running{ids: map[string]bool{}} }

// begin reports whether a command was not under way, and may be begun: at most limit are.
func (r *running) begin(id string, limit int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids[id] || len(r.ids) >= limit {
		return false
	}
	r.ids[id] = true
	return true
}

func (r *running) end(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ids, id)
}

// list returns at most n of them.
func (r *running) list(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, min(n, len(r.ids)))
	for id := range r.ids {
		if len(out) == n {
			break
		}
		out = append(out, id)
	}
	return out
}
