package engine

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func everyApp(kind, schedule, duration string) v1alpha1.SyncWindow {
	return v1alpha1.SyncWindow{Kind: kind, Schedule: schedule, Duration: duration, Applications: []string{"*"}}
}

func asked() v1alpha1.Operation {
	return v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Username: "me"}}
}

func automatic() v1alpha1.Operation {
	return v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Automated: true}}
}

func TestAManualSyncWaitsForItsWindow(t *testing.T) {
	t.Parallel()
	for name, going := range map[string]bool{"before it begins": false, "in the midst of it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			deny := func(windows ...v1alpha1.SyncWindow) {
				b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = windows })
			}
			manual := everyApp("deny", "* * * * *", "1h")
			manual.ManualSync = true
			b.commit("r1", "["+configMap("a", "")+", {apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {argocd.argoproj.io/sync-wave: \"-1\"}}, "+
				"spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}]")
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Username: "me"}}
			if going {
				if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
					t.Fatalf("%+v", res.Operation)
				}
			}
			deny(everyApp("deny", "* * * * *", "1h"), manual) // one of them denies it
			var before *v1alpha1.OperationState
			for range 2 {
				res := b.turn()
				op := res.Operation
				if op == nil || op.Phase != v1alpha1.OperationRunning || op.FinishedAt != nil || !strings.HasPrefix(op.Message, "Sync operation blocked by sync window") {
					t.Fatalf("%+v", op)
				}
				if told := condition(res, v1alpha1.ConditionHeld); !strings.Contains(told, "the sync waits") {
					t.Errorf("%q", told)
				}
				if before != nil && op.StartedAt.Unix() != before.StartedAt.Unix() || going != (len(op.SyncResult.Resources) > 0) {
					t.Errorf("%+v, then %+v", before, op)
				}
				before = op
			}
			if b.has("a") {
				t.Error("it was synced")
			}
			deny(manual)
			if res := b.turn(); going && !strings.HasPrefix(res.Operation.Message, "waiting for") || !going && res.Operation.Phase != v1alpha1.OperationRunning ||
				condition(res, v1alpha1.ConditionHeld) != "" {
				t.Errorf("%+v, %+v", res.Operation, res.Conditions)
			}
			if _, there, _ := b.target.Live.Get(object.Key{Group: "batch", Kind: "Job", Namespace: b.app.Spec.Destination.Namespace, Name: "j"}); !there {
				t.Error("it does not go on when no window denies it")
			}
		})
	}
}

func TestAnInvalidProjectIsReportedOnItsApplications(t *testing.T) {
	t.Parallel()
	g := grant{rules: permissive(t, func(p *v1alpha1.AppProject) {
		p.Name = "shop"
		p.Spec.Roles = []v1alpha1.ProjectRole{{Name: "-"}}
	})}
	if faults := g.faults(); len(faults) != 1 || !strings.Contains(faults[0], `project "shop": role "-"`) {
		t.Errorf("%q", faults)
	}
}
