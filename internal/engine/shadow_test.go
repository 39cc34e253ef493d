package engine

import (
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestWhoLooksOnLeavesOperationsToOthers(t *testing.T) {
	t.Parallel()
	for phase, kept := range map[v1alpha1.OperationPhase]bool{
		v1alpha1.OperationRunning: false, v1alpha1.OperationTerminating: false, v1alpha1.OperationSucceeded: true, v1alpha1.OperationFailed: true,
	} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			app := &v1alpha1.Application{Operation: &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "other"}}}
			app.Status.OperationState = &v1alpha1.OperationState{Phase: phase}
			got := shadowed(Request{App: app, Retries: 3, Operating: func(func() v1alpha1.OperationState) {}})
			if got.App.Operation != nil || got.Operating != nil || got.Retries != 0 || (got.App.Status.OperationState != nil) != kept {
				t.Errorf("%+v", got)
			}
			if app.Operation == nil || app.Status.OperationState == nil {
				t.Error("the Application itself has changed")
			}
		})
	}
}
