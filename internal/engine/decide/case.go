// Package decide says whether an Application is synced now, and how: because it was asked for or because its policy wants
// it, as far as its project, the sync windows and the deletion guard let it. It is pure. Everything that a decision depends on
// is in a Case.
package decide

import (
	"iter"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Case is all that a decision depends on.
type Case struct {
	App      *v1alpha1.Application
	Now      time.Time // by the clock on the wall
	Inputs   Inputs
	Found    Found
	Gates    Gates
	Running  *Running // the operation that this process has begun; nil for none
	Attempts Attempts
}

// Inputs are what the live objects were compared with.
type Inputs struct {
	Sources   []v1alpha1.ApplicationSource // those that an operation or a rollback names, else those of the specification
	Revisions []string                     // resolved, one for each source
	Specified []string                     // what the specification means, where an operation names other sources
	Pin       *v1alpha1.Pin                // the rollback that holds; nil for none
	Released  *v1alpha1.Pin                // the rollback that Git has moved past just now; nil for none
}

// Found is what a comparison found.
type Found struct {
	Changes []diff.Change
	Shared  []string                     // what is wanted and belongs to others, one sentence for each
	Wanted  int                          // how many objects are wanted
	Applied iter.Seq2[object.Key, int64] // all objects, and when the agent last changed each, in seconds since 1970; nil for none
	Barred  []Barred
	// NamespaceDrifted reports that the destination namespace has lost metadata that the Application gives it.
	NamespaceDrifted bool
}

// Barred is a wanted object that may not be applied.
type Barred struct {
	Key     object.Key
	Hook    bool
	Unknown bool   // the cluster does not have its kind; else its project forbids it
	Why     string // one sentence
}

// Gates are what may hold a sync, beside what is barred.
type Gates struct {
	Windows project.Windows
	Budget  plan.Budget
	Whose   string // whom the budget is of: "Application", "project" or "agent"
	Problem string // why a budget cannot be read, so that another one counts; "" for none
	// Loses says what objects take with them that is not the Application's, "" for nothing. It is asked only where the
	// deletion guard holds a sync; nil answers nothing.
	Loses func(deletions []object.Key) string
}

// Running is an operation that this process has begun.
type Running struct {
	Operation v1alpha1.Operation
	Revisions []string
	Began     time.Time // by the clock on the wall as it is now
	Acted     bool      // it has done something
}

// Attempts is how often an operation was tried, and when it may be again.
type Attempts struct {
	Made int64         // attempts that failed
	Due  bool          // the wait before the next one is over
	Rest time.Duration // how long that wait is at most, by a clock that nothing sets; 0 where that is not known
}

// Decision says whether an operation runs now.
type Decision struct {
	Go        bool
	Going     bool // it has begun already
	Terminate bool // it is to end before it is done
	Heal      bool // it puts back what was changed in the cluster: no hooks, nothing but what differs
	Prune     bool
	DryRun    bool
	Untold    bool // it has nothing to do: a process that ended did the work, and did not report it
	Operation v1alpha1.Operation

	Held      string        // why it waits for a person, although it could run
	Waits     string        // what an operation says that waits for a sync window
	Refused   string        // why an operation that was asked for is not done at all
	Retry     time.Duration // when to decide again, if the answer may change by time alone
	Condition *v1alpha1.ApplicationCondition

	Attempts int64       // that this operation has behind it
	Leave    guard.Leave // what it may delete
	Warning  string      // about the deletion budget; "" for none
	Verdicts []Verdict   // of the gates, in order
}

// Verdict is the answer of one gate to an operation.
type Verdict struct{ Gate, Outcome, Message string }

// Gates that a Verdict names.
const (
	GateGuard    = "guard"
	GateWindow   = "window"
	GatePin      = "pin"
	GateApproval = "approval"
	// GateSignature asks who signed what is deployed.
	GateSignature = "signature"
)

// What a Verdict says.
const (
	Allowed   = "allowed"
	Confirmed = "confirmed" // by a person
)

// Retries says how an operation is tried again when it fails: one that is to end is not.
func (d Decision) Retries() v1alpha1.RetryStrategy {
	if d.Terminate {
		return v1alpha1.RetryStrategy{}
	}
	return d.Operation.Retry
}
