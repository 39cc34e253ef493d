package agent

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Applications that wait for objects hear of these by watches. In case an event is lost, whatever still waits is looked at
// slowly once more.
const (
	// secondLook is the time between two looks; each is up to a fifth sooner or later.
	secondLook = 5 * time.Minute
	// looksOfOne and looksInAll bound the requests of one look.
	looksOfOne = 20
	looksInAll = 200
)

// waitPlace names the wait for a place at a destination, or among the turns of a project, in the metric.
const waitPlace = "place"

// looked is what waited at a look.
type looked struct {
	waiting map[registry.Name]bool
	called  map[registry.Name]v1alpha1.ApplicationDestination // that had not come to their places
}

// lookAgain gives whatever waits a slow second look until ctx ends.
func (a *Agent) lookAgain(ctx context.Context, every time.Duration) error {
	var before looked
	for {
		timer := time.NewTimer(clock.About(every))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		before = a.secondLook(ctx, before)
	}
}

// secondLook queues Applications that were not called although there is a place for them. It reads the objects that
// Applications wait for which waited at the look before already, and queues these, too. It returns what waits now.
func (a *Agent) secondLook(ctx context.Context, before looked) looked {
	for _, id := range a.turns.Overlooked(before.called, a.queue.Waits) {
		a.metrics.missedEvent(waitPlace)
		a.queue.Add(id)
	}
	now := looked{map[registry.Name]bool{}, a.turns.Promised()}
	left := looksInAll
	a.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		if !waiting(app) || !a.driver.Works(id) || ctx.Err() != nil {
			return
		}
		now.waiting[id] = true
		if !before.waiting[id] || left <= 0 {
			return
		}
		target, err := a.clusters.Target(ctx, app.Spec.ProjectName(), app.Spec.Destination)
		if err != nil {
			return // its turn says why
		}
		left -= target.Live.LookAgain(ctx, object.InstanceName(app.Namespace, app.Name, a.cfg.Namespace), min(left, looksOfOne))
		a.queue.Add(id) // a turn with nothing to do makes no request
	})
	return now
}

// waiting reports whether an Application waits for objects: an operation under way, its deletion, or its health.
func waiting(app *v1alpha1.Application) bool {
	return app.DeletionTimestamp != nil || status.UnderWay(app.Status.OperationState) || status.Terminating(app) ||
		app.Status.Health.Status == v1alpha1.HealthProgressing
}
