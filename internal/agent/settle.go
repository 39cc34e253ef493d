package agent

import (
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/health"
)

// settleWindow is how long the word of an automated sync may wait for the workloads that it changed, and how far apart
// the words about their progress are. Most are healthy again within it, and one write tells all. Writing an
// Application is the dearest request there is to an API server.
const settleWindow = time.Second

// untold is an operation that was done and not written down yet. Should the agent end meanwhile, the next one finds
// out from the objects that it was done.
type untold struct {
	operation *v1alpha1.OperationState
	until     time.Time // when it is told at the latest
}

// view is the Application as it is with what is untold: what the next turn builds on.
func view(app *v1alpha1.Application, u *untold) *v1alpha1.Application {
	if u == nil {
		return app
	}
	seen := *app
	seen.Status.OperationState = u.operation
	seen.Status.History = nextHistory(app, u.operation)
	return &seen
}

// settles reports whether the result of a turn waits to be told, and sees to it that it is told in time: when the
// Application is not Progressing any more, when something failed or somebody asked, or when the window is over.
func (a *Agent) settles(id name, e entry, res engine.Result, now time.Time) bool {
	if res.Err != nil || res.Retry > 0 || res.Health.Status != health.Progressing ||
		e.app.Operation != nil || e.app.Annotations[v1alpha1.AnnotationRefresh] != "" {
		return false
	}
	switch {
	case res.Operation == nil && e.untold != nil:
		return now.Before(e.untold.until) // the queue holds the turn at the end of the window already
	case res.Operation == nil:
		rest := e.told.Add(settleWindow).Sub(now)
		if rest > 0 && e.app.Status.Health.Status == v1alpha1.HealthProgressing {
			a.queue.addAfter(id, rest)
			return true
		}
		return false
	case e.untold != nil || res.Operation.Phase != v1alpha1.OperationSucceeded:
		return false
	}
	a.registry.hold(id, &untold{operation: res.Operation, until: now.Add(settleWindow)})
	a.queue.addAfter(id, settleWindow)
	return true
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
