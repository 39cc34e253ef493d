package agent

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
)

// resting is an Application that nothing is to be done about.
func resting() *v1alpha1.Application {
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/shop", Path: "web"}}}
	app.Status.Sync = v1alpha1.SyncStatus{Status: v1alpha1.SyncStatusSynced, Revision: "r1", ComparedTo: v1alpha1.ComparedTo{Source: *app.Spec.Source}}
	app.Status.Health.Status = v1alpha1.HealthHealthy
	return app
}

// restful is an Agent that has a queue and a registry with one Application, and nothing else.
func restful(t *testing.T, app *v1alpha1.Application) (*Agent, registry.Name) {
	t.Helper()
	app.Name, app.Namespace, app.ResourceVersion = "web", "argocd", "1"
	a := &Agent{turner: turner{queue: registry.NewQueue(nil)}}
	t.Cleanup(a.queue.Close)
	a.registry = registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})
	a.registry.Seen(app, nil)
	return a, registry.Name{Namespace: "argocd", Name: "web"}
}

func TestAnotherAttemptIsNotForgottenOverADateThatIsFarAway(t *testing.T) {
	t.Parallel()
	a, id := restful(t, resting())
	a.followUp(id, resting(), engine.Result{Wake: 30 * 24 * time.Hour, Retry: time.Millisecond}, a.heard.Load())
	if e, _ := a.registry.Take(id); e.Due.IsZero() {
		t.Error("the attempt is not noted")
	}
	if got, ok := a.queue.Next(); !ok || got != id {
		t.Errorf("the next turn is for %s", got)
	}
}

func TestADeploymentOfSomethingElseIsComparedAgainOnceItIsOver(t *testing.T) {
	t.Parallel()
	app := resting()
	app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "r2"}}
	for phase, want := range map[v1alpha1.OperationPhase]int{v1alpha1.OperationRunning: 0, v1alpha1.OperationSucceeded: 1, v1alpha1.OperationFailed: 1} {
		a, id := restful(t, app)
		a.followUp(id, app, engine.Result{Operation: &v1alpha1.OperationState{Phase: phase}}, a.heard.Load())
		if n, _ := a.queue.Depth(); n != want {
			t.Errorf("%s: %d turns, want %d", phase, n, want)
		}
	}
}

func TestManifestsOfAnOperationAreSomethingElseThanTheSpecification(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op   *v1alpha1.SyncOperation
		want bool
	}{
		{nil, false},
		{&v1alpha1.SyncOperation{Prune: true}, false},
		{&v1alpha1.SyncOperation{Revision: "r2"}, true},
		{&v1alpha1.SyncOperation{Manifests: []string{"{}"}}, true},
		{&v1alpha1.SyncOperation{Sources: []v1alpha1.ApplicationSource{{}}}, true},
	} {
		if got := decide.Overrides(c.op); got != c.want {
			t.Errorf("%+v: %t", c.op, got)
		}
	}
}

// TestAnApplicationThatFailedGetsItsNextTurnWithoutAnEvent has it fail again and again, and nothing report the fix.
func TestAnApplicationThatFailedGetsItsNextTurnWithoutAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, id := restful(t, resting())
		defer a.queue.Close()
		time.AfterFunc(time.Hour, a.queue.Close)
		for n := range 10 {
			a.followUp(id, resting(), engine.Result{Err: &engine.StageError{Err: errors.New("no such kind")}}, a.heard.Load())
			began := time.Now()
			got, ok := a.queue.Next()
			if took := time.Since(began); !ok || got != id || took < errorPause || took > longestPause+time.Second || n == 9 && took < longestPause {
				t.Errorf("turn %d is for %s after %s", n, got, took)
			}
			a.queue.Done(id)
		}
	})
}
