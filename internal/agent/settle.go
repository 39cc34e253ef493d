package agent

import (
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/source"
)

// settleWindow is how long the word of an automated sync may wait for the workloads that it changed, and how far apart
// the words about their progress are. Most are healthy again within it, and one write tells all. Writing an
// Application is the dearest request there is to an API server.
const settleWindow = time.Second

// The words about one Application are so far apart that at most a tenth of the time goes into writing them: one of 5,000
// objects takes an API server a second when it is busy, and that is a second in which it applies nothing.
const (
	paceFactor  = 10
	longestPace = 15 * time.Second
)

// paceOf returns how far apart the words about an Application's progress are, when the last one took so long to write.
func paceOf(took time.Duration) time.Duration {
	return max(settleWindow, min(paceFactor*took, longestPace))
}

// untold is an operation that was done, or is under way, and not written down as it is. Should the agent end meanwhile,
// the next one finds out from the objects that it was done.
type untold struct {
	operation *v1alpha1.OperationState
	changes   []source.Change
	until     time.Time // when it is told at the latest
}

// view is the Application as it is with what is untold: what the next turn builds on. The wish to end an operation is
// news.
func view(app *v1alpha1.Application, u *untold) *v1alpha1.Application {
	if u == nil || terminating(app) {
		return app
	}
	seen := *app
	seen.Status.OperationState = u.operation
	if u.operation.Phase == v1alpha1.OperationSucceeded {
		seen.Status.History = nextHistory(app, u.operation)
	}
	return &seen
}

// settles reports whether the result of a turn waits to be told, and sees to it that it is told in time: when the
// Application is not Progressing any more, when something failed or somebody asked, or when the window is over.
func (a *Agent) settles(id name, e entry, res engine.Result, now time.Time) bool {
	if res.Err != nil || res.Retry > 0 || e.app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		return false
	}
	told, pace := a.registry.rhythm(id)
	rest := told.Add(pace).Sub(now)
	if underWay(res.Operation) {
		if rest <= 0 || terminating(e.app) || !sameHooks(e.app.Status.OperationState, res.Operation) {
			return false
		}
		a.registry.hold(id, &untold{operation: res.Operation, until: now.Add(rest)})
		a.queue.addAfter(id, rest)
		if res.Wake > 0 && res.Wake < rest {
			a.queue.addAfter(id, res.Wake)
		}
		return true
	}
	if res.Health.Status != health.Progressing || e.app.Operation != nil {
		return false
	}
	switch {
	case res.Operation == nil && e.untold != nil:
		return now.Before(e.untold.until) // the queue holds the turn at the end of the window already
	case res.Operation == nil:
		if rest > 0 && e.app.Status.Health.Status == v1alpha1.HealthProgressing {
			a.queue.addAfter(id, rest)
			return true
		}
		return false
	case e.untold != nil || res.Operation.Phase != v1alpha1.OperationSucceeded:
		return false
	}
	a.registry.hold(id, &untold{operation: res.Operation, changes: res.Changes, until: now.Add(settleWindow)})
	a.queue.addAfter(id, settleWindow)
	return true
}

// underWay reports whether an operation has begun and is neither over nor waiting for its next attempt.
func underWay(o *v1alpha1.OperationState) bool {
	return o != nil && o.Phase == v1alpha1.OperationRunning && o.FinishedAt == nil
}

// sameHooks reports whether an operation has the hooks that the status tells of, or announces. A hook that has begun must be
// known to the next agent: it would run it again. How it ended shows in the cluster.
func sameHooks(told, now *v1alpha1.OperationState) bool {
	known := map[hookName]bool{}
	if told != nil && told.SyncResult != nil && told.StartedAt.Unix() == now.StartedAt.Unix() {
		for _, h := range told.SyncResult.Resources {
			known[hookOf(h)] = true
		}
	}
	return !slices.ContainsFunc(now.SyncResult.Resources, func(h v1alpha1.ResourceResult) bool {
		return h.HookType != "" && !known[hookOf(h)]
	})
}

// hookName names a hook of an operation.
type hookName struct {
	object.Key
	phase v1alpha1.SyncPhase
	hook  v1alpha1.HookType
}

func hookOf(h v1alpha1.ResourceResult) hookName {
	return hookName{object.Key{Group: h.Group, Kind: h.Kind, Namespace: h.Namespace, Name: h.Name}, h.SyncPhase, h.HookType}
}

// hold keeps an operation that is untold.
func (r *registry) hold(id name, u *untold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.untold = u
	}
}

// toldAll notes that nothing is untold any more.
func (r *registry) toldAll(id name, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.untold, e.told = nil, now
	}
}

// wrote notes that an Application was written just now, and how long that took.
func (r *registry) wrote(id name, now time.Time, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		e.told, e.pace = now, paceOf(took)
	}
}

// rhythm returns when the status of an Application was last made what it should be, and how far apart words about it are.
func (r *registry) rhythm(id name) (told time.Time, pace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[id]; e != nil {
		return e.told, e.rhythm()
	}
	return time.Time{}, settleWindow
}

// rhythm returns how far apart words about the Application are.
func (e *entry) rhythm() time.Duration { return max(e.pace, settleWindow) }
