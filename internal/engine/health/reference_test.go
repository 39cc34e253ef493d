package health

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the reference page anew")

// Marks around what the test writes into the page; the rest of the page is written by hand.
const (
	beginMark = "<!-- generated: begin; go test ./internal/engine/health -run Reference -update -->\n"
	endMark   = "<!-- generated: end -->\n"
)

func TestReferencePageNamesEveryKindThatHasRules(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "docs", "reference", "health.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), beginMark)
	got, after, closed := strings.Cut(rest, endMark)
	if !found || !closed {
		t.Fatalf("%s has no marks around its generated part", file)
	}
	want := ruleTable()
	if *update {
		if err := os.WriteFile(file, []byte(before+beginMark+want+endMark+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s is out of date; run go test ./internal/engine/health -run Reference -update (-want +got):\n%s", file, d)
	}
}

func ruleTable() string {
	b := &rulebook{names: ruleFileNames}
	var out strings.Builder
	out.WriteString("\n| group | kinds |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(b.names())) {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(b.file(name).kinds)) {
			if kind == anyKind {
				kind = "all others"
				if len(b.file(name).kinds) == 1 {
					kind = "all"
				}
			}
			kinds = append(kinds, kind)
		}
		fmt.Fprintf(&out, "| `%s` | %s |\n", strings.Replace(name, "_.", "*.", 1), strings.Join(kinds, ", "))
	}
	out.WriteString("\n")
	return out.String()
}

func TestTheExampleInTheGuideWorks(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guide", "health.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(raw), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	f, err := parseRuleFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := &rulebook{}
	failed := map[string]any{"type": "SaleFailed", "status": "True", "message": "no stock"}
	for _, c := range []struct {
		entry        int
		spec, status map[string]any
		want         string
	}{
		{0, map[string]any{"paused": true}, nil, "Suspended: Widget is paused"},
		{0, nil, map[string]any{"phase": "Sold"}, "Healthy"},
		{0, nil, map[string]any{"conditions": []any{failed}}, "Degraded: Widget w: no stock"},
		{0, nil, nil, "Progressing: 0 conditions are met"},
		{1, nil, nil, "Progressing: Waiting for the shop"},
	} {
		k := &loadedKind{text: f.Health[c.entry], file: f}
		k.compiled = func() (*block, error) { return b.compile(k) }
		obj := map[string]any{"metadata": map[string]any{"name": "w"}, "spec": c.spec, "status": c.status}
		if r, _ := k.judge("shop.example.com", k.text.Kinds[0], obj); r.String() != c.want {
			t.Errorf("got %s, want %s", r, c.want)
		}
	}
}
