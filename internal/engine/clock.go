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
func (t *turn) began(u *underway) time.Time { return t.engine.Now().Add(u.since - t.engine.ran()) }

// age is how long ago the operation of a status began. Where this process has seen that, a clock that is set does not
// change it; what a status says of a time that is still to come says nothing.
func (t *turn) age(last *v1alpha1.OperationState) time.Duration {
	if t.kept.underway != nil {
		u := t.kept.underway
		if u.started.Unix() == last.StartedAt.Unix() && decide.SameOperation(u.operation, last.Operation) {
			return t.engine.ran() - u.since
		}
	}
	return max(0, t.engine.Now().Sub(last.StartedAt.Time))
}

// approved reports whether a person has confirmed deletions since a moment (annotation deletion-approved). A date in the
// future is ignored: until then, it would confirm all that is asked.
// It returns what is wrong with the annotation, where something is.
func (t *turn) approved(since time.Time) (is bool, fault []string) {
	text := t.app.Annotations[v1alpha1.AnnotationDeletionApproved]
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(since.Truncate(time.Second)) {
		return false, nil
	}
	if at.After(t.engine.Now().Add(clockAhead)) {
		return false, []string{fmt.Sprintf(
			"annotation %s is %s, which is still to come, so it confirms nothing: correct the clock that it was made with, and confirm again",
			v1alpha1.AnnotationDeletionApproved, at.UTC().Format(time.RFC3339))}
	}
	return true, nil
}
