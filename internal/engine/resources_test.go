package engine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// configMap is one of a revision of a bed, with annotations.
func configMap(name, annotations string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, annotations: {%s}}}", name, annotations)
}

const (
	asksFirst  = `argocd.argoproj.io/sync-options: Delete=confirm`
	asksPrune  = `argocd.argoproj.io/sync-options: Prune=confirm`
	extraneous = `argocd.argoproj.io/compare-options: IgnoreExtraneous`
	inWave     = `argocd.argoproj.io/sync-wave: "3"`
	afterSync  = `argocd.argoproj.io/hook: PostSync, ` + inWave
)

func TestTheStatusOfEachObjectIsThatOfArgoCD(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	stays := configMap("asks", asksFirst) + "," + configMap("waits", inWave) + "," + configMap("hook", afterSync)
	b.commit("r1", "["+stays+","+configMap("extra", extraneous)+","+configMap("old", asksPrune+", "+inWave)+"]")
	for range 9 {
		if res := b.turn(); res.Operation != nil && res.Operation.Phase.Completed() {
			break
		}
	}
	b.commit("r2", "["+stays+"]")
	res := b.turn()
	ns := b.app.Spec.Destination.Namespace
	of := func(name string, change v1alpha1.ResourceStatus) v1alpha1.ResourceStatus {
		change.Version, change.Kind, change.Namespace, change.Name = "v1", "ConfigMap", ns, name
		return change
	}
	const synced, outOfSync = v1alpha1.SyncStatusSynced, v1alpha1.SyncStatusOutOfSync
	want := []v1alpha1.ResourceStatus{
		of("asks", v1alpha1.ResourceStatus{Status: synced, RequiresDeletionConfirmation: true}),
		of("extra", v1alpha1.ResourceStatus{Status: outOfSync, RequiresPruning: true}),
		of("hook", v1alpha1.ResourceStatus{Hook: true, RequiresPruning: true, SyncWave: 3}),
		of("old", v1alpha1.ResourceStatus{Status: outOfSync, RequiresPruning: true, RequiresDeletionConfirmation: true}),
		of("waits", v1alpha1.ResourceStatus{Status: synced, SyncWave: 3}),
	}
	if d := cmp.Diff(want, res.Resources); d != "" || res.Sync != outOfSync {
		t.Errorf("it is %s; objects (-want +got):\n%s", res.Sync, d)
	}

	// The Application may ask for all of them.
	b.app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{SyncOptions: []string{"Prune=confirm"}}
	for _, r := range b.turn().Resources {
		if !r.RequiresDeletionConfirmation {
			t.Errorf("%s needs no confirmation, although the Application asks for one", r.Name)
		}
	}
}

func TestAnExtraneousObjectIsNoDifferenceAndGoesWithASyncThatPrunes(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", "["+configMap("a", "")+","+configMap("extra", extraneous)+"]")
	b.turn()
	b.commit("r2", "["+configMap("a", "")+"]")
	res := b.turn()
	if len(res.Resources) != 2 || res.Resources[1].Status != v1alpha1.SyncStatusOutOfSync || !res.Resources[1].RequiresPruning {
		t.Errorf("it is listed as %+v", res.Resources)
	}
	if res.Sync != v1alpha1.SyncStatusSynced || !b.has("extra") {
		t.Errorf("the Application is %s, and an automated sync began by it: %t", res.Sync, !b.has("extra"))
	}
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Prune: true}}
	b.turn()
	b.await("it is deleted by a sync that prunes", func() bool { return !b.has("extra") })
}
