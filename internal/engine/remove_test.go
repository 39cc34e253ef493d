package engine

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// widgets is a definition of a kind of this test alone, in a YAML list.
func widgets(group, annotations string) string {
	return "- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets." + group + ", annotations: {" + annotations + "}}, " +
		"spec: {group: " + group + ", scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true, " +
		"schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}\n"
}

// deploy syncs a YAML list, and waits until all of it is there.
func (b *bed) deploy(list string) {
	b.t.Helper()
	b.commit("r1", list)
	b.automate()
	b.await("the sync has succeeded", func() bool {
		res := b.turn()
		if res.Err != nil {
			b.t.Log(res.Err)
		}
		return res.Operation != nil && res.Operation.Phase == v1alpha1.OperationSucceeded || res.Sync == v1alpha1.SyncStatusSynced
	})
}

// plant makes an object that no Application tracks.
func (b *bed) plant(text string) object.Key {
	b.t.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		b.t.Fatal(err)
	}
	m, err := object.NewManifest(obj)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := b.target.Live.AwaitKind(b.t.Context(), m.Key.GroupKind(), m.Version)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.target.Client.Apply(b.t.Context(), res, m, false); err != nil {
		b.t.Fatal(err)
	}
	return m.Key
}

// there reports whether the API server has an object that is not being deleted.
func (b *bed) there(k object.Key) bool {
	b.t.Helper()
	res, err := b.target.Live.Find(b.t.Context(), k.GroupKind(), "")
	if err != nil {
		return false
	}
	obj, err := b.target.Client.Get(b.t.Context(), res, k)
	if err != nil {
		return false
	}
	meta, _ := obj["metadata"].(map[string]any)
	return meta["deletionTimestamp"] == nil
}

// bury has the Application deleted.
func (b *bed) bury() {
	now := metav1.NewTime(time.Now())
	b.app.DeletionTimestamp = &now
}

// remove deletes what the Application owns, until nothing of it is left or something holds it.
func (b *bed) remove() (Removal, error) {
	b.t.Helper()
	var out Removal
	var err error
	b.await("its objects are gone", func() bool {
		out, err = b.engine.Remove(b.t.Context(), Request{App: b.app}, true)
		return err != nil || out.Left == 0
	})
	return out, err
}

func (b *bed) dispose(keys ...object.Key) {
	for _, k := range keys {
		if leave, err := guard.JudgeObject(k, object.ConsentGiven, guard.Loss{}); err == nil {
			b.target.DeleteHook(b.t.Context(), leave, k, "", metav1.DeletePropagationBackground)
		}
	}
}

func definitionOf(group string) object.Key {
	return object.Key{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets." + group}
}

func TestADefinitionStaysWithTheObjectsOfOthersWhenItsApplicationIsDeleted(t *testing.T) {
	t.Parallel()
	b, group, others := newBed(t, nil), testenv.Name("stay")+".example.com", testenv.Namespace(t)
	crd := definitionOf(group)
	b.deploy(widgets(group, "") + "- {apiVersion: " + group + "/v1, kind: Widget, metadata: {name: own, namespace: " + b.app.Spec.Destination.Namespace + "}}\n" +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: " + b.app.Spec.Destination.Namespace + "}}\n" +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: helm, namespace: " + b.app.Spec.Destination.Namespace + ", annotations: {helm.sh/resource-policy: keep}}}\n")
	defer b.dispose(crd)
	theirs := b.plant("{apiVersion: " + group + "/v1, kind: Widget, metadata: {name: theirs, namespace: " + others + "}}")

	p, err := b.engine.Foresee(t.Context(), b.app)
	if err != nil || len(p.Kept) != 2 || p.Held != "" {
		t.Fatalf("it foresees %+v, %v", p, err)
	}
	b.bury()
	out, err := b.remove()
	if err != nil {
		t.Fatal(err)
	}
	if !b.there(crd) || !b.there(theirs) || !b.there(b.key("helm")) {
		t.Error("the definition, the object of another namespace, or what Helm keeps is gone")
	}
	if b.there(b.key("a")) || b.there(object.Key{Group: group, Kind: "Widget", Namespace: b.app.Spec.Destination.Namespace, Name: "own"}) {
		t.Error("an object of the Application is still there")
	}
	said := ""
	for _, k := range out.Kept {
		said += k.String() + "\n"
	}
	if !strings.Contains(said, crd.String()+": ") || !strings.Contains(said, "1 object that would go with it") || !strings.Contains(said, theirs.String()) || !strings.Contains(said, "ConfigMap") {
		t.Errorf("what stays is told as %q", said)
	}
}

func TestADefinitionThatMayGoWaitsForAPersonWhileItHoldsObjectsOfOthers(t *testing.T) {
	t.Parallel()
	b, group, others := newBed(t, nil), testenv.Name("go")+".example.com", testenv.Namespace(t)
	crd := definitionOf(group)
	b.deploy(widgets(group, object.SyncOptionsAnnotation+": Delete=true") +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: " + b.app.Spec.Destination.Namespace + "}}\n")
	defer b.dispose(crd)
	theirs := b.plant("{apiVersion: " + group + "/v1, kind: Widget, metadata: {name: theirs, namespace: " + others + "}}")
	b.bury()
	_, err := b.remove()
	var held *HeldError
	if !errors.As(err, &held) || len(held.Objects) != 1 || held.Objects[0] != crd {
		t.Fatalf("it says %v", err)
	}
	asked := regexp.MustCompile(`\(plan ([0-9a-f]{16})\)`).FindStringSubmatch(held.Message)
	if asked == nil || asked[1] == plan.Digest([]object.Key{crd}) {
		t.Fatalf("the plan is none, or that of a sync: %q", held.Message)
	}
	for _, want := range []string{theirs.String(), "slipway app confirm " + b.app.Name, "nothing was deleted"} {
		if !strings.Contains(held.Message, want) {
			t.Errorf("%q lacks %q", held.Message, want)
		}
	}
	if !b.there(b.key("a")) || !b.there(crd) {
		t.Fatal("something was deleted before anybody confirmed it")
	}
	// What Argo CD's approval says is not enough: it names nothing.
	b.app.Annotations = map[string]string{v1alpha1.AnnotationDeletionApproved: time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
	if _, err = b.remove(); !errors.As(err, &held) {
		t.Fatalf("it goes without the plan: %v", err)
	}
	b.app.Annotations[v1alpha1.AnnotationDeletionConfirmed] = asked[1]
	if out, err := b.remove(); err != nil || len(out.Kept) != 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if b.there(crd) || b.there(b.key("a")) {
		t.Error("what was confirmed is still there")
	}
}

func TestANamespaceThatHoldsObjectsOfOthersWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b, ns := newBed(t, nil), testenv.Name("held")
	key := object.Key{Kind: "Namespace", Name: ns}
	b.deploy("- {apiVersion: v1, kind: Namespace, metadata: {name: " + ns + "}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: " + ns + "}}\n" +
		"- {apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: " + ns + ", annotations: {" + object.SyncOptionsAnnotation + ": Delete=false}}}\n")
	defer b.dispose(key)
	theirs := b.plant("{apiVersion: v1, kind: Secret, metadata: {name: theirs, namespace: " + ns + "}}")
	b.bury()
	_, err := b.remove()
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("it says %v", err)
	}
	if !strings.Contains(held.Message, theirs.String()) || !strings.Contains(held.Message, "ConfigMap "+ns+"/kept") || !strings.Contains(held.Message, "2 objects") {
		t.Errorf("%q", held.Message)
	}
	if !b.there(object.Key{Kind: "ConfigMap", Namespace: ns, Name: "own"}) {
		t.Error("something was deleted before anybody confirmed it")
	}
}

func TestNothingIsDeletedBeforeAnObjectThatAsksIsConfirmed(t *testing.T) {
	t.Parallel()
	for _, option := range []string{"Delete=confirm", "Prune=confirm"} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			ns := b.app.Spec.Destination.Namespace
			b.deploy("- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: " + ns + "}}\n" +
				"- {apiVersion: v1, kind: ConfigMap, metadata: {name: asks, namespace: " + ns + ", annotations: {" + object.SyncOptionsAnnotation + ": " + option + "}}}\n")
			for _, r := range b.app.Status.Resources {
				if r.RequiresDeletionConfirmation != (r.Name == "asks") {
					t.Errorf("the status of %s says requiresDeletionConfirmation: %t", r.Name, r.RequiresDeletionConfirmation)
				}
			}
			b.bury()
			_, err := b.remove()
			if err == nil || !strings.Contains(err.Error(), "asks must be confirmed") || strings.Contains(err.Error(), "(plan ") {
				t.Fatalf("it says %v", err)
			}
			if !b.there(b.key("a")) {
				t.Fatal("something was deleted before")
			}
			b.app.Annotations = map[string]string{v1alpha1.AnnotationDeletionApproved: time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
			if _, err := b.remove(); err != nil {
				t.Fatal(err)
			}
			if b.there(b.key("a")) || b.there(b.key("asks")) {
				t.Error("something is still there")
			}
		})
	}
}
