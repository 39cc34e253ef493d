package gateway

import (
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// answer is a result, or why there is none.
type answer struct {
	result agentapi.Result
	fault  *agentapi.Error
}

func (a answer) err() error {
	if a.fault != nil {
		return a.fault
	}
	return nil
}

// waiter is a caller that waits for a result.
type waiter struct {
	// epoch is that of the session that must answer; 0 for a command that is kept.
	epoch int64
	join  agentapi.Joiner
	size  int
	done  chan answer // has room for one
}

func (w *waiter) give(a answer) {
	select {
	case w.done <- a:
	default: // it has one
	}
}

type waitKey struct{ uid, id string }

// waiting are all who wait for results on this server.
type waiting struct {
	mu    sync.Mutex
	all   map[waitKey][]*waiter
	reads map[string]int // how many wait for each agent
	bytes map[string]int // how much has come of results that are not whole
}

func newWaiting() *waiting {
	return &waiting{all: map[waitKey][]*waiter{}, reads: map[string]int{}, bytes: map[string]int{}}
}

// add adds a waiter for the result of a command. Several may wait for one that is kept, which has no epoch.
func (w *waiting) add(uid, id string, epoch int64) (*waiter, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := waitKey{uid, id}
	if epoch != 0 {
		if len(w.all[key]) > 0 {
			return nil, &agentapi.Error{Code: agentapi.CodeConflict, Message: "a command with this id is being carried out"}
		}
		if w.reads[uid] >= maxReads {
			return nil, busy("too many questions wait for this agent")
		}
		w.reads[uid]++
	}
	at := &waiter{epoch: epoch, done: make(chan answer, 1)}
	w.all[key] = append(w.all[key], at)
	return at, nil
}

func (w *waiting) remove(uid, id string, at *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := waitKey{uid, id}
	rest := slices.DeleteFunc(w.all[key], func(other *waiter) bool { return other == at })
	if w.all[key] = rest; len(rest) == 0 {
		delete(w.all, key)
	}
	if at.epoch == 0 {
		return
	}
	if w.reads[uid]--; w.reads[uid] == 0 {
		delete(w.reads, uid)
	}
	if w.bytes[uid] -= at.size; w.bytes[uid] == 0 {
		delete(w.bytes, uid)
	}
}

// has reports whether a caller waits for the parts of a result.
func (w *waiting) has(uid, id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all[waitKey{uid, id}]
	return len(all) > 0 && all[0].epoch != 0
}

// part adds a part to the result that a caller waits for.
func (w *waiting) part(uid, id string, part agentapi.Part) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.all[waitKey{uid, id}] {
		if at.epoch == 0 || at.epoch != part.Epoch {
			continue
		}
		at.size += len(part.Data)
		w.bytes[uid] += len(part.Data)
		if w.bytes[uid] > maxReplies {
			at.give(answer{fault: &agentapi.Error{Code: agentapi.CodeTooLarge, Message: "the answers of this agent are too large: request less"}})
			continue
		}
		result, err := at.join.Add(part)
		switch {
		case err != nil:
			at.give(answer{fault: malformed(err)})
		case result != nil && (result.ID != id || !result.Status.Final()):
			at.give(answer{fault: &agentapi.Error{Code: agentapi.CodeMalformed, Message: "the agent answered something else"}})
		case result != nil:
			result.Message = line(result.Message, agentapi.MaxText)
			at.give(answer{result: *result})
		}
	}
}

// deliver gives the result of a command that is kept to all who wait for it.
func (w *waiting) deliver(uid string, result agentapi.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.all[waitKey{uid, result.ID}] {
		at.give(answer{result: result})
	}
}

// fail notifies waiters that the parts of a result will not come.
func (w *waiting) fail(uid, id string, fault *agentapi.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.all[waitKey{uid, id}] {
		if at.epoch != 0 {
			at.give(answer{fault: fault})
		}
	}
}

// failReads notifies all who wait for an agent to answer in another session than except that it will not.
func (w *waiting) failReads(uid string, except int64, fault *agentapi.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reads[uid] == 0 {
		return
	}
	for key, all := range w.all {
		for _, at := range all {
			if key.uid == uid && at.epoch != 0 && at.epoch != except {
				at.give(answer{fault: fault})
			}
		}
	}
}

// openCommands are the commands without a result that this server has to do with.
type openCommands struct {
	mu     sync.Mutex
	agents map[string]map[string]*openCommand
}

type openCommand struct {
	size  int
	sent  time.Time
	timer *time.Timer
}

func newOpenCommands() *openCommands {
	return &openCommands{agents: map[string]map[string]*openCommand{}}
}

// full reports whether no more commands may wait for an agent.
func (o *openCommands) full(uid string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := 0
	for _, at := range o.agents[uid] {
		size += at.size
	}
	return len(o.agents[uid]) >= maxOpen || size > maxOpenBytes
}

// watch has run called after a while, unless the command is dropped before. A second call changes nothing.
func (o *openCommands) watch(uid, id string, size int, after time.Duration, run func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.agents[uid] == nil {
		o.agents[uid] = map[string]*openCommand{}
	}
	if o.agents[uid][id] == nil {
		o.agents[uid][id] = &openCommand{size: size, timer: time.AfterFunc(max(after, 0), run)}
	}
}

// again has run called once more.
func (o *openCommands) again(uid, id string, after time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := o.agents[uid][id]; at != nil {
		at.timer.Reset(after)
	}
}

func (o *openCommands) sent(uid, id string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := o.agents[uid][id]; at != nil {
		at.sent = now
	}
}

func (o *openCommands) wasSent(uid, id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.agents[uid][id]
	return at != nil && !at.sent.IsZero()
}

// due returns the commands of an agent that were not sent after a time and are not among those that it has.
func (o *openCommands) due(uid string, before time.Time, running []string) map[string]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := map[string]bool{}
	for id, at := range o.agents[uid] {
		if !at.sent.After(before) && !slices.Contains(running, id) {
			due[id] = true
		}
	}
	return due
}

func (o *openCommands) drop(uid, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at := o.agents[uid][id]
	if at == nil {
		return
	}
	at.timer.Stop()
	if delete(o.agents[uid], id); len(o.agents[uid]) == 0 {
		delete(o.agents, uid)
	}
}

func (o *openCommands) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, commands := range o.agents {
		for _, at := range commands {
			at.timer.Stop()
		}
	}
}
