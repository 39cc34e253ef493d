package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// How it is known that an operation has made a hook already, whatever was killed since: before a hook is made, the status
// says that it is about to be (announced), and the object itself names the operation (hookMark). What the status announces
// and the cluster does not have was not made; an object that names another operation, or none, is an earlier one.

// LongestAhead is how far the start of an operation may be ahead of the clock so that no other operation has it.
const LongestAhead = 10 * time.Second

// messageIntended is the message of a hook that is about to be made.
const messageIntended = "about to be created"

// hookRun names the attempt of an operation that began at a moment. Its phase is left open.
func (t *turn) hookRun(started time.Time, attempt int64, revisions []string) *v1alpha1.HookRun {
	return &v1alpha1.HookRun{
		Application: string(t.app.UID), StartedAt: started.UTC().Format(time.RFC3339), Attempt: attempt, Revisions: revisions,
	}
}

// hookMark is the text by which hooks of a phase name an operation; "" for what is no sync.
func (u *underway) hookMark(phase v1alpha1.SyncPhase) string {
	if u.run == nil {
		return ""
	}
	run := *u.run
	run.Phase = phase
	text, err := json.Marshal(run)
	if err != nil {
		return ""
	}
	return string(text)
}

// made reports whether a live object names this operation as the one that made it, for the phase of a task. Nothing else
// sets that: what Git has of it is left out.
func (x *execution) made(t plan.Task, rec live.Record) bool {
	mark := live.HashRun(x.u.hookMark(t.Phase))
	return mark != 0 && rec.HookRun == mark && rec.App == x.instance
}

// distinguish gives a new operation a start that no other one of the Application has, neither the last one nor one whose
// hooks are still there: operations and their hooks differ by it, in whole seconds. The last one may have begun a little
// ahead of the clock for the same reason.
func (x *execution) distinguish() {
	last := x.app.Status.OperationState
	if last != nil && !(decide.Begun(last) && decide.SameOperation(last.Operation, x.u.operation)) {
		after := last.StartedAt.Truncate(time.Second).Add(time.Second)
		if ahead := after.Sub(x.u.started); ahead > 0 && ahead <= LongestAhead {
			x.u.started = after
		}
	}
	resembles := func() bool {
		return slices.ContainsFunc(x.hookTasks(x.u.started), func(t plan.Task) bool {
			rec, tracked, _ := x.target.Live.Get(t.Key)
			return tracked && x.made(t, rec)
		})
	}
	name := func() { x.u.run = x.hookRun(x.u.started, x.d.Attempts, x.Revisions) }
	for name(); resembles(); name() {
		x.u.started = x.u.started.Add(time.Second)
	}
}

// markHook makes the manifest of a hook name the operation that makes it. What it is compared by stays the same.
func (u *underway) markHook(m object.Manifest, phase v1alpha1.SyncPhase) (object.Manifest, error) {
	mark := u.hookMark(phase)
	if mark == "" {
		return m, nil
	}
	obj, err := m.Decode()
	if err != nil {
		return m, err
	}
	object.SetAnnotation(obj, v1alpha1.AnnotationHookRun, mark)
	marked, err := object.NewManifest(obj)
	marked.Sum = m.Hash()
	return marked, err
}

// hookManifest returns a hook as it is applied: under the name that its operation gave it, and with the mark of that.
func (x *execution) hookManifest(t plan.Task) (object.Manifest, bool) {
	if t.Index >= len(x.hooks) {
		return object.Manifest{}, false
	}
	m := x.hooks[t.Index]
	if m.Key != t.Key {
		obj, err := m.Decode()
		if err != nil {
			return object.Manifest{}, false
		}
		meta, _ := obj["metadata"].(map[string]any)
		delete(meta, "generateName")
		meta["name"] = t.Key.Name
		x.target.Live.Tracking.Mark(obj, x.instance, t.Key, x.app.Spec.Destination.Namespace)
		if m, err = object.NewManifest(obj); err != nil {
			return object.Manifest{}, false
		}
	}
	m, err := x.u.markHook(m, t.Phase)
	return m, err == nil
}

// announced reports whether the status says of the hooks among tasks that they are about to be made, so that they may be.
// Else a process that takes over could not know that they belong to an operation that has begun.
func (x *execution) announced(ctx context.Context, m plan.Move) (bool, plan.Move) {
	if m.Verb != plan.Do || x.req.Confirm == nil || !x.stored { // it is not stored, or is no sync
		return true, plan.Move{}
	}
	hooks := map[plan.ID]bool{}
	for _, t := range m.Tasks {
		if t.Hook {
			hooks[t.ID()] = true
			x.u.intended[t.ID()] = true
		}
	}
	if len(hooks) == 0 {
		return true, plan.Move{}
	}
	stored := func(stored *v1alpha1.OperationState) bool {
		return hasHooks(stored, x.u.started, hooks, func(v1alpha1.ResourceResult) bool { return true })
	}
	err := x.req.Confirm(ctx, stored, func() v1alpha1.OperationState {
		state := x.progressState(0)
		state.Message = m.Message
		return *state
	})
	if err == nil {
		return true, plan.Move{}
	}
	return false, x.again(fmt.Sprintf("hooks are created once the status lists them, which could not be written: %v", err))
}

// intended reports whether a result is of a hook that is about to be made, and may have been.
func intended(res v1alpha1.ResourceResult) bool {
	return res.HookType != "" && res.Status == "" && res.HookPhase == v1alpha1.OperationRunning
}

// isHookOf reports whether an outcome of an operation that ends is that of a hook that exists: one that was only about to
// be made, and was not, is none.
func (x *execution) isHookOf(res v1alpha1.ResourceResult) bool {
	if res.HookType == "" || x.hookConflict(resultID(res).Key) != nil { // any client can write a status
		return false
	}
	if !intended(res) {
		return true
	}
	id := resultID(res)
	rec, tracked, _ := x.target.Live.Get(id.Key)
	t := plan.Task{}
	t.Key, t.Phase = id.Key, id.Phase
	return tracked && x.made(t, rec)
}
