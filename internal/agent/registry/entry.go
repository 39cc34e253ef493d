package registry

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Name identifies an Application.
type Name = types.NamespacedName

// NameOf is what identifies an Application.
func NameOf(app *v1alpha1.Application) Name {
	return Name{Namespace: app.Namespace, Name: app.Name}
}

// Entry is an Application as last seen, and what the queue must remember of it between two turns.
type Entry struct {
	App        *v1alpha1.Application
	Unknown    []string // fields that no type of ours has
	version    uint64
	Asked      Ask
	Due        time.Time     // before it, a failed operation is not tried again
	waits      bool          // time alone can change something: a window, a date, the next attempt, the end of an operation
	fails      int           // failures in a row
	Unreported *Unreported   // an operation that is not in the status yet as it is
	ReportedAt time.Time     // when the status was last made what it should be
	pace       time.Duration // how far apart words about its progress are
}

// Ask collects what the next turn of an Application must do beyond looking.
type Ask struct {
	Since time.Time // earlier reports of repositories are ignored; zero: what is known will do
	Trace string    // the trace that asks for it; "" for none
}

// SettleWindow is how long the word of an automated sync may wait for the workloads that it changed, and how far apart
// the words about their progress are. Most are healthy again within it, and one write reports all. Writing an
// Application is the dearest request there is to an API server.
const SettleWindow = time.Second

// The words about one Application are so far apart that at most a tenth of the time goes into writing them: one of 5,000
// objects takes an API server a second when it is busy, and that is a second in which it applies nothing.
const (
	paceFactor  = 10
	longestPace = 15 * time.Second
)

// paceOf returns how far apart the words about an Application's progress are, when the last one took so long to write.
func paceOf(took time.Duration) time.Duration {
	return max(SettleWindow, min(paceFactor*took, longestPace))
}

// Unreported is an operation that was done, or is under way, and not in the status as it is. If the agent ends in between,
// the next one finds out from the objects that it was done.
type Unreported struct {
	Operation *v1alpha1.OperationState
	Changes   []source.Change
	Until     time.Time // when it is reported at the latest
}

// View is the Application as it is with what is not reported: what the next turn builds on. The wish to end an operation is
// news.
func View(app *v1alpha1.Application, u *Unreported) *v1alpha1.Application {
	if u == nil || status.Terminating(app) {
		return app
	}
	seen := *app
	seen.Status.OperationState = u.Operation
	if u.Operation.Phase == v1alpha1.OperationSucceeded {
		seen.Status.History = status.History(app, u.Operation)
	}
	return &seen
}

// Rhythm returns how far apart words about the Application are.
func (e *Entry) Rhythm() time.Duration { return max(e.pace, SettleWindow) }
