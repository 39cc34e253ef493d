package app

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestAWaitDoesNotEndByAStatusFromBeforeTheEndOfTheOperation(t *testing.T) {
	t.Parallel()
	at := func(second int) *metav1.Time {
		out := metav1.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)
		return &out
	}
	app := func(reconciled, finished *metav1.Time, dryRun bool) *v1alpha1.Application {
		out := &v1alpha1.Application{}
		out.Status.Sync.Status, out.Status.Health.Status = v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy
		out.Status.ReconciledAt = reconciled
		out.Status.OperationState = &v1alpha1.OperationState{
			Phase: v1alpha1.OperationSucceeded, FinishedAt: finished, Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{DryRun: dryRun}},
		}
		return out
	}
	idle := app(at(1), nil, false)
	idle.Status.OperationState = nil
	for name, c := range map[string]struct {
		app  *v1alpha1.Application
		wait waitOptions
		want bool
	}{
		"compared before the end":                {app(at(1), at(2), false), waitOptions{healthy: true, operation: true}, false},
		"compared before the end, and synced":    {app(at(1), at(2), false), waitOptions{synced: true}, false},
		"compared in the second of the end":      {app(at(2), at(2), false), waitOptions{healthy: true, operation: true}, true},
		"compared after the end":                 {app(at(3), at(2), false), waitOptions{healthy: true, synced: true, operation: true}, true},
		"the operation is all that is asked for": {app(at(1), at(2), false), waitOptions{operation: true}, true},
		"a dry run":                              {app(at(1), at(2), true), waitOptions{healthy: true}, true},
		"no operation":                           {idle, waitOptions{healthy: true, synced: true, operation: true}, true},
	} {
		if got := c.wait.reached(c.app); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
