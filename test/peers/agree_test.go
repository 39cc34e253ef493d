package peers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

// page has the differences that stay, between two marks.
const (
	page  = "../../docs/guide/coming-from-argo-cd.md"
	first = "<!-- differences of the two engines, by make test-peers: begin -->\n"
	last  = "<!-- differences of the two engines, by make test-peers: end -->\n"
)

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

func TestBothEnginesMakeTheSameOfTheSameApplications(t *testing.T) {
	snaps := map[string]string{}
	var with *site
	for _, engine := range []string{"argocd", "slipway"} {
		t.Run(engine, func(t *testing.T) {
			s := newSite(t)
			s.argoDefinitions(engine)
			s.load()
			s.settle("first")
			for _, stage := range []string{"manual1", "commit", "drift", "refresh", "manual2", "manual3", "manual4", "delete"} {
				s.stage(stage)
			}
			raw, err := os.ReadFile(s.snap(engine))
			if err != nil {
				t.Fatal(err)
			}
			snaps[engine], with = string(raw), s
		})
	}
	if len(snaps) < 2 {
		t.Fatal("an engine has no result")
	}
	dir := t.TempDir()
	for engine, raw := range snaps {
		if err := os.WriteFile(dir+"/"+engine+".json", []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with.t = t
	found := append(read(with.run("", "python3", with.script("cmp.py"), dir+"/argocd.json", dir+"/slipway.json")), liveDifferences(t, snaps)...)
	text, unexplained := section(found)
	for _, d := range unexplained {
		t.Errorf("a difference without a reason: %s", d)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(raw), first)
	have, after, ok := strings.Cut(rest, last)
	if !ok {
		t.Fatalf("%s has no section between its marks", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+first+text+last+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := diff.Diff(have, text); d != "" {
		t.Errorf("%s does not list what differs; run it with -update:\n%s", page, d)
	}
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

// liveDifferences compares the live objects of two snapshots field by field, without owners and versions.
func liveDifferences(t *testing.T, snaps map[string]string) []difference {
	t.Helper()
	var a, b struct {
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
	var out []difference
	for _, name := range sorted(names) {
		x, y := a.Live[name], b.Live[name]
		if d := diff.Diff(x, y); d != "" {
			parts := strings.Split(name, "/")
			out = append(out, difference{app: strings.TrimPrefix(parts[1], "p-"), field: "live " + name, argo: brief(x), slipway: brief(y) + "\n" + d})
		}
	}
	return out
}

func brief(obj map[string]any) string {
	if obj == nil {
		return "none"
	}
	return "there"
}
