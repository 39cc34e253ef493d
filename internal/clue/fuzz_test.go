package clue

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// FuzzFinding looks at an object of any shape, with itself as what is below it and as an Event about it.
func FuzzFinding(f *testing.F) {
	for _, kind := range []string{"Pod", "Deployment", "Service", "Ingress", "PersistentVolumeClaim", "CronJob", "Job", "HorizontalPodAutoscaler", "Cluster"} {
		f.Add(kind, []byte(`{"metadata":{"name":"a","namespace":"b","uid":"c","ownerReferences":[{"uid":"c"}]},"reason":"FailedCreate","type":"Warning","message":"x",
			"spec":{"containers":[{"name":"a"}],"selector":{"matchLabels":{"a":"b"}},"rules":[{"http":{"paths":[{"backend":{"service":{"name":"x"}}}]}}]},
			"status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`))
	}
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		obj := map[string]any{}
		if json.Unmarshal(raw, &obj) != nil {
			return
		}
		group, resource := groupOf(kind)
		if kind == "Cluster" {
			group = "example.org"
		}
		m := &memory{log: string(raw), objects: map[string][]map[string]any{}}
		for _, r := range []string{resource, "pods", "replicasets", "jobs", "events", "services", "endpointslices", "persistentvolumeclaims", "statefulsets", "deployments"} {
			m.objects[r] = append(m.objects[r], obj)
		}
		key := object.Key{Group: group, Kind: kind, Namespace: object.Text(object.Dict(obj, "metadata"), "namespace"), Name: nameOf(obj)}
		got := Look(t.Context(), m, []Root{{Key: key, Object: obj}}, Ask{App: "a", Now: now(), Logs: true})
		for _, finding := range got.Items {
			if finding.What == "" || len(finding.Evidence) > api.MaxEvidence {
				t.Errorf("finding %+v", finding)
			}
			texts := []string{finding.What, finding.Next, finding.Container}
			for _, e := range finding.Evidence {
				texts = append(texts, e.Text, e.Container)
			}
			if finding.Log != nil {
				texts = append(texts, finding.Log.Lines...)
			}
			for _, text := range texts {
				for _, r := range text {
					if len(text) > 1100 || !utf8.ValidString(text) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
						t.Fatalf("%d bytes: %.200q", len(text), text)
					}
				}
			}
		}
	})
}
