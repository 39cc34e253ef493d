package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// decision is a decision in the making.
type decision struct {
	Case
	attempts int64
	verdicts []Verdict
}

// Decide says whether to sync now.
func Decide(c Case) Decision {
	m := decision{Case: c, attempts: c.Attempts.Made}
	d := m.admit(m.unbarred(m.freely()))
	if d.Go {
		d = m.guard(d)
	}
	d.Attempts, d.Verdicts = m.attempts, m.verdicts
	return d
}

// freely decides as if nothing could hold a sync.
func (m *decision) freely() Decision {
	if d, ok := m.going(); ok {
		return d
	}
	if m.App.Operation != nil {
		return m.asked(*m.App.Operation)
	}
	return m.automated()
}

// going finds the operation that has begun and is not over. An automated one gives way to another revision, an operation that
// was asked for to another one that was asked for.
func (m *decision) going() (Decision, bool) {
	last := m.App.Status.OperationState
	if !Begun(last) || !m.Inputs.Same(last) {
		return Decision{}, false
	}
	if op := m.App.Operation; op != nil {
		if !SameOperation(*op, last.Operation) {
			return Decision{}, false
		}
	} else if !last.Operation.InitiatedBy.Automated {
		return Decision{}, false
	}
	d := Decision{
		Go: true, Going: true, Operation: last.Operation, Heal: last.Operation.Sync != nil && last.Operation.Sync.AutoHealAttemptsCount > 0,
	}
	if op := last.Operation.Sync; op != nil {
		d.Prune, d.DryRun = op.Prune, op.DryRun
	}
	return d, true
}

func (m *decision) asked(op v1alpha1.Operation) Decision {
	d := Decision{Go: true, Operation: op}
	if d.Refused = m.refuse(op); d.Refused != "" {
		d.Go = false
		return d
	}
	if last := m.App.Status.OperationState; m.Inputs.Released != nil && Begun(last) && SameOperation(last.Operation, op) {
		d.Go, d.Refused = false, outlived+
			": Git has moved past it, and nothing was changed; request a sync again to deploy the present revision in Git"
		return d
	}
	if op.Sync != nil {
		d.Prune, d.DryRun = op.Sync.Prune, op.Sync.DryRun
	}
	if last := m.App.Status.OperationState; last == nil || !SameOperation(last.Operation, op) {
		m.attempts = 0 // those were attempts at something else
	}
	if wait := m.wait(op.Retry); wait > 0 {
		return Decision{Retry: wait, Operation: op}
	}
	return d
}

// Refuse says why the operation that was asked for cannot be done, "" where it can. It goes by the inputs and by what is
// shared.
func Refuse(c Case) string {
	if c.App.Operation == nil {
		return ""
	}
	m := decision{Case: c}
	return m.refuse(*c.App.Operation)
}

func (m *decision) refuse(op v1alpha1.Operation) string {
	on := Automated(m.App) != nil
	switch {
	case op.Sync == nil:
		return ""
	case len(op.Sync.Manifests) > 0 && on && !op.Sync.DryRun:
		return "automated sync is on and would revert it to Git immediately: turn it off (spec.syncPolicy.automated.enabled: " +
			"false) to sync local manifests"
	case m.sharing() != "":
		return m.sharing()
	case on && !op.Sync.DryRun && !Restores(op) && !m.asSpecified():
		return "automated sync is on and would revert it immediately: turn it off (spec.syncPolicy.automated.enabled: false) to sync to " +
			"another revision or source, or change spec.source.targetRevision"
	}
	return ""
}

// sharing says what of other Applications keeps a sync from running, where the sync options forbid it.
func (m *decision) sharing() string {
	if len(m.Found.Shared) == 0 || !object.AppOptions(Options(m.App)).FailOnShared.Is() {
		return ""
	}
	return "sync option FailOnSharedResource: nothing is synced: " + m.Found.Shared[0]
}

// asSpecified reports whether the inputs are the sources of the specification, at the revisions that it means.
func (m *decision) asSpecified() bool {
	if p, err := mark.ReadPin(m.App); err == nil && p != nil && slices.Equal(m.Inputs.Revisions, p.Revisions) {
		return true // a rollback says so instead
	}
	spec := m.App.Spec.EffectiveSources()
	if SameSources(m.Inputs.Sources, spec) {
		return true
	}
	return slices.Equal(m.Inputs.Revisions, m.Inputs.Specified) && SameSources(unrevised(m.Inputs.Sources), unrevised(spec))
}

// unrevised leaves the revisions out of sources.
func unrevised(sources []v1alpha1.ApplicationSource) []v1alpha1.ApplicationSource {
	out := slices.Clone(sources)
	for i := range out {
		out[i].TargetRevision = ""
	}
	return out
}

func (m *decision) automated() Decision {
	policy := Automated(m.App)
	if policy == nil || m.App.DeletionTimestamp != nil {
		return Decision{}
	}
	if why := m.sharing(); why != "" {
		return Decision{Condition: &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: why}}
	}
	prune := IsTrue(policy.Prune, false)
	if !m.differs(prune) {
		return m.settled(prune)
	}
	if n := len(m.Found.Changes); m.Found.Wanted == 0 && n > 0 && prune && !IsTrue(policy.AllowEmpty, false) {
		return Decision{Condition: &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: fmt.Sprintf(
			"the source renders no objects, and an automated sync would delete all %d live ones: nothing was deleted; "+
				"correct the source, or set spec.syncPolicy.automated.allowEmpty: true if it is meant", n)}}
	}
	return m.again(policy, Decision{Go: true, Prune: prune, Operation: m.automatic(prune)})
}

// differs reports whether an automated sync has something to do.
func (m *decision) differs(prune bool) bool {
	return m.Found.NamespaceDrifted || MetadataMoved(m.App) || slices.ContainsFunc(m.Found.Changes, func(c diff.Change) bool {
		return c.Verb == diff.Create || c.Verb == diff.Update || (c.Verb == diff.Delete && prune && !c.Ignored)
	})
}

// settled decides where an automated sync has nothing to do.
func (m *decision) settled(prune bool) Decision {
	if m.unreported() {
		return Decision{Go: true, Prune: prune, Untold: true, Operation: m.automatic(prune)}
	}
	if last := m.App.Status.OperationState; last != nil && hookFailed(last) && m.Inputs.Same(last) {
		return Decision{Condition: m.givenUp(last)} // no object shows it
	}
	return Decision{}
}

// automatic is what the policy asks for at the present revisions.
func (m *decision) automatic(prune bool) v1alpha1.Operation {
	op := v1alpha1.Operation{
		Sync:        &v1alpha1.SyncOperation{Prune: prune, SyncOptions: m.App.Spec.SyncPolicy.SyncOptions},
		InitiatedBy: v1alpha1.OperationInitiator{Automated: true},
		Retry:       v1alpha1.RetryStrategy{Limit: defaultRetries},
	}
	if m.App.Spec.SyncPolicy.Retry != nil {
		op.Retry = *m.App.Spec.SyncPolicy.Retry
	}
	if pin := m.Inputs.Pin; pin != nil {
		op.InitiatedBy.Username = pin.By
		reason := fmt.Sprintf("rollback to deployment %d", pin.ID)
		if pin.Reason != "" {
			reason += ": " + pin.Reason
		}
		op.Info = []v1alpha1.Info{{Name: "reason", Value: reason}, {Name: v1alpha1.InfoRollback, Value: v1alpha1.OptionTrue}}
		if pin.Request != "" {
			op.Info = append(op.Info, v1alpha1.Info{Name: v1alpha1.InfoRequest, Value: object.Brief(pin.Request, maxRequest)})
		}
	}
	if len(m.Inputs.Sources) == 1 {
		op.Sync.Revision = m.Inputs.Revisions[0]
	} else {
		op.Sync.Revisions = m.Inputs.Revisions
	}
	return op
}

// maxRequest bounds the id of a request in an operation, in characters.
const maxRequest = 100

// unreported reports whether an operation did its work and did not report it: the process ended, or the API server was away,
// between the last apply and the write of the status. Only what that left behind shows it: objects that the agent changed
// after the last operation that was reported, or that are gone and were reported. An operation that waits for another attempt,
// while nothing is left to do, is over too.
func (m *decision) unreported() bool {
	last := m.App.Status.OperationState
	var reported int64
	switch {
	case last == nil:
	case !last.Phase.Completed():
		return true
	case m.Inputs.Same(last):
		return false // what was put back after a change in the cluster need not be reported
	case last.FinishedAt != nil:
		reported = last.FinishedAt.Unix()
	}
	here := map[object.Key]bool{}
	if m.Found.Applied != nil {
		for key, at := range m.Found.Applied {
			if at > reported {
				return true
			}
			here[key] = true
		}
	}
	return slices.ContainsFunc(m.App.Status.Resources, func(s v1alpha1.ResourceStatus) bool {
		return !here[object.Key{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}]
	})
}

// defaultRetries is how often an automated sync is tried again when the Application does not say.
const defaultRetries = 5

// again looks at what the last operation did with the same revision.
func (m *decision) again(policy *v1alpha1.AutomatedSync, d Decision) Decision {
	last := m.App.Status.OperationState
	if last == nil || !m.Inputs.Same(last) || partial(last.Operation.Sync) {
		m.attempts = 0 // those were attempts at something else
		return d
	}
	switch {
	case last.Phase == v1alpha1.OperationSucceeded:
		// The revision was applied, so what differs now was changed in the cluster.
		if !IsTrue(policy.SelfHeal, false) {
			return Decision{}
		}
		d.Heal = true
		d.Operation.InitiatedBy.Username, d.Operation.Info = "", nil // it is automated, also while a rollback holds
		op := *d.Operation.Sync
		op.AutoHealAttemptsCount = 1
		d.Operation.Sync = &op
	case last.Phase.Completed():
		return Decision{Condition: m.givenUp(last)}
	default:
		if wait := m.wait(d.Operation.Retry); wait > 0 {
			return Decision{Retry: wait}
		}
	}
	return d
}

// partial reports whether an operation was about less than the whole of what the sources say: it says nothing of the rest.
func partial(op *v1alpha1.SyncOperation) bool {
	return op != nil && (op.DryRun || len(op.Resources) > 0 || len(op.Manifests) > 0)
}

// givenUp says that a sync failed for good.
func (m *decision) givenUp(last *v1alpha1.OperationState) *v1alpha1.ApplicationCondition {
	return &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: fmt.Sprintf(
		"the last sync to %s failed and is not tried again: %s%s", Short(m.Inputs.Revisions), last.Message, Causes(last))}
}

// hookFailed reports whether a sync is over in which a hook failed.
func hookFailed(last *v1alpha1.OperationState) bool {
	return last.Phase.Completed() && last.Phase != v1alpha1.OperationSucceeded && last.SyncResult != nil &&
		slices.ContainsFunc(last.SyncResult.Resources, func(out v1alpha1.ResourceResult) bool {
			return out.HookType != "" && out.HookPhase.Completed() && out.HookPhase != v1alpha1.OperationSucceeded
		})
}

// Same reports whether an operation was about these sources at these revisions.
func (in Inputs) Same(last *v1alpha1.OperationState) bool {
	if last.SyncResult == nil {
		return false
	}
	return slices.Equal(RevisionsOf(last.SyncResult), in.Revisions) && SameSources(SourcesOf(last.SyncResult), in.Sources)
}

// Refusal returns the phase in which an operation ends that is refused, and whether it counts as an attempt at its revisions: one
// that would be about another commit, or about objects that may not be applied, was not tried.
func (d Decision) Refusal() (phase v1alpha1.OperationPhase, tried bool) {
	if !strings.HasPrefix(d.Refused, outlived) && !d.Invalid() {
		return v1alpha1.OperationError, true
	}
	return v1alpha1.OperationFailed, false
}

// outlived begins the refusal of an operation that was held until its rollback was over.
const outlived = "the rollback that it was asked for under is over"
