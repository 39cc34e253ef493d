package plan

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// Operation is a plan that is being carried out: a value that says what to do next, given what was done and what is
// live. It does nothing itself. The engine that carries it out calls Next, does what the Move says, records what came of it,
// and calls Next again, until a Move waits or ends.
type Operation struct {
	plan     Plan
	settings Settings
	states   []State      // of the tasks, by their place in the plan
	released map[int]bool // hooks whose finalizer was taken off
	removed  map[int]bool // hooks that were deleted; true once they are known to be gone
	tried    bool
	refused  bool // the dry run found something
	trouble  bool // a termination did not go well
	last     *Move
}

// Settings of an operation.
type Settings struct {
	// DryRunFirst tries everything out before the first step.
	DryRunFirst bool
	// DryRun tries everything out, and that is all.
	DryRun bool
	// Confirmed reports that a person has confirmed the deletions that ask for it.
	Confirmed bool
	// Terminate ends the operation: running hooks are deleted.
	Terminate bool
}

// State is what became of a task so far. The zero value says that its turn has not come.
type State struct {
	Code    v1alpha1.ResultCode
	Phase   v1alpha1.OperationPhase // Running, Succeeded, Failed or Error
	Message string
}

func (s State) pending() bool { return s.Phase == "" }

func (s State) running() bool { return s.Phase == v1alpha1.OperationRunning }

func (s State) completed() bool { return s.Phase.Completed() }

func (s State) failed() bool { return s.completed() && s.Phase != v1alpha1.OperationSucceeded }

// Fact is what is known of a task's live object.
type Fact struct {
	Exists    bool
	Deleting  bool // it goes, and is not gone yet
	Finalizer bool // it has the finalizer of hooks
	Ours      bool // of a hook: this very operation has made it, for this phase
	Assessed  bool // its kind has a health
	Health    v1alpha1.HealthStatusCode
	Message   string // of the health
	// Stale reports that what is known may be from before the task was done: the health is ignored until then.
	Stale bool
}

// Verb says what a Move asks for.
type Verb string

// What a Move can ask for.
const (
	Try     Verb = "try"     // try the tasks out, without effect; Record what is refused
	Do      Verb = "do"      // apply or delete the objects of the tasks; Record what came of it
	Release Verb = "release" // take the finalizer off the hooks; call Released
	Remove  Verb = "remove"  // delete the hooks; call Removed
	Wait    Verb = "wait"    // nothing to do before something changes in the cluster
	End     Verb = "end"     // the operation is over
)

// Move is the next thing to do of an operation.
type Move struct {
	Verb    Verb
	Tasks   []Task
	Phase   v1alpha1.OperationPhase // of an End
	Message string                  // of a Wait or an End; of a Do that creates hooks, which these are
	// Again, of a Wait, reports that there may be something to do already.
	Again bool
}

// NewOperation begins an operation, or goes on with one: states is what became of its tasks so far. An empty map begins
// one.
func NewOperation(p Plan, s Settings, states map[ID]State) *Operation {
	o := &Operation{
		plan: p, settings: s, states: make([]State, len(p.Tasks)), released: map[int]bool{}, removed: map[int]bool{},
		tried: len(states) > 0,
	}
	for i := range p.Tasks {
		p.Tasks[i].place = i
		o.states[i] = states[p.Tasks[i].ID()]
	}
	return o
}

// State returns what became of a task so far. The task is one that a Move or Each gave.
func (o *Operation) State(t Task) State { return o.states[t.place] }

// Counts says how many objects the operation touches.
func (o *Operation) Counts() Counts { return o.plan.Counts }

// Each calls f for every task, in order, with what became of it so far.
func (o *Operation) Each(f func(Task, State)) {
	for _, t := range o.plan.Tasks {
		f(t, o.State(t))
	}
}

// Progress returns how many of the tasks that do something have had their turn.
func (o *Operation) Progress() (done, total int) {
	for i := range o.plan.Tasks {
		if o.plan.Tasks[i].Verb != diff.Keep {
			total++
			if o.states[i] != (State{}) {
				done++
			}
		}
	}
	return done, total
}

// States returns what became of the tasks whose turn has come, for another NewOperation.
func (o *Operation) States() map[ID]State {
	out := map[ID]State{}
	o.Each(func(t Task, s State) {
		if s != (State{}) {
			out[t.ID()] = s
		}
	})
	return out
}

// Record takes what came of a task that was tried or done.
func (o *Operation) Record(t Task, s State) {
	if o.last != nil && o.last.Verb == Try && s.failed() {
		o.refused = true
	}
	o.states[t.place] = s
	if o.last != nil && o.last.Verb == Do { // it is another object from now on
		delete(o.released, t.place)
		delete(o.removed, t.place)
	}
}

// Released takes what came of taking a hook's finalizer off; trouble is empty when it went well.
func (o *Operation) Released(t Task, trouble string) {
	o.released[t.place] = true
	if trouble != "" {
		o.fail(t, "Failed to remove hook finalizer: "+trouble)
	}
}

// Removed takes what came of deleting a hook; gone says that it is not there any more.
func (o *Operation) Removed(t Task, gone bool, trouble string) {
	o.removed[t.place] = gone
	if trouble != "" {
		o.fail(t, "failed to delete resource: "+trouble)
	}
}

func (o *Operation) fail(t Task, message string) {
	o.trouble = true
	s := o.states[t.place]
	s.Phase, s.Message = v1alpha1.OperationError, message
	o.states[t.place] = s
}

// Next returns what to do now. look returns what is known of a task's live object.
func (o *Operation) Next(look func(Task) Fact) Move {
	var m Move
	if o.settings.Terminate {
		m = o.terminate(look)
	} else {
		m = o.next(look)
	}
	o.last = &m
	return m
}

func (o *Operation) next(look func(Task) Fact) Move {
	o.adopt(look)
	if m, ok := o.prepare(); ok {
		return m
	}
	if o.last != nil && o.last.Verb == Do {
		return o.done(o.last.Tasks, look)
	}
	if t := o.unfinished(); t != nil {
		return o.step(t, look)
	}
	o.refresh(look)
	if m, ok := o.awaitRunning(look); ok {
		return m
	}
	if going := o.choose(func(t *Task) bool { return o.of(t).Code == v1alpha1.ResultPruned && look(*t).Deleting }); len(going) > 0 {
		return Move{Verb: Wait, Message: waiting(going, true)}
	}
	if m, ok := o.release(o.plan.Tasks, look, func(t *Task) bool { return o.of(t).completed() }); ok {
		return m
	}
	if o.has(func(t *Task) bool { return !onFailure(t) && o.of(t).failed() }) {
		return o.failing(look, "one or more synchronization tasks completed unsuccessfully")
	}
	for i := range o.plan.Tasks {
		if t := &o.plan.Tasks[i]; o.awaitsItsTurn(t) {
			return o.step(t, look)
		}
	}
	return o.succeed(look, "successfully synced (no more tasks)")
}

// adopt goes on with hooks that this operation has made, and whose states were lost with the process or the answer: they
// run, or have run. All was tried before the first of them. It looks each time: the cluster may report one late.
func (o *Operation) adopt(look func(Task) Fact) {
	for i := range o.plan.Tasks {
		t := &o.plan.Tasks[i]
		if !t.Hook || !o.of(t).pending() {
			continue
		}
		if f := look(*t); f.Exists && f.Ours {
			o.states[i] = State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
			o.tried = true
		}
	}
}

// prepare is what comes before the first step: the namespace that the others live in, and a dry run of them.
func (o *Operation) prepare() (Move, bool) {
	if o.tried {
		return Move{}, false
	}
	first := o.choose(func(t *Task) bool { return t.First && o.of(t).pending() })
	if len(first) > 0 {
		return Move{Verb: Do, Tasks: first}, true
	}
	for _, t := range o.choose(func(t *Task) bool { return t.First && o.of(t).failed() }) {
		o.tried = true
		return Move{
			Verb: End, Phase: v1alpha1.OperationFailed, Message: because("the namespace failed to apply", []string{o.State(t).Message}),
		}, true
	}
	switch {
	case !o.settings.DryRunFirst && !o.settings.DryRun:
		o.tried, o.last = true, nil
		return Move{}, false
	case o.last != nil && o.last.Verb == Try:
		o.tried, o.last = true, nil
		if o.refused && o.mayFail() {
			return Move{}, false
		}
		if o.refused {
			return Move{Verb: End, Phase: v1alpha1.OperationFailed, Message: "one or more objects failed to apply (dry run)"}, true
		}
		if o.settings.DryRun {
			return Move{Verb: End, Phase: v1alpha1.OperationSucceeded, Message: "dry run: nothing was changed"}, true
		}
		return Move{}, false
	}
	return Move{Verb: Try, Tasks: o.choose(func(t *Task) bool { return !t.First && t.Verb != diff.Keep })}, true
}

// mayFail reports whether there are hooks to run after the dry run has failed. The API server refuses then what Argo CD, which
// validates less before the first step, would find refused in the midst of the sync.
func (o *Operation) mayFail() bool {
	return !o.settings.DryRun && o.has(func(t *Task) bool { return onFailure(t) && o.of(t).pending() }) &&
		o.has(func(t *Task) bool { return !onFailure(t) && o.of(t).failed() })
}

// choose returns the tasks that f holds for, in order.
func (o *Operation) choose(f func(*Task) bool) []Task {
	var out []Task
	for i := range o.plan.Tasks {
		if t := &o.plan.Tasks[i]; f(t) {
			out = append(out, *t)
		}
	}
	return out
}

// has reports whether f holds for any task.
func (o *Operation) has(f func(*Task) bool) bool {
	for i := range o.plan.Tasks {
		if f(&o.plan.Tasks[i]) {
			return true
		}
	}
	return false
}

// unfinished returns a hook whose turn has come, and that was not begun, although others of its step were: all of a step are
// tried, also where the process ended in between, but nothing is begun once a failure is known. It returns nil for none.
func (o *Operation) unfinished() *Task {
	if o.has(func(t *Task) bool { return !onFailure(t) && o.of(t).failed() }) {
		return nil
	}
	type step struct {
		phase v1alpha1.SyncPhase
		wave  int
	}
	begun := map[step]bool{}
	for i := range o.plan.Tasks {
		if t := &o.plan.Tasks[i]; t.Hook && !onFailure(t) && !o.of(t).pending() {
			begun[step{t.Phase, t.Wave}] = true
		}
	}
	for i := range o.plan.Tasks {
		if t := &o.plan.Tasks[i]; t.Hook && o.awaitsItsTurn(t) && begun[step{t.Phase, t.Wave}] {
			return t
		}
	}
	return nil
}

func (o *Operation) of(t *Task) State { return o.states[t.place] }

// onFailure reports whether a task runs only after another one failed.
func onFailure(t *Task) bool { return t.Phase == v1alpha1.PhaseSyncFail }

// awaitsItsTurn reports whether a task is still to be done for the operation to succeed.
func (o *Operation) awaitsItsTurn(t *Task) bool { return !onFailure(t) && o.of(t).pending() }

// refresh brings the states of running tasks to what is live.
func (o *Operation) refresh(look func(Task) Fact) {
	for i := range o.plan.Tasks {
		t := &o.plan.Tasks[i]
		s := o.of(t)
		if !s.running() {
			continue
		}
		f := look(*t)
		if !f.Exists {
			continue
		}
		if t.Hook {
			if s.Phase, s.Message = hookPhase(t, f); s.running() && f.Deleting { // it would not end, and not go either
				s = State{
					Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationError,
					Message: "Resource " + t.text() + " was deleted before it was done",
				}
			}
		} else {
			s.Phase, s.Message = objectPhase(s, f)
		}
		o.states[t.place] = s
	}
}

// hookPhase says how far a hook is by its health. A hook of a kind without health is done once it exists.
func hookPhase(t *Task, f Fact) (v1alpha1.OperationPhase, string) {
	switch {
	case !f.Assessed:
		return v1alpha1.OperationSucceeded, t.Key.Name + " created"
	case f.Stale:
		return v1alpha1.OperationRunning, f.Message
	case f.Health == v1alpha1.HealthHealthy:
		return v1alpha1.OperationSucceeded, f.Message
	case f.Health == v1alpha1.HealthUnknown, f.Health == v1alpha1.HealthDegraded:
		return v1alpha1.OperationFailed, f.Message
	}
	return v1alpha1.OperationRunning, f.Message
}

func objectPhase(s State, f Fact) (v1alpha1.OperationPhase, string) {
	switch {
	case !f.Assessed:
		return v1alpha1.OperationSucceeded, s.Message
	case f.Health == v1alpha1.HealthHealthy && !f.Stale:
		return v1alpha1.OperationSucceeded, f.Message
	case f.Health == v1alpha1.HealthDegraded && !f.Stale:
		return v1alpha1.OperationFailed, f.Message
	}
	return v1alpha1.OperationRunning, s.Message
}

// awaitRunning waits for hooks, and in a plan of several steps for objects, that are not done yet.
func (o *Operation) awaitRunning(look func(Task) Fact) (Move, bool) {
	staged := o.plan.steps()
	running := o.choose(func(t *Task) bool { return (staged || t.Hook) && o.of(t).running() })
	if len(running) == 0 {
		return Move{}, false
	}
	m := Move{Verb: Wait, Tasks: running, Message: waiting(running, false)}
	for _, t := range running {
		if !look(t).Exists {
			m.Again = true
			o.states[t.place] = State{
				Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationError,
				Message: "Resource " + t.text() + " is missing, it might have been deleted",
			}
		}
	}
	return m, true
}

// release takes the finalizer off those of the tasks that are hooks and that f holds for.
func (o *Operation) release(tasks []Task, look func(Task) Fact, f func(*Task) bool) (Move, bool) {
	m := Move{Verb: Release}
	for i := range tasks {
		if t := &tasks[i]; t.Hook && !o.released[t.place] && f(t) && look(*t).Finalizer {
			m.Tasks = append(m.Tasks, *t)
		}
	}
	return m, len(m.Tasks) > 0
}

// remove deletes those of the tasks that are hooks, are not running, and that f holds for.
func (o *Operation) remove(tasks []Task, look func(Task) Fact, f func(*Task) bool) (Move, bool) {
	m := Move{Verb: Remove}
	for i := range tasks {
		t := &tasks[i]
		if _, removed := o.removed[t.place]; t.Hook && !removed && f(t) && !o.of(t).running() && look(*t).Exists {
			m.Tasks = append(m.Tasks, *t)
		}
	}
	return m, len(m.Tasks) > 0
}

func (o *Operation) succeed(look func(Task) Fact, message string) Move {
	if m, ok := o.remove(o.plan.Tasks, look, func(t *Task) bool { return t.Policies.Succeeded }); ok {
		return m
	}
	return Move{Verb: End, Phase: v1alpha1.OperationSucceeded, Message: message}
}
