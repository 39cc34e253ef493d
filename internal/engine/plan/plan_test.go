package plan

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

var update = flag.Bool("update", false, "write the plans that the code makes to testdata")

// Each case is a file: the comment says what it shows, "tasks" are what is to be done, one a line, and "plan" is what
// is printed. A line of tasks is a verb or "hook", a kind with its group, namespace/name or name, the word "last" and
// key=value pairs. Plans of files called prunelast have PruneLast.
func TestPlansAreAsRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := Build(readTasks(t, string(archive.Files[0].Data)), Options{PruneLast: name == "prunelast"}).String()
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "plan", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != 2 {
				t.Fatal("no plan is recorded: -update records it")
			}
			if d := cmp.Diff(string(archive.Files[1].Data), got); d != "" {
				t.Errorf("plan (-recorded +got), -update records it:\n%s", d)
			}
		})
	}
}

func readTasks(t *testing.T, text string) []Task {
	t.Helper()
	var out []Task
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 3 {
			t.Fatalf("line %q: want verb, kind and name", line)
		}
		kind, group, _ := strings.Cut(words[1], ".")
		namespace, name, namespaced := strings.Cut(words[2], "/")
		if !namespaced {
			namespace, name = "", words[2]
		}
		task := Task{Change: diff.Change{
			Key: object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, Verb: diff.Verb(words[0]),
		}}
		if words[0] == "hook" {
			task.Verb, task.Hook = diff.Update, true
		}
		for _, pair := range words[3:] {
			switch key, value, _ := strings.Cut(pair, "="); key {
			case "wave":
				n, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				task.Wave = n
			case "phase":
				task.Phase = v1alpha1.SyncPhase(value)
			case "last":
				task.Last = true
			case "defines":
				kind, group, _ := strings.Cut(value, ".")
				task.Defines = object.Kind{Group: group, Kind: kind}
			default:
				t.Fatalf("line %q: unknown key %q", line, key)
			}
		}
		out = append(out, task)
	}
	return out
}

// drawTasks makes tasks of all sorts. Names are unique but for hooks, which can run in several phases.
func drawTasks(t *rapid.T) []Task {
	kinds := []object.Kind{
		{Kind: "Namespace"},
		{Kind: "ConfigMap"},
		{Group: "apps", Kind: "Deployment"},
		{Group: "example.com", Kind: "Ship"},
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	}
	verbs := []diff.Verb{diff.Keep, diff.Create, diff.Update, diff.Delete}
	phases := []v1alpha1.SyncPhase{v1alpha1.PhasePreSync, v1alpha1.PhaseSync, v1alpha1.PhasePostSync, v1alpha1.PhaseSyncFail}
	var out []Task
	for i := range rapid.IntRange(0, 12).Draw(t, "tasks") {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		task := Task{Change: diff.Change{
			Key: object.Key{Group: kind.Group, Kind: kind.Kind, Name: fmt.Sprint("n", i)}, Wave: rapid.IntRange(-2, 2).Draw(t, "wave"),
		}}
		switch kind.Kind {
		case "Namespace":
		case "CustomResourceDefinition":
			task.Defines = object.Kind{Group: "example.com", Kind: "Ship"}
		default:
			task.Key.Namespace = fmt.Sprint("n", rapid.IntRange(0, 12).Draw(t, "namespace"))
		}
		if rapid.IntRange(0, 2).Draw(t, "hook") > 0 {
			task.Verb = rapid.SampledFrom(verbs).Draw(t, "verb")
			if task.Deletes() {
				task.Last = rapid.Bool().Draw(t, "last")
				task.Prune = rapid.SampledFrom([]string{"", "", "false", v1alpha1.OptionConfirm}).Draw(t, "prune")
			}
			out = append(out, task)
			continue
		}
		task.Verb, task.Hook, task.Index = diff.Update, true, i
		task.Policies = Policies{
			BeforeCreation: rapid.Bool().Draw(t, "before"), Succeeded: rapid.Bool().Draw(t, "succeeded"), Failed: rapid.Bool().Draw(t, "failed"),
		}
		for _, phase := range rapid.SliceOfNDistinct(rapid.SampledFrom(phases), 1, 2, rapid.ID).Draw(t, "phases") {
			task.Phase = phase
			out = append(out, task)
		}
	}
	return out
}

func TestEveryTaskIsPlannedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawTasks(t)
		before := slices.Clone(tasks)
		p := Build(tasks, Options{PruneLast: rapid.Bool().Draw(t, "pruneLast")})
		if d := cmp.Diff(before, tasks, cmp.AllowUnexported(Task{})); d != "" {
			t.Fatalf("Build changed what it was given:\n%s", d)
		}
		planned, ids := map[object.Key]int{}, map[ID]bool{}
		for i, task := range p.Tasks {
			planned[task.Key]++
			if ids[task.ID()] {
				t.Fatalf("%s is there twice in %s:\n%s", task, task.Phase, p)
			}
			ids[task.ID()] = true
			if i == 0 {
				continue
			}
			last := p.Tasks[i-1]
			if by := phaseRank(last.Phase) - phaseRank(task.Phase); by > 0 || by == 0 && last.Wave > task.Wave {
				t.Fatalf("%s after %s:\n%s", task, last, p)
			}
		}
		for _, task := range tasks {
			planned[task.Key]--
		}
		for key, n := range planned {
			if n != 0 {
				t.Fatalf("%s is planned %d times more than it is asked for:\n%s", key, n, p)
			}
		}
		checkForward(t, p)
		c := p.Counts
		if c.Create+c.Update+c.Delete+c.Keep+c.Hooks != len(tasks) || p.Empty() != (c.Keep == len(tasks)) {
			t.Fatalf("counts %s for %d tasks", c, len(tasks))
		}
	})
}

// checkForward sees that nothing comes before its namespace or its definition.
func checkForward(t *rapid.T, p Plan) {
	t.Helper()
	seen := map[object.Key]bool{}
	later := map[object.Key]bool{}
	for _, task := range p.Tasks {
		if gives, ok := provides(task); ok && !task.Deletes() && !task.Hook { // a hook stays in its phase
			later[gives] = true
		}
	}
	for _, task := range p.Tasks {
		if task.Deletes() {
			continue
		}
		gives, gave := provides(task)
		if gave {
			seen[gives] = true
			continue
		}
		for _, needs := range []object.Key{namespaceKey(task.Key.Namespace), kindKey(task.Key.GroupKind())} {
			if later[needs] && !seen[needs] {
				t.Fatalf("%s comes before what it needs:\n%s", task, p)
			}
		}
	}
}

func TestDeletionsGoBackwardsThroughTheirWaves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawTasks(t)
		wave := map[object.Key]int{}
		for _, task := range tasks {
			wave[task.Key] = task.Wave
		}
		last := 1 << 30
		behind := false
		for _, task := range Build(tasks, Options{}).Tasks {
			switch {
			case !task.Deletes():
				if behind && task.Phase == v1alpha1.PhaseSync {
					t.Fatalf("%s after a deletion that is to come last", task)
				}
			case task.Last:
				behind = true
			case wave[task.Key] > last || behind:
				t.Fatalf("%s of wave %d after a deletion of wave %d", task, wave[task.Key], last)
			default:
				last = wave[task.Key]
			}
		}
	})
}

func TestACustomKindDoesNotTakeThePlaceOfABuiltInOne(t *testing.T) {
	t.Parallel()
	service := Rank(object.Kind{Kind: "Service"})
	if custom := Rank(object.Kind{Group: "serving.knative.dev", Kind: "Service"}); custom == service || custom != Rank(object.Kind{Group: "x", Kind: "Y"}) {
		t.Errorf("a custom Service has rank %d, the built-in one %d", custom, service)
	}
	if Rank(object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}) == Rank(object.Kind{Group: "x", Kind: "Y"}) {
		t.Error("an Ingress has the rank of a custom kind")
	}
}
