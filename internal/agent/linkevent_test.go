package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/operate"
)

func TestTwoSyncsOfOneSecondAreToldApart(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Now().Truncate(time.Second))
	state := func(request string, phase v1alpha1.OperationPhase) *v1alpha1.Application {
		op := &v1alpha1.OperationState{StartedAt: at, Phase: phase}
		op.Operation.Info = []v1alpha1.Info{{Name: operate.RequestInfo, Value: request}}
		if phase.Completed() {
			op.FinishedAt = &at
		}
		app := &v1alpha1.Application{}
		app.UID = "uid"
		app.Status.OperationState = op
		return app
	}
	seen := map[string]bool{}
	var last *v1alpha1.Application
	for _, next := range []*v1alpha1.Application{
		state("one", v1alpha1.OperationRunning), state("one", v1alpha1.OperationSucceeded),
		state("two", v1alpha1.OperationRunning), state("two", v1alpha1.OperationSucceeded),
		state("three", v1alpha1.OperationSucceeded),
	} {
		for _, e := range syncEvents(last, next) {
			if seen[e.ID] {
				t.Errorf("the event %s of %s has the id of another one", e.Type, e.Command)
			}
			seen[e.ID] = true
			if e.Type == agentapi.EventSyncFinished && e.Command != next.Status.OperationState.Operation.Info[0].Value {
				t.Errorf("the event is of %q", e.Command)
			}
		}
		last = next
	}
	if len(seen) != 6 {
		t.Errorf("%d events tell of three syncs, want a start and an end of each", len(seen))
	}
}
