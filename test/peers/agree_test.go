package peers

import (
	"cmp"
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

// why makes a reason for fields of Applications, both as anchored expressions. A field that one engine alone has is marked so.
func why(app, field, text string) reason {
	return reason{regexp.MustCompile("^(?:" + app + ")$"), regexp.MustCompile("^(?:" + field + ")$"), text}
}

// stays are the differences that are meant.
var stays = []reason{
	why("shared-.*", ".*", "Slipway leaves an object of another Application alone, Argo CD takes it over"),
	why(".*", "nhist", "Argo CD adds an entry to the history for each sync, Slipway where another revision or source was deployed"),
	why("hist|selective", ".*",
		"Slipway takes the sync options of the application for an operation without any; Argo CD takes none, and does not create the namespace"),
	why(".*", `resources\[.*\]\.health`+onlySlipway+`|statuskeys\.resourceHealthSource`+onlyArgo,
		"Argo CD 3 keeps the health of objects outside of the Application"),
	why("narrowkind|unknownkind", ".*",
		"Slipway begins no automated sync while an object cannot be applied, and a condition names it; Argo CD begins, fails and retries"),
	why(".*", `(statuskeys\.(sourceHydrator|summary)|srkeys\.(source|resources|revision))`+onlyArgo, "Slipway leaves empty fields out"),
	why(".*", `annotations\[slipway\.io/history-notes\]`+onlySlipway, "Slipway notes author and subject of each deployed commit"),
	why(".*", `annotations\[kubectl\.kubernetes\.io/last-applied-configuration\]`+onlyArgo,
		"Slipway applies by server-side apply, which leaves no note of the manifest"),
	why(".*", `opres\[.*\]\.images`+onlyArgo, "Slipway lists images in the summary alone"),
	why(".*", `opres\[/Namespace//.*\](\.hookPhase|`+onlySlipway+`)`,
		"Slipway lists the destination namespace as done, and also where it exists already"),
	why(".*", `opres\[(/Namespace|rbac\.authorization\.k8s\.io/ClusterRole|apiextensions\.k8s\.io/CustomResourceDefinition)/.*\](`+
		onlyArgo+"|"+onlySlipway+`)`,
		"Argo CD lists the result of a cluster-wide object with the namespace of the destination"),
	why("kust|multi|nsmeta|plain|prunelast|refused|replace|waves", `opres\[.*\]`+onlyArgo,
		"Slipway lists the objects that an operation changed; Argo CD also lists those that it found unchanged"),
	why("ssa", `opres\[.*\]`+onlySlipway, "Argo CD synced two objects again that had not changed"),
	why("ign-jq", `(conditions\.UnsupportedWarning|statuskeys\.conditions)`+onlySlipway,
		"Slipway has a condition that names a rule which ignores nothing"),
	why("window", `(conditions\.Held|statuskeys\.conditions)`+onlySlipway, "Slipway has a condition for a sync that waits for a window"),
	why("window|hookfail|refused", "opmsg", "Slipway names the window or the object"),
	why("nsmeta", `opmsg|opres\[.*`, "Slipway puts the labels of a managed namespace back when they are lost, Argo CD with the next sync"),
	why("nsmeta", `live Namespace//p-nsmeta\..*\[argocd\.argoproj\.io/sync-options\]`+onlyArgo,
		"Argo CD marks a managed namespace with the sync option that it applies it with"),
	why("kinds", `summary\.images`, "Argo CD lists the images of pods, Slipway those of workloads"),
	why(".*", `live CustomResourceDefinition//.*\[argocd\.argoproj\.io/tracking-id\]`+onlySlipway,
		"Slipway marks a definition that it writes"),
	why(".*", `live .*\[slipway\.io/hook-run\]`+onlySlipway, "Slipway notes on a hook which operation created it"),
	why("waves", `(live Job/p-waves/gen-GEN|resources\[batch/Job/p-waves/gen-GEN\])\..*`,
		"Argo CD marks a hook with generateName without its name; the name holds revision and time"),
	why("waves", `resources\[batch/Job/p-waves/skip\]`+onlyArgo, "Slipway does not list an object that its annotation skips"),
	why("badrev", `synckeys\.revision`+onlyArgo, "Slipway does not report a revision that does not exist as compared"),
	why("notallowed", `(statuskeys|synckeys)\..*`+onlySlipway,
		"Slipway completes the status also where the project refuses the application"),
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
		kind := d.field[:len(d.field)-len(strings.TrimLeft(d.field, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))]
		apps[because][d.app], fields[because][names[kind]] = true, true
	}
	var out strings.Builder
	out.WriteString("| difference | seen in | reason |\n|---|---|---|\n")
	for _, r := range stays {
		if apps[r.text] == nil {
			continue
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(sorted(fields[r.text]), ", "), seen(sorted(apps[r.text])), r.text)
		delete(apps, r.text)
	}
	return out.String(), unexplained
}

// seen names the Applications that have a difference, or counts them.
func seen(apps []string) string {
	const most = 4
	if len(apps) > most {
		return fmt.Sprintf("%d applications", len(apps))
	}
	return strings.Join(apps, ", ")
}

// names are the fields as the documentation calls them.
var names = map[string]string{
	"sync": "sync status", "synckeys": "fields of the sync status", "health": "health", "healthkeys": "fields of the health",
	"phase": "phase of the operation",
	"nhist": "history", "sourceType": "source type", "sourceTypes": "source types", "finalizers": "finalizers", "annotations": "annotations",
	"retry": "retries", "conditions": "conditions", "summary": "summary", "resources": "resources", "opres": "results of the operation",
	"opkeys": "fields of the operation", "srkeys": "fields of the operation", "statuskeys": "fields of the status",
	"opmsg": "message of the operation",
	"live":  "live objects",
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
	scripts(t)
	snaps := map[string]string{}
	for _, engine := range []string{"argocd", "slipway"} {
		raw, done := snapshot(t, engine)
		if !done || raw == "" {
			t.Fatalf("there is no result of %s", engine)
		}
		snaps[engine] = raw
	}
	differences, apps, objects := differ(t, snaps["argocd"], snaps["slipway"])
	text, unexplained := section(differences)
	for _, d := range unexplained {
		t.Errorf("a difference without a reason: %s", d)
	}
	counts := fmt.Sprintf("Compared with Argo CD %s: the statuses of %d applications and %d live objects, after %d stages.\n\n",
		version(t), apps, objects, len(stages)+1)
	was := document(t, partDifferences, counts+text)
	if _, table, _ := strings.Cut(was, "\n\n"); !*update && table != text {
		t.Errorf("%s does not list what differs; run it with -update:\n%s", page, diff.Diff(table, text))
	}
}

// version is that of the Argo CD.
func version(t *testing.T) string {
	t.Helper()
	argocd := filepath.Join(os.Getenv("ARGO_HOME"), "bin", "argocd")
	out, err := exec.CommandContext(t.Context(), argocd, "version", "--client", "--short").Output()
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
