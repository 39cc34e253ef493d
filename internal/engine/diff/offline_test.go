package diff_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// tree decodes YAML as the engine decodes manifests: whole numbers are int64.
func tree(t testing.TB, doc string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	obj, err := object.DecodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

const offlineDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - {name: web, image: "web:1", ports: [{containerPort: 80}], resources: {limits: {cpu: 1000m}}}
`

func TestCompareSeesThroughWhatIsNoDifference(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, desired, live, want string }{
		{"defaults, quantities and a sidecar", offlineDeployment, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u, resourceVersion: "1", generation: 2, managedFields: [{manager: x}]}
spec:
  replicas: 2
  strategy: {type: RollingUpdate}
  template:
    metadata: {creationTimestamp: null}
    spec:
      dnsPolicy: ClusterFirst
      containers:
      - {name: proxy, image: "proxy:1"}
      - {name: web, image: "web:1", imagePullPolicy: Always, ports: [{containerPort: 80, protocol: TCP}], resources: {limits: {cpu: "1"}}}
status: {replicas: 1}
`, ""},
		{"another image", offlineDeployment, strings.Replace(offlineDeployment, "web:1", "web:2", 1), `
--- live
+++ wanted
@@ -10 +10 @@
-      - image: web:2
+      - image: web:1
`},
		{
			"a list of a custom resource counts whole", `{apiVersion: x.io/v1, kind: X, metadata: {name: x}, spec: {ports: [{port: 1}]}}`,
			`{apiVersion: x.io/v1, kind: X, metadata: {name: x}, spec: {ports: [{port: 1, name: a}]}}`, `
--- live
+++ wanted
@@ -7,2 +7 @@
-  - name: a
-    port: 1
+  - port: 1
`,
		},
		{
			"a finalizer of somebody else stays", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [a]}}`,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [b, a]}}`, "",
		},
		{
			"a Secret written as text", `{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {a: b}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {a: Yg==}, type: Opaque}`, "",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := diff.Compare(tree(t, c.desired), tree(t, c.live), diff.CompareOptions{})
			got, err := diff.Unified(r.Normalized, r.Predicted, diff.Text{From: "live", To: "wanted"})
			if err != nil {
				t.Fatal(err)
			}
			if delta := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got); delta != "" || r.Modified != (c.want != "") {
				t.Errorf("modified %v: %s", r.Modified, delta)
			}
		})
	}
}

func TestWhatOthersOwnTooStaysWhenItIsNotWantedAnyMore(t *testing.T) {
	t.Parallel()
	live := tree(t, `
apiVersion: v1
kind: ConfigMap
metadata:
  name: x
  managedFields:
  - {manager: slipway, operation: Apply, apiVersion: v1, fieldsV1: {"f:data": {"f:a": {}, "f:b": {}, "f:c": {}}}}
  - {manager: other, operation: Update, apiVersion: v1, fieldsV1: {"f:data": {"f:b": {}, "f:d": {}}}}
data: {a: "1", b: "1", c: "1", d: "1"}
`)
	desired := tree(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: "1"}}`)
	r := diff.Compare(desired, live, diff.CompareOptions{Manager: "slipway"})
	want := map[string]any{"a": "1", "b": "1", "d": "1"}
	if delta := cmp.Diff(want, r.Predicted["data"]); delta != "" || !r.Modified {
		t.Errorf("modified %v: %s", r.Modified, delta)
	}
}

func TestIgnoredPathsReachIntoLists(t *testing.T) {
	t.Parallel()
	changed := strings.Replace(offlineDeployment, "web:1", "web:2", 1)
	for path, modified := range map[string]bool{
		"/spec/template/spec/containers/0/image": false, "/spec/template/spec/containers/1/image": true,
		"/spec/template": false, "/nothing/here": true, "/": true, "": true,
	} {
		opts := diff.CompareOptions{IgnorePaths: []string{path}}
		if r := diff.Compare(tree(t, offlineDeployment), tree(t, changed), opts); r.Modified != modified {
			t.Errorf("%q: modified %v", path, r.Modified)
		}
	}
}

func clone(t testing.TB, obj map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func FuzzCompareNeverCrashesOrChangesItsArguments(f *testing.F) {
	managed := `{"apiVersion":"v1","kind":"Service","metadata":{"managedFields":[{"manager":"m","operation":"Apply","fieldsV1":` +
		`{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"v:1":{},"":{},"k":{}}},"i:0":{}}}]},` +
		`"spec":{"ports":[{"port":80,"name":"a"},1,null]}}`
	f.Add(`{"apiVersion":"v1","kind":"Service","spec":{"ports":[{"port":80}]}}`, managed)
	f.Add(managed, `{"apiVersion":"v1","kind":"Service","spec":{"ports":{"a":1}}}`)
	f.Add(`{"apiVersion":"v1","kind":"Secret","data":[],"stringData":"x"}`, `{"kind":"Secret","apiVersion":"v1","metadata":[],"data":{"a":null}}`)
	f.Add(`{"kind":"Endpoints","apiVersion":"v1","subsets":[1,{"ports":[null]}]}`, `{"subsets":null}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		desired, err := object.DecodeJSON([]byte(a))
		if err != nil {
			return
		}
		live, err := object.DecodeJSON([]byte(b))
		if err != nil {
			return
		}
		before := clone(t, desired) + clone(t, live)
		for _, opts := range []diff.CompareOptions{{}, {Manager: "m", IgnorePaths: []string{"/spec/ports/0", "/data"}}} {
			diff.Compare(desired, live, opts)
			diff.CompareDryRun(live, desired, opts)
		}
		diff.Mask(desired, live, []string{"a"})
		if after := clone(t, desired) + clone(t, live); after != before {
			t.Errorf("the arguments were changed: %s became %s", before, after)
		}
	})
}
