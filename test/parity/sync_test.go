package parity

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

type syncScenario struct {
	ID         string
	Given      syncGiven
	RepeatWith []syncSettings
	Steps      []syncStep

	// What is said of the plan instead of its execution.
	Tasks          int
	TaskNames      []string
	TaskNamespaces []string
	Waves          map[string]int
	LastWave       *int
	Order          []string
	Moved          map[string]struct {
		Phase string
		Wave  int
	}
	DeletePropagation string
	Cases             json.RawMessage
}

type syncGiven struct {
	Target, Live, Hooks []syncObject
	Health              map[string]string
	Settings            syncSettings
	Fails               map[string]string
	DryRunFails         map[string]string
	UpdateFails         map[string]string
	DeleteAnswers       map[string]string
	OutOfSync           []string // nil: all
	NotInDiff           []string
	Tasks               []syncTask
	State               struct{ Results []syncResult }
}

type syncSettings struct {
	Prune, SkipHooks, PruneLast, ApplyOutOfSyncOnly, CreateNamespace bool
	SkipDryRunOnMissingResource                                      bool
	Validate                                                         *bool
	DefaultPrune, PropagationPolicy                                  string
}

type syncObject struct {
	APIVersion, Kind, Name, Namespace string
	Wave                              *int
	Hook, DeletePolicy                string
	Options                           []string
	Finalizer                         bool
}

type syncResult struct {
	Object          string
	Status          v1alpha1.ResultCode
	HookPhase       v1alpha1.OperationPhase
	SyncPhase       v1alpha1.SyncPhase
	Message         *string
	MessageContains string
}

type syncStep struct {
	Cluster struct {
		Live                                    *[]syncObject
		Add                                     []syncObject
		Remove                                  []string
		OnlyByDirectGet, Completed, Terminating []string
		PruneConfirmed                          bool
	}
	Health            map[string]string
	Terminate         bool
	Phase             v1alpha1.OperationPhase
	Message           *string
	ResultCount       *int
	Results           []syncResult
	Order             []string
	Deleted           *[]string
	FinalizersRemoved *int
	Commands          []string
	WaveApplied       json.RawMessage // absent, null, or a syncWave
}

type syncWave struct {
	Phase v1alpha1.SyncPhase
	Wave  int
	Final bool
}

// elsewhere names the tests of scenarios that are about more than the state machine.
func elsewhere() map[string]string {
	const (
		tasks     = "internal/engine: TestSyncScenariosOnTasksAgree"
		discovery = "internal/engine: TestAClusterThatDoesNotTellItsKindsFailsTheOperation" // in other words, and as an Error
	)
	return map[string]string{
		"dry-run-of-custom-resources":            "TestADryRunOfCustomResourcesDecidesAlike",
		"object-not-permitted-in-project":        "internal/engine: TestAnObjectThatTheProjectDoesNotPermitStopsAll", // likewise
		"selective-sync":                         tasks,
		"unnamed-hooks-get-names":                tasks,
		"unnamed-hooks-short-revision":           tasks,
		"objects-get-the-destination-namespace":  tasks,
		"namespace-task":                         "internal/engine: TestTheNamespaceIsMadeWhereItIsAskedFor",
		"pair-cluster-scoped-with-unknown-scope": "internal/engine: TestAnObjectWithoutANamespacePairsWithTheLiveOne",
		"discovery-failure-message":              discovery,
		"discovery-failure-asked-once":           discovery,
		"discovery-retried-when-unauthorized":    "internal/engine: TestAClusterThatRefusesTheCredentialsIsAskedAgain",
	}
}

func TestSyncScenariosAgree(t *testing.T) {
	t.Parallel()
	var set struct{ Scenarios []syncScenario }
	loadYAML(t, &set, dir(t, "sync"), "scenarios.yaml")
	other, differ := elsewhere(), differences()
	agree := 0
	for _, s := range set.Scenarios {
		if _, ok := other[s.ID]; ok {
			continue
		}
		d, differs := differ[s.ID]
		passed := t.Run(s.ID, func(t *testing.T) {
			if differs {
				s.doesInstead(t, d)
				return
			}
			s.holds(t)
		})
		if passed && !differs {
			agree++
		}
	}
	t.Logf("sync scenarios: %d of %d agree, %d differ on purpose, %d are held elsewhere", agree, len(set.Scenarios), len(differ), len(other))
	if n := agree + len(differ) + len(other); n != len(set.Scenarios) && !t.Failed() {
		t.Errorf("%d scenarios of %d are held", n, len(set.Scenarios))
	}
	for id, test := range other {
		if !isTest(t, test) {
			t.Errorf("scenario %q: there is no test %q", id, test)
		}
		if !slices.ContainsFunc(set.Scenarios, func(s syncScenario) bool { return s.ID == id }) {
			t.Errorf("there is no scenario %q", id)
		}
	}
	for id := range differ {
		if !slices.ContainsFunc(set.Scenarios, func(s syncScenario) bool { return s.ID == id }) {
			t.Errorf("there is no scenario %q", id)
		}
	}
}

// isTest reports whether a test exists: "Name" of this package, or "path of a package: Name".
func isTest(t *testing.T, name string) bool {
	t.Helper()
	folder := "."
	if path, called, ok := strings.Cut(name, ": "); ok {
		folder, name = filepath.Join("..", "..", filepath.FromSlash(path)), called
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		return strings.Contains(string(read(t, file)), "\nfunc "+name+"(t *testing.T)")
	})
}

// holds checks all that a scenario says.
func (s syncScenario) holds(t *testing.T) {
	t.Helper()
	if s.Cases != nil {
		check, ok := syncCases()[s.ID]
		if !ok {
			t.Fatal("no check for these cases")
		}
		check(t, s.Cases)
		return
	}
	s.planHolds(t)
	for _, settings := range append([]syncSettings{{}}, s.RepeatWith...) {
		world := newSyncWorld(t, s.Given)
		if settings.DefaultPrune != "" {
			world.given.Settings.DefaultPrune = settings.DefaultPrune
		}
		for i, step := range s.Steps {
			world.step(step)
			if wrong := step.fails(world); len(wrong) > 0 {
				t.Fatalf("step %d with %+v: %s", i+1, world.given.Settings, strings.Join(wrong, "\n"))
			}
		}
	}
}

// fails says what is not as the step says.
func (s syncStep) fails(w *syncWorld) []string {
	var wrong []string
	want := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	want(s.Phase == "" || s.Phase == w.phase, "phase %s, want %s (%s)", w.phase, s.Phase, w.message)
	want(s.Message == nil || *s.Message == w.message, "message %q", w.message)
	results := w.results()
	want(s.ResultCount == nil || *s.ResultCount == len(results), "%d results: %v", len(results), slices.Sorted(maps.Keys(results)))
	for _, r := range s.Results {
		got, ok := results[r.Object]
		want(ok, "no result for %s", r.Object)
		want(r.Status == "" || r.Status == got.Code, "%s has status %s, want %s", r.Object, got.Code, r.Status)
		want(r.HookPhase == "" || r.HookPhase == got.Phase, "%s has phase %s, want %s", r.Object, got.Phase, r.HookPhase)
		want(r.Message == nil || *r.Message == got.Message, "%s has message %q", r.Object, got.Message)
		want(strings.Contains(got.Message, r.MessageContains), "%s has message %q", r.Object, got.Message)
	}
	want(s.Order == nil || slices.Equal(s.Order, w.done), "order %v, want %v", w.done, s.Order)
	want(s.Deleted == nil || slices.Equal(*s.Deleted, w.deleted), "deleted %v, want %v", w.deleted, s.Deleted)
	want(s.FinalizersRemoved == nil || *s.FinalizersRemoved == w.released, "%d finalizers removed", w.released)
	want(s.Commands == nil || slices.Equal(s.Commands, w.commands), "commands %v, want %v", w.commands, s.Commands)
	if s.WaveApplied != nil {
		var wave *syncWave
		if err := json.Unmarshal(s.WaveApplied, &wave); err != nil {
			w.t.Fatal(err)
		}
		want(cmp.Equal(wave, w.wave), "applied wave %+v, want %+v", w.wave, wave)
	}
	return wrong
}

// planHolds checks what a scenario says about the plan.
func (s syncScenario) planHolds(t *testing.T) {
	t.Helper()
	var p plan.Plan
	if s.Given.Tasks != nil {
		p = plan.Build(syncTasks(s.Given.Tasks), plan.Options{})
	} else {
		p = newSyncWorld(t, s.Given).plan
	}
	if s.Tasks != 0 && len(p.Tasks) != s.Tasks {
		t.Errorf("%d tasks, want %d:\n%s", len(p.Tasks), s.Tasks, p)
	}
	var names []string
	for _, task := range p.Tasks {
		names = append(names, task.Why)
		if wave, ok := s.Waves[task.Key.Name]; ok && wave != task.Wave {
			t.Errorf("%s is in wave %d, want %d", task.Key.Name, task.Wave, wave)
		}
		if moved, ok := s.Moved[task.Why]; ok && (moved.Phase != string(task.Phase) || moved.Wave != task.Wave) {
			t.Errorf("%s is in %s wave %d, want %+v", task.Why, task.Phase, task.Wave, moved)
		}
	}
	if s.LastWave != nil && p.Tasks[len(p.Tasks)-1].Wave != *s.LastWave {
		t.Errorf("last wave is not %d:\n%s", *s.LastWave, p)
	}
	if s.Order != nil && !slices.Equal(names, s.Order) {
		t.Errorf("order %v, want %v", names, s.Order)
	}
	if s.DeletePropagation != "" {
		checkPropagation(t, s.Given.Settings.PropagationPolicy, s.DeletePropagation)
	}
}
