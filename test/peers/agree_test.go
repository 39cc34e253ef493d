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
	varies     string // the first columns of the documentation for what depends on timing, which it lists whether a run found it or not
}

// why makes a reason for fields of Applications, both as anchored expressions. A field that one engine alone has is marked so.
func why(app, field, text string) reason {
	return reason{app: regexp.MustCompile("^(?:" + app + ")$"), field: regexp.MustCompile("^(?:" + field + ")$"), text: text}
}

// sometimes makes a reason for a difference that a run may find or not, or elsewhere, with the first columns of the documentation.
func sometimes(app, field, columns, text string) reason {
	out := why(app, field, text)
	out.varies = columns
	return out
}

// Reasons for what depends on timing.
const (
	becauseAgain = "Argo CD may sync objects again immediately after it synced them, because it compares before its cache has the changes. " +
		"The test then compares the operation that made the changes"
	becauseShared = "Slipway does not change an object of another application. Argo CD lets the applications with self-heal take it over in turn"
)

// stays are the differences that are meant.
var stays = []reason{
	sometimes(".*", fieldAgain, "operation | varies between runs", becauseAgain),
	sometimes("shared-.*", ".*", "varies between runs | shared-a, shared-b", becauseShared),
	sometimes("shared", `live ConfigMap/p-shared/common\.metadata\.annotations\[argocd\.argoproj\.io/tracking-id\]`,
		"varies between runs | shared-a, shared-b", becauseShared),
	why(".*", "nhist",
		"Argo CD adds a history entry for each sync of all objects; Slipway adds one when it deploys another revision or source"),
	why("hist|selective", ".*", "For an operation without sync options, Slipway uses those of the application. "+
		"Argo CD uses none, so it does not create the namespace and the operation fails"),
	why(".*", `resources\[.*\]\.health`+onlySlipway+`|statuskeys\.resourceHealthSource`+onlyArgo,
		"Argo CD 3 does not store the health of objects in the status of the application"),
	why("narrowkind|unknownkind", ".*",
		"While an object cannot be applied, Slipway starts no automated sync, and a condition names the object. "+
			"Argo CD starts a sync, fails and retries"),
	why(".*", `(statuskeys\.(sourceHydrator|summary)|srkeys\.(source|resources|revision))`+onlyArgo, "Slipway omits empty fields"),
	why(".*", `annotations\[slipway\.io/history-notes\]`+onlySlipway, "Slipway records the author and subject of each deployed commit"),
	why(".*", `annotations\[kubectl\.kubernetes\.io/last-applied-configuration\]`+onlyArgo,
		"Slipway uses server-side apply, which adds no annotation with the manifest"),
	why(".*", `opres\[.*\]\.images`+onlyArgo, "Argo CD lists images with each result; Slipway lists them only in the summary"),
	why(".*", `opres\[/Namespace//.*\](\.hookPhase|`+onlySlipway+`)`,
		"Slipway reports the destination namespace as done, and lists it also when it already exists"),
	why(".*", `opres\[(/Namespace|rbac\.authorization\.k8s\.io/ClusterRole|apiextensions\.k8s\.io/CustomResourceDefinition)/.*\](`+
		onlyArgo+"|"+onlySlipway+`)`,
		"Argo CD lists the result of a cluster-scoped object with the destination namespace"),
	why("kust|multi|nsmeta|plain|prunelast|refused|replace|waves", `opres\[.*\]`+onlyArgo,
		"Slipway lists the objects that an operation changed; Argo CD also lists unchanged objects"),
	why("ign-jq", `(conditions\.UnsupportedWarning|statuskeys\.conditions)`+onlySlipway,
		"Slipway adds a condition that names an ignore rule without effect"),
	why("window", `(conditions\.Held|statuskeys\.conditions)`+onlySlipway, "Slipway adds a condition while a sync waits for a sync window"),
	why("window|hookfail|refused", "opmsg", "Slipway names the sync window or the object in the message"),
	why("nsmeta", `opmsg|opres\[.*`,
		"Slipway restores lost labels of a managed namespace immediately; Argo CD restores them with the next sync"),
	why("nsmeta", `live Namespace//p-nsmeta\..*\[argocd\.argoproj\.io/sync-options\]`+onlyArgo,
		"Argo CD annotates a managed namespace with the sync option that it applies the namespace with"),
	why("kinds", `summary\.images`, "Argo CD lists the images of pods; Slipway lists those of workloads"),
	why(".*", `live CustomResourceDefinition//.*\[argocd\.argoproj\.io/tracking-id\]`+onlySlipway,
		"Slipway adds the tracking annotation to a CustomResourceDefinition that it writes"),
	why(".*", `live .*\[slipway\.io/hook-run\]`+onlySlipway, "Slipway records on a hook which operation created it"),
	why("waves", `(live Job/p-waves/gen-GEN|resources\[batch/Job/p-waves/gen-GEN\])\..*`,
		"Argo CD leaves the name out of the tracking annotation of a hook with `generateName`; the name contains the revision and the time"),
	why("waves", `resources\[batch/Job/p-waves/skip\]`+onlyArgo, "Slipway does not list an object with the annotation `hook: Skip`"),
	why("badrev", `synckeys\.revision`+onlyArgo, "Slipway reports no compared revision when the revision does not exist"),
	why("notallowed", `(statuskeys|synckeys)\..*`+onlySlipway,
		"Slipway fills in all fields of the status also when the project does not allow the application"),
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
	done := map[string]bool{}
	out.WriteString("| difference | seen in | reason |\n|---|---|---|\n")
	for _, r := range stays {
		switch {
		case done[r.text]:
			continue
		case r.varies != "":
			fmt.Fprintf(&out, "| %s | %s |\n", r.varies, r.text)
		case apps[r.text] != nil:
			fmt.Fprintf(&out, "| %s | %s | %s |\n", strings.Join(sorted(fields[r.text]), ", "), seen(sorted(apps[r.text])), r.text)
		}
		done[r.text] = true
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
		finished := s.record()
		s.load()
		s.settle("first")
		for _, stage := range stages {
			s.stage(stage)
		}
		raw := s.withOperations(s.snap(engine), finished())
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
	for _, d := range differences {
		if d.field == fieldAgain {
			t.Logf("synced again by Argo CD, without a change: %s: %s", d.app, d.argo)
		}
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
