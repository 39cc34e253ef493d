package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Decision says whether an operation runs now.
type Decision struct {
	Go        bool
	Going     bool // it has begun already
	Terminate bool // it is to end before it is done
	Heal      bool // it puts back what was changed in the cluster: no hooks, nothing but what differs
	Prune     bool
	DryRun    bool
	Operation v1alpha1.Operation
	Held      string        // why it waits for a person or a date, although it could run
	Waits     string        // what an operation says that waits for a sync window
	Refused   string        // why an operation that was asked for is not done at all
	Retry     time.Duration // when to look again, if the answer may change by time alone
	Condition *v1alpha1.ApplicationCondition
}

// decide says whether to sync now: because somebody asked, or because the policy wants it.
func (r *run) decide(ctx context.Context) Decision {
	d := r.admit(r.unbarred(r.decideFreely()))
	if !d.Go {
		return d
	}
	if held := r.guard(ctx, d); held != "" {
		d.Go, d.Held = false, held
	}
	return d
}

// decideFreely decides as if nothing could hold a sync.
func (r *run) decideFreely() Decision {
	if d, ok := r.decideGoing(); ok {
		return d
	}
	if op := r.operation(); op != nil {
		return r.decideAsked(*op)
	}
	return r.decideAutomated()
}

// decideGoing finds the operation that has begun and is not over. An automated one gives way to another revision, an
// operation that was asked for to another one that was asked for.
func (r *run) decideGoing() (Decision, bool) {
	last := r.app.Status.OperationState
	if !begun(last) || !r.sameInputs(last) {
		return Decision{}, false
	}
	if op := r.operation(); op != nil {
		if !sameOperation(*op, last.Operation) {
			return Decision{}, false
		}
	} else if !last.Operation.InitiatedBy.Automated {
		return Decision{}, false
	}
	d := Decision{Go: true, Going: true, Operation: last.Operation, Heal: last.Operation.Sync != nil && last.Operation.Sync.AutoHealAttemptsCount > 0}
	if op := last.Operation.Sync; op != nil {
		d.Prune, d.DryRun = op.Prune, op.DryRun
	}
	return d, true
}

func (r *run) decideAsked(op v1alpha1.Operation) Decision {
	d := Decision{Go: true, Operation: op}
	if d.Refused = r.refuse(op.Sync); d.Refused != "" {
		d.Go = false
		return d
	}
	if last := r.app.Status.OperationState; r.released != nil && begun(last) && sameOperation(last.Operation, op) {
		d.Go, d.Refused = false, outlived+": Git has moved past it, and nothing was changed; ask again to sync what Git says now"
		return d
	}
	if op.Sync != nil {
		d.Prune, d.DryRun = op.Sync.Prune, op.Sync.DryRun
	}
	if last := r.app.Status.OperationState; last == nil || !sameOperation(last.Operation, op) {
		r.req.Retries = 0 // those were attempts at something else
	}
	if wait := r.backoff(op.Retry); wait > 0 {
		return Decision{Retry: wait, Operation: op}
	}
	return d
}

// refuse says why an operation cannot do what it asks for, "" when it can.
func (r *run) refuse(op *v1alpha1.SyncOperation) string {
	switch {
	case op == nil:
		return ""
	case len(op.Manifests) > 0 && r.automated() != nil && !op.DryRun:
		return "automated sync is on and would go back to Git at once: turn it off (spec.syncPolicy.automated.enabled: false) to sync local manifests"
	case r.sharing() != "":
		return r.sharing()
	case r.automated() != nil && !op.DryRun && !restoring(*r.operation()) && !r.sameAsSpec():
		return "automated sync is on and would go back at once: turn it off (spec.syncPolicy.automated.enabled: false) to sync to " +
			"another revision or source, or change spec.source.targetRevision"
	}
	return ""
}

// sharing says what of other Applications keeps a sync from running, where the sync options forbid it.
func (r *run) sharing() string {
	if len(r.shared) == 0 || !object.AppOptions(r.syncOptions()).FailOnShared.Is() {
		return ""
	}
	return "sync option FailOnSharedResource: nothing is synced: " + r.shared[0]
}

// sameAsSpec reports whether the sources at hand are those of the specification, at the revisions that it means.
func (r *run) sameAsSpec() bool {
	if p, err := ReadPin(r.app); err == nil && p != nil && slices.Equal(r.revisions, p.Revisions) {
		return true // a rollback says so instead
	}
	if sameSources(r.sources, r.app.Spec.EffectiveSources()) {
		return true
	}
	return slices.Equal(r.revisions, r.specified) && sameSources(unrevised(r.sources), unrevised(r.app.Spec.EffectiveSources()))
}

// unrevised leaves the revisions out of sources.
func unrevised(sources []v1alpha1.ApplicationSource) []v1alpha1.ApplicationSource {
	out := slices.Clone(sources)
	for i := range out {
		out[i].TargetRevision = ""
	}
	return out
}

// automated returns the policy if automated sync is on.
func (r *run) automated() *v1alpha1.AutomatedSync {
	if p := r.app.Spec.SyncPolicy; p != nil && p.Automated != nil && isTrue(p.Automated.Enabled, true) {
		return p.Automated
	}
	return nil
}

func isTrue(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

func (r *run) decideAutomated() Decision {
	policy := r.automated()
	if policy == nil || r.app.DeletionTimestamp != nil {
		return Decision{}
	}
	if why := r.sharing(); why != "" {
		return Decision{Condition: &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: why}}
	}
	prune := isTrue(policy.Prune, false)
	if !slices.ContainsFunc(r.changes, func(c diff.Change) bool {
		return c.Verb == diff.Create || c.Verb == diff.Update || (c.Verb == diff.Delete && prune && !c.Ignored)
	}) && !r.strayed && !r.metadataMoved() {
		if r.untold() {
			r.untellable = true
			return Decision{Go: true, Prune: prune, Operation: r.automaticOperation(prune)}
		}
		if last := r.app.Status.OperationState; last != nil && hookFailed(last) && r.sameInputs(last) {
			return Decision{Condition: r.givenUp(last)} // no object shows it
		}
		return Decision{}
	}
	if len(r.memory.wanted) == 0 && len(r.changes) > 0 && prune && !isTrue(policy.AllowEmpty, false) {
		return Decision{Condition: &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: fmt.Sprintf(
			"the source renders no objects, and an automated sync would delete all %d live ones: nothing was deleted; "+
				"correct the source, or set spec.syncPolicy.automated.allowEmpty: true if it is meant", len(r.changes))}}
	}
	return r.decideAgain(policy, Decision{Go: true, Prune: prune, Operation: r.automaticOperation(prune)})
}

// automaticOperation is what the policy asks for at the present revisions.
func (r *run) automaticOperation(prune bool) v1alpha1.Operation {
	op := v1alpha1.Operation{
		Sync:        &v1alpha1.SyncOperation{Prune: prune, SyncOptions: r.app.Spec.SyncPolicy.SyncOptions},
		InitiatedBy: v1alpha1.OperationInitiator{Automated: true},
		Retry:       v1alpha1.RetryStrategy{Limit: defaultRetries},
	}
	if r.app.Spec.SyncPolicy.Retry != nil {
		op.Retry = *r.app.Spec.SyncPolicy.Retry
	}
	if r.rollback != nil {
		op.InitiatedBy.Username = r.rollback.By
		reason := fmt.Sprintf("rollback to deployment %d", r.rollback.ID)
		if r.rollback.Reason != "" {
			reason += ": " + r.rollback.Reason
		}
		op.Info = []v1alpha1.Info{{Name: "reason", Value: reason}, {Name: v1alpha1.InfoRollback, Value: v1alpha1.OptionTrue}}
		if r.rollback.Request != "" {
			op.Info = append(op.Info, v1alpha1.Info{Name: v1alpha1.InfoRequest, Value: object.Brief(r.rollback.Request, maxRequest)})
		}
	}
	if len(r.sources) == 1 {
		op.Sync.Revision = r.revisions[0]
	} else {
		op.Sync.Revisions = r.revisions
	}
	return op
}

// maxRequest bounds the id of a request in an operation, in characters.
const maxRequest = 100

// untold reports whether an operation did its work and nobody was told: the process ended, or the API server was
// away, between the last apply and the write of the status. Only what that left behind shows it: objects that we
// changed after the last operation that is told of, or that are gone and were told of. An operation that waits for
// another attempt, while nothing is left to do, is over too.
func (r *run) untold() bool {
	last := r.app.Status.OperationState
	var told int64
	switch {
	case last == nil:
	case !last.Phase.Completed():
		return true
	case r.sameInputs(last):
		return false // what was put back after a change in the cluster need not be told
	case last.FinishedAt != nil:
		told = last.FinishedAt.Unix()
	}
	here := make(map[object.Key]bool, len(r.states))
	for _, s := range r.states {
		if s.applied > told {
			return true
		}
		here[s.key] = true
	}
	return slices.ContainsFunc(r.app.Status.Resources, func(s v1alpha1.ResourceStatus) bool {
		return !here[object.Key{Group: s.Group, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}]
	})
}

// defaultRetries is how often an automated sync is tried again when the Application does not say.
const defaultRetries = 5

// decideAgain looks at what the last operation did with the same revision.
func (r *run) decideAgain(policy *v1alpha1.AutomatedSync, d Decision) Decision {
	last := r.app.Status.OperationState
	if last == nil || !r.sameInputs(last) || partial(last.Operation.Sync) {
		r.req.Retries = 0 // those were attempts at something else
		return d
	}
	switch {
	case last.Phase == v1alpha1.OperationSucceeded:
		// The revision was applied, so what differs now was changed in the cluster.
		if !isTrue(policy.SelfHeal, false) {
			return Decision{}
		}
		d.Heal = true
		d.Operation.InitiatedBy.Username, d.Operation.Info = "", nil // also while a rollback holds, nobody asked for this
		op := *d.Operation.Sync
		op.AutoHealAttemptsCount = 1
		d.Operation.Sync = &op
	case last.Phase.Completed():
		return Decision{Condition: r.givenUp(last)}
	default:
		if wait := r.backoff(d.Operation.Retry); wait > 0 {
			return Decision{Retry: wait}
		}
	}
	return d
}

// partial reports whether an operation was about less than the whole of what the sources say: it says nothing of the
// rest.
func partial(op *v1alpha1.SyncOperation) bool {
	return op != nil && (op.DryRun || len(op.Resources) > 0 || len(op.Manifests) > 0)
}

// givenUp says that a sync failed for good.
func (r *run) givenUp(last *v1alpha1.OperationState) *v1alpha1.ApplicationCondition {
	return &v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionSyncError, Message: fmt.Sprintf(
		"the last sync to %s failed and is not tried again: %s%s", short(r.revisions), last.Message, causes(last))}
}

// hookFailed reports whether a sync is over in which a hook failed.
func hookFailed(last *v1alpha1.OperationState) bool {
	return last.Phase.Completed() && last.Phase != v1alpha1.OperationSucceeded && last.SyncResult != nil &&
		slices.ContainsFunc(last.SyncResult.Resources, func(out v1alpha1.ResourceResult) bool {
			return out.HookType != "" && out.HookPhase.Completed() && out.HookPhase != v1alpha1.OperationSucceeded
		})
}

// sameInputs reports whether an operation was about the present sources at the present revisions.
func (r *run) sameInputs(last *v1alpha1.OperationState) bool {
	if last.SyncResult == nil {
		return false
	}
	return slices.Equal(revisionsOf(last.SyncResult), r.revisions) && sameSources(sourcesOf(last.SyncResult), r.sources)
}

// backoff returns how long to wait before the next attempt of an operation that failed, 0 for now.
func (r *run) backoff(retry v1alpha1.RetryStrategy) time.Duration {
	if r.req.Retries == 0 || r.req.Due {
		return 0
	}
	delay := RetryDelay(retry, r.req.Retries)
	if last := r.app.Status.OperationState; last != nil && last.FinishedAt != nil {
		// The wait began when the attempt failed: turns for other reasons must not begin it anew.
		delay -= max(0, r.engine.Now().Sub(last.FinishedAt.Time))
	}
	if r.req.Rest > 0 { // after the clock was set back, the attempt failed in a time that is still to come
		delay = min(delay, r.req.Rest)
	}
	return max(0, delay)
}

// RetryDelay returns the wait before attempt number n (1 is the first repetition): duration * factor^(n-1), at most
// maxDuration; 5 s, 2 and 3 m by default.
func RetryDelay(retry v1alpha1.RetryStrategy, n int64) time.Duration {
	delay, longest, factor := 5*time.Second, 3*time.Minute, int64(2)
	if b := retry.Backoff; b != nil {
		if d, err := parseDuration(b.Duration); err == nil && d > 0 {
			delay = d
		}
		if d, err := parseDuration(b.MaxDuration); err == nil && d > 0 {
			longest = d
		}
		if b.Factor != nil && *b.Factor > 0 {
			factor = *b.Factor
		}
	}
	for ; n > 1 && factor > 1 && delay < longest; n-- {
		if delay > longest/time.Duration(factor) {
			return longest // and the product may be more than a Duration holds
		}
		delay *= time.Duration(factor)
	}
	return min(delay, longest)
}

// parseDuration reads "5s", "3m", or a bare number of seconds.
func parseDuration(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return time.ParseDuration(text + "s")
}

func short(revisions []string) string {
	var out string
	for i, rev := range revisions {
		if i > 0 {
			out += ", "
		}
		out += rev[:min(len(rev), 7)]
	}
	return out
}
