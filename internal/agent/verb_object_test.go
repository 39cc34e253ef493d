package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// raw reads an Application as its cluster holds it.
func (s *stand) raw(name string) *unstructured.Unstructured {
	s.t.Helper()
	obj, err := s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return obj
}

func TestAnEditKeepsWhatNobodyHereKnows(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.project()
	// Automated sync is off, so nobody but this test changes the specification.
	object := strings.Replace(string(s.manifest(s.name)), `"metadata":{`, `"metadata":{"annotations":{"later.example.org/field":"kept"},"labels":{"team":"shop"},`, 1)
	object = strings.Replace(object, s.repo.URL(), strings.Replace(s.repo.URL(), "://", "://bot:"+planted+"@", 1), 1)
	object = strings.Replace(object, `"spec":{`, `"operation":{"sync":{}},"status":{"sync":{"status":"Synced"}},"spec":{"revisionHistoryLimit":7,`, 1)
	shown := must[json.RawMessage](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Create: true, Object: json.RawMessage(object)})
	first := s.raw(s.name)
	if _, has := first.Object["operation"]; has {
		t.Error("whoever may write an application syncs it too")
	}
	s.refused(agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Create: true, Object: json.RawMessage(object)}, agentapi.CodeConflict)

	// A person edits what was shown: takes the label away, and changes the path.
	var edited unstructured.Unstructured
	if err := edited.UnmarshalJSON(shown); err != nil {
		t.Fatal(err)
	}
	edited.SetLabels(nil)
	if err := unstructured.SetNestedField(edited.Object, "other", "spec", "source", "path"); err != nil {
		t.Fatal(err)
	}
	next, err := edited.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	// Meanwhile somebody else adds something.
	if _, err := s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications).Patch(t.Context(), s.name, types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"another":"one"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.refused(agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Object: next, Base: shown, Version: first.GetResourceVersion()}, agentapi.CodeConflict)
	must[any](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Object: next, Base: shown, DryRun: true})
	if path, _, _ := unstructured.NestedString(s.raw(s.name).Object, "spec", "source", "path"); path != "web" {
		t.Errorf("a dry run changed the path to %s", path)
	}
	must[any](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Object: next, Base: shown})
	got := s.raw(s.name)
	path, _, _ := unstructured.NestedString(got.Object, "spec", "source", "path")
	address, _, _ := unstructured.NestedString(got.Object, "spec", "source", "repoURL")
	limit, _, _ := unstructured.NestedInt64(got.Object, "spec", "revisionHistoryLimit")
	if path != "other" || len(got.GetLabels()) != 0 || limit != 7 || got.GetAnnotations()["another"] != "one" || got.GetAnnotations()["later.example.org/field"] != "kept" {
		t.Errorf("after the edit it is %v", got.Object)
	}
	if !strings.Contains(address, planted) {
		t.Errorf("the address that was shown without its password has lost it: %s", address)
	}
}

func TestAPatchChangesWhatItNamesAtTheVersionThatItIsFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.project()
	must[any](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Object: s.manifest(s.name)})
	patch := func(kind, text, version string) agentapi.ObjectPatch {
		return agentapi.ObjectPatch{Type: kind, Patch: json.RawMessage(text), Version: version}
	}
	must[any](s, agentapi.KindObjectPatch, s.app(s.name), patch("merge", `{"metadata":{"labels":{"a":"b"}}}`, ""))
	must[any](s, agentapi.KindObjectPatch, s.app(s.name), patch("json", `[{"op":"replace","path":"/metadata/labels/a","value":"c"}]`, ""))
	if got := s.raw(s.name).GetLabels()["a"]; got != "c" {
		t.Errorf("the label is %q", got)
	}
	s.refused(agentapi.KindObjectPatch, s.app(s.name), patch("merge", `{"metadata":{"labels":{"a":"d"}}}`, "1"), agentapi.CodeConflict)
	for _, bad := range []agentapi.ObjectPatch{
		patch("merge", `{"operation":{"sync":{}}}`, ""), patch("merge", `{"status":null}`, ""), patch("merge", `[]`, ""), patch("other", `{}`, ""),
		patch("json", `[{"op":"add","path":"/operation","value":{}}]`, ""), patch("json", `[{"op":"move","from":"/status/sync","path":"/spec/x"}]`, ""),
		patch("json", `[{"op":"replace","path":"","value":{}}]`, ""), patch("json", `{}`, ""),
	} {
		s.refused(agentapi.KindObjectPatch, s.app(s.name), bad, agentapi.CodeInvalid)
	}
	s.refused(agentapi.KindObjectPatch, agentapi.Target{Kind: agentapi.ItemCluster, Namespace: s.ns, Name: "a"}, patch("merge", `{}`, ""), agentapi.CodeInvalid)
	s.refused(agentapi.KindObjectPatch, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: "kube-system", Name: "a"}, patch("merge", `{}`, ""), agentapi.CodeForbidden)
	s.refused(agentapi.KindObjectDelete, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}, api.DeleteApplicationRequest{Version: "1"}, agentapi.CodeConflict)
	must[any](s, agentapi.KindObjectDelete, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}, nil)
	must[any](s, agentapi.KindObjectDelete, s.app(s.name), api.DeleteApplicationRequest{})
	s.gone(s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications), s.name)
}

// outrun has somebody else be faster, once.
type outrun struct {
	dynamic.ResourceInterface
	first func()
}

func (o *outrun) Update(ctx context.Context, obj *unstructured.Unstructured, opts metav1.UpdateOptions, sub ...string) (*unstructured.Unstructured, error) {
	if first := o.first; first != nil {
		o.first = nil
		first()
	}
	return o.ResourceInterface.Update(ctx, obj, opts, sub...)
}

func TestWhoeverIsFasterDoesNotStopAnEditOrItsCheck(t *testing.T) {
	t.Parallel()
	for _, dry := range []bool{false, true} {
		s := newStand(t)
		s.create()
		want, in, others := s.raw(s.name).Object, s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications), 0
		first := func() {
			others++
			if _, err := in.Patch(t.Context(), s.name, types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"another"}}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		}
		s.asks.Apps = within(s.asks.Apps, func(in dynamic.ResourceInterface) dynamic.ResourceInterface { return &outrun{in, first} })
		if err := unstructured.SetNestedField(want, "other", "spec", "source", "path"); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := unstructured.Unstructured{Object: must[map[string]any](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Update: true, DryRun: dry, Object: raw})}
		if others != 1 {
			t.Fatalf("dry run %t: %d edits of another", dry, others)
		}
		if path, _, _ := unstructured.NestedString(got.Object, "spec", "source", "path"); path != "other" || got.GetLabels()["by"] != "another" {
			t.Errorf("dry run %t: the path is %q, labels %v", dry, path, got.GetLabels())
		}
	}
}

// within has what is in the namespaces of a cluster reached through something.
func within(cluster dynamic.Interface, through func(dynamic.ResourceInterface) dynamic.ResourceInterface) dynamic.Interface {
	return throughCluster{cluster, through}
}

type throughCluster struct {
	dynamic.Interface
	through func(dynamic.ResourceInterface) dynamic.ResourceInterface
}

func (c throughCluster) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return throughKind{c.Interface.Resource(r), c.through}
}

type throughKind struct {
	dynamic.NamespaceableResourceInterface
	through func(dynamic.ResourceInterface) dynamic.ResourceInterface
}

func (k throughKind) Namespace(ns string) dynamic.ResourceInterface {
	return k.through(k.NamespaceableResourceInterface.Namespace(ns))
}

// overtakenObjects are objects that somebody else writes right after each of the first reads of them.
type overtakenObjects struct {
	dynamic.ResourceInterface
	times *int
}

func (o overtakenObjects) Get(ctx context.Context, name string, options metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	read, err := o.ResourceInterface.Get(ctx, name, options, sub...)
	if err == nil && *o.times > 0 {
		*o.times--
		write := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.org/turn":"%s"}}}`, read.GetResourceVersion()) // differs each time
		_, err = o.Patch(ctx, name, types.MergePatchType, write, metav1.PatchOptions{})
	}
	return read, err
}

func TestAPatchIsForWhatIsThereWhoeverWritesMeanwhile(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	times := 0
	s.asks.Apps = within(s.asks.Apps, func(in dynamic.ResourceInterface) dynamic.ResourceInterface { return overtakenObjects{in, &times} })
	for kind, patch := range map[string]string{
		"merge": `{"metadata":{"annotations":{"example.org/merge":"1"}}}`,
		"json":  `[{"op":"add","path":"/metadata/annotations/example.org~1json","value":"1"}]`,
	} {
		times = 2
		must[any](s, agentapi.KindObjectPatch, s.app(s.name), agentapi.ObjectPatch{Type: kind, Patch: []byte(patch)})
		if got := s.raw(s.name).GetAnnotations()["example.org/"+kind]; got != "1" || times != 0 {
			t.Errorf("%s: the annotation is %q, %d writes are left", kind, got, times)
		}
	}
	// What was made for one version is for that alone.
	read := s.raw(s.name).GetResourceVersion()
	times = 1
	s.refused(agentapi.KindObjectPatch, s.app(s.name), agentapi.ObjectPatch{Type: "merge", Version: read, Patch: []byte(`{"metadata":{"annotations":{"example.org/late":"1"}}}`)}, agentapi.CodeConflict)
}
