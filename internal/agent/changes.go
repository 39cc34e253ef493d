package agent

import (
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
)

// kindsChanged queues the Applications that could not be compared: the kind that they miss may be there now.
func (a *Agent) kindsChanged() { a.askFailed(registry.Ask{}) }

// settingsChanged queues the Applications that could not be compared: the credential that they miss may be there now. It
// queues all when something else counts as a difference, or as the mark of an Application, or when other kinds are left alone.
func (a *Agent) settingsChanged() {
	a.linked.SettingsChanged()
	a.inheritProjects()
	a.askFailed(registry.Ask{Since: time.Now()})
	judged, closed := a.clusters.SettingsChanged()
	if closed && a.linked != nil {
		a.registry.Each(a.linked.UseInstances)
	}
	signed := a.trust.Refresh()
	if _, changed := a.differences.Refresh(); changed || judged || signed {
		a.registry.Each(func(id registry.Name, _ *v1alpha1.Application) { a.registry.Ask(id, registry.Ask{}, true) })
	}
}

// inheritProjects sets which of the projects are global.
func (a *Agent) inheritProjects() {
	a.projects.Inherit(a.settings.Config(place.ConfigArgoCD)["globalProjects"])
}

// askFailed queues the Applications that could not be compared. One whose turn is under way is not among them yet: it
// sees by the count that it has to look again.
func (a *Agent) askFailed(wish registry.Ask) {
	a.heard.Add(1)
	a.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		if a.shadow.Failed(id) || uncompared(app) {
			a.registry.Ask(id, wish, true)
		}
	})
}

// uncompared reports whether the status says that an Application could not be compared.
func uncompared(app *v1alpha1.Application) bool {
	return slices.ContainsFunc(app.Status.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ConditionComparisonError || c.Type == v1alpha1.ConditionInvalidSpecError
	})
}

// projectChanged queues the Applications of a project: what they may do may be another now.
func (a *Agent) projectChanged(called string) {
	a.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		if app.Spec.ProjectName() == called {
			a.queue.Add(id)
		}
	})
}

// revisionsMoved queues the Applications that a change of a repository concerns: those for which something that they
// read is not what it was. The others get no turn, and nothing is written for them.
func (a *Agent) revisionsMoved(followers []registry.Name, revision string) {
	a.background.Go(func() {
		ctx, parent := a.ctx, ""
		for _, id := range followers {
			if app, ok := a.registry.Get(id); ok && !a.engine.Unaffected(ctx, app) {
				if parent == "" {
					parent = a.traces.moved(revision)
				}
				a.registry.Ask(id, registry.Ask{Trace: parent}, true)
			}
		}
	})
}
