package live

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// deploymentJSON is a Deployment of an Application as the API server sends it.
func deploymentJSON(app, n int) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[2]d","namespace":"team-%[1]d",
		"uid":"6f7a1e52-0000-4000-%04[1]d-%012[2]d","resourceVersion":"%[3]d","generation":3,"labels":{"app":"web"},
		"annotations":{"argocd.argoproj.io/tracking-id":"shop-%[1]d:apps/Deployment:team-%[1]d/web-%[2]d"},"managedFields":[
		{"manager":"slipway","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1",
			"fieldsV1":{"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}}}}}}},
		{"manager":"kube-controller-manager","operation":"Update","apiVersion":"apps/v1","subresource":"status",
			"time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:replicas":{}}}}]},
		"spec":{"replicas":2,"template":{"spec":{"containers":[
			{"name":"web","image":"registry.example.com/shop/web:1.20.3"},{"name":"proxy","image":"registry.example.com/proxy:2.1"}]}}},
		"status":{"observedGeneration":3,"replicas":2,"updatedReplicas":1,"availableReplicas":1}}`, app, n, 1000+app*100+n)
}

// BenchmarkRecordsInMemory says how many bytes an object takes: one that waits for its first comparison, as after a
// start, and one that has a fingerprint.
func BenchmarkRecordsInMemory(b *testing.B) {
	const apps, each = 200, 10
	kind := object.Kind{Group: "apps", Kind: "Deployment"}
	for _, settled := range []bool{false, true} {
		b.Run(map[bool]string{false: "not compared yet", true: "compared"}[settled], func(b *testing.B) {
			for b.Loop() {
				x := newIndex(func(Event) {})
				before := heap()
				for app := range apps {
					for n := range each {
						obj, err := object.DecodeJSON(deploymentJSON(app, n))
						if err != nil {
							b.Fatal(err)
						}
						if settled {
							fields, _ := diff.OwnedFields(obj, Manager)
							x.applied(kind, obj, fields, 7)
						} else {
							x.observe(x.digest(kind, obj))
						}
					}
				}
				b.ReportMetric(float64(heap()-before)/(apps*each), "B/record")
				runtime.KeepAlive(x)
			}
			b.ReportMetric(float64(unsafe.Sizeof(Record{})), "B/struct")
		})
	}
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
