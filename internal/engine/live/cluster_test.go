package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// patience bounds the wait for something that a watch tells.
const patience = time.Minute

// bed is a live cluster with its events, and a client that changes things behind its back.
type bed struct {
	t       *testing.T
	live    *Cluster
	client  dynamic.Interface
	ns      string
	mu      sync.Mutex
	events  []Event
	kinds   int
	changed chan struct{}
}

func newBed(t *testing.T, config *rest.Config, ns string) *bed {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{t: t, client: client, ns: ns, changed: make(chan struct{}, 1)}
	b.live, err = Open(t.Context(), Config{
		Server: config.Host, REST: config, Log: slog.New(slog.DiscardHandler),
		Notify:       func(e Event) { b.note(func() { b.events = append(b.events, e) }) },
		KindsChanged: func() { b.note(func() { b.kinds++ }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.live.Close)
	return b
}

func (b *bed) note(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// await waits for an event, and forgets all up to it.
func (b *bed) await(want Event) {
	b.t.Helper()
	timeout := time.After(patience)
	for {
		b.mu.Lock()
		for i, e := range b.events {
			if e == want {
				b.events = b.events[i+1:]
				b.mu.Unlock()
				return
			}
		}
		have := fmt.Sprint(b.events)
		b.mu.Unlock()
		select {
		case <-b.changed:
		case <-timeout:
			b.t.Fatalf("no event %v; there were %s", want, have)
		}
	}
}

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func (b *bed) watch(kind object.Kind) Resource {
	b.t.Helper()
	res, err := b.live.Find(b.t.Context(), kind, "")
	if err == nil {
		err = b.live.Watch(b.t.Context(), res)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

func (b *bed) key(name string) object.Key {
	return object.Key{Kind: "ConfigMap", Namespace: b.ns, Name: name}
}

// apply does what the engine does: server-side apply, and the answer goes to the live state.
func (b *bed) apply(res Resource, app, name, value string, wanted uint64) *unstructured.Unstructured {
	b.t.Helper()
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"annotations":{%q:%q}},"data":{"value":%q}}`,
		name, object.TrackingAnnotation, object.TrackingID(app, b.key(name), b.ns), value)
	force := true
	u, err := b.client.Resource(configMaps()).Namespace(b.ns).Patch(b.t.Context(), name, types.ApplyPatchType, []byte(body),
		metav1.PatchOptions{FieldManager: Manager, Force: &force})
	if err != nil {
		b.t.Fatal(err)
	}
	b.live.Applied(res, u.Object, wanted)
	return u
}

// patch changes an object as somebody else.
func (b *bed) patch(name, patch string) {
	b.t.Helper()
	_, err := b.client.Resource(configMaps()).Namespace(b.ns).Patch(b.t.Context(), name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "somebody"})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestRecordsFollowWhatHappensInTheCluster(t *testing.T) {
	t.Parallel()
	b := newBed(t, testenv.Cluster(t), testenv.Namespace(t))
	res := b.watch(object.Kind{Kind: "ConfigMap"})
	if other := b.live.Claim(b.key("a"), "one"); other != "" {
		t.Fatalf("a free object belongs to %q", other)
	}
	b.apply(res, "one", "a", "x", 7)
	rec, tracked, _ := b.live.Get(b.key("a"))
	if !tracked || !rec.InSync(7) || rec.App != "one" || rec.AppliedAt == 0 {
		t.Fatalf("after the apply: tracked %t, %+v", tracked, rec)
	}
	b.patch("a", `{"data":{"theirs":"1"},"metadata":{"labels":{"theirs":"1"}}}`)
	b.patch("a", `{"data":{"value":"changed"}}`)
	b.await(Event{App: "one", Key: b.key("a"), Why: Drift})
	if rec, _, _ = b.live.Get(b.key("a")); rec.InSync(7) {
		t.Errorf("a changed object counts as in sync: %+v", rec)
	}
	b.apply(res, "one", "a", "x", 7)
	if rec, _, _ = b.live.Get(b.key("a")); !rec.InSync(7) {
		t.Errorf("put back, but not in sync: %+v", rec)
	}
	if err := b.client.Resource(configMaps()).Namespace(b.ns).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.await(Event{App: "one", Key: b.key("a"), Why: Gone})
	if _, tracked, foreign := b.live.Get(b.key("a")); tracked || foreign {
		t.Errorf("deleted, but tracked %t, foreign %t", tracked, foreign)
	}
}

func TestAnObjectOfNobodyIsKnownToExist(t *testing.T) {
	t.Parallel()
	b := newBed(t, testenv.Cluster(t), testenv.Namespace(t))
	b.watch(object.Kind{Kind: "ConfigMap"})
	b.live.Claim(b.key("a"), "one")
	in := b.client.Resource(configMaps()).Namespace(b.ns)
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"},
	}}
	if _, err := in.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.await(Event{App: "one", Key: b.key("a"), Why: Appeared})
	if _, tracked, foreign := b.live.Get(b.key("a")); tracked || !foreign {
		t.Errorf("tracked %t, foreign %t; want an untracked object", tracked, foreign)
	}
	b.patch("a", fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, object.TrackingAnnotation, object.TrackingID("two", b.key("a"), b.ns)))
	b.await(Event{App: "two", Key: b.key("a"), Why: Appeared})
	if got := b.live.Owned("two"); len(got) != 1 || got[0].Key != b.key("a") || got[0].Body() == nil {
		t.Errorf("objects of two: %+v", got)
	}
}

func TestAChangeOfHealthIsTold(t *testing.T) {
	t.Parallel()
	b := newBed(t, testenv.Cluster(t), testenv.Namespace(t))
	b.watch(object.Kind{Kind: "PersistentVolumeClaim"})
	key := object.Key{Kind: "PersistentVolumeClaim", Namespace: b.ns, Name: "disk"}
	in := b.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}).Namespace(b.ns)
	_, err := in.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "disk", "annotations": map[string]any{
			object.TrackingAnnotation: object.TrackingID("one", key, b.ns),
		}},
		"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "none",
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.await(Event{App: "one", Key: key, Why: Appeared})
	if _, err := in.Patch(t.Context(), "disk", types.MergePatchType, []byte(`{"status":{"phase":"Lost"}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	b.await(Event{App: "one", Key: key, Why: Health})
}

func TestAKindIsKnownOnceItsDefinitionIs(t *testing.T) {
	t.Parallel()
	b := newBed(t, testenv.Cluster(t), testenv.Namespace(t))
	group := b.ns + ".example.com" // unique on the shared cluster
	kind := object.Kind{Group: group, Kind: "Ship"}
	_, err := b.live.Find(t.Context(), kind, "")
	var unknown *UnknownKindError
	if !errors.As(err, &unknown) {
		t.Fatalf("an unknown kind is found, or fails with %v", err)
	}
	crds := b.client.Resource(kindsCRD)
	_, err = crds.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "ships." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Ship", "plural": "ships"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = crds.Delete(context.WithoutCancel(t.Context()), "ships."+group, metav1.DeleteOptions{}) })
	res, err := b.live.AwaitKind(t.Context(), kind, "v1")
	if err != nil || !res.Namespaced || res.Plural != "ships" {
		t.Fatalf("%+v, %v", res, err)
	}
	if _, err := b.live.Find(t.Context(), kind, "v2"); err == nil || !strings.Contains(err.Error(), "serves Ship."+group+" at version v1, not v2") {
		t.Errorf("a version that is not served: %v", err)
	}
	if err := b.live.Watch(t.Context(), res); err != nil {
		t.Error(err)
	}
}

func TestAfterTheAPIServerWasKilledTheRecordsAreWhatItHolds(t *testing.T) {
	t.Parallel()
	cluster := testenv.PrivateCluster(t)
	ns := testenv.NamespaceOn(t, cluster.Config())
	b := newBed(t, cluster.Config(), ns)
	res := b.watch(object.Kind{Kind: "ConfigMap"})
	b.apply(res, "one", "kept", "x", 7)
	b.apply(res, "one", "dropped", "x", 8)
	b.live.Claim(b.key("new"), "one")

	cluster.Restart()
	in := b.client.Resource(configMaps()).Namespace(ns)
	if err := in.Delete(t.Context(), "dropped", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "new"},
	}}
	if _, err := in.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.await(Event{App: "one", Key: b.key("new"), Why: Appeared})
	if rec, tracked, _ := b.live.Get(b.key("kept")); !tracked || !rec.InSync(7) {
		t.Errorf("an object that nobody touched: tracked %t, %+v", tracked, rec)
	}
	if _, tracked, foreign := b.live.Get(b.key("dropped")); tracked || foreign {
		t.Errorf("an object that was deleted: tracked %t, foreign %t", tracked, foreign)
	}
}
