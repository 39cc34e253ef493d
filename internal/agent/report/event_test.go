package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// operated is an Application with an operation that began at a minute of today.
func operated(minute int, phase v1alpha1.OperationPhase, change func(*v1alpha1.OperationState)) *v1alpha1.Application {
	start := metav1.NewTime(time.Now().Truncate(time.Hour).Add(time.Duration(minute) * time.Minute))
	op := &v1alpha1.OperationState{Phase: phase, StartedAt: start, SyncResult: &v1alpha1.SyncOperationResult{Revision: "new"}}
	if phase.Completed() {
		end := metav1.NewTime(start.Add(time.Second))
		op.FinishedAt = &end
	}
	if change != nil {
		change(op)
	}
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: "1"},
		Status:     v1alpha1.ApplicationStatus{OperationState: op, History: []v1alpha1.RevisionHistory{{Revision: "old"}}},
	}
}

func TestBeginningAndEndOfASyncAreToldOnce(t *testing.T) {
	t.Parallel()
	const running, done, failed = v1alpha1.OperationRunning, v1alpha1.OperationSucceeded, v1alpha1.OperationFailed
	other := operated(1, done, nil)
	other.UID = "2"
	ancient := operated(1, done, func(op *v1alpha1.OperationState) {
		end := metav1.NewTime(time.Now().Add(-2 * eventMemory))
		op.FinishedAt = &end
	})
	tests := []struct {
		name       string
		old, fresh *v1alpha1.Application
		want       string
	}{
		{"it begins", operated(1, done, nil), operated(2, running, nil), "sync.started"},
		{"it ends", operated(2, running, nil), operated(2, failed, nil), "sync.finished"},
		{"it began and ended between two looks", operated(1, done, nil), operated(2, done, nil), "sync.started sync.finished"},
		{"nothing new", operated(2, done, nil), operated(2, done, nil), ""},
		{"progress", operated(2, running, nil), operated(2, running, nil), ""},
		{"seen for the first time", nil, operated(2, done, nil), "sync.started sync.finished"},
		{"seen for the first time, long ended", nil, ancient, ""},
		{"another one of this name", other, operated(1, done, nil), "sync.started sync.finished"},
		{"no operation", nil, &v1alpha1.Application{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			ids := map[string]bool{}
			for _, e := range syncEvents(tt.old, tt.fresh) {
				got = append(got, string(e.Type))
				ids[e.ID] = true
			}
			if strings.Join(got, " ") != tt.want || len(ids) != len(got) {
				t.Errorf("got %v with %d ids, want %q", got, len(ids), tt.want)
			}
			for _, e := range syncEvents(tt.old, tt.fresh) {
				if !ids[e.ID] {
					t.Error("the same event has another id when it is told again")
				}
			}
		})
	}
}

func TestAnEventSaysWhoWhatAndWhy(t *testing.T) {
	t.Parallel()
	before := operated(1, v1alpha1.OperationSucceeded, nil)
	fresh := operated(2, v1alpha1.OperationFailed, func(op *v1alpha1.OperationState) {
		op.Message = "no such file"
		op.Operation = v1alpha1.Operation{
			InitiatedBy: v1alpha1.OperationInitiator{Username: "ann"},
			Info:        []v1alpha1.Info{{Name: operate.RequestInfo, Value: "c1"}, {Name: operate.ReasonInfo, Value: "because"}},
		}
	})
	got := syncEvents(before, fresh)[1]
	want := agentapi.Event{
		ID: got.ID, At: fresh.Status.OperationState.FinishedAt.Time, Type: agentapi.EventSyncFinished, Project: "default", User: "ann", Command: "c1",
		Target:   agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "web"},
		Revision: "new", Before: "old", Reason: "because", Outcome: "Failed", Message: "no such file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
