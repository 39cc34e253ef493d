package plan

import (
	"cmp"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func job(name string, phase v1alpha1.SyncPhase, policies Policies) Task {
	return Task{
		Change: diff.Change{Key: object.Key{Group: "batch", Kind: "Job", Namespace: "shop", Name: name}, Verb: diff.Update, Phase: phase},
		Hook:   true, Policies: policies,
	}
}

func config(name string, verb diff.Verb, wave int) Task {
	return Task{Change: diff.Change{Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}, Verb: verb, Wave: wave}}
}

// follow does what an operation says until it waits or ends, and returns the verbs and names of its moves.
func follow(op *Operation, facts map[string]Fact, outcomes map[string]State) []string {
	var out []string
	for range 50 {
		m := op.Next(func(t Task) Fact { return facts[t.Key.Name] })
		line := string(m.Verb)
		for _, t := range m.Tasks {
			line += " " + t.Key.Name
		}
		out = append(out, line)
		for _, t := range m.Tasks {
			switch m.Verb {
			case Try:
				if s, refused := outcomes["try "+t.Key.Name]; refused {
					op.Record(t, s)
				}
			case Do:
				s, special := outcomes[t.Key.Name]
				if !special {
					s = State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
				}
				op.Record(t, s)
			case Release:
				op.Released(t, "")
			case Remove:
				op.Removed(t, true, "")
			}
		}
		if m.Verb == End || m.Verb == Wait && !m.Again {
			return append(out, string(cmp.Or(m.Phase, v1alpha1.OperationRunning))+": "+m.Message)
		}
	}
	return append(out, "no end")
}

var (
	failed  = State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: "no"}
	healthy = Fact{Exists: true, Assessed: true, Health: v1alpha1.HealthHealthy}
)

// story is an operation, and the moves that it makes.
type story struct {
	name     string
	tasks    []Task
	settings Settings
	states   map[ID]State
	facts    map[string]Fact
	outcomes map[string]State
	want     []string
}

func stories() []story {
	both := Policies{BeforeCreation: true, Succeeded: true}
	old := healthy
	old.Stale = true
	held := healthy
	held.Finalizer = true
	going := Fact{Exists: true, Deleting: true}
	return []story{
		{
			name: "nothing to do", want: []string{"end", "Succeeded: successfully synced (no more tasks)"},
		},
		{
			name:  "a hook that is made anew loses its finalizer again, and is deleted again",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, both)}, facts: map[string]Fact{"check": held},
			want: []string{
				"release check", "remove check", "do check", "wait check", "release check", "remove check", "end",
				"Succeeded: successfully synced (no more tasks)",
			},
		},
		{
			name:  "a hook is not done by good health from before it was applied",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0)}, facts: map[string]Fact{"check": old},
			want: []string{"do check", "wait check", "wait check", "Running: waiting for completion of hook batch/Job/check"},
		},
		{
			name:  "a hook that somebody deletes while it runs has failed, and may go",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0)},
			states: map[ID]State{
				job("check", v1alpha1.PhasePreSync, Policies{}).ID(): {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning},
			},
			facts: map[string]Fact{"check": {Exists: true, Deleting: true, Finalizer: true, Assessed: true, Health: v1alpha1.HealthProgressing}},
			want: []string{
				"release check", "end", "Failed: one or more synchronization tasks completed unsuccessfully, " +
					"reason: Resource batch/Job/check was deleted before it was done",
			},
		},
		{
			name:  "what is as wanted is waited for, and not applied",
			tasks: []Task{config("a", diff.Keep, 0), config("b", diff.Update, 1)},
			facts: map[string]Fact{"a": {Exists: true, Assessed: true, Health: v1alpha1.HealthProgressing}},
			want:  []string{"wait a", "wait a", "Running: waiting for healthy state of /ConfigMap/a"},
		},
		{
			name:  "nothing is deleted after a failure",
			tasks: []Task{config("a", diff.Update, 0), config("b", diff.Delete, 1), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"undo": healthy, "b": {Exists: true}}, outcomes: map[string]State{"a": failed},
			want: []string{
				"do a", "do undo", "wait undo", "end", "Failed: one or more synchronization tasks completed unsuccessfully, reason: no",
			},
		},
		{
			name:  "a deletion is waited for before the next wave",
			tasks: []Task{config("a", diff.Delete, 1), config("b", diff.Delete, 0)}, facts: map[string]Fact{"a": going, "b": {Exists: true}},
			outcomes: map[string]State{"a": {Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded}},
			want:     []string{"do a", "wait a", "wait", "Running: waiting for deletion of /ConfigMap/a"},
		},
		{
			name: "a deletion that asks waits for a person", tasks: []Task{func() Task {
				task := config("a", diff.Delete, 0)
				task.Prune = v1alpha1.OptionConfirm
				return task
			}()},
			want: []string{"wait a", "Running: waiting for pruning confirmation of /ConfigMap/a"},
		},
		{
			name: "the namespace comes before the dry run", settings: Settings{DryRunFirst: true}, tasks: []Task{
				{First: true, Change: diff.Change{Key: object.Key{Kind: "Namespace", Name: "shop"}, Verb: diff.Update, Phase: v1alpha1.PhasePreSync}},
				config("a", diff.Update, 0),
			},
			facts: map[string]Fact{"shop": {Exists: true}},
			want:  []string{"do shop", "try a", "do a", "end", "Succeeded: successfully synced (all tasks run)"},
		},
		{
			name: "without its namespace nothing is tried", settings: Settings{DryRunFirst: true}, tasks: []Task{
				{First: true, Change: diff.Change{Key: object.Key{Kind: "Namespace", Name: "shop"}, Verb: diff.Update, Phase: v1alpha1.PhasePreSync}},
				config("a", diff.Update, 0),
			},
			outcomes: map[string]State{"shop": failed},
			want:     []string{"do shop", "end", "Failed: the namespace failed to apply, reason: no"},
		},
		{
			name:  "an operation goes on where it was",
			tasks: []Task{config("a", diff.Update, 0), config("b", diff.Update, 1)}, settings: Settings{DryRunFirst: true},
			states: map[ID]State{
				{Key: config("a", diff.Update, 0).Key, Phase: v1alpha1.PhaseSync}: {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning},
			},
			facts: map[string]Fact{"a": healthy},
			want:  []string{"do b", "end", "Succeeded: successfully synced (all tasks run)"},
		},
	}
}

// failures are stories of operations that fail, and of their hooks for that.
func failures() []story {
	return []story{
		{
			name:  "hooks for failures run where a hook before the sync is refused",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"undo": healthy}, outcomes: map[string]State{"check": failed},
			want: []string{
				"do check", "do undo", "wait undo", "end", "Failed: one or more synchronization tasks completed unsuccessfully, reason: no",
			},
		},
		{
			name:  "hooks for failures run where a hook before the sync fails",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"undo": healthy, "check": {Exists: true, Assessed: true, Health: v1alpha1.HealthDegraded, Message: "no"}},
			want: []string{
				"do check", "wait check", "do undo", "wait undo", "end", "Failed: one or more synchronization tasks completed unsuccessfully",
			},
		},
		{
			name:  "hooks for failures run where the dry run is refused",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"undo": healthy}, outcomes: map[string]State{"try check": failed}, settings: Settings{DryRunFirst: true},
			want: []string{
				"try check a undo", "do undo", "wait undo", "end", "Failed: one or more synchronization tasks completed unsuccessfully, reason: no",
			},
		},
		{
			name:  "a dry run that is refused runs no hook where nothing but a dry run was asked for",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"undo": healthy}, outcomes: map[string]State{"try check": failed}, settings: Settings{DryRun: true},
			want: []string{"try check undo", "end", "Failed: one or more objects failed to apply (dry run)"},
		},
		{
			name:  "a hook for failures that is refused lets no sync begin",
			tasks: []Task{config("a", diff.Update, 0), job("undo", v1alpha1.PhaseSyncFail, Policies{}), job("tell", v1alpha1.PhaseSyncFail, Policies{})},
			facts: map[string]Fact{"tell": healthy}, outcomes: map[string]State{"try undo": failed}, settings: Settings{DryRunFirst: true},
			want: []string{"try a tell undo", "end", "Failed: one or more objects failed to apply (dry run)"},
		},
		{
			name:  "an operation that failed goes on with its hooks for failures, and with nothing else",
			tasks: []Task{job("check", v1alpha1.PhasePreSync, Policies{}), config("a", diff.Update, 0), job("undo", v1alpha1.PhaseSyncFail, Policies{})},
			states: map[ID]State{
				{Key: config("a", diff.Update, 0).Key, Phase: v1alpha1.PhaseSync}: failed,
				job("undo", v1alpha1.PhaseSyncFail, Policies{}).ID():              {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning},
			},
			facts: map[string]Fact{"undo": healthy}, settings: Settings{DryRunFirst: true},
			want: []string{"end", "Failed: one or more synchronization tasks completed unsuccessfully, reason: no"},
		},
	}
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, test := range append(stories(), failures()...) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			op := NewOperation(Build(test.tasks, Options{}), test.settings, test.states)
			got := follow(op, test.facts, test.outcomes)
			if d := gocmp.Diff(test.want, got); d != "" {
				t.Errorf("moves (-want +got):\n%s", d)
			}
		})
	}
}

func TestAHookStaysInItsPhase(t *testing.T) {
	t.Parallel()
	namespace := func(phase v1alpha1.SyncPhase) Task {
		return Task{Change: diff.Change{Key: object.Key{Kind: "Namespace", Name: "shop"}, Verb: diff.Update, Phase: phase}, Hook: true}
	}
	p := Build([]Task{
		job("check", v1alpha1.PhasePreSync, Policies{}), namespace(v1alpha1.PhaseSync), namespace(v1alpha1.PhasePostSync),
	}, Options{})
	want := []v1alpha1.SyncPhase{v1alpha1.PhasePreSync, v1alpha1.PhaseSync, v1alpha1.PhasePostSync}
	for i, task := range p.Tasks {
		if task.Phase != want[i] {
			t.Errorf("%s is in phase %s, want %s:\n%s", task, task.Phase, want[i], p)
		}
	}
}

// ours is a hook that the operation has made already.
var ours = Fact{Exists: true, Ours: true, Finalizer: true, Assessed: true, Health: v1alpha1.HealthProgressing}

func TestAHookThatThisOperationHasMadeGoesOn(t *testing.T) {
	t.Parallel()
	finished, wrong, going := ours, ours, ours
	finished.Health, wrong.Health, going.Deleting = v1alpha1.HealthHealthy, v1alpha1.HealthDegraded, true
	all := Policies{BeforeCreation: true, Succeeded: true, Failed: true}
	tasks := func() []Task {
		return []Task{job("a", v1alpha1.PhasePreSync, all), config("c", diff.Create, 0), job("page", v1alpha1.PhaseSyncFail, Policies{})}
	}
	for _, c := range []struct {
		name string
		fact Fact
		want []string
	}{
		{"it runs", ours, []string{"wait a", "Running: waiting for completion of hook batch/Job/a"}},
		{"it has succeeded", finished, []string{
			"release a", "do c", "remove a", "end", "Succeeded: successfully synced (no more tasks)",
		}},
		{"it has failed", wrong, []string{"release a", "remove a", "do page", "wait page", "wait page", "Running: waiting for completion of hook batch/Job/page"}},
		{"somebody deletes it", going, []string{"release a", "remove a", "do page", "wait page", "wait page", "Running: waiting for completion of hook batch/Job/page"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			op := NewOperation(Build(tasks(), Options{}), Settings{DryRunFirst: true}, nil)
			facts := map[string]Fact{"a": c.fact, "page": {Exists: true, Assessed: true, Health: v1alpha1.HealthProgressing}, "c": healthy}
			if d := gocmp.Diff(c.want, follow(op, facts, nil)); d != "" {
				t.Errorf("moves (-want +got):\n%s", d)
			}
		})
	}
}

func TestAStepInWhichTheProcessEndedIsFinished(t *testing.T) {
	t.Parallel()
	wrong := ours
	wrong.Health, wrong.Finalizer = v1alpha1.HealthDegraded, false
	tasks := []Task{job("a", v1alpha1.PhaseSync, Policies{}), job("b", v1alpha1.PhaseSync, Policies{}), config("c", diff.Create, 1)}
	op := NewOperation(Build(tasks, Options{}), Settings{DryRunFirst: true}, nil)
	got := follow(op, map[string]Fact{"a": wrong}, map[string]State{"b": failed})
	if d := gocmp.Diff("do b", got[0]); d != "" {
		t.Errorf("what was begun with a hook that has failed since is left out: %v", got)
	}
	known := map[ID]State{tasks[0].ID(): failed}
	got = follow(NewOperation(Build(tasks, Options{}), Settings{}, known), map[string]Fact{"a": wrong}, nil)
	if got[0] != "end" {
		t.Errorf("something is begun after a failure: %v", got)
	}
}

func TestAHookWaitsForOneOfItsNameThatGoes(t *testing.T) {
	t.Parallel()
	for _, policies := range []Policies{{}, {BeforeCreation: true}, {Succeeded: true}} {
		op := NewOperation(Build([]Task{job("a", v1alpha1.PhasePreSync, policies)}, Options{}), Settings{}, nil)
		got := follow(op, map[string]Fact{"a": {Exists: true, Deleting: true, Assessed: true, Health: v1alpha1.HealthHealthy}}, nil)
		if last := got[len(got)-1]; last != "Running: waiting for deletion of hook batch/Job/a" {
			t.Errorf("%+v: %v", policies, got)
		}
	}
}
