package engine

import (
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Held says that a sync waits for a sync window.
type Held struct {
	Condition v1alpha1.ApplicationCondition // what waits, for what, and until when
	Message   string                        // of the operation that waits
	Refusal   string                        // what a preview says of an operation that would have to wait
	Retry     time.Duration                 // when to look again; 0: nothing changes by time alone
}

// longestHold is how long at most until the windows are looked at again: clocks of machines are changed, too.
const longestHold = time.Hour

// admit lets a decision stand as far as the project's sync windows allow. A sync that they forbid waits until they let it
// begin, and one that is under way and may not go on until they let it.
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
	if h == nil {
		if r.rollback != nil {
			r.judged(gatePin, allowed, PinText(r.rollback))
		}
		if !d.Going {
			r.tellWindows(d.Operation)
		}
		return d
	}
	out := Decision{Operation: d.Operation, Going: d.Going, Retry: h.Retry, Condition: &h.Condition}
	if d.Going || !d.Operation.InitiatedBy.Automated {
		out.Waits = h.Message
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

const (
	// blocked is the message of an operation that waits for a sync window, in the words of Argo CD.
	blocked = "Sync operation blocked by sync window"
	// outlived begins the refusal of an operation that was held until its pin was over.
	outlived = "the rollback that it was asked for under is over"
)

// refusal returns the phase in which an operation ends that is refused. One that would be about another commit, or about
// objects that may not be applied, was not tried, so it does not count as an attempt at its revisions.
func refusal(d Decision, state *v1alpha1.OperationState) v1alpha1.OperationPhase {
	if !strings.HasPrefix(d.Refused, outlived) && !strings.HasPrefix(d.Refused, invalid) {
		return v1alpha1.OperationError
	}
	state.SyncResult = &v1alpha1.SyncOperationResult{ManagedNamespaceMetadata: state.SyncResult.ManagedNamespaceMetadata}
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
	h := &Held{Message: blocked, Refusal: "Cannot sync: Blocked by sync window: " + v.Reason}
	until := "; its project's sync windows have to be changed before"
	if v.Until.IsZero() { // a person has to put that right
		h.Message += ": " + v.Reason
		h.Refusal += "; change the sync windows of the project"
	} else {
		h.Retry = min(v.Until.Sub(now), longestHold)
		until = " until " + v.Until.Format(time.RFC3339)
		h.Refusal += "; it waits until " + v.Until.Format(time.RFC3339) + "; manualSync: true on the window lets it begin before"
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
