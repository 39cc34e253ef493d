package diff

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ownedLive = `
apiVersion: apps/v1
kind: Deployment
metadata:
  labels: {app: web, app.kubernetes.io/part-of: shop}
  managedFields:
  - {manager: slipway, operation: Apply, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:metadata": {"f:labels": {"f:app": {}, "f:app.kubernetes.io/part-of": {}}}, "f:spec": {
      "f:args": {}, "f:selector": {}, "f:replicas": {}, "f:template": {".": {}},
      "f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}, "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}}}}}
  - {manager: kubectl-edit, operation: Update, time: "2026-02-01T00:00:00Z", fieldsV1: {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {"f:image": {}}}}}}
  - {manager: kube-controller-manager, operation: Update, subresource: scale, time: "2026-03-01T00:00:00Z", fieldsV1: {"f:spec": {"f:replicas": {}}}}
spec:
  replicas: 5
  selector: {a: b}
  args: [x, z]
  template: {z: 1}
  containers: [{name: web, image: "web:2", ports: [{containerPort: 80}]}, {name: injected}]
`

func TestEachFieldThatDiffersHasItsOwners(t *testing.T) {
	t.Parallel()
	live := parsed(t, ownedLive)
	wanted := parsed(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {labels: {app: web, app.kubernetes.io/part-of: x}},
  spec: {replicas: 2, selector: {a: c}, args: [x], template: {z: 2}, new: {deep: 1}, containers: [{name: web, image: "web:1", ports: [{containerPort: 80, hostPort: 8}]}, {name: added}]}}`)
	delete(live["metadata"].(map[string]any), "x")
	shown := Normalize(live, CompareOptions{})
	var got []string
	for _, c := range FieldChanges(shown, wanted) {
		line := fmt.Sprintf("%s: %v -> %v", c.Path, c.Live, c.Wanted)
		for _, o := range Owners(live, c.Path) {
			line += fmt.Sprintf(" %s/%s/%s@%.7s", o.Manager, o.Operation, o.Subresource, o.Since)
		}
		got = append(got, line)
	}
	want := []string{
		`.metadata.labels["app.kubernetes.io/part-of"]: shop -> x slipway/Apply/@2026-01`,
		`.spec.args: [x z] -> [x] slipway/Apply/@2026-01`,
		`.spec.containers[name=web].image: web:2 -> web:1 kubectl-edit/Update/@2026-02 slipway/Apply/@2026-01`,
		`.spec.containers[name=web].ports[containerPort=80].hostPort: <nil> -> 8`,
		`.spec.containers[name=injected]: map[name:injected] -> <nil>`,
		`.spec.containers[name=added]: <nil> -> map[name:added]`,
		`.spec.new: <nil> -> map[deep:1]`,
		`.spec.replicas: 5 -> 2 kube-controller-manager/Update/scale@2026-03 slipway/Apply/@2026-01`,
		`.spec.selector.a: b -> c slipway/Apply/@2026-01`,
		`.spec.template.z: 1 -> 2`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestListsWhoseItemsHaveNoNameDifferAsAWholeOrByPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, live, wanted, want string }{
		{"equal", "{a: [1]}", "{a: [1]}", ""},
		{"another length", "{a: [{x: 1}]}", "{a: [{x: 1}, {x: 2}]}", ".a"},
		{"by place", "{a: [{x: 1}, {x: 2}]}", "{a: [{x: 1}, {x: 3}]}", ".a[1].x"},
		{"another order", "{a: [{name: x}, {name: z}]}", "{a: [{name: z}, {name: x}]}", ".a"},
		{"another type", "{a: [1]}", "{a: {b: 1}}", ".a"},
		{"odd names", `{"a.b": {"": 1}}`, `{"a.b": {"": 2}}`, `["a.b"][""]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, c := range FieldChanges(parsed(t, test.live), parsed(t, test.wanted)) {
				got += c.Path.String()
			}
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
