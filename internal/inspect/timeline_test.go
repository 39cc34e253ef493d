package inspect

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const failing = `{"status":{
 "resources":[{"kind":"ConfigMap","namespace":"shop","name":"a","status":"OutOfSync"},{"kind":"ConfigMap","namespace":"shop","name":"late","status":"OutOfSync","syncWave":3},
  {"kind":"ConfigMap","namespace":"shop","name":"old","status":"OutOfSync","requiresPruning":true}],
 "operationState":{"phase":"%s","message":"as it is\u001b[31m","startedAt":"2030-05-06T11:58:00Z","operation":{"sync":{%s},"initiatedBy":{"automated":true}},
 "syncResult":{"revision":"abc","resources":[
  {"kind":"ConfigMap","namespace":"shop","name":"a","status":"SyncFailed","hookPhase":"Failed","syncPhase":"Sync","message":"refused"},
  {"kind":"ConfigMap","namespace":"shop","name":"gone","status":"Pruned","hookPhase":"Succeeded","syncPhase":"Sync"},
  {"kind":"ConfigMap","namespace":"shop","name":"kept","status":"PruneSkipped","hookPhase":"Succeeded","syncPhase":"Sync"}]}}}}`

func TestATimelineTellsWhatIsDoneAndWhatNeverCame(t *testing.T) {
	t.Parallel()
	steps := []Step{{Key: object.Key{Group: "batch", Kind: "Job", Namespace: "shop"}, Prefix: "after-", Phase: v1alpha1.PhasePostSync, Wave: 1, Hook: true}}
	for name, c := range map[string]struct {
		phase, sync string
		steps       []Step
		want        []string
		done        int
	}{
		"failed":              {"Failed", `"prune":true`, steps, []string{"Sync 0 apply a failed", "Sync 0 delete gone pruned", "Sync 0 delete kept skipped", "Sync 0 delete old skipped", "Sync 3 apply late skipped", "PostSync 1 hook after- skipped"}, 6},
		"running":             {"Running", "", steps, []string{"Sync 0 apply a failed", "Sync 0 delete gone pruned", "Sync 0 delete kept skipped", "Sync 3 apply late waiting", "PostSync 1 hook after- waiting"}, 3},
		"of some objects":     {"Running", `"resources":[{"kind":"ConfigMap","name":"a"}]`, steps, []string{"Sync 0 apply a failed", "Sync 0 delete gone pruned", "Sync 0 delete kept skipped"}, 3},
		"nobody knows hooks":  {"Running", "", nil, []string{"Sync 0 apply a failed", "Sync 0 delete gone pruned", "Sync 0 delete kept skipped", "Sync 3 apply late waiting"}, 3},
		"nothing is left out": {"Succeeded", "", steps, []string{"Sync 0 apply a failed", "Sync 0 delete gone pruned", "Sync 0 delete kept skipped"}, 3},
	} {
		app := &v1alpha1.Application{}
		if err := json.Unmarshal(fmt.Appendf(nil, failing, c.phase, c.sync), app); err != nil {
			t.Fatal(err)
		}
		got := Timeline(app, c.steps)
		var lines []string
		for _, s := range got.Steps {
			for _, i := range s.Items {
				lines = append(lines, fmt.Sprintf("%s %d %s %s %s", s.Phase, s.Wave, i.Verb, i.Name, i.State))
			}
		}
		if !slices.Equal(lines, c.want) || got.Progress.Done != c.done || got.Progress.Total != len(c.want) || !got.Automatic || got.Message != "as it is[31m" || (len(got.Warnings) == 1) != (c.steps == nil) {
			t.Errorf("%s: %q and %+v, want %q", name, lines, got, c.want)
		}
	}
}

func TestNothingRunsOfAnOperationThatIsOver(t *testing.T) {
	t.Parallel()
	for phase, want := range map[string]string{"Running": "running running", "Failed": "succeeded failed"} {
		app := &v1alpha1.Application{}
		status := `{"status":{"operationState":{"phase":"` + phase + `","syncResult":{"resources":[
		 {"kind":"ConfigMap","name":"a","status":"Synced","hookPhase":"Running","syncPhase":"Sync"},
		 {"group":"batch","kind":"Job","name":"j","hookType":"PostSync","hookPhase":"Running","syncPhase":"PostSync"}]}}}}`
		if err := json.Unmarshal([]byte(status), app); err != nil {
			t.Fatal(err)
		}
		steps := Timeline(app, nil).Steps
		if got := steps[0].Items[0].State + " " + steps[1].Items[0].State; got != want {
			t.Errorf("%s: %q, want %q", phase, got, want)
		}
	}
}

func TestAnOperationThatHasNotBegunIsPending(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{Operation: &v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Username: "ann"}}}
	if got := Timeline(app, nil); got.Phase != "Pending" || got.InitiatedBy != "ann" {
		t.Errorf("it is %+v", got)
	}
	if got := Timeline(&v1alpha1.Application{}, nil); got.Phase != "" || got.Steps == nil {
		t.Errorf("where there was none, it is %+v", got)
	}
}
