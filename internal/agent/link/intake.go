package link

import (
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// maxMarks is how many changes are remembered one by one. When there are more, everything is looked through.
const maxMarks = 50_000

// intake is where the rest of the agent says what changed. It is locked for no longer than that takes, whatever the link
// is doing.
type intake struct {
	now  func() time.Time
	wake chan struct{} // has something in it when there may be something to send

	mu    sync.Mutex
	marks map[agentapi.Key]time.Time
	kinds map[agentapi.ItemKind]bool
	ring  ring
}

func newIntake(now func() time.Time) *intake {
	return &intake{now: now, wake: make(chan struct{}, 1), marks: map[agentapi.Key]time.Time{}, kinds: map[agentapi.ItemKind]bool{}}
}

func (in *intake) stir() {
	select {
	case in.wake <- struct{}{}:
	default: // it is reported already
	}
}

// mark says that an item may be another one.
func (in *intake) mark(key agentapi.Key) {
	in.mu.Lock()
	if _, known := in.marks[key]; !known {
		if len(in.marks) >= maxMarks {
			clear(in.marks)
			in.all()
		} else {
			in.marks[key] = in.now()
		}
	}
	in.mu.Unlock()
	in.stir()
}

// all says that anything may be another one. Callers hold the lock.
func (in *intake) all() {
	for _, kind := range agentapi.ItemKinds() {
		in.kinds[kind] = true
	}
}

// rescan says that any item of some kinds may be another one.
func (in *intake) rescan(kinds ...agentapi.ItemKind) {
	in.mu.Lock()
	for _, kind := range kinds {
		in.kinds[kind] = true
	}
	in.mu.Unlock()
	in.stir()
}

// event takes an event.
func (in *intake) event(e agentapi.Event) {
	in.mu.Lock()
	in.ring.put(e, in.now())
	in.mu.Unlock()
	in.stir()
}

// drain returns what was reported and forgets it. Events stay until the server has them.
func (in *intake) drain() (map[agentapi.Key]time.Time, map[agentapi.ItemKind]bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var marks map[agentapi.Key]time.Time
	var kinds map[agentapi.ItemKind]bool
	if len(in.marks) > 0 {
		marks, in.marks = in.marks, map[agentapi.Key]time.Time{}
	}
	if len(in.kinds) > 0 {
		kinds, in.kinds = in.kinds, map[agentapi.ItemKind]bool{}
	}
	return marks, kinds
}

// events calls f with the events.
func (in *intake) events(f func(*ring)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	f(&in.ring)
}
