package plan

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// step begins the phase and wave of a task: the first that has something to do.
func (o *Operation) step(first *Task, look func(Task) Fact) Move {
	return o.begin(o.choose(func(t *Task) bool {
		return t.Phase == first.Phase && t.Wave == first.Wave && o.of(t).pending()
	}), look)
}

// begin does tasks of one step, after hooks of earlier operations are out of their way and deletions are confirmed.
func (o *Operation) begin(tasks []Task, look func(Task) Fact) Move {
	pending := func(t *Task) bool { return o.of(t).pending() }
	if m, ok := o.release(tasks, look, pending); ok {
		return m
	}
	if ask := o.unconfirmed(tasks); len(ask) > 0 {
		return Move{Verb: Wait, Tasks: ask, Message: waitingFor("pruning confirmation of", ask[0], len(ask)-1, "resources")}
	}
	if m, ok := o.remove(tasks, look, func(t *Task) bool { return pending(t) && t.Policies.BeforeCreation }); ok {
		return m
	}
	inTheWay := func(t *Task) bool {
		if !t.Hook {
			return false
		}
		f := look(*t)
		gone, removed := o.removed[t.place]
		return f.Exists && (f.Deleting || removed && !gone && t.Policies.BeforeCreation)
	}
	var going, do []Task
	for _, t := range tasks {
		switch {
		case !pending(&t):
		case inTheWay(&t):
			going = append(going, t)
		case t.Verb == diff.Keep && !t.Hook:
			o.states[t.place] = State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
		default:
			do = append(do, t)
		}
	}
	if len(going) > 0 {
		return Move{Verb: Wait, Tasks: going, Message: waiting(going, true)}
	}
	if len(do) == 0 {
		return o.done(tasks, look)
	}
	return Move{Verb: Do, Tasks: do, Message: creating(do)}
}

// unconfirmed returns the deletions among tasks that wait for a person.
func (o *Operation) unconfirmed(tasks []Task) []Task {
	if o.settings.Confirmed {
		return nil
	}
	var out []Task
	for _, t := range tasks {
		if t.Deletes() && t.Prune == v1alpha1.OptionConfirm && o.State(t).pending() {
			out = append(out, t)
		}
	}
	return out
}

// done says what comes after a step was done.
func (o *Operation) done(tasks []Task, look func(Task) Fact) Move {
	var failed, hooks bool
	var hooksRunning []Task
	for _, t := range tasks {
		s := o.State(t)
		failed = failed || s.failed()
		hooks = hooks || t.Hook
		if t.Hook && s.running() {
			hooksRunning = append(hooksRunning, t)
		}
	}
	if onFailure(&tasks[0]) {
		return Move{Verb: Wait, Tasks: tasks, Message: waiting(tasks, false), Again: true}
	}
	if failed {
		return o.stepFailed(hooksRunning, look)
	}
	if !hooks && !o.has(o.awaitsItsTurn) {
		// Nothing comes after these, so nothing waits for them, even if they do badly later.
		return o.succeed(look, "successfully synced (all tasks run)")
	}
	return Move{Verb: Wait, Tasks: tasks, Message: waiting(tasks, false), Again: true}
}

func (o *Operation) stepFailed(hooksRunning []Task, look func(Task) Fact) Move {
	const reason = "one or more objects failed to apply"
	if len(hooksRunning) == 0 {
		return o.failing(look, reason)
	}
	if onFail := o.choose(func(t *Task) bool { return onFailure(t) && o.of(t).pending() }); len(onFail) > 0 {
		return o.begin(onFail, look)
	}
	return Move{Verb: Wait, Tasks: hooksRunning, Message: waiting(hooksRunning, false)}
}

// failing runs what is to run after a failure, and ends the operation after that.
func (o *Operation) failing(look func(Task) Fact, reason string) Move {
	if m, ok := o.remove(o.plan.Tasks, look, func(t *Task) bool { return t.Policies.Failed }); ok {
		return m
	}
	onFail := o.choose(onFailure)
	if len(onFail) > 0 && !all(onFail, func(t Task) bool { return o.State(t).completed() }) {
		pending := o.choose(func(t *Task) bool { return onFailure(t) && o.of(t).pending() })
		if len(pending) > 0 {
			return o.begin(pending, look)
		}
		return Move{Verb: Wait, Tasks: onFail, Message: waiting(onFail, false)}
	}
	text := because(reason, o.reasons(func(t *Task) bool { return !onFailure(t) }))
	if worse := o.reasons(onFailure); len(worse) > 0 {
		text += "\n" + because("one or more SyncFail hooks failed", worse)
	}
	return Move{Verb: End, Phase: v1alpha1.OperationFailed, Message: text}
}

// reasons are the messages of tasks that could not be done.
func (o *Operation) reasons(f func(*Task) bool) []string {
	var out []string
	for i := range o.plan.Tasks {
		t := &o.plan.Tasks[i]
		if s := o.of(t); f(t) && s.Code == v1alpha1.ResultSyncFailed {
			out = append(out, s.Message)
		}
	}
	return out
}

// terminate ends an operation before it is done: hooks that run are deleted.
func (o *Operation) terminate(look func(Task) Fact) Move {
	if m, ok := o.release(o.plan.Tasks, look, func(t *Task) bool { return !o.of(t).pending() }); ok {
		return m
	}
	for _, t := range o.plan.Tasks {
		s := o.State(t)
		if _, removed := o.removed[t.place]; !t.Hook || !s.running() || removed {
			continue
		}
		f := look(t)
		if !f.Exists {
			o.states[t.place] = State{Code: s.Code, Phase: v1alpha1.OperationSucceeded, Message: "Terminated"}
			continue
		}
		phase, message := hookPhase(&t, f)
		if phase.Completed() {
			o.states[t.place] = State{Code: s.Code, Phase: phase, Message: message}
		} else {
			o.states[t.place] = State{Code: s.Code, Phase: v1alpha1.OperationFailed, Message: "Terminated"}
		}
		if phase == v1alpha1.OperationRunning || t.Policies.Failed {
			o.last = nil
			return Move{Verb: Remove, Tasks: []Task{t}}
		}
	}
	if o.trouble {
		return Move{Verb: End, Phase: v1alpha1.OperationError, Message: "Operation termination had errors"}
	}
	return Move{Verb: End, Phase: v1alpha1.OperationFailed, Message: "Operation terminated"}
}

func all(tasks []Task, f func(Task) bool) bool {
	for _, t := range tasks {
		if !f(t) {
			return false
		}
	}
	return true
}
