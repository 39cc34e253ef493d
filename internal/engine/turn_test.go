package engine

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	first = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [slipway.io/test], annotations: {argocd.argoproj.io/sync-wave: "1"}}},
{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`
	second = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]`
)

func (b *bed) release(name string) {
	b.t.Helper()
	client, err := dynamic.NewForConfig(testenv.Cluster(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(b.app.Spec.Destination.Namespace)
	if _, err := maps.Patch(b.t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

func TestAWaveOfDeletionsWaitsUntilTheOneBeforeIsGone(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", first)
	for res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded; res = b.turn() {
		if res.Err != nil || res.Operation == nil || res.Operation.Phase.Completed() {
			t.Fatalf("%v, %+v", res, res.Operation)
		}
	}
	b.commit("r2", second)
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || !strings.HasPrefix(res.Operation.Message, "waiting for deletion of") {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.await("a is being deleted", func() bool { rec, _, _ := b.target.Live.Get(b.key("a")); return rec.Deleting })
	if res = b.turn(); res.Operation == nil || !strings.HasPrefix(res.Operation.Message, "waiting for deletion of") || !b.has("b") {
		t.Fatalf("b goes before a is gone: %+v", res.Operation)
	}
	b.release("a")
	b.await("a is gone", func() bool { return !b.has("a") })
	if res = b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("%+v", res.Operation)
	}
	pruned := 0
	for _, out := range res.Operation.SyncResult.Resources {
		if out.Status == v1alpha1.ResultPruned {
			pruned++
		}
	}
	if pruned != 2 {
		t.Errorf("%d objects are told to be pruned: %+v", pruned, res.Operation.SyncResult.Resources)
	}
}

func TestAnOperationThatIsHeldGoesWithWhatIsPutRightInGit(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.engine.Budget = &plan.Budget{Objects: 1}
	b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.commit("r2", second)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || !strings.HasPrefix(res.Operation.Message, "held: ") {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	told := b.app.Status.OperationState.DeepCopy()
	if b.turn(); !reflect.DeepEqual(told, b.app.Status.OperationState) || !b.has("b") {
		t.Fatalf("another state while it is held: %+v", b.app.Status.OperationState)
	}
	b.commit("r3", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]`)
	res = b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded || res.Operation.SyncResult.Revision != "r3" || !b.has("a") {
		t.Errorf("%v, %+v", res, res.Operation)
	}
}

func TestAnOperationInPlaceOfAnotherIsHeldAsOftenAsItIsLookedAt(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.engine.Budget = &plan.Budget{Objects: 1}
	b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	b.turn()
	b.commit("r2", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}, {apiVersion: batch/v1, kind: Job, metadata: {name: wait, annotations: {argocd.argoproj.io/hook: PreSync}},
spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}]`)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
		t.Fatalf("it does not wait for its hook: %v, %+v", res, res.Operation)
	}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true, SyncStrategy: &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{}}}}
	for i := range 3 {
		if res := b.turn(); res.Operation == nil || !strings.HasPrefix(res.Operation.Message, "held: ") || !b.has("a") || !b.has("b") {
			t.Fatalf("turn %d: %+v", i, res.Operation)
		}
	}
}

// What comes from outside of an Application's turns must not meet them: the race detector sees it if it does.
func TestQuestionsDuringATurnDisturbNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", good)
	b.automate()
	b.turn()
	app, stop := b.app, make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.engine.Unaffected(t.Context(), app)
				b.engine.Forget(t.Context(), app)
			}
		}
	})
	for range 20 {
		if res := b.engine.Reconcile(t.Context(), Request{App: app}); res.Err != nil || res.Sync != v1alpha1.SyncStatusSynced {
			t.Errorf("%v", res)
		}
	}
	close(stop)
	others.Wait()
}

func TestAnOperationWaitsAsLongAsItsHookRuns(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", strings.ReplaceAll(suspended, "suspend: true, ", ""))
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	b.await("the hook is judged to be running", func() bool { return b.engine.Waits(b.app) })
	job := object.Key{Group: "batch", Kind: "Job", Namespace: b.app.Spec.Destination.Namespace, Name: "wait"}
	leave, err := guard.JudgeHook(job, guard.Loss{})
	if err != nil {
		t.Fatal(err)
	}
	rec, _, _ := b.target.Live.Get(job)
	if out := b.target.ReleaseHook(t.Context(), job); out.Err != nil {
		t.Fatal(out.Err)
	}
	if out := b.target.DeleteHook(t.Context(), leave, job, rec.UID, metav1.DeletePropagationBackground); out.Err != nil {
		t.Fatal(out.Err)
	}
	b.await("nothing is left to wait for", func() bool { return !b.engine.Waits(b.app) })
}
