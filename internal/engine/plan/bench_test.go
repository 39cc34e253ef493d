package plan

import (
	"fmt"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// manyTasks are n objects in some waves, and hooks.
func manyTasks(n, waves, hooks int) []Task {
	out := make([]Task, 0, n+hooks)
	kinds := []object.Kind{{Kind: "ConfigMap"}, {Kind: "Service"}, {Group: "apps", Kind: "Deployment"}, {Group: "example.com", Kind: "Ship"}}
	for i := range n {
		kind := kinds[i%len(kinds)]
		out = append(out, Task{Change: diff.Change{
			Key:  object.Key{Group: kind.Group, Kind: kind.Kind, Namespace: fmt.Sprint("ns", i%50), Name: fmt.Sprint("object-", i)},
			Verb: diff.Update, Wave: i % waves,
		}})
	}
	for i := range hooks {
		out = append(out, Task{
			Change: diff.Change{
				Key: object.Key{Group: "batch", Kind: "Job", Namespace: "ns0", Name: fmt.Sprint("hook-", i)}, Verb: diff.Update,
				Phase: []v1alpha1.SyncPhase{v1alpha1.PhasePreSync, v1alpha1.PhasePostSync}[i%2], Wave: i,
			},
			Hook: true, Policies: Policies{BeforeCreation: true},
		})
	}
	return out
}

func BenchmarkBuild(b *testing.B) {
	tasks := manyTasks(5000, 20, 10)
	for b.Loop() {
		if p := Build(tasks, Options{}); len(p.Tasks) != len(tasks) {
			b.Fatal("tasks got lost")
		}
	}
}

// A whole operation with a dry run; what is applied gets healthy 25 objects at a time, and each time
// the operation is asked what to do.
func BenchmarkOperation(b *testing.B) {
	p := Build(manyTasks(5000, 20, 10), Options{})
	moves := 0
	for b.Loop() {
		healthy := make([]bool, len(p.Tasks))
		look := func(t Task) Fact {
			f := Fact{Exists: true, Assessed: true, Health: v1alpha1.HealthProgressing}
			if healthy[t.place] {
				f.Health = v1alpha1.HealthHealthy
			}
			return f
		}
		op := NewOperation(p, Settings{DryRunFirst: true}, nil)
		var m Move
		for moves = 0; m.Verb != End; moves++ {
			m = op.Next(look)
			switch m.Verb {
			case Do:
				for _, t := range m.Tasks {
					op.Record(t, State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning})
				}
			case Remove:
				for _, t := range m.Tasks {
					op.Removed(t, true, "")
				}
			case Wait:
				for i := range min(25, len(m.Tasks)) {
					healthy[m.Tasks[i].place] = true
				}
			}
		}
		if m.Phase != v1alpha1.OperationSucceeded {
			b.Fatal(m.Message)
		}
	}
	b.ReportMetric(float64(moves), "moves")
}
