package diff

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// manifests that users write, by the resource that takes them. Those marked plain are spelled as the API server
// stores them, so that Match needs no dry run to see that they are unchanged.
func manifests(group string) []struct {
	name, resource string
	plain          bool
	yaml           string
} {
	return []struct {
		name, resource string
		plain          bool
		yaml           string
	}{
		{"a Deployment", "apps/v1/deployments", true, `
kind: Deployment
spec:
  replicas: 0
  paused: true
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {team: shop}}
    spec:
      serviceAccountName: default
      containers:
        - name: web
          image: registry.example/web:1
          args: [serve, --port=80]
          ports: [{containerPort: 80, name: http}, {containerPort: 53, protocol: UDP}]
          env:
            - {name: A, value: "1"}
            - {name: B, valueFrom: {configMapKeyRef: {name: c, key: k}}}
          resources: {requests: {cpu: 100m}}
          volumeMounts: [{name: data, mountPath: /data}]
          livenessProbe: {httpGet: {path: /, port: http}}
        - {name: side, image: "registry.example/side:1"}
      volumes: [{name: data, emptyDir: {}}, {name: conf, configMap: {name: c}}]
`},
		{"a Deployment with quantities in another spelling", "apps/v1/deployments", false, `
kind: Deployment
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "x:1", resources: {requests: {cpu: 1000m, memory: 1024Mi}}}]
`},
		{"a Service", "v1/services", true, `
kind: Service
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: http}, {name: dns, port: 53, protocol: UDP}]
`},
		{"a ConfigMap", "v1/configmaps", true, `
kind: ConfigMap
metadata: {labels: {app: web}}
data: {a: "1", b: "2"}
binaryData: {c: AAEC}
immutable: false
`},
		{"a Secret", "v1/secrets", true, `
kind: Secret
type: Opaque
data: {a: MQ==}
`},
		{"a Secret with stringData", "v1/secrets", false, `
kind: Secret
stringData: {a: "1", b: "2"}
`},
		{"an autoscaler", "autoscaling/v2/horizontalpodautoscalers", true, `
kind: HorizontalPodAutoscaler
spec:
  minReplicas: 1
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`},
		{"a custom resource with lists", group + "/v1/ships", true, `
kind: Ship
spec:
  name: Beagle
  masts: [1, 2, 3]
  crew: [{name: ann, rank: 1}, {name: bob, rank: 2, tags: [x]}]
  flags: [red, blue]
  free: {any: {thing: [1, {a: b}]}, number: 1.5}
`},
		{"a Role", "rbac.authorization.k8s.io/v1/roles", true, `
kind: Role
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
`},
	}
}

const shipSchema = `
type: object
properties:
  spec:
    type: object
    properties:
      name: {type: string}
      size: {type: integer, default: 3}
      masts: {type: array, items: {type: integer}}
      flags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      crew:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string}
            rank: {type: integer}
            tags: {type: array, items: {type: string}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// sea is where manifests are applied.
type sea struct {
	client dynamic.Interface
	ns     string
}

// apply applies an object and returns what the API server makes of it.
func (s sea) apply(ctx context.Context, gvr schema.GroupVersionResource, obj map[string]any, dry bool) (map[string]any, error) {
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	force := true
	o := metav1.PatchOptions{FieldManager: "slipway", Force: &force}
	if dry {
		o.DryRun = []string{metav1.DryRunAll}
	}
	name := obj["metadata"].(map[string]any)["name"].(string)
	u, err := s.client.Resource(gvr).Namespace(s.ns).Patch(ctx, name, types.ApplyPatchType, raw, o)
	if err != nil {
		return nil, err
	}
	return u.Object, nil
}

// same reports whether an apply would leave an object and our part of it as they are. What a controller writes in
// between does not count.
func same(before, after map[string]any) bool {
	for _, o := range []map[string]any{before, after} {
		annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any)
		delete(annotations, "deployment.kubernetes.io/revision")
	}
	own := func(o map[string]any) Fields { f, _ := OwnedFields(o, "slipway"); return f }
	return own(before) == own(after) && Whole().Print(before) == Whole().Print(after) &&
		fmt.Sprint(before["metadata"].(map[string]any)["finalizers"]) == fmt.Sprint(after["metadata"].(map[string]any)["finalizers"])
}

func TestMatchNeverOverlooksWhatAnApplyWouldChange(t *testing.T) {
	t.Parallel()
	client, err := dynamic.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	s := sea{client: client, ns: testenv.Namespace(t)}
	group := s.ns + ".example.com"
	s.defineShips(t, group)
	for i, m := range manifests(group) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			gvr := parseResource(t, m.resource)
			var desired map[string]any
			if err := yaml.Unmarshal([]byte(m.yaml), &desired); err != nil {
				t.Fatal(err)
			}
			desired["apiVersion"] = gvr.GroupVersion().String()
			meta, _ := desired["metadata"].(map[string]any)
			if meta == nil {
				meta = map[string]any{}
				desired["metadata"] = meta
			}
			meta["name"] = fmt.Sprintf("m%d", i)
			object.SetAnnotation(desired, object.TrackingAnnotation, "app:x")
			desired = clone(t, desired)

			live, err := s.apply(t.Context(), gvr, desired, false)
			if err != nil {
				t.Fatal(err)
			}
			owned, _ := OwnedFields(live, "slipway")
			if m.plain && !Match(desired, live, owned) {
				t.Errorf("unchanged, but it does not match; ours is\n%s", owned)
			}
			tried := 0
			for _, v := range variants(desired) {
				would, err := s.apply(t.Context(), gvr, v.obj, true)
				if err != nil {
					continue // refused: nothing to compare
				}
				tried++
				if Match(v.obj, live, owned) && !same(live, would) {
					t.Errorf("%s: it matches, but an apply would change it (-live +applied):\n%s", v.what, cmp.Diff(live, would))
				}
			}
			if tried < 3 {
				t.Errorf("only %d variants were accepted", tried)
			}
		})
	}
}

func parseResource(t *testing.T, text string) schema.GroupVersionResource {
	t.Helper()
	gv, resource := text[:len(text)-len(lastPart(text))-1], lastPart(text)
	parsed, err := schema.ParseGroupVersion(gv)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.WithResource(resource)
}

func lastPart(text string) string {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '/' {
			return text[i+1:]
		}
	}
	return text
}

func clone(t testing.TB, obj map[string]any) map[string]any {
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	out, err := object.DecodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type variant struct {
	what string
	obj  map[string]any
}

// variants returns copies of an object that differ from it in one place each: a value changed, a field or an item
// left out, twice there, or moved to the end.
func variants(obj map[string]any) []variant {
	var out []variant
	add := func(what, path string, v map[string]any) {
		out = append(out, variant{what + " " + path, (&unstructured.Unstructured{Object: v}).DeepCopy().Object})
	}
	walk(obj, "", add, obj)
	return out
}

// walk changes every place of node in turn, tells of the whole each time, and puts it back.
func walk(node any, path string, add func(what, path string, v map[string]any), root map[string]any) {
	switch n := node.(type) {
	case map[string]any:
		keys := make([]string, 0, len(n))
		for k := range n {
			keys = append(keys, k)
		}
		for _, k := range keys {
			was, at := n[k], path+"."+k
			if at == ".apiVersion" || at == ".kind" || at == ".metadata.name" {
				continue
			}
			if at == ".metadata" {
				walk(was, at, add, root)
				continue
			}
			delete(n, k)
			add("without", at, root)
			for _, other := range others(was) {
				n[k] = other
				add("changed", at, root)
			}
			n[k] = was
			walk(was, at, add, root)
		}
		if path != "" {
			n["added"] = "x"
			add("more in", path, root)
			delete(n, "added")
		}
	case []any:
		for i := range n {
			was, at := n[i], fmt.Sprintf("%s[%d]", path, i)
			for _, other := range others(was) {
				n[i] = other
				add("changed", at, root)
			}
			n[i] = was
			if i > 0 {
				n[i], n[0] = n[0], n[i]
				add("moved", at, root)
				n[i], n[0] = n[0], n[i]
			}
			walk(was, at, add, root)
		}
	}
}

// others returns values to put in the place of one.
func others(v any) []any {
	switch x := v.(type) {
	case string:
		return []any{x + "x", "", nil}
	case int64:
		return []any{x + 1, int64(0), nil}
	case float64:
		return []any{x + 1}
	case bool:
		return []any{!x, nil}
	case []any:
		if len(x) > 1 {
			return []any{x[1:], x[:len(x)-1], []any{}, nil}
		}
		return []any{[]any{}, nil}
	case map[string]any:
		return []any{map[string]any{}, nil}
	}
	return nil
}

func (s sea) defineShips(t *testing.T, group string) {
	t.Helper()
	var openAPI map[string]any
	if err := yaml.Unmarshal([]byte(shipSchema), &openAPI); err != nil {
		t.Fatal(err)
	}
	crds := s.client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	name := "ships." + group
	stream, err := crds.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Stop()
	_, err = crds.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Ship", "plural": "ships"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": openAPI},
			}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = crds.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}) })
	for e := range stream.ResultChan() {
		u, _ := e.Object.(*unstructured.Unstructured)
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range conditions {
			if m, _ := c.(map[string]any); m["type"] == "Established" && m["status"] == "True" {
				return
			}
		}
	}
	t.Fatal("the definition is not established")
}
