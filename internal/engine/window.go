package engine

import (
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Held says that a sync waits for a sync window.
type Held struct {
	Condition v1alpha1.ApplicationCondition // for a sync that waits
	Refusal   string                        // for an operation that was asked for, which fails instead
	Retry     time.Duration                 // when to look again; 0: nothing changes by time alone
}

// longestHold is how long at most until the windows are looked at again: clocks of machines are changed, too.
const longestHold = time.Hour

// admit lets a decision stand as far as the project's sync windows allow. A sync that somebody asked for is refused while
// they forbid it; an automatic one waits, and so does one that has begun and may not go on.
func (r *run) admit(d Decision) Decision {
	if !d.Go || d.Terminate {
		return d
	}
	var h *Held
	if d.Going {
		h = r.overrun(r.app.Status.OperationState)
	} else {
		h = r.window(d.Operation)
	}
	switch {
	case h == nil:
		if r.rollback != nil {
			r.judged(gatePin, allowed, PinText(r.rollback))
		}
		if !d.Going {
			r.tellWindows(d.Operation)
		}
		return d
	case d.Going || d.Operation.InitiatedBy.Automated:
		return Decision{Operation: d.Operation, Retry: h.Retry, Condition: &h.Condition}
	}
	out := Decision{Operation: d.Operation, Refused: h.Refusal}
	r.judged(gateWindow, refused, h.Refusal)
	if r.automated() != nil { // and what the policy wants waits
		if h := r.window(v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Automated: true}}); h != nil {
			out.Retry, out.Condition = h.Retry, &h.Condition
		}
	}
	return out
}

// tellWindows notes that an operation may begin as far as sync windows are concerned, where there are some.
func (r *run) tellWindows(op v1alpha1.Operation) {
	windows := r.windows()
	switch {
	case windows.None():
	case !op.InitiatedBy.Automated && !windows.CanSync(false, r.engine.Now()).Allowed:
		r.judged(gateWindow, allowed, "the sync windows of the project let a manual sync go on, and none that is automatic")
	default:
		r.judged(gateWindow, allowed, "the sync windows of the project let it go on")
	}
}

// How a refusal begins that is due to a sync window, and that of an operation which was held until its pin was over.
const (
	blocked  = "Cannot sync: Blocked by sync window: "
	outlived = "the rollback that it was asked for under is over"
)

// refusal returns the phase in which an operation ends that is refused. One that a window forbids, or that would be about
// another commit, was not tried, so it does not count as an attempt at its revisions: what the policy wants is done when
// the window lets it.
func refusal(d Decision, state *v1alpha1.OperationState) v1alpha1.OperationPhase {
	if !strings.HasPrefix(d.Refused, blocked) && !strings.HasPrefix(d.Refused, outlived) && !strings.HasPrefix(d.Refused, invalid) {
		return v1alpha1.OperationError
	}
	state.SyncResult = &v1alpha1.SyncOperationResult{}
	return v1alpha1.OperationFailed
}

// window asks the project's sync windows whether an operation may start now: nil, or why not.
func (r *run) window(op v1alpha1.Operation) *Held {
	now := r.engine.Now()
	windows, manual := r.windows(), !op.InitiatedBy.Automated
	return hold(windows, windows.CanSync(manual, now), manual, now)
}

// overrun asks the project's sync windows whether the operation that is under way may go on now: nil, or why not.
func (r *run) overrun(state *v1alpha1.OperationState) *Held {
	now := r.engine.Now()
	windows, manual := r.windows(), !state.Operation.InitiatedBy.Automated
	started := now // what a status says of the start, its Application's owner can have written
	if r.memory != nil && r.memory.underway != nil && sameOperation(r.memory.underway.operation, state.Operation) {
		started = r.began(r.memory.underway)
	}
	return hold(windows, windows.MayContinue(manual, started, now), manual, now)
}

// windows are the sync windows of the Application.
func (r *run) windows() project.Windows {
	if r.grant.rules == nil {
		return project.Windows{}
	}
	return r.grant.rules.Windows(project.AppFacts{
		Name: r.app.Name, Namespace: r.app.Spec.Destination.Namespace, Cluster: r.grant.cluster,
	})
}

func hold(windows project.Windows, v project.Verdict, manual bool, now time.Time) *Held {
	if v.Allowed {
		return nil
	}
	h := &Held{Refusal: blocked + v.Reason}
	until := "; its project's sync windows have to be changed before"
	if v.Until.IsZero() {
		h.Refusal += "; change the sync windows of the project"
	} else {
		h.Retry = min(v.Until.Sub(now), longestHold)
		until = " until " + v.Until.Format(time.RFC3339)
		h.Refusal += "; ask again at " + v.Until.Format(time.RFC3339) + ", or have manualSync: true set on the window"
	}
	switch {
	case manual:
		h.Condition.Message = v.Reason + ": the sync waits" + until
	case windows.CanSync(true, now).Allowed:
		h.Condition.Message = v.Reason + ": automatic syncs wait" + until + "; a manual sync is allowed"
	default:
		h.Condition.Message = v.Reason + ": automatic syncs wait" + until + "; a manual sync is not allowed either"
	}
	h.Condition.Type = v1alpha1.ConditionHeld
	return h
}
