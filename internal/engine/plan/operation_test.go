package plan

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// world is a cluster in which anything can happen, with an operation on it.
type world struct {
	t        *rapid.T
	plan     Plan
	settings Settings
	op       *Operation
	live     map[object.Key]*thing
	moves    int
	waits    int
	quiet    bool // nothing goes wrong any more

	recorded map[ID]bool // done, and the operation knows it
	well     map[ID]bool // seen in good health since
	failed   bool
	refused  bool // by the dry run
	log      []string
}

type thing struct {
	deleting, finalizer, assessed, stale bool
	health                               v1alpha1.HealthStatusCode
	trouble                              bool // to write it
	by                                   ID   // the hook of this operation that made it; zero for none
}

func newWorld(t *rapid.T) *world {
	w := &world{
		t: t, plan: Build(drawTasks(t), Options{PruneLast: rapid.Bool().Draw(t, "pruneLast")}),
		settings: Settings{DryRunFirst: rapid.Bool().Draw(t, "dryRunFirst")},
		live:     map[object.Key]*thing{}, recorded: map[ID]bool{}, well: map[ID]bool{},
	}
	if rapid.IntRange(0, 3).Draw(t, "namespace") == 0 {
		w.plan = Build(append(w.plan.Tasks, Task{First: true, Change: diff.Change{
			Key: object.Key{Kind: "Namespace", Name: "destination"}, Verb: diff.Update, Phase: v1alpha1.PhasePreSync,
		}}), Options{})
	}
	for _, task := range w.plan.Tasks {
		if task.Deletes() || task.Verb == diff.Keep || rapid.Bool().Draw(t, "live") {
			w.live[task.Key] = w.thing(task.Hook)
		}
	}
	w.op = NewOperation(w.plan, w.settings, nil)
	return w
}

func (w *world) thing(hook bool) *thing {
	health := v1alpha1.HealthHealthy
	if !w.quiet {
		health = rapid.SampledFrom([]v1alpha1.HealthStatusCode{
			v1alpha1.HealthHealthy, v1alpha1.HealthProgressing, v1alpha1.HealthDegraded, v1alpha1.HealthUnknown, v1alpha1.HealthSuspended,
		}).Draw(w.t, "health")
	}
	return &thing{assessed: w.quiet || rapid.IntRange(0, 3).Draw(w.t, "assessed") > 0, health: health, finalizer: hook, stale: w.chance("stale")}
}

// chance is true now and then, until all is quiet.
func (w *world) chance(what string) bool {
	return !w.quiet && rapid.IntRange(0, 5).Draw(w.t, what) == 0
}

func (w *world) look(task Task) Fact {
	l := w.live[task.Key]
	if l == nil {
		return Fact{}
	}
	ours := task.Hook && l.by == task.ID()
	if (w.recorded[task.ID()] || ours) && (!l.assessed || l.health == v1alpha1.HealthHealthy && !l.stale) {
		w.well[task.ID()] = true
	}
	return Fact{Exists: true, Ours: ours, Deleting: l.deleting, Finalizer: l.finalizer, Assessed: l.assessed, Health: l.health, Stale: l.stale}
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log {
		w.t.Log(line)
	}
	w.t.Fatalf(format+"\n%s", append(args, w.plan)...)
}

// run goes on until the operation ends. Quiet comes after some waits.
func (w *world) run() Move {
	for {
		m := w.step()
		if m.Verb == End {
			return m
		}
		if !w.refused && w.chance("restart") { // what was refused ends at once
			w.log = append(w.log, "restart")
			w.op = NewOperation(w.plan, w.settings, w.op.States())
		}
	}
}

// step does one move, and returns it.
func (w *world) step() Move {
	m := w.op.Next(w.look)
	w.log = append(w.log, fmt.Sprintf("%s %s %s %s", m.Verb, m.Tasks, m.Phase, m.Message))
	if w.moves++; w.moves > 200+20*len(w.plan.Tasks) {
		w.fatal("no end")
	}
	w.op.Each(func(task Task, s State) {
		w.failed = w.failed || s.failed() && !onFailure(&task)
		l := w.live[task.Key]
		adopted := task.Hook && l != nil && l.by == task.ID()
		if s.running() && (task.Verb == diff.Keep || adopted) {
			w.recorded[task.ID()] = true
		}
	})
	switch m.Verb {
	case Wait:
		if m.Message == "" {
			w.fatal("a wait for nothing")
		}
		w.waits++
		w.quiet = w.waits > 8
		w.evolve()
	case Try:
		w.try(m)
	case Do:
		w.do(m)
	case Release, Remove:
		w.hooks(m)
	}
	return m
}

func (w *world) try(m Move) {
	if len(w.recorded) > 0 && !w.onlyFirst() {
		w.fatal("a dry run after something was done")
	}
	for _, task := range m.Tasks {
		if w.chance("refused") {
			w.failed, w.refused = true, true
			w.op.Record(task, State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: "refused"})
		}
	}
}

func (w *world) onlyFirst() bool {
	for _, task := range w.plan.Tasks {
		if w.recorded[task.ID()] && !task.First {
			return false
		}
	}
	return true
}

func (w *world) do(m Move) {
	if len(m.Tasks) == 0 {
		w.fatal("nothing to do")
	}
	for _, task := range m.Tasks {
		w.mayDo(task, m.Tasks[0])
	}
	crash := w.chance("crash")
	for _, task := range m.Tasks {
		s := w.carryOut(task)
		if crash && rapid.Bool().Draw(w.t, "lost") {
			continue // it was done, and nobody knows
		}
		w.recorded[task.ID()] = true
		w.op.Record(task, s)
	}
	if crash {
		w.log = append(w.log, "crash")
		w.op = NewOperation(w.plan, w.settings, w.op.States())
	}
}

// mayDo says what must hold before a task is done.
func (w *world) mayDo(task, first Task) {
	l := w.live[task.Key]
	switch {
	case w.recorded[task.ID()]:
		w.fatal("%s is done twice", task)
	case task.Hook && l != nil && l.by == task.ID():
		w.fatal("%s runs again", task)
	case task.Verb == diff.Keep && !task.Hook:
		w.fatal("%s needs nothing", task)
	case task.Phase != first.Phase || task.Wave != first.Wave && !onFailure(&task):
		w.fatal("%s and %s are done together", task, first)
	case onFailure(&task) && !w.failed:
		w.fatal("%s without a failure", task)
	case !onFailure(&task) && w.failed:
		w.fatal("%s after a failure", task)
	case task.Deletes() && task.Prune == v1alpha1.OptionConfirm && !w.settings.Confirmed:
		w.fatal("%s without confirmation", task)
	case onFailure(&task) || task.First:
		return
	}
	for _, before := range w.plan.Tasks {
		if phaseRank(before.Phase) > phaseRank(task.Phase) || before.Phase == task.Phase && before.Wave >= task.Wave {
			break
		}
		if before.Deletes() {
			l := w.live[before.Key]
			if l != nil && w.op.State(before).Code != v1alpha1.ResultPruneSkipped {
				w.fatal("%s while %s is not gone", task, before)
			}
		} else if !w.well[before.ID()] {
			w.fatal("%s before %s was well", task, before)
		}
	}
}

// carryOut does what a task says.
func (w *world) carryOut(task Task) State {
	if w.chance("fails") {
		return State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: "refused"}
	}
	if !task.Deletes() {
		w.live[task.Key] = w.thing(task.Hook)
		if task.Hook {
			w.live[task.Key].by = task.ID()
		}
		return State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
	}
	if task.Prune == "false" {
		return State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded}
	}
	if l := w.live[task.Key]; l != nil {
		l.deleting = true
	}
	return State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded}
}

func (w *world) hooks(m Move) {
	for _, task := range m.Tasks {
		if !task.Hook || m.Verb == Remove && w.op.State(task).running() && !w.settings.Terminate {
			w.fatal("%s of %s, which is no hook or runs", m.Verb, task)
		}
		l := w.live[task.Key]
		if l != nil && l.by == task.ID() && w.op.State(task).pending() {
			w.fatal("%s of %s, which this operation made", m.Verb, task)
		}
		if l == nil { // a hook of two phases is one object
			l = &thing{deleting: true}
		}
		trouble := ""
		if w.chance("trouble") {
			trouble, l.trouble = "trouble", true
		}
		if m.Verb == Release {
			l.finalizer = l.finalizer && trouble != ""
			w.op.Released(task, trouble)
			continue
		}
		l.deleting = l.deleting || trouble == ""
		gone := l.deleting && !l.finalizer && rapid.Bool().Draw(w.t, "gone")
		if gone {
			delete(w.live, task.Key)
		}
		w.op.Removed(task, gone, trouble)
	}
}

// evolve is what the cluster does while the operation waits. Somebody confirms in the end.
func (w *world) evolve() {
	for _, task := range w.plan.Tasks {
		l := w.live[task.Key]
		switch {
		case l == nil:
		case l.deleting && !l.finalizer && (w.quiet || rapid.Bool().Draw(w.t, "vanishes")):
			delete(w.live, task.Key)
		case w.quiet:
			l.stale = false
			if l.health != v1alpha1.HealthDegraded {
				l.health = v1alpha1.HealthHealthy
			}
		case w.chance("lost"):
			delete(w.live, task.Key)
		case w.chance("changes"):
			now := w.thing(false)
			l.assessed, l.health, l.stale = now.assessed, now.health, now.stale
		}
	}
	if !w.settings.Confirmed && (w.quiet || w.chance("confirmed")) {
		w.settings.Confirmed = true
		w.op = NewOperation(w.plan, w.settings, w.op.States())
	}
}

func TestAnOperationEndsInOrderWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		end := w.run()
		if (end.Phase == v1alpha1.OperationSucceeded) == w.failed {
			w.fatal("it ended as %s, failed: %t", end.Phase, w.failed)
		}
		for _, task := range w.plan.Tasks {
			s := w.op.State(task)
			if end.Phase == v1alpha1.OperationSucceeded && !onFailure(&task) && s.pending() {
				w.fatal("%s was forgotten", task)
			}
			if l := w.live[task.Key]; task.Hook && s.completed() && l != nil && l.finalizer && !l.trouble && w.recorded[task.ID()] {
				w.fatal("%s has its finalizer still", task)
			}
			over := end.Phase == v1alpha1.OperationSucceeded && task.Policies.Succeeded || end.Phase == v1alpha1.OperationFailed && task.Policies.Failed
			if l := w.live[task.Key]; over && task.Hook && s.completed() && l != nil && !l.deleting && !l.trouble && !w.refused {
				w.fatal("%s is there still", task)
			}
		}
	})
}

func TestAnOperationIsTerminatedAtAnyPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 12).Draw(t, "moves") {
			if w.step().Verb == End {
				return
			}
		}
		w.settings.Terminate = true
		w.op = NewOperation(w.plan, w.settings, w.op.States())
		end := w.run()
		if end.Phase != v1alpha1.OperationFailed && end.Phase != v1alpha1.OperationError {
			w.fatal("it ended as %s", end.Phase)
		}
		for _, task := range w.plan.Tasks {
			if task.Hook && w.op.State(task).running() {
				w.fatal("%s runs still", task)
			}
		}
	})
}
