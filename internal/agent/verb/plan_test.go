package verb

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func TestAPlanIsToldInTheOrderOfTheSync(t *testing.T) {
	t.Parallel()
	task := func(verb diff.Verb, name string, wave int) plan.Task {
		return plan.Task{Change: diff.Change{Verb: verb, Wave: wave, Why: "a reason", Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}}}
	}
	with := func(t plan.Task, change func(*plan.Task)) plan.Task {
		change(&t)
		return t
	}
	hook := func(name string, phase v1alpha1.SyncPhase) plan.Task {
		return with(task(diff.Update, name, 0), func(t *plan.Task) { t.Hook, t.Phase = true, phase })
	}
	namespace := func(verb diff.Verb) plan.Task {
		return plan.Task{First: true, Change: diff.Change{Verb: verb, Phase: v1alpha1.PhasePreSync, Key: object.Key{Kind: "Namespace", Name: "shop"}}}
	}
	for _, c := range []struct {
		name  string
		tasks []plan.Task
		last  bool
		want  []string
	}{
		{"nothing to do", []plan.Task{with(task(diff.Keep, "same", 0), func(t *plan.Task) { t.Why = "" })}, false, nil},
		{
			"deletions go through their waves backwards",
			[]plan.Task{task(diff.Delete, "old", 0), task(diff.Delete, "older", 3), task(diff.Create, "new", 1)},
			false,
			[]string{"Sync 0 delete older", "Sync 1 create new", "Sync 3 delete old"},
		},
		{
			"PruneLast: all of them come after the last wave",
			[]plan.Task{task(diff.Delete, "old", 0), task(diff.Delete, "older", 3), task(diff.Create, "new", 1)},
			true,
			[]string{"Sync 1 create new", "Sync 4 delete old", "Sync 4 delete older"},
		},
		{
			"PruneLast of one object",
			[]plan.Task{
				task(diff.Create, "new", 2), task(diff.Delete, "first", 2), with(task(diff.Delete, "last", 0), func(t *plan.Task) { t.Last = true }),
			},
			false,
			[]string{"Sync 0 delete first", "Sync 2 create new", "Sync 3 delete last"},
		},
		{
			"what is kept stays in its wave",
			[]plan.Task{task(diff.Keep, "kept", 1), task(diff.Create, "new", 2), task(diff.Delete, "old", 0)},
			true,
			[]string{"Sync 1 keep kept", "Sync 2 create new", "Sync 3 delete old"},
		},
		{
			"hooks and deletions that are last",
			[]plan.Task{hook("after", v1alpha1.PhasePostSync), task(diff.Delete, "old", 0), hook("before", v1alpha1.PhasePreSync), task(diff.Update, "web", 5)},
			true,
			[]string{"PreSync 0 hook before", "Sync 5 update web", "Sync 6 delete old", "PostSync 0 hook after"},
		},
		{
			"a namespace that comes with the sync",
			[]plan.Task{task(diff.Create, "web", 0), namespace(diff.Create)},
			false,
			[]string{"PreSync 0 create shop", "Sync 0 create web"},
		},
	} {
		got := planAnswer(engine.Outlook{Plan: plan.Build(c.tasks, plan.Options{PruneLast: c.last})}, nil)
		if d := cmp.Diff(c.want, inOrder(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// inOrder are the items of a plan: "Sync 0 update settings".
func inOrder(p api.SyncPlan) []string {
	var out []string
	for _, phase := range p.Phases {
		for _, wave := range phase.Waves {
			for _, item := range wave.Items {
				out = append(out, fmt.Sprintf("%s %d %s %s", phase.Phase, wave.Wave, item.Verb, item.Name))
			}
		}
	}
	return out
}
