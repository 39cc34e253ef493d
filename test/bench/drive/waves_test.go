package drive

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

func TestAGateOpensWhenItsObjectIsHealthy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, resource, object string
		want                   bool
	}{
		{"a Deployment that nobody has looked at", "deployments", `{"metadata":{"generation":1},"spec":{"replicas":0}}`, false},
		{"a Deployment without replicas", "deployments", `{"metadata":{"generation":1},"spec":{"replicas":0},"status":{"observedGeneration":1}}`, true},
		{"a Deployment that rolls out", "deployments", `{"metadata":{"generation":1},"spec":{"replicas":1},"status":{"observedGeneration":1,"updatedReplicas":1}}`, false},
		{
			"a Deployment that is available", "deployments",
			`{"metadata":{"generation":1},"spec":{"replicas":1},"status":{"observedGeneration":1,"updatedReplicas":1,"availableReplicas":1}}`, true,
		},
		{"a Job that runs", "jobs", `{"status":{"conditions":[{"type":"SuccessCriteriaMet","status":"True"}]}}`, false},
		{"a Job that is done", "jobs", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, true},
		{"a ConfigMap", "configmaps", `{}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var g gate
			if err := json.Unmarshal([]byte(test.object), &g); err != nil {
				t.Fatal(err)
			}
			if got := g.open(test.resource); got != test.want {
				t.Errorf("open() = %v", got)
			}
		})
	}
}

func TestAWaveWaitsForTheLastOfTheWaveBefore(t *testing.T) {
	t.Parallel()
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	w := corpus.Waves{Objects: 6, Waves: 3, Hooks: 5} // the hook hook-02 belongs to wave 0
	g := &gates{opened: []map[string]time.Time{
		{"hook-02": at(150)},
		{"wave-00": at(100), "wave-01": at(300), "wave-02": at(900)},
		{"wave-01-config-0000": at(170), "wave-02-config-0000": at(290)},
	}}
	if d := cmp.Diff([]float64{0, 0.02}, g.waits(w)); d != "" {
		t.Errorf("waits (-want +got):\n%s", d)
	}
}

func TestTheSizeOfAnApplicationIsThatOfItsText(t *testing.T) {
	t.Parallel()
	const text = `{"metadata":{"name":"a"},"status":{"sync":{"status":"Synced"}}}`
	var a application
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if a.bytes != len(text) || a.Status.Sync.Status != "Synced" {
		t.Errorf("it is %+v", a)
	}
}
