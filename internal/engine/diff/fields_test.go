package diff

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// appliedJSON is a Deployment as an API server returns it: what we sent, defaults, a status, and another manager.
const appliedJSON = `{
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {
    "name": "web", "namespace": "shop", "resourceVersion": "7", "generation": 2,
    "labels": {"app": "web"}, "annotations": {"deployment.kubernetes.io/revision": "2"},
    "finalizers": ["ours/one", "theirs/two"],
    "managedFields": [
      {"manager": "somebody", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-02T00:00:00Z",
       "fieldsV1": {"f:spec": {"f:replicas": {}}}},
      {"manager": "slipway", "operation": "Apply", "apiVersion": "apps/v1", "subresource": "status", "fieldsV1": {"f:status": {}}},
      {"manager": "slipway", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z", "fieldsV1": {
        "f:metadata": {"f:labels": {"f:app": {}}, "f:finalizers": {"v:\"ours/one\"": {}}},
        "f:spec": {"f:selector": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {
          ".": {}, "f:name": {}, "f:image": {}, "f:args": {},
          "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}
        }}}}}
      }}
    ]
  },
  "spec": {
    "replicas": 3, "progressDeadlineSeconds": 600, "selector": {"matchLabels": {"app": "web"}},
    "template": {"spec": {"containers": [
      {"name": "sidecar", "image": "proxy:1"},
      {"name": "main", "image": "web:1", "args": ["-a", "-b"], "imagePullPolicy": "Always",
       "ports": [{"containerPort": 80, "protocol": "TCP"}]}
    ]}}
  },
  "status": {"replicas": 3}
}`

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func container(obj map[string]any, i int) map[string]any {
	spec := obj["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	return spec["containers"].([]any)[i].(map[string]any)
}

func TestAPrintMovesWithOwnedFieldsAndWithNothingElse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(map[string]any)
		moves  bool
	}{
		{"another manager's field", func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = int64(9) }, false},
		{"a default", func(o map[string]any) { container(o, 1)["imagePullPolicy"] = "Never" }, false},
		{"another container", func(o map[string]any) { container(o, 0)["image"] = "proxy:2" }, false},
		{"the order of containers", func(o map[string]any) {
			list := o["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)
			list[0], list[1] = list[1], list[0]
		}, false},
		{"the status", func(o map[string]any) { delete(o, "status") }, false},
		{"the version", func(o map[string]any) { o["metadata"].(map[string]any)["resourceVersion"] = "8" }, false},
		{"another member of a set", func(o map[string]any) { o["metadata"].(map[string]any)["finalizers"] = []any{"ours/one"} }, false},
		{"a label of another", func(o map[string]any) { o["metadata"].(map[string]any)["labels"].(map[string]any)["x"] = "1" }, false},
		{"our member of a set", func(o map[string]any) { o["metadata"].(map[string]any)["finalizers"] = []any{"theirs/two"} }, true},
		{"our label", func(o map[string]any) { o["metadata"].(map[string]any)["labels"].(map[string]any)["app"] = "x" }, true},
		{"our label removed", func(o map[string]any) { delete(o["metadata"].(map[string]any), "labels") }, true},
		{"our image", func(o map[string]any) { container(o, 1)["image"] = "web:2" }, true},
		{"our container removed", func(o map[string]any) { container(o, 1)["name"] = "renamed" }, true},
		{"our port removed", func(o map[string]any) { container(o, 1)["ports"] = []any{} }, true},
		{"an item of a list that is ours as a whole", func(o map[string]any) { container(o, 1)["args"] = []any{"-a"} }, true},
		{"a key of a map that is ours as a whole", func(o map[string]any) {
			o["spec"].(map[string]any)["selector"].(map[string]any)["matchLabels"].(map[string]any)["y"] = "1"
		}, true},
	}
	fields, ok := OwnedFields(decode(t, appliedJSON), "slipway")
	if !ok {
		t.Fatal("the manager's fields are not found")
	}
	before := fields.Print(decode(t, appliedJSON))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := decode(t, appliedJSON)
			test.change(obj)
			if moved := fields.Print(obj) != before; moved != test.moves {
				t.Errorf("print moved: %t, want %t", moved, test.moves)
			}
		})
	}
}

func TestOwnedFieldsAreThoseOfOneManagersApplies(t *testing.T) {
	t.Parallel()
	obj := decode(t, appliedJSON)
	fields, _ := OwnedFields(obj, "slipway")
	again, _ := OwnedFields(decode(t, appliedJSON), "slipway")
	if fields != again {
		t.Error("equal sets are not equal")
	}
	if none, ok := OwnedFields(obj, "stranger"); ok || !none.Empty() {
		t.Errorf("a manager that never applied owns %s", none)
	}
	if at := AppliedAt(obj, "slipway"); at != 1767225600 {
		t.Errorf("applied at %d, want 1767225600 (2026-01-01)", at)
	}
	if at := AppliedAt(obj, "somebody"); at != 0 {
		t.Errorf("an update counts as an apply, at %d", at)
	}
	obj["apiVersion"] = "apps/v2"
	if all, ok := OwnedFields(obj, "slipway"); !ok || all != Whole() {
		t.Errorf("applied at another version: %s, want everything", all)
	}
	paths := `.metadata.finalizers["ours/one"]
.metadata.labels.app
.spec.selector
.spec.template.spec.containers[{"name":"main"}][]
.spec.template.spec.containers[{"name":"main"}].args
.spec.template.spec.containers[{"name":"main"}].image
.spec.template.spec.containers[{"name":"main"}].name
.spec.template.spec.containers[{"name":"main"}].ports[{"containerPort":80,"protocol":"TCP"}][]
.spec.template.spec.containers[{"name":"main"}].ports[{"containerPort":80,"protocol":"TCP"}].containerPort
`
	if d := cmp.Diff(paths, fmt.Sprint(fields)); d != "" {
		t.Errorf("paths (-want +got):\n%s", d)
	}
}

func TestMatchFindsEveryDifferenceInWhatWeOwn(t *testing.T) {
	t.Parallel()
	live := decode(t, appliedJSON)
	fields, _ := OwnedFields(live, "slipway")
	desired := func() map[string]any {
		return decode(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"},
		"finalizers":["ours/one"]},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":{"spec":{"containers":[
		{"name":"main","image":"web:1","args":["-a","-b"],"ports":[{"containerPort":80}]}]}}}}`)
	}
	if !Match(desired(), live, fields) {
		t.Error("what was applied does not match")
	}
	tests := []struct {
		name   string
		change func(map[string]any)
	}{
		{"another image", func(o map[string]any) { container(o, 0)["image"] = "web:2" }},
		{"one field more", func(o map[string]any) { container(o, 0)["tty"] = true }},
		{"one field less", func(o map[string]any) { delete(container(o, 0), "args") }},
		{"a field that another manager owns", func(o map[string]any) { o["spec"].(map[string]any)["replicas"] = int64(3) }},
		{"another protocol", func(o map[string]any) {
			container(o, 0)["ports"] = []any{map[string]any{"containerPort": int64(80), "protocol": "UDP"}}
		}},
		{"one label more", func(o map[string]any) { o["metadata"].(map[string]any)["labels"].(map[string]any)["x"] = "1" }},
		{"no labels", func(o map[string]any) { delete(o["metadata"].(map[string]any), "labels") }},
		{"no metadata but the name", func(o map[string]any) { o["metadata"] = map[string]any{"name": "web"} }},
		{"one finalizer more", func(o map[string]any) {
			o["metadata"].(map[string]any)["finalizers"] = []any{"ours/one", "theirs/two"}
		}},
		{"no spec", func(o map[string]any) { delete(o, "spec") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := desired()
			test.change(obj)
			if Match(obj, live, fields) {
				raw, _ := json.Marshal(obj)
				t.Errorf("matches, though it differs: %s", raw)
			}
		})
	}
}

func TestMatchOfAnEmptySetIsNever(t *testing.T) {
	t.Parallel()
	if Match(map[string]any{}, map[string]any{}, Fields{}) || Match(map[string]any{}, map[string]any{}, Whole()) {
		t.Error("nothing is owned, so nothing can be told")
	}
}
