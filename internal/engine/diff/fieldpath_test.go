package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// threeManagers is a Deployment as it is after a sync, with an autoscaler and its controller as the other managers of its fields.
func threeManagers(tb testing.TB, name string) map[string]any {
	tb.Helper()
	container := func(name string) string {
		return fmt.Sprintf(`"k:{\"name\":\"%s\"}":{".":{},"f:name":{},"f:image":{},"f:args":{},"f:env":{"k:{\"name\":\"LEVEL\"}":{".":{},"f:name":{},"f:value":{}},
			"k:{\"name\":\"REGION\"}":{".":{},"f:name":{},"f:value":{}}},"f:ports":{"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{}}},
			"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:cpu":{},"f:memory":{}}},"f:readinessProbe":{"f:httpGet":{"f:path":{},"f:port":{}},"f:periodSeconds":{}}}`, name)
	}
	live := func(name string) string {
		return fmt.Sprintf(`{"name":"%s","image":"registry.example.com/%[1]s:1.2","args":["--listen",":8080"],"env":[{"name":"LEVEL","value":"info"},{"name":"REGION","value":"eu"}],
			"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"resources":{"limits":{"memory":"64Mi"},"requests":{"cpu":"10m","memory":"32Mi"}},
			"readinessProbe":{"httpGet":{"path":"/healthz","port":"http","scheme":"HTTP"},"periodSeconds":5},"imagePullPolicy":"IfNotPresent"}`, name)
	}
	obj, err := object.DecodeJSON([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"` + name + `":"web"},"annotations":{"owner":"shop"},"managedFields":[
		{"manager":"slipway","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{
			"f:metadata":{"f:labels":{"f:` + name + `":{}},"f:annotations":{"f:owner":{}}},"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},
			"f:spec":{"f:containers":{` + container("web") + `,` + container("proxy") + `},"f:serviceAccountName":{},"f:tolerations":{}}}}}},
		{"manager":"vpa","operation":"Update","apiVersion":"apps/v1","subresource":"scale","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1","subresource":"status","fieldsType":"FieldsV1","fieldsV1":{
			"f:metadata":{"f:annotations":{"f:deployment.kubernetes.io/revision":{}}},"f:status":{"f:availableReplicas":{},"f:conditions":{".":{},
			"k:{\"type\":\"Available\"}":{".":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}},"k:{\"type\":\"Progressing\"}":{".":{},"f:reason":{},"f:status":{},"f:type":{}}},
			"f:observedGeneration":{},"f:replicas":{}}}}]},
		"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[` + live("web") + `,` + live("proxy") + `],
			"serviceAccountName":"web","tolerations":[{"key":"spot","operator":"Exists"}],"restartPolicy":"Always"}}},"status":{"replicas":3,"availableReplicas":3,"observedGeneration":2}}`))
	if err != nil {
		tb.Fatal(err)
	}
	return obj
}

// pathSet reads a set in the format fieldsV1 with the library of the API server.
func pathSet(tb testing.TB, set map[string]any) *fieldpath.Set {
	tb.Helper()
	raw, err := json.Marshal(set)
	if err != nil {
		tb.Fatal(err)
	}
	out := &fieldpath.Set{}
	if err := out.FromJSON(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	return out
}

// printOfPaths does with a set of the library what Print does with Fields.
func printOfPaths(set *fieldpath.Set, obj any) uint64 {
	p := printer{digest: xxhash.New()}
	walkPaths(&p, set, obj)
	return p.digest.Sum64()
}

func walkPaths(p *printer, set *fieldpath.Set, of any) {
	for pe := range set.Members.All() {
		sub, ok := at(of, pe)
		if _, below := set.Children.Get(pe); below {
			p.mark(ok)
		} else {
			p.leaf(sub, ok)
		}
	}
	for pe := range set.Children.All() {
		if sub, ok := at(of, pe); ok {
			next, _ := set.Children.Get(pe)
			walkPaths(p, next, sub)
		} else {
			p.mark(false)
		}
	}
}

func at(of any, pe fieldpath.PathElement) (any, bool) {
	if pe.FieldName != nil {
		m, _ := of.(map[string]any)
		sub, ok := m[*pe.FieldName]
		return sub, ok
	}
	list, _ := of.([]any)
	for i, item := range list {
		switch fields, _ := item.(map[string]any); {
		case pe.Key != nil && hasAll(fields, *pe.Key), pe.Value != nil && value.Equals(value.NewValueInterface(item), *pe.Value), pe.Index != nil && *pe.Index == i:
			return item, true
		}
	}
	return nil, false
}

func hasAll(fields map[string]any, keys value.FieldList) bool {
	for _, k := range keys {
		if have, ok := fields[k.Name]; !ok || !sameScalar(have, k.Value.Unstructured()) {
			return false
		}
	}
	return true
}

// BenchmarkFieldSets compares our sets with those of structured-merge-diff, see docs/adr/0053-sets-of-fields.md: what a
// watch event costs, and what is kept of 1,000 objects of 20 shapes.
func BenchmarkFieldSets(b *testing.B) {
	obj := threeManagers(b, "app")
	entries := slices.Collect(object.Managed(obj))
	set, _ := entries[0]["fieldsV1"].(map[string]any)
	other, _ := entries[2]["fieldsV1"].(map[string]any)
	fields, paths := internFields(set), pathSet(b, set)
	for _, run := range []struct {
		name        string
		ours, their func()
	}{
		{"read", func() { internFields(set) }, func() { pathSet(b, set) }},
		{"print", func() { fields.Print(obj) }, func() { printOfPaths(paths, obj) }},
		{"unite", func() { internFields(unite(set, other)) }, func() { pathSet(b, set).Union(pathSet(b, other)) }},
		{"equal", func() { _ = fields == internFields(set) }, func() { paths.Equals(pathSet(b, set)) }},
	} {
		for i, do := range []func(){run.ours, run.their} {
			b.Run(run.name+"/"+[]string{"ours", "fieldpath"}[i], func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					do()
				}
			})
		}
	}
	objects := make([]map[string]any, 1000)
	for i := range objects {
		objects[i], _ = slices.Collect(object.Managed(threeManagers(b, "app"+strings.Repeat("x", i%20))))[0]["fieldsV1"].(map[string]any)
	}
	keep(b, "keep/ours", objects, internFields)
	keep(b, "keep/fieldpath", objects, func(set map[string]any) *fieldpath.Set { return pathSet(b, set) })
}

// keep reports what sets take that are kept.
func keep[S any](b *testing.B, name string, objects []map[string]any, read func(map[string]any) S) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			kept := make([]S, len(objects))
			before := heap()
			for i, o := range objects {
				kept[i] = read(o)
			}
			b.ReportMetric(float64(heap()-before)/float64(len(objects)), "B/object")
			runtime.KeepAlive(kept)
		}
	})
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
