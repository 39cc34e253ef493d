package decide

import (
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Hold says that a sync waits for a sync window.
type Hold struct {
	Condition v1alpha1.ApplicationCondition // what waits, for what, and until when
	Message   string                        // of the operation that waits
	Refusal   string                        // what a preview says of an operation that would have to wait
	Retry     time.Duration                 // when to look again; 0: nothing changes by time alone
}

// longestHold is how long at most until the windows are looked at again: clocks of machines are changed, too.
const longestHold = time.Hour

// blocked is the message of an operation that waits for a sync window, in the words of Argo CD.
const blocked = "Sync operation blocked by sync window"

// admit lets a decision stand as far as the project's sync windows allow. A sync that they forbid waits until they let it begin,
// and one that is under way and may not go on until they let it.
func (m *decision) admit(d Decision) Decision {
	if !d.Go || d.Terminate {
		return d
	}
	var h *Hold
	if d.Going {
		h = m.overrun(m.App.Status.OperationState)
	} else {
		h = Window(m.Gates.Windows, d.Operation, m.Now)
	}
	if h == nil {
		if m.Inputs.Pin != nil {
			m.judged(GatePin, Allowed, PinText(m.Inputs.Pin))
		}
		if !d.Going {
			m.admitted(d.Operation)
		}
		return d
	}
	out := Decision{Operation: d.Operation, Going: d.Going, Retry: h.Retry, Condition: &h.Condition}
	if d.Going || !d.Operation.InitiatedBy.Automated {
		out.Waits = h.Message
	}
	return out
}

// admitted notes that an operation may begin as far as sync windows are concerned, where there are some.
func (m *decision) admitted(op v1alpha1.Operation) {
	switch windows := m.Gates.Windows; {
	case windows.None():
	case !op.InitiatedBy.Automated && !windows.CanSync(false, m.Now).Allowed:
		m.judged(GateWindow, Allowed, "the sync windows of the project let a manual sync go on, and none that is automatic")
	default:
		m.judged(GateWindow, Allowed, "the sync windows of the project let it go on")
	}
}

// judged notes the answer of a gate.
func (m *decision) judged(gate, outcome, message string) {
	m.verdicts = append(m.verdicts, Verdict{gate, outcome, message})
}

// overrun asks the sync windows whether the operation that is under way may go on now: nil, or why not. What a status says of its
// start, the owner of the Application can have written: it counts only where this process began the operation.
func (m *decision) overrun(state *v1alpha1.OperationState) *Hold {
	manual, started := !state.Operation.InitiatedBy.Automated, m.Now
	if m.Running != nil && SameOperation(m.Running.Operation, state.Operation) {
		started = m.Running.Began
	}
	return hold(m.Gates.Windows, m.Gates.Windows.MayContinue(manual, started, m.Now), manual, m.Now)
}

// Window asks sync windows whether an operation may begin now: nil, or why not.
func Window(windows project.Windows, op v1alpha1.Operation, now time.Time) *Hold {
	manual := !op.InitiatedBy.Automated
	return hold(windows, windows.CanSync(manual, now), manual, now)
}

func hold(windows project.Windows, v project.Verdict, manual bool, now time.Time) *Hold {
	if v.Allowed {
		return nil
	}
	h := &Hold{Message: blocked, Refusal: "Cannot sync: Blocked by sync window: " + v.Reason}
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
