package plan

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

var update = flag.Bool("update", false, "write the plans that the code makes to testdata")

// Each case is a file: the comment says what it shows, "changes" are the differences, one a line, and "plan" is what
// is printed. A line of changes is a verb, a kind with its group, namespace/name or name, and key=value pairs.
func TestPlansAreAsRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			prune := strings.Contains(string(archive.Comment), "Pruning is on.")
			got := Build(readChanges(t, string(archive.Files[0].Data)), prune).String()
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "plan", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(archive.Files[1].Data), got); d != "" {
				t.Errorf("plan (-recorded +got), -update records it:\n%s", d)
			}
		})
	}
}

func readChanges(t *testing.T, text string) []diff.Change {
	t.Helper()
	var out []diff.Change
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
		c := diff.Change{
			Key: object.Key{Group: group, Kind: kind, Namespace: namespace, Name: name}, Verb: diff.Verb(words[0]),
		}
		for _, pair := range words[3:] {
			switch key, value, _ := strings.Cut(pair, "="); key {
			case "wave":
				n, err := strconv.Atoi(value)
				if err != nil {
					t.Fatal(err)
				}
				c.Wave = n
			case "phase":
				c.Phase = value
			default:
				t.Fatalf("line %q: unknown key %q", line, key)
			}
		}
		out = append(out, c)
	}
	return out
}

func TestEveryChangeIsPlannedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	kinds := []object.Kind{{Kind: "Namespace"}, {Kind: "ConfigMap"}, {Group: "apps", Kind: "Deployment"}, {Group: "example.com", Kind: "Ship"}}
	verbs := []diff.Verb{diff.Keep, diff.Create, diff.Update, diff.Delete}
	rapid.Check(t, func(t *rapid.T) {
		var changes []diff.Change
		for i := range rapid.IntRange(0, 30).Draw(t, "objects") {
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			changes = append(changes, diff.Change{
				Key: object.Key{Group: kind.Group, Kind: kind.Kind, Name: fmt.Sprint(i)}, Verb: rapid.SampledFrom(verbs).Draw(t, "verb"),
				Wave: rapid.IntRange(-2, 2).Draw(t, "wave"), Phase: rapid.SampledFrom([]string{"", "PreSync", "PostSync"}).Draw(t, "phase"),
			})
		}
		prune := rapid.Bool().Draw(t, "prune")
		p := Build(changes, prune)
		seen := map[object.Key]bool{}
		deleting, wave, rank := false, -100, -1
		for _, phase := range p.Phases {
			deleting, wave = false, -100
			for _, w := range phase.Waves {
				for _, step := range w.Steps {
					first := step[0]
					if isDelete := first.Verb == diff.Delete; isDelete != deleting {
						if !isDelete {
							t.Fatalf("a change after a deletion:\n%s", p)
						}
						deleting, wave = true, 100
					}
					if (!deleting && w.Number < wave) || (deleting && w.Number > wave) {
						t.Fatalf("waves out of order:\n%s", p)
					}
					if w.Number != wave {
						wave, rank = w.Number, -1
					}
					at := Rank(first.Key.GroupKind())
					if rank >= 0 && ((!deleting && at <= rank) || (deleting && at >= rank)) {
						t.Fatalf("kinds out of order:\n%s", p)
					}
					rank = at
					for _, c := range step {
						if seen[c.Key] || Rank(c.Key.GroupKind()) != at || c.Verb == diff.Keep {
							t.Fatalf("%s is there twice, in a wrong step, or needs nothing:\n%s", c, p)
						}
						seen[c.Key] = true
					}
				}
			}
		}
		for _, c := range changes {
			if wanted := c.Verb == diff.Create || c.Verb == diff.Update || (c.Verb == diff.Delete && prune); wanted != seen[c.Key] {
				t.Fatalf("%s is in the plan: %t", c, seen[c.Key])
			}
		}
		if n := p.Counts.Create + p.Counts.Update + p.Counts.Delete; n != len(seen) || p.Empty() != (n == 0) {
			t.Fatalf("counts %s for %d changes", p.Counts, len(seen))
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
