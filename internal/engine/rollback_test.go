package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

const (
	good = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: good}}]`
	bad  = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: bad}}]`
	fine = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: fine}}]`
)

func condition(res Result, kind v1alpha1.ConditionType) string {
	for _, c := range res.Conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return ""
}

func TestAPinHoldsUntilGitSaysSomethingElse(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", good)
	b.turn()
	b.commit("r2", bad)
	if res := b.turn(); res.Operation == nil || res.Operation.SyncResult.Revision != "r2" {
		t.Fatalf("%v", res)
	}
	raw, err := json.Marshal(v1alpha1.Pin{ID: 1, Revisions: []string{"r1"}, By: "ann", Reason: "it is bad", Quarantine: v1alpha1.Quarantine{Revisions: []string{"r2"}}})
	if err != nil {
		t.Fatal(err)
	}
	b.app.Annotations = map[string]string{v1alpha1.AnnotationRollback: string(raw)}
	res := b.turn()
	if res.Operation == nil || res.Operation.SyncResult.Revision != "r1" || res.Operation.Operation.InitiatedBy.Username != "ann" ||
		!strings.Contains(condition(res, v1alpha1.ConditionPinned), "pinned to r1 (deployment 1) by ann: it is bad") {
		t.Fatalf("%+v, %+v", res.Operation, res.Conditions)
	}
	b.commit("r3", bad) // about something else
	if res = b.turn(); res.Operation != nil || res.Unpinned != nil || res.Sync != v1alpha1.SyncStatusSynced {
		t.Fatalf("%v: %+v", res, res.Operation)
	}
	b.commit("r4", "{") // it cannot be rendered
	if res = b.turn(); res.Err != nil || res.Unpinned != nil || !strings.Contains(condition(res, v1alpha1.ConditionPinned), "cannot be rendered: ") {
		t.Fatalf("%v: %+v", res, res.Conditions)
	}
	b.commit("r5", fine)
	res = b.turn()
	if res.Unpinned == nil || res.Operation == nil || res.Operation.SyncResult.Revision != "r5" || condition(res, v1alpha1.ConditionPinned) != "" {
		t.Errorf("%v: %+v, %+v", res, res.Operation, res.Conditions)
	}
}

func TestAPinThatCannotBeReadHoldsNothingAndIsToldOf(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", good)
	b.app.Annotations = map[string]string{v1alpha1.AnnotationRollback: "{}"}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || !strings.Contains(condition(res, v1alpha1.ConditionUnsupported), v1alpha1.AnnotationRollback) {
		t.Errorf("%v: %+v", res, res.Conditions)
	}
}

// rolledBack is an Application of which r1 is deployed and pinned, r2 in quarantine, and x no longer wanted.
func rolledBack(t *testing.T, deployed string) *bed {
	t.Helper()
	b := newBed(t, nil)
	b.automate()
	b.app.Spec.SyncPolicy.Automated.Prune = no()
	b.commit("r0", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}]`)
	b.turn()
	b.commit("r1", deployed)
	b.commit("r2", bad)
	raw, err := json.Marshal(v1alpha1.Pin{ID: 1, Revisions: []string{"r1"}, Quarantine: v1alpha1.Quarantine{Revisions: []string{"r2"}}})
	if err != nil {
		t.Fatal(err)
	}
	b.app.Annotations = map[string]string{v1alpha1.AnnotationRollback: string(raw)}
	return b
}

func TestASyncThatWasHeldUnderAPinTakesNoOtherCommit(t *testing.T) {
	t.Parallel()
	b := rolledBack(t, good)
	b.turn()
	b.engine.Budget = &plan.Budget{}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || condition(res, v1alpha1.ConditionHeld) == "" {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.engine.Budget = &plan.Budget{Off: true}
	b.commit("r3", fine)
	res := b.turn()
	if res.Unpinned == nil || res.Operation == nil || !res.Operation.Phase.Completed() || !strings.Contains(res.Operation.Message, "rollback") || !b.has("x") {
		t.Fatalf("%v, %+v, x is there: %t", res, res.Operation, b.has("x"))
	}
	b.app.Annotations = nil
	res = b.turn()
	if res.Operation == nil || res.Operation.SyncResult.Revision != "r3" || !res.Operation.Operation.InitiatedBy.Automated || !b.has("x") {
		t.Errorf("the policy does not go on: %v, %+v, x is there: %t", res, res.Operation, b.has("x"))
	}
}

func TestAnOperationUnderAPinEndsBeforeThePinDoes(t *testing.T) {
	t.Parallel()
	b := rolledBack(t, suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	before := b.turn()
	if before.Operation == nil || before.Operation.Phase != v1alpha1.OperationRunning {
		t.Fatalf("%v, %+v", before, before.Operation)
	}
	b.commit("r3", fine)
	res := b.turn()
	if res.Unpinned != nil || res.Operation == nil || res.Operation.SyncResult.Revision != "r1" || res.Operation.Phase != v1alpha1.OperationRunning ||
		!res.Operation.StartedAt.Time.Equal(before.Operation.StartedAt.Time) || res.Operation.Message != before.Operation.Message || res.Wake == 0 {
		t.Fatalf("it begins anew: %v, %+v, again in %s", res, res.Operation, res.Wake)
	}
	b.app.Status.OperationState.Phase = v1alpha1.OperationTerminating
	for b.app.Operation != nil {
		if res = b.turn(); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	if res = b.turn(); res.Unpinned == nil || res.Operation == nil || res.Operation.SyncResult.Revision != "r3" {
		t.Errorf("the pin does not end: %v, %+v", res, res.Operation)
	}
}
