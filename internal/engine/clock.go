package engine

import (
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
)

// clockAhead is how far the clock of a person's machine may be ahead of the agent's.
const clockAhead = 5 * time.Minute

// ran is a clock that nothing sets: only differences of it mean something.
func (e *Engine) ran() time.Duration {
	if e.Ran != nil {
		return e.Ran()
	}
	return e.Now().Sub(time.Unix(0, 0))
}

// began returns when an operation began, by the clock on the wall as it is now: it may have been set since.
func (r *run) began(u *underway) time.Time { return r.engine.Now().Add(u.since - r.engine.ran()) }

// age is how long ago an operation began that a status tells of. Where this process has seen that, a clock that is set does not
// change it; what a status says of a time that is still to come says nothing.
func (r *run) age(last *v1alpha1.OperationState) time.Duration {
	if r.kept.underway != nil {
		u := r.kept.underway
		if u.started.Unix() == last.StartedAt.Unix() && decide.SameOperation(u.operation, last.Operation) {
			return r.engine.ran() - u.since
		}
	}
	return max(0, r.engine.Now().Sub(last.StartedAt.Time))
}

// approved reports whether a person has confirmed deletions since a moment (annotation deletion-approved). A date that is
// still to come counts for nothing: until then, it would confirm all that is asked.
func (r *run) approved(since time.Time) bool {
	text := r.app.Annotations[v1alpha1.AnnotationDeletionApproved]
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(since.Truncate(time.Second)) {
		return false
	}
	if at.After(r.engine.Now().Add(clockAhead)) {
		r.warn(v1alpha1.ConditionUnsupported, []string{fmt.Sprintf(
			"annotation %s is %s, which is still to come, so it confirms nothing: correct the clock that it was made with, and confirm again",
			v1alpha1.AnnotationDeletionApproved, at.UTC().Format(time.RFC3339))})
		return false
	}
	return true
}
