package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestAnOperationEndsWhenItIsToldToOrItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limit  time.Duration
		change func(*comparison)
		want   bool
	}{
		{"no limit", 0, nil, false},
		{"within its time", 101 * time.Second, nil, false},
		{"its time is over", 100 * time.Second, nil, true},
		{"it is over anyway", time.Second, func(r *comparison) { last(r).Phase = v1alpha1.OperationSucceeded }, false},
		{"it waits for its next attempt", time.Second, func(r *comparison) { end := moment(950); last(r).FinishedAt = &end }, false},
		{"it was told to", 0, func(r *comparison) { last(r).Phase = v1alpha1.OperationTerminating }, true},
		{"there is none", time.Second, func(r *comparison) { r.app.Status.OperationState = nil }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compared(func(r *comparison) { // began at 900, and it is 1000
				resumable(r)
				if c.limit > 0 {
					r.engine.TimeLimit = func() time.Duration { return c.limit }
				}
				if c.change != nil {
					c.change(r)
				}
			})
			if got := r.terminating(); got != c.want {
				t.Errorf("%t", got)
			}
		})
	}
}

const suspended = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}},
{apiVersion: batch/v1, kind: Job, metadata: {name: wait, annotations: {argocd.argoproj.io/hook: PreSync}},
 spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}]`

func TestAnOperationThatEndsTakesItsHooksAlong(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, Retry: v1alpha1.RetryStrategy{Limit: 5}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	job := object.Key{Group: "batch", Kind: "Job", Namespace: b.app.Spec.Destination.Namespace, Name: "wait"}
	if _, tracked, _ := b.target.Live.Get(job); !tracked {
		t.Fatal("there is no hook")
	}
	b.engine.memory.Clear() // the agent was started again meanwhile
	b.app.Status.OperationState.Phase = v1alpha1.OperationTerminating
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || res.Operation.Message != "Operation terminated" || b.app.Operation != nil {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.await("the hook goes", func() bool { rec, tracked, _ := b.target.Live.Get(job); return !tracked || rec.Deleting })
	if b.has("a") {
		t.Error("it went on after its end")
	}
	if out := res.Operation.SyncResult.Resources[0]; out.HookPhase != v1alpha1.OperationFailed || out.Message != "Terminated" {
		t.Errorf("%+v", out)
	}
}

func TestAnOperationThatTakesTooLongSaysHowLongItMay(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	b.engine.TimeLimit = func() time.Duration { return time.Hour }
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || res.Wake <= 0 || res.Wake > time.Hour {
		t.Fatalf("%+v, looked at again after %s", res.Operation, res.Wake)
	}
	b.engine.Now = func() time.Time { return time.Now().Add(time.Hour) }
	res = b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.Contains(res.Operation.Message, "longer than the limit of 1h0m0s") {
		t.Errorf("%+v", res.Operation)
	}
}

func TestAnApplicationKeepsItsDeletionHooksWhenAnOperationIsEnded(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", suspended)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	b.turn()
	b.app.Finalizers = []string{v1alpha1.FinalizerPostDelete, v1alpha1.FinalizerPostDeleteCleanup}
	b.app.Status.OperationState.Phase = v1alpha1.OperationTerminating
	if got := b.turn().DeleteHooks; !slices.Equal(got, []v1alpha1.HookType{v1alpha1.HookPostDelete}) {
		t.Errorf("%v", got)
	}
}
