package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestWhatIsWantedIsToldWithoutTouchingAnything(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.revisions[""] = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: one}},
 {apiVersion: v1, kind: Pod, metadata: {generateName: h-, annotations: {argocd.argoproj.io/hook: PreSync}}},
 {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`
	b.revisions["other"] = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]`
	got, err := b.engine.Manifests(t.Context(), b.app)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, m := range got.Objects {
		kinds = append(kinds, m.Key.Kind+" "+m.Key.Namespace+"/"+m.Key.Name)
		if m.Key.Kind == "ConfigMap" && !strings.Contains(string(m.JSON), b.app.Name) {
			t.Errorf("%s has no mark: %s", m.Key, m.JSON)
		}
	}
	ns := b.app.Spec.Destination.Namespace
	if want := "ConfigMap " + ns + "/a,Pod " + ns + "/,ConfigMap " + ns + "/b"; strings.Join(kinds, ",") != want {
		t.Errorf("wanted are %v, want %s", kinds, want)
	}
	if _, kept := b.engine.memory.Load(b.engine.instance(b.app)); kept {
		t.Error("a look at an application is kept")
	}
	other := b.app.DeepCopy()
	other.Spec.Source.TargetRevision = "other"
	other.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revision: "none"}}
	got, err = b.engine.Manifests(t.Context(), other)
	if err != nil || len(got.Objects) != 1 || got.Objects[0].Key.Name != "c" {
		t.Errorf("another revision wants %v, %v", got.Objects, err)
	}
}

func TestTheProjectIsAskedWhoeverLooks(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.revisions[""] = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`
	b.rules = permissive(t, func(p *v1alpha1.AppProject) {
		p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Kind: "ConfigMap"}}
	})
	var denied *ProjectError
	if _, err := b.engine.Manifests(t.Context(), b.app); !errors.As(err, &denied) {
		t.Errorf("what the project forbids is told: %v", err)
	}
	ns := b.app.Spec.Destination.Namespace
	if err := b.engine.Permits(b.app)(object.Key{Kind: "ConfigMap", Namespace: ns, Name: "a"}, ns); !errors.As(err, &denied) {
		t.Errorf("the project forbids it, and the answer is %v", err)
	}
	if err := b.engine.Permits(b.app)(object.Key{Kind: "Service", Namespace: ns, Name: "a"}, ns); err != nil {
		t.Error(err)
	}
}
