package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// operation is the operation state of an Application, as its status has it.
type operation = map[string]any

// record watches the Applications until finished is called, which returns the finished operations of each, the first one first. A
// status has only the last one.
func (s *site) record() (finished func() map[string][]operation) {
	s.t.Helper()
	list, err := s.client.Resource(applications).Namespace(namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, end := context.WithCancel(s.t.Context())
	events := testenv.Watch(ctx, s.t, list.GetResourceVersion(), s.client.Resource(applications).Namespace(namespace).Watch)
	done := make(chan map[string][]operation, 1)
	go func() {
		all := map[string][]operation{}
		for event := range events {
			if app, ok := event.Object.(*unstructured.Unstructured); ok {
				all[app.GetName()] = withOperation(all[app.GetName()], app)
			}
		}
		done <- all
	}()
	return func() map[string][]operation {
		end()
		return <-done
	}
}

// withOperations adds operations to what snap.py took into a file.
func (s *site) withOperations(file string, finished map[string][]operation) []byte {
	s.t.Helper()
	for _, all := range finished {
		for _, op := range all {
			if healAttempts(op) > 0 {
				s.addWritten(op)
			}
		}
	}
	raw, err := os.ReadFile(file)
	var out map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err == nil {
		out["operations"] = finished
		raw, err = json.MarshalIndent(out, "", " ")
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

// addWritten adds to each result of an operation when Argo CD last changed the object, as its managed fields have it.
func (s *site) addWritten(op operation) {
	s.t.Helper()
	for _, of := range resultsOf(op) {
		gvr, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{
			Group: textOf(of, "group"), Version: textOf(of, "version"), Kind: textOf(of, "kind"),
		})
		obj := s.get(gvr, textOf(of, "namespace"), textOf(of, "name"))
		if obj == nil { // Argo CD names a namespace for a cluster-scoped object as well
			obj = s.get(gvr, "", textOf(of, "name"))
		}
		if obj == nil {
			continue
		}
		for _, entry := range obj.GetManagedFields() {
			if entry.Manager == "argocd-controller" && entry.Subresource == "" && entry.Time != nil {
				of["written"] = max(textOf(of, "written"), entry.Time.UTC().Format(time.RFC3339))
			}
		}
	}
}

// withOperation adds the operation of an Application once it is finished; a later state of the same one takes its place.
func withOperation(all []operation, app *unstructured.Unstructured) []operation {
	op, _, _ := unstructured.NestedMap(app.Object, "status", "operationState")
	if !v1alpha1.OperationPhase(textOf(op, "phase")).Completed() {
		return all
	}
	if n := len(all); n > 0 && all[n-1]["startedAt"] == op["startedAt"] && reflect.DeepEqual(all[n-1]["operation"], op["operation"]) {
		all = all[:n-1]
	}
	return append(all, op)
}

// again reports whether Argo CD synced with an operation what the one before it had just synced, and found it as Git wants it.
//
// When an operation ends, Argo CD compares immediately, by a cache of the cluster that takes in changes every 100 ms. An object that the
// operation wrote last may be missing there, and one that it pruned may still be there. Self-heal, whose first attempt has no delay, then
// syncs these objects again, and its operation replaces the one that did the work in the status. Where the pruned object is gone, this
// fails first; its retry succeeds, as nothing is left to do, and the status keeps the failed result.
func again(op, before operation) bool {
	const succeeded = string(v1alpha1.OperationSucceeded)
	if healAttempts(op) == 0 || textOf(op, "phase") != succeeded || textOf(before, "phase") != succeeded {
		return false
	}
	for _, field := range []string{"revision", "revisions", "source", "sources"} {
		if !reflect.DeepEqual(value(op, "syncResult", field), value(before, "syncResult", field)) {
			return false
		}
	}
	// The test changes nothing until the engine was quiet for that long.
	started, failed := time.Parse(time.RFC3339, textOf(op, "startedAt"))
	ended, failedToo := time.Parse(time.RFC3339, textOf(before, "finishedAt"))
	if failed != nil || failedToo != nil || started.Before(ended) || started.Sub(ended) >= quietFor {
		return false
	}
	list := resultsOf(op)
	return len(list) > 0 && !slices.ContainsFunc(list, func(result map[string]any) bool { return !foundAsWanted(result, op, before) })
}

// foundAsWanted reports whether a result of an operation shows no change of its object after the operation before. kubectl also reports
// an object as configured whose manifest has 0.1 where the object has 100m, and reports nothing of the sort for server-side apply: then
// the managed fields decide, whose time stays when nothing changes. Replace writes whatever it finds.
func foundAsWanted(result map[string]any, op, before operation) bool {
	message, written := textOf(result, "message"), textOf(result, "written")
	ends := func(ending string) bool { return strings.HasSuffix(message, ending) }
	gone := textOf(result, "status") == "SyncFailed" && ends(fmt.Sprintf(" %q not found", textOf(result, "name")))
	switch {
	case gone, textOf(result, "status") == pruned:
		return slices.ContainsFunc(resultsOf(before), func(was map[string]any) bool {
			return textOf(was, "status") == pruned && keyOf(was) == keyOf(result)
		})
	case ends(" configured"), ends(" serverside-applied"):
		return written != "" && written <= textOf(op, "startedAt")
	}
	return ends(" unchanged") || ends(" replaced")
}

// pruned is the status of a result whose object is deleted, or being deleted.
const pruned = "Pruned"

// resultsOf are the results of an operation.
func resultsOf(op operation) (out []map[string]any) {
	list, _ := value(op, "syncResult", "resources").([]any)
	for _, one := range list {
		if result, ok := one.(map[string]any); ok {
			out = append(out, result)
		}
	}
	return out
}

// keyOf names the object of a result.
func keyOf(result map[string]any) string {
	return strings.Join([]string{textOf(result, "group"), textOf(result, "kind"), textOf(result, "namespace"), textOf(result, "name")}, "/")
}

// healAttempts is how many operations of self-heal in a row an operation is the last of; 0 where something else started it.
func healAttempts(op operation) float64 {
	switch n := value(op, "operation", "sync", "autoHealAttemptsCount").(type) {
	case int64: // as a client decodes it
		return float64(n)
	case float64: // as kept in a file
		return n
	}
	return 0
}

// worked returns what snap.py would have taken of an Application without the operations that synced again what had just been synced,
// and those operations. It fails the test where the record does not have the operation that snap.py took.
func worked(t *testing.T, name string, app map[string]any, all []operation) (map[string]any, []operation) {
	t.Helper()
	last := len(all) - 1
	for last >= 0 && !reflect.DeepEqual(taken(all[last]), only(app, taken(nil))) {
		last--
	}
	if last < 0 {
		if phase, _ := app["phase"].(string); v1alpha1.OperationPhase(phase).Completed() {
			t.Errorf("the operation of %s was not recorded: %s", name, printed(only(app, taken(nil))))
		}
		return app, nil
	}
	work := last
	for work > 0 && again(all[work], all[work-1]) {
		work--
	}
	app = maps.Clone(app)
	maps.Copy(app, taken(all[work]))
	return app, all[work+1 : last+1]
}

// only has the fields of a map that another one has.
func only(all, fields map[string]any) map[string]any {
	out := map[string]any{}
	for field := range fields {
		out[field] = all[field]
	}
	return out
}

var (
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	// madeUp is the name that the Job of the Applications with generateName gets.
	madeUp = regexp.MustCompile(`^gen-.*`)
)

// taken is an operation as snap.py takes it.
func taken(op operation) map[string]any {
	results := map[string]any{}
	for _, of := range resultsOf(op) {
		known := maps.Clone(of)
		known["name"] = madeUp.ReplaceAllString(named.ReplaceAllString(textOf(of, "name"), "-GEN"), "gen-*")
		results[keyOf(known)] = filled(of)
	}
	var phase any
	if of := textOf(op, "phase"); of != "" {
		phase = of
	}
	result, _ := op["syncResult"].(map[string]any)
	return map[string]any{
		"phase": phase, "opmsg": moment.ReplaceAllString(textOf(op, "message"), "T"), "op": op["operation"], "retry": op["retryCount"],
		"opkeys": keysOf(op), "srkeys": keysOf(result), "opres": results,
	}
}

// filled is a result of an operation without its empty fields.
func filled(of map[string]any) map[string]any {
	out := map[string]any{}
	for _, field := range []string{"status", "hookPhase", "hookType", "syncPhase", "message", "version", "images"} {
		if !absent(of[field]) {
			out[field] = of[field]
		}
	}
	return out
}

func keysOf(of map[string]any) []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		out = append(out, key)
	}
	return out
}

// value is what a path of an operation leads to; nil where it has none.
func value(of map[string]any, path ...string) any {
	var out any = of
	for _, field := range path {
		inner, _ := out.(map[string]any)
		out = inner[field]
	}
	return out
}

func textOf(of map[string]any, field string) string {
	out, _ := of[field].(string)
	return out
}

func TestOnlyASelfHealThatChangedNothingRightAfterASyncCountsAsSyncedAgain(t *testing.T) {
	t.Parallel()
	const (
		sync = `{"phase":"Succeeded","startedAt":"2026-01-01T10:00:00Z","finishedAt":"2026-01-01T10:00:02Z","operation":{"sync":{}},
			"syncResult":{"revision":"a","source":{"path":"p"},"resources":[
				{"kind":"Widget","name":"w","status":"Synced","message":"widget/w created"},
				{"kind":"Widget","name":"gone","status":"Pruned","message":"pruned"}
			]}}`
		outcome = `"Synced","message":"widget/w unchanged"`
		result  = `{"kind":"Widget","name":"w","status":` + outcome + `}`
		heal    = `{"phase":"Succeeded","startedAt":"2026-01-01T10:00:02Z","finishedAt":"2026-01-01T10:00:03Z",
			"operation":{"sync":{"autoHealAttemptsCount":1}},
			"syncResult":{"revision":"a","source":{"path":"p"},"resources":[` + result + `]}}`
	)
	for _, test := range []struct {
		name     string
		old, new string // in the heal
		want     bool
	}{
		{name: "it applied what it had just created", want: true},
		{name: "it wrote the same in other words", old: `unchanged"`, new: `configured","written":"2026-01-01T10:00:01Z"`, want: true},
		{
			name: "it applied server-side what the object has", old: `unchanged"`, new: `serverside-applied","written":"2026-01-01T10:00:01Z"`,
			want: true,
		},
		{
			name: "it deleted what was gone", want: true,
			old: result, new: `{"kind":"Widget","name":"gone","status":"SyncFailed","message":"widgets \"gone\" not found"}`,
		},
		{
			name: "it pruned what was being deleted", want: true,
			old: result, new: `{"kind":"Widget","name":"gone","status":"Pruned","message":"pruned"}`,
		},
		{name: "it deleted what something else had deleted", old: outcome, new: `"SyncFailed","message":"widgets \"w\" not found"`},
		{name: "its apply failed", old: outcome, new: `"SyncFailed","message":"widget/w is invalid"`},
		{name: "its namespace is missing", old: outcome, new: `"SyncFailed","message":"namespaces \"n\" not found"`},
		{name: "it replaced an object", old: "unchanged", new: "replaced", want: true},
		{name: "it found a change", old: `unchanged"`, new: `configured","written":"2026-01-01T10:00:03Z"`},
		{name: "it found a change server-side", old: `unchanged"`, new: `serverside-applied","written":"2026-01-01T10:00:03Z"`},
		{name: "it changed an object that is gone", old: "unchanged", new: "configured"},
		{name: "it found an object missing", old: "unchanged", new: "created"},
		{name: "it pruned an object", old: outcome, new: `"Pruned","message":"pruned"`},
		{name: "it is not by self-heal", old: `"autoHealAttemptsCount":1`, new: ""},
		{name: "it failed", old: `"phase":"Succeeded"`, new: `"phase":"Failed"`},
		{name: "it has another revision", old: `"revision":"a"`, new: `"revision":"b"`},
		{name: "it has another source", old: `"path":"p"`, new: `"path":"q"`},
		{name: "it started when something else may have changed the object", old: "10:00:02Z", new: "10:00:17Z"},
		{name: "it has no results", old: result, new: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var before, op operation
			for raw, into := range map[string]*operation{sync: &before, strings.Replace(heal, test.old, test.new, 1): &op} {
				if err := json.Unmarshal([]byte(raw), into); err != nil {
					t.Fatal(err)
				}
			}
			if got := again(op, before); got != test.want {
				t.Errorf("again = %t, want %t", got, test.want)
			}
			app, left := worked(t, "w", taken(op), []operation{before, op})
			if want := map[bool]operation{true: before, false: op}[test.want]; !reflect.DeepEqual(app, taken(want)) || len(left) > 0 != test.want {
				t.Errorf("compared is %v without %v, want %v", app, left, taken(want))
			}
		})
	}
}

func TestTheListOfDifferencesDoesNotDependOnTiming(t *testing.T) {
	t.Parallel()
	without, _ := section(nil)
	with, unexplained := section([]difference{
		{app: "w", field: fieldAgain, argo: "[]"},
		{app: "shared-b", field: "sync", argo: "Synced", slipway: "OutOfSync"},
		{app: "shared", field: "live ConfigMap/p-shared/common.metadata.annotations[argocd.argoproj.io/tracking-id]", argo: "b", slipway: "a"},
	})
	if with != without || len(unexplained) > 0 {
		t.Errorf("the list is\n%s\ninstead of\n%s\nand %v has no reason", with, without, unexplained)
	}
}

func TestANodeThatTheSchedulerPicksIsNoDifference(t *testing.T) {
	t.Parallel()
	pod := func(node string) map[string]any {
		return map[string]any{"kind": "Pod", "spec": map[string]any{"nodeName": node, "restartPolicy": "Never"}}
	}
	want := map[string]any{"kind": "Pod", "spec": map[string]any{"restartPolicy": "Never"}}
	for _, node := range []string{"node-1", "node-2"} {
		if got := content(pod(node)); !reflect.DeepEqual(got, want) {
			t.Errorf("compared is %v, want %v", got, want)
		}
	}
}
