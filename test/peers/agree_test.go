package peers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

// page has what the tests found, between marks.
const page = "../../docs/guide/coming-from-argo-cd.md"

// Parts of the page.
const (
	partDifferences = "differences of the two engines"
	partTakeover    = "a takeover in numbers"
)

// document returns what a part of the page says. With -update it says text from now on.
func document(t *testing.T, part, text string) (was string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	first, last := "<!-- "+part+", by make test-peers: begin -->\n", "<!-- "+part+", by make test-peers: end -->\n"
	before, rest, _ := strings.Cut(string(raw), first)
	was, after, ok := strings.Cut(rest, last)
	if !ok {
		t.Fatalf("%s has no part %q between its marks", page, part)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+first+text+last+after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return was
}

// reason is why a difference stays. The first one that matches counts.
type reason struct {
	app, field *regexp.Regexp
	text       string
}

// why makes a reason for the fields of Applications, both anchored expressions.
func why(app, field, text string) reason {
	return reason{regexp.MustCompile("^(?:" + app + ")$"), regexp.MustCompile("^(?:" + field + ")$"), text}
}

// stays are the differences that are meant.
var stays = []reason{
	why(".*", "nhist", "Argo CD adds an entry to the history for each sync, Slipway where another revision or source was deployed"),
	why("shared-.*", ".*", "Slipway leaves an object of another Application alone, Argo CD takes it over"),
}

// difference is one line of the report of cmp.py: a field of an Application and both values.
type difference struct{ app, field, argo, slipway string }

func (d difference) String() string {
	return fmt.Sprintf("%s: %s\n\tArgo CD: %s\n\tSlipway: %s", d.app, d.field, d.argo, d.slipway)
}

// read takes the report of cmp.py apart.
func read(report string) []difference {
	var out []difference
	app := ""
	for line := range strings.Lines(report) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			app = strings.TrimPrefix(line, "## ")
		case strings.HasPrefix(text, "A: ") && len(out) > 0:
			out[len(out)-1].argo = strings.TrimPrefix(text, "A: ")
		case strings.HasPrefix(text, "S: ") && len(out) > 0:
			out[len(out)-1].slipway = strings.TrimPrefix(text, "S: ")
		case text != "":
			out = append(out, difference{app: app, field: text})
		}
	}
	return out
}

// section prints the differences that stay by their reason.
func section(all []difference) (text string, unexplained []difference) {
	apps, fields := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, d := range all {
		i := slices.IndexFunc(stays, func(r reason) bool { return r.app.MatchString(d.app) && r.field.MatchString(d.field) })
		if i < 0 {
			unexplained = append(unexplained, d)
			continue
		}
		because := stays[i].text
		if apps[because] == nil {
			apps[because], fields[because] = map[string]bool{}, map[string]bool{}
		}
		kind, _, _ := strings.Cut(d.field, " ")
		apps[because][d.app], fields[because][names[kind]] = true, true
	}
	var out strings.Builder
	out.WriteString("| difference | seen in | reason |\n|---|---|---|\n")
	for _, r := range stays {
		if apps[r.text] == nil {
			continue
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(sorted(fields[r.text]), ", "), strings.Join(sorted(apps[r.text]), ", "), r.text)
		delete(apps, r.text)
	}
	return out.String(), unexplained
}

// names are the fields of the report as the documentation calls them.
var names = map[string]string{
	"sync": "sync status", "health": "health", "phase": "phase of the operation", "nhist": "history", "sourceType": "source type", "sourceTypes": "source types",
	"finalizers": "finalizers", "retry": "retries", "conditions": "conditions", "summary": "summary", "res": "resources", "op": "results of the operation",
	"opmsg": "message of the operation", "live": "live objects",
}

func sorted(set map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(set), cmp.Compare[string])
}

// stages are what happens to the Applications, in order, after they were created.
var stages = []string{"manual1", "commit", "drift", "refresh", "manual2", "manual3", "manual4", "delete"}

// snapshot runs the Applications with an engine and returns their statuses and live objects.
func snapshot(t *testing.T, engine string) (string, bool) {
	t.Helper()
	if *keep != "" {
		if raw, err := os.ReadFile(filepath.Join(*keep, engine+".json")); err == nil {
			return string(raw), true
		}
	}
	var out string
	done := t.Run(engine, func(t *testing.T) {
		s := newSite(t)
		s.argoDefinitions(engine)
		s.load()
		s.settle("first")
		for _, stage := range stages {
			s.stage(stage)
		}
		raw, err := os.ReadFile(s.snap(engine))
		if err != nil {
			t.Fatal(err)
		}
		out = string(raw)
		if *keep != "" {
			if err := os.WriteFile(filepath.Join(*keep, engine+".json"), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
	return out, done
}

func TestBothEnginesMakeTheSameOfTheSameApplications(t *testing.T) {
	from := scripts(t)
	snaps := map[string]string{}
	for _, engine := range []string{"argocd", "slipway"} {
		raw, done := snapshot(t, engine)
		if !done {
			t.FailNow()
		}
		snaps[engine] = raw
	}
	dir := t.TempDir()
	for engine, raw := range snaps {
		if err := os.WriteFile(filepath.Join(dir, engine+".json"), []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := exec.CommandContext(t.Context(), "python3", filepath.Join(from, "parity", "cmp.py"), dir+"/argocd.json", dir+"/slipway.json").Output()
	if err != nil {
		t.Fatal(err)
	}
	differences, apps, objects := liveDifferences(t, snaps)
	text, unexplained := section(append(read(string(report)), differences...))
	for _, d := range unexplained {
		t.Errorf("a difference without a reason: %s", d)
	}
	counts := fmt.Sprintf("Compared with Argo CD %s: the statuses of %d applications and %d live objects, after %d stages.\n\n", version(t), apps, objects, len(stages)+1)
	was := document(t, partDifferences, counts+text)
	if _, table, _ := strings.Cut(was, "\n\n"); !*update && table != text {
		t.Errorf("%s does not list what differs; run it with -update:\n%s", page, diff.Diff(table, text))
	}
}

// version is that of the Argo CD.
func version(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("ARGO_HOME"), "bin", "argocd"), "version", "--client", "--short").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(out)) // argocd: v3.5.1
	if len(fields) == 0 {
		t.Fatal("argocd says no version")
	}
	number, _, _ := strings.Cut(strings.TrimPrefix(fields[len(fields)-1], "v"), "+")
	return number
}

// argoDefinitions starts the engine. Argo CD's parts also make its definitions and settings; without its controller they
// are made the same way for Slipway, and end before it begins.
func (s *site) argoDefinitions(engine string) {
	s.t.Helper()
	if engine == "argocd" {
		s.argo()
		return
	}
	s.argo("PARTS=redis")
	s.stopArgo()
	s.slipway()
}

// liveDifferences compares the live objects of two snapshots field by field, without owners and versions, and counts these and the
// Applications.
func liveDifferences(t *testing.T, snaps map[string]string) (out []difference, apps, objects int) {
	t.Helper()
	var a, b struct {
		Apps map[string]any            `json:"apps"`
		Live map[string]map[string]any `json:"live"`
	}
	for engine, into := range map[string]any{"argocd": &a, "slipway": &b} {
		if err := json.Unmarshal([]byte(snaps[engine]), into); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]bool{}
	for _, live := range []map[string]map[string]any{a.Live, b.Live} {
		for name, obj := range live {
			names[name] = true
			delete(obj, "_managers")
			delete(obj, "_rv")
			delete(obj, "generation")
			if meta, ok := obj["metadata"].(map[string]any); ok {
				if annotations, ok := meta["annotations"].(map[string]any); ok {
					delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
				}
			}
		}
	}
	for _, name := range sorted(names) {
		x, y := a.Live[name], b.Live[name]
		if d := diff.Diff(x, y); d != "" {
			parts := strings.Split(name, "/")
			out = append(out, difference{app: strings.TrimPrefix(parts[1], "p-"), field: "live " + name, argo: brief(x), slipway: brief(y) + "\n" + d})
		}
	}
	return out, len(a.Apps), len(names)
}

func brief(obj map[string]any) string {
	if obj == nil {
		return "none"
	}
	return "there"
}
