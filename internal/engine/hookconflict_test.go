package engine

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// put makes an object that no engine has made, and returns its uid.
func (b *bed) put(name string, annotations map[string]any) string {
	b.t.Helper()
	m, err := object.NewManifest(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"of": "somebody else"},
		"metadata": map[string]any{"name": name, "namespace": b.app.Spec.Destination.Namespace, "annotations": annotations},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.target.Live.Find(b.t.Context(), object.Kind{Kind: "ConfigMap"}, "")
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.target.Live.Watch(b.t.Context(), res); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.target.Client.Apply(b.t.Context(), res, m, false); err != nil {
		b.t.Fatal(err)
	}
	b.await(name+" is seen", func() bool { return b.has(name) })
	return b.uid(name)
}

// uid is that of the object as the API server has it; "" when it is gone.
func (b *bed) uid(name string) string {
	b.t.Helper()
	res, err := b.target.Live.Find(b.t.Context(), object.Kind{Kind: "ConfigMap"}, "")
	if err != nil {
		b.t.Fatal(err)
	}
	obj, err := b.target.Client.Get(b.t.Context(), res, b.key(name))
	if err != nil {
		return ""
	}
	meta, _ := obj["metadata"].(map[string]any)
	if meta["deletionTimestamp"] != nil {
		return ""
	}
	uid, _ := meta["uid"].(string)
	return uid
}

func (b *bed) trackedAs(app, name string) map[string]any {
	return map[string]any{object.TrackingAnnotation: object.TrackingID(app, b.key(name), "")}
}

func TestAHookLeavesAloneWhatIsNotAHookOfItsApplication(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, app, policy string
	}{
		{"an object of nobody, before the hook is made", "", "BeforeHookCreation"},
		{"an object of nobody, after the hook has run", "", "HookSucceeded"},
		{"an object of another Application, before the hook is made", "other", "BeforeHookCreation"},
		{"an object of another Application, after the hook has run", "other", "HookSucceeded"},
		{"an object of the same Application that is no hook", "own", "HookSucceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			b.engine.Exists = func(instance string) bool { return instance == "other" }
			var marks map[string]any
			switch c.app {
			case "other":
				marks = b.trackedAs("other", "theirs")
			case "own":
				marks = b.trackedAs(b.app.Name, "theirs")
			}
			before := b.put("theirs", marks)
			b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/hook-delete-policy: `+c.policy+`}}},
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`)
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
			res := b.turn()
			if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed {
				t.Errorf("%v, %+v", res, res.Operation)
			}
			if after := b.uid("theirs"); after != before {
				t.Errorf("the object %q is %q now", before, after)
			}
			if b.has("a") {
				t.Error("something else was applied")
			}
		})
	}
}

func TestAHookTakesThePlaceOfTheOneOfAnEarlierOperation(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.commit("r1", `[{apiVersion: v1, kind: ConfigMap, metadata: {name: h, annotations: {argocd.argoproj.io/hook: PreSync}}}]`)
	uids := map[string]bool{}
	for range 2 {
		b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
		b.await("the end of the operation", func() bool {
			b.turn()
			return b.app.Operation == nil
		})
		if last := b.app.Status.OperationState; last.Phase != v1alpha1.OperationSucceeded {
			t.Fatalf("%+v", last)
		}
		uids[b.uid("h")] = true
	}
	if len(uids) != 2 {
		t.Errorf("%v", uids)
	}
}

func TestTheEndOfAnOperationDeletesNothingThatItsStatusOnlyClaimsToBeAHook(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	before := b.put("theirs", b.trackedAs("other", "theirs"))
	b.app.Status.OperationState = &v1alpha1.OperationState{
		Phase: v1alpha1.OperationTerminating, StartedAt: moment(900),
		SyncResult: &v1alpha1.SyncOperationResult{Resources: []v1alpha1.ResourceResult{{
			Version: "v1", Kind: "ConfigMap", Namespace: b.key("").Namespace, Name: "theirs", Status: v1alpha1.ResultSynced,
			HookType: v1alpha1.HookPreSync, HookPhase: v1alpha1.OperationRunning, SyncPhase: v1alpha1.PhasePreSync,
		}}},
	}
	// What the last rendering made of it counts too: without a health of its kind, only its policy has it deleted.
	b.engine.memory.Store(b.app.Name, &memory{wanted: &wanted{hooks: []wantedHook{{key: b.key("theirs"), Hook: plan.Hook{Is: true, Delete: plan.Policies{Failed: true}}}}}})
	res := b.turn()
	if res.Operation == nil || !res.Operation.Phase.Completed() {
		t.Errorf("%v, %+v", res, res.Operation)
	}
	if after := b.uid("theirs"); after != before {
		t.Errorf("the object %q is %q now", before, after)
	}
}

func TestTheNameThatAHookGetsIsAskedForToo(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.rules = permissive(t, func(p *v1alpha1.AppProject) {
		p.Spec.ClusterResourceBlacklist = []v1alpha1.ClusterResourceRule{{Group: "*", Kind: "ClusterRole", Name: "system-*"}}
	})
	b.commit("r1", `[{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {generateName: system-, annotations: {argocd.argoproj.io/hook: PreSync}}}]`)
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
	res := b.turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed ||
		!strings.Contains(res.Operation.SyncResult.Resources[0].Message, "Blacklist") {
		t.Errorf("%v, %+v", res, res.Operation)
	}
	if left := b.target.Live.Owned(b.app.Name); len(left) != 0 {
		t.Errorf("%v", left)
	}
}

func TestNothingIsReadThatTheProjectDeniesWhereAnOperationAsksForSomethingElse(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.SourceRepos = []string{"https://git.example/good"} })
	b.commit("r1", `[]`)
	b.automate()
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{
		DryRun: true, Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/good", Path: "."},
	}}
	b.fetched = errTest // a source that is asked
	if res := b.turn(); res.Err == nil || res.Err.Stage != StagePermit {
		t.Errorf("%v", res)
	}
}
