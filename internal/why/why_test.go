package why

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

var update = flag.Bool("update", false, "write the answers to testdata")

func now() time.Time { return time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC) }

const (
	auto     = `{spec: {syncPolicy: {automated: {prune: true, selfHeal: true}}}}`
	noHeal   = `{spec: {syncPolicy: {automated: {prune: true}}}}`
	noPrune  = `{spec: {syncPolicy: {automated: {selfHeal: true}}}}`
	out      = `{status: {sync: {status: OutOfSync}}}`
	succeded = `{status: {operationState: {phase: Succeeded, message: successfully synced, startedAt: "2030-05-06T10:00:00Z", finishedAt: "2030-05-06T10:00:05Z",
  syncResult: {revision: 1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c}}}}`
	changed = `{status: {resources: [
  {kind: ConfigMap, version: v1, namespace: shop, name: settings, status: OutOfSync},
  {group: apps, kind: Deployment, version: v1, namespace: shop, name: web, status: Synced, health: {status: Healthy}}]}}`
	extra = `{status: {resources: [{kind: ConfigMap, version: v1, namespace: shop, name: old, status: OutOfSync, requiresPruning: true}]}}`
)

func condition(kind, message string) string {
	return `{status: {conditions: [{type: ` + kind + `, lastTransitionTime: "2030-05-06T11:50:00Z", message: ` + quoted(message) + `}]}}`
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func operation(phase, message, more string) string {
	return `{status: {operationState: {phase: ` + phase + `, message: ` + quoted(message) + `, startedAt: "2030-05-06T11:58:00Z"` + more + `}}}`
}

func thing(group, kind, name, health, message string) string {
	return `{group: ` + quoted(group) + `, kind: ` + kind + `, version: v1, namespace: shop, name: ` + name + `, status: Synced, health: {status: ` + health +
		`, message: ` + quoted(message) + `}}`
}

func objects(list ...string) string {
	return `{status: {resources: [` + strings.Join(list, ", ") + `]}}`
}

// application merges parts, in YAML, over an Application that is synced and healthy.
func application(t *testing.T, parts ...string) *v1alpha1.Application {
	t.Helper()
	whole := map[string]any{}
	for _, part := range append([]string{`
metadata: {name: web, namespace: argocd, creationTimestamp: "2030-05-01T00:00:00Z"}
spec:
  project: shop
  source: {repoURL: "https://git.example.com/web.git", path: app}
  destination: {name: in-cluster, namespace: shop}
status:
  sync: {status: Synced, revision: 1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c}
  health: {status: Healthy, lastTransitionTime: "2030-05-06T11:00:00Z"}
  reconciledAt: "2030-05-06T11:55:00Z"
`}, parts...) {
		more := map[string]any{}
		if err := yaml.Unmarshal([]byte(part), &more); err != nil {
			t.Fatalf("%v in %s", err, part)
		}
		merge(whole, more)
	}
	raw, err := yaml.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	if err := yaml.UnmarshalStrict(raw, app); err != nil {
		t.Fatal(err)
	}
	return app
}

func merge(into, from map[string]any) {
	for k, v := range from {
		inner, isMap := v.(map[string]any)
		have, has := into[k].(map[string]any)
		if isMap && has {
			merge(have, inner)
			continue
		}
		into[k] = v
	}
}

func rules(t *testing.T, windows string) *project.Rules {
	t.Helper()
	p := &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if err := yaml.UnmarshalStrict([]byte(`{syncWindows: `+windows+`}`), &p.Spec); err != nil {
		t.Fatal(err)
	}
	r, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type question struct {
	name    string
	parts   []string
	code    Code
	windows string
	wrong   error
}

func questions() []question {
	const guard = "held: this sync would delete 11 objects (ConfigMap shop/a and 10 more): put the objects back into Git, or confirm with `slipway app confirm web` (plan 1f2e3d4c5b6a7988)"
	const night = `[{kind: deny, schedule: "0 11 * * *", duration: 3h, applications: ["*"]}]`
	const nightManual = `[{kind: deny, schedule: "0 11 * * *", duration: 3h, applications: ["*"], manualSync: true}]`
	hook := `, syncResult: {revision: abc, resources: [{group: batch, version: v1, kind: Job, namespace: shop, name: migrate, hookType: PreSync, hookPhase: Running, syncPhase: PreSync}]}`
	failure := `, finishedAt: "2030-05-06T11:59:00Z", syncResult: {revision: abc, resources: [
  {group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: SyncFailed, message: "spec.replicas: must not be negative"}]}`
	return []question{
		{name: "done", code: Done},
		{name: "done by an operation", parts: []string{auto, succeded}, code: Done},
		{name: "never looked at", parts: []string{`{status: null}`}, code: Unseen},
		{name: "refresh not done", code: Unseen, parts: []string{`{metadata: {annotations: {argocd.argoproj.io/refresh: normal, argocd.argoproj.io/refresh-timestamp: "2030-05-06T11:30:00Z"}}}`}},
		{name: "left alone", parts: []string{`{metadata: {annotations: {argocd.argoproj.io/skip-reconcile: "true"}}}`, auto, out, changed}, code: Skipped},
		{name: "project denies", parts: []string{condition("InvalidSpecError", `project "shop" does not permit repository "https://git.example.com/web.git"`)}, code: Denied},
		{name: "project is wrong", wrong: errors.New(`project "shop" does not exist in namespace argocd`), code: Denied},
		{name: "cannot fetch", parts: []string{condition("ComparisonError", "https://git.example.com/web.git: repository not found: check the address")}, code: CannotFetch},
		{name: "unverified", parts: []string{condition("ComparisonError", "GIT/GPG: Failed verifying revision 1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c by 'Ann <ann@example.org>': unsigned (key_id=); sign it with a key that the project allows, and push")}, code: Unverified},
		{name: "cannot render", parts: []string{condition("ComparisonError", "app/web.yaml:7: mapping values are not allowed: correct the file")}, code: CannotRender},
		{name: "cannot compare", parts: []string{condition("ComparisonError", "destination cluster: connection refused")}, code: CannotCompare},
		{name: "cluster is not known", parts: []string{condition("ComparisonError", "destination cluster: no cluster is called \"edge\": add its Secret")}, code: CannotCompare},
		{name: "kind is not served", parts: []string{condition("ComparisonError", "the cluster does not know kind Widget.example.com: install its CustomResourceDefinition first")}, code: CannotCompare},
		{name: "chart for another Kubernetes", parts: []string{condition("ComparisonError", "render chart app: chart web requires Kubernetes >=2, the cluster has v1.36.3")}, code: CannotRender},
		{name: "automated off", parts: []string{out, changed}, code: AutomatedOff},
		{name: "automated off and prune needed", parts: []string{out, extra}, code: AutomatedOff},
		{name: "self-heal off", parts: []string{out, changed, noHeal, succeded}, code: SelfHealOff},
		{name: "prune off", parts: []string{out, extra, noPrune, succeded}, code: PruneOff},
		{name: "prune forbidden", parts: []string{out, extra, auto, succeded}, code: PruneForbidden},
		{name: "sync due", parts: []string{out, changed, auto}, code: SyncDue},
		{name: "failed", parts: []string{out, auto, operation("Failed", "one or more objects failed to apply", failure), condition("SyncError", "the last sync to abc failed and is not tried again: one or more objects failed to apply")}, code: Failed},
		{name: "terminated", parts: []string{out, operation("Failed", "Operation terminated", `, finishedAt: "2030-05-06T11:59:00Z"`)}, code: Failed},
		{name: "renders nothing", parts: []string{out, auto, condition("SyncError", "the source renders no objects: nothing was deleted")}, code: Failed},
		{name: "shared object", code: Shared, parts: []string{
			out, changed, noHeal, succeded,
			condition("SharedResourceWarning", "ConfigMap shop/settings belongs to Application win: it is left to it"),
		}},
		{name: "kept from pruning", code: PruneForbidden, parts: []string{out, extra, succeded, `{status: {operationState: {operation: {sync: {prune: true}}}}}`}},
		{name: "window forbids what failed", code: HeldByWindow, windows: night, parts: []string{out, auto, operation("Error", "sync window of project shop: nothing is synced now", `, finishedAt: "2030-05-06T11:59:00Z"`)}},
		{name: "missing and nothing comes", code: Failed, parts: []string{out, objects(thing("", "ConfigMap", "settings", "Missing", "")), operation("Failed", "one or more objects failed to apply", failure)}},
		{name: "project is missing", code: Denied, parts: []string{condition("InvalidSpecError", `project "shop" does not exist: create the AppProject shop in namespace argocd, or name another one in spec.project`)}},
		{name: "waiting for a retry", parts: []string{out, auto, operation("Running", "one or more objects failed to apply. Retrying attempt #3 at 12:00:20.", failure)}, code: WaitingForRetry},
		{name: "waiting for a hook", parts: []string{out, auto, operation("Running", "waiting for completion of hook batch/Job/migrate", hook)}, code: WaitingForHook},
		{name: "waiting for a wave", parts: []string{out, auto, operation("Running", "waiting for healthy state of apps/Deployment/db and 1 more resources", "")}, code: WaitingForHealth},
		{name: "waiting for a confirmation", parts: []string{out, operation("Running", "waiting for pruning confirmation of /Namespace/shop", "")}, code: WaitingForConfirm},
		{name: "terminating", parts: []string{out, auto, operation("Terminating", "waiting for completion of hook batch/Job/migrate", hook)}, code: Terminating},
		{name: "syncing", parts: []string{out, operation("Running", "3 of 10 objects done", `, operation: {initiatedBy: {username: ann}}`)}, code: Operating},
		{name: "asked for", parts: []string{out, changed, `{operation: {sync: {}, initiatedBy: {username: ann}}}`}, code: Asked},
		{name: "held by the guard", parts: []string{out, auto, extra, condition("Held", guard)}, code: HeldByGuard},
		{name: "held by the guard when asked", parts: []string{out, extra, operation("Running", guard, "")}, code: HeldByGuard},
		{name: "held by a window", parts: []string{out, auto, changed, condition("Held", "deny window: automatic syncs wait")}, windows: night, code: HeldByWindow},
		{name: "held by a window with manual sync", parts: []string{out, auto, changed}, windows: nightManual, code: HeldByWindow},
		{name: "held by a window that is over", parts: []string{out, auto, changed, condition("Held", "deny window: automatic syncs wait")}, windows: `[{kind: deny, schedule: "0 2 * * *", duration: 1h, applications: ["*"]}]`, code: Held},
		{name: "held by a window of a project that is not known", parts: []string{out, auto, changed, condition("Held", "deny window: automatic syncs wait until 2030-05-06T14:00:00Z")}, code: Held},
		{name: "pinned", code: Pinned, parts: []string{auto, `{metadata: {annotations: {slipway.io/rollback: '{"id":3,"revisions":["abc"],"by":"ann","reason":"orders are lost","at":"2030-05-06T09:00:00Z","quarantine":{"revisions":["bad"]}}'}}}`}},
		{name: "pinned and changed in the cluster", code: Pinned, parts: []string{out, noHeal, changed, succeded, `{metadata: {annotations: {slipway.io/rollback: '{"id":3,"revisions":["abc"],"by":"ann","at":"2030-05-06T09:00:00Z","quarantine":{"revisions":["bad"]}}'}}}`}},
		{name: "pinned without automated sync", code: Pinned, parts: []string{out, changed, `{metadata: {annotations: {slipway.io/rollback: '{"id":3,"revisions":["abc"],"at":"2030-05-06T09:00:00Z"}'}}}`}},
		{name: "pin that lacks a revision", code: Pinned, parts: []string{auto, `{metadata: {annotations: {slipway.io/rollback: '{"id":3,"revisions":["abc","def"]}'}}}`}},
		{name: "pin that nobody can read", code: Pinned, parts: []string{auto, `{metadata: {annotations: {slipway.io/rollback: 'to the last one'}}}`}},
		{name: "drift allowed", code: DriftAllowed, parts: []string{out, auto, changed, succeded, `{metadata: {annotations: {slipway.io/drift-allowed: '[{"kind":"ConfigMap","namespace":"shop","name":"settings","until":"2030-05-06T14:00:00Z","by":"ann","reason":"trying it out"}]'}}}`}},
		{name: "drift was allowed", code: SelfHealOff, parts: []string{out, noHeal, changed, succeded, `{metadata: {annotations: {slipway.io/drift-allowed: '[{"kind":"ConfigMap","namespace":"shop","name":"settings","until":"2030-05-06T11:00:00Z"}]'}}}`}},
		{name: "degraded and progressing", code: Degraded, parts: []string{
			`{status: {health: {status: Degraded}}}`,
			objects(thing("apps", "Deployment", "web", "Degraded", "exceeded its progress deadline"), thing("apps", "Deployment", "db", "Progressing", "1 of 2 updated replicas are available"),
				thing("argoproj.io", "Application", "child", "Degraded", ""), thing("argoproj.io", "Rollout", "canary", "Suspended", "paused")),
		}},
		{name: "many missing", code: Missing, parts: []string{
			`{status: {health: {status: Missing}}}`,
			objects(thing("apps", "Deployment", "a", "Missing", ""), thing("apps", "Deployment", "b", "Missing", ""), thing("apps", "Deployment", "c", "Missing", ""), thing("apps", "Deployment", "d", "Missing", "")),
		}},
		{name: "unhealthy and no object says why", code: Unjudged, parts: []string{`{status: {health: {status: Degraded}}}`}},
		{name: "unsupported", code: Unsupported, parts: []string{condition("UnsupportedWarning", "not acted on by this version: spec.sourceHydrator")}},
		{name: "shared", code: Warned, parts: []string{condition("SharedResourceWarning", "ConfigMap shop/settings is part of other as well")}},
		{name: "being deleted", code: Deleting, parts: []string{changed, `{metadata: {deletionTimestamp: "2030-05-06T11:59:00Z", finalizers: [resources-finalizer.argocd.argoproj.io]}}`}},
		{name: "deletion held", code: Deleting, parts: []string{
			`{metadata: {deletionTimestamp: "2030-05-06T11:59:00Z", finalizers: [resources-finalizer.argocd.argoproj.io]}}`,
			condition("DeletionError", "held: Namespace shop must be confirmed before it is deleted: confirm with `slipway app confirm web`"),
		}},
		{name: "deletion waits for somebody else", code: Deleting, parts: []string{`{metadata: {deletionTimestamp: "2030-05-06T11:59:00Z", finalizers: [example.com/backup]}}`}},
	}
}

func TestAnAnswerSaysWhyAndWhatNext(t *testing.T) {
	t.Parallel()
	for _, q := range questions() {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			facts := Facts{App: application(t, q.parts...), Now: now(), ProjectError: q.wrong}
			if q.windows != "" {
				facts.Project = rules(t, q.windows)
			}
			answer := Explain(facts)
			if got := answer.Reasons[0].Code; got != q.code {
				t.Errorf("the first reason is %s, want %s", got, q.code)
			}
			for _, r := range answer.Reasons {
				if r.What == "" || r.Next == "" {
					t.Errorf("%s does not say what it is, or what would change it: %+v", r.Code, r)
				}
			}
			golden(t, strings.ReplaceAll(q.name, " ", "-"), answer.Text(now()))
		})
	}
}

func TestAClosedWindowIsReportedAlsoWhereNothingWaitsForIt(t *testing.T) {
	t.Parallel()
	window := func(windows string) *api.WhyWindow {
		return Window(Facts{App: application(t), Now: now(), Project: rules(t, windows)})
	}
	until := now().Add(2 * time.Hour)
	closed := window(`[{kind: deny, schedule: "0 11 * * *", duration: 3h, applications: ["*"]}]`)
	if closed == nil || closed.Reason == "" || closed.Manual || !closed.Until.Equal(until) {
		t.Errorf("a closed window is %+v, want one until %s", closed, until)
	}
	if manual := window(`[{kind: deny, schedule: "0 11 * * *", duration: 3h, applications: ["*"], manualSync: true}]`); manual == nil || !manual.Manual {
		t.Errorf("a window that permits manual syncs is %+v", manual)
	}
	for name, windows := range map[string]string{
		"is over":         `[{kind: deny, schedule: "0 2 * * *", duration: 1h, applications: ["*"]}]`,
		"is for others":   `[{kind: deny, schedule: "0 11 * * *", duration: 3h, applications: ["other-*"]}]`,
		"allows it now":   `[{kind: allow, schedule: "0 11 * * *", duration: 3h, applications: ["*"]}]`,
		"there is no one": `[]`,
	} {
		if got := window(windows); got != nil {
			t.Errorf("a window that %s is reported as %+v", name, got)
		}
	}
	if got := Window(Facts{App: application(t), Now: now()}); got != nil {
		t.Errorf("of a project that is not known, %+v is reported", got)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

func TestAnApplicationThatIsNotThereIsSaidSo(t *testing.T) {
	t.Parallel()
	a := Explain(Facts{Name: "web", Namespace: "argocd", Now: now()})
	if a.Reasons[0].Code != NotFound || !strings.Contains(a.Text(now()), "slipway app list -n argocd") {
		t.Errorf("the answer is %+v", a)
	}
}

func TestAnAnswerFitsOnAScreen(t *testing.T) {
	t.Parallel()
	app := application(t, out, auto, condition("ComparisonError", strings.Repeat("a long story\n", 1000)))
	for range 100 {
		app.Status.Conditions = append(app.Status.Conditions, app.Status.Conditions[0])
	}
	text := Explain(Facts{App: app, Now: now()}).Text(now())
	if lines, most := strings.Count(text, "\n"), 4*maxReasons+4; lines > most || len(text) > 8000 {
		t.Errorf("%d lines and %d bytes, want at most %d and 8000", lines, len(text), most)
	}
}

func TestForeignTextStaysOnItsLine(t *testing.T) {
	t.Parallel()
	app := application(t, condition("ComparisonError", "one\ntwo\x1b[31m"))
	if text := Explain(Facts{App: app, Now: now()}).Text(now()); strings.Contains(text, "\x1b") || !strings.Contains(text, "one two") {
		t.Errorf("the text is %q", text)
	}
}

func TestACommandThatIsShownCanBePasted(t *testing.T) {
	t.Parallel()
	app := application(t, `{metadata: {annotations: {slipway.io/drift-allowed: '[{"kind":"ConfigMap","name":"x; reboot $(id) it''s","until":"2030-05-06T14:00:00Z"}]'}}}`)
	want := `revert web 'ConfigMap:x; reboot $(id) it'\''s'`
	if text := Explain(Facts{App: app, Now: now()}).Text(now()); !strings.Contains(text, want) {
		t.Errorf("the text is %q, want %s in it", text, want)
	}
}

func TestAnAgeHasItsLargestUnits(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": -time.Hour, "12s": 12*time.Second + time.Millisecond, "1m": time.Minute, "1m5s": 65 * time.Second,
		"2h": 2*time.Hour + 59*time.Second, "2h59m": 3*time.Hour - time.Second, "1d": 24 * time.Hour, "3d4h": 76 * time.Hour,
	} {
		if got := Age(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	for _, q := range questions() {
		for _, part := range q.parts {
			raw, err := yaml.YAMLToJSON([]byte(part))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		app := &v1alpha1.Application{}
		if json.Unmarshal(raw, app) != nil {
			return
		}
		a := Explain(Facts{App: app, Now: now()})
		if len(a.Reasons) == 0 || a.Text(now()) == "" {
			t.Errorf("no answer: %+v", a)
		}
	})
}

// What to do depends on what a comparison failed for: an advice that cannot help leads people away from the one that does.
func TestAdviceIsForWhatFailed(t *testing.T) {
	t.Parallel()
	advices := []string{"correct spec.destination", "correct the source and push", "correct spec.source", "install the definition of the kind", "have the cluster answer the agent"}
	for message, want := range map[string]string{
		"destination cluster: no cluster is called \"edge\": add its Secret, or correct spec.destination.name":    advices[0],
		"destination cluster: no cluster is known at https://edge: add its Secret":                                advices[0],
		"destination cluster: cluster Secret edge: the address is not allowed":                                    advices[0],
		"destination cluster: spec.destination has both server and name: keep one of them":                        advices[0],
		"destination cluster: list Pod: connection refused":                                                       advices[4],
		"destination cluster: no answer within 10s: check that the cluster is reachable":                          advices[4],
		"destination cluster: the agent may not list and watch Pod: grant its service account get":                advices[4],
		"destination cluster: the cluster refuses the agent's credentials: renew them (Unauthorized)":             advices[4],
		"the cluster does not know kind Widget.example.com: install its CustomResourceDefinition first":           advices[3],
		"the cluster serves Widget.example.com at version v1, not v2: change apiVersion in the manifest":          advices[3],
		"render chart app: chart web requires Kubernetes >=2, the cluster has v1.36.3: use another chart version": advices[1],
		"clusters/web.yaml:7: read YAML: mapping values are not allowed: correct the file":                        advices[1],
		"https://git.example.com/web.git: repository not found: check the address":                                advices[2],
	} {
		answer := Explain(Facts{App: application(t, condition("ComparisonError", message)), Now: now()})
		next := answer.Reasons[0].Next
		for _, advice := range advices {
			if strings.Contains(next, advice) != (advice == want) {
				t.Errorf("%q is followed by %q, want %q", message, next, want)
				break
			}
		}
	}
}

func TestNoAnswerSuggestsWhatTheAgentDoesNotCarryOut(t *testing.T) {
	t.Parallel()
	var lacks []api.AgentLack
	for _, l := range agentapi.EngineArgoCD.Lacks() {
		lacks = append(lacks, api.AgentLack{Command: string(l.Kind), Message: l.Why})
	}
	refused := []string{
		"slipway app confirm", "slipway app unpin", "slipway app restore", "slipway app drift revert", "slipway app drift allow", "slipway action",
	}
	for _, q := range questions() {
		t.Run(q.name, func(t *testing.T) {
			t.Parallel()
			facts := Facts{App: application(t, q.parts...), Now: now(), ProjectError: q.wrong, Lacks: lacks}
			if q.windows != "" {
				facts.Project = rules(t, q.windows)
			}
			for _, r := range Explain(facts).Reasons {
				for _, command := range refused {
					if strings.Contains(r.Next, command) {
						t.Errorf("%s suggests %q, which the agent does not carry out", r.Code, r.Next)
					}
				}
				for _, a := range r.Actions {
					if agentapi.EngineArgoCD.Lacking(agentapi.Kind(commandOf(a))) != "" {
						t.Errorf("%s offers %s, which the agent does not carry out", r.Code, a.Action)
					}
					if a.Action == api.WhyRollback && facts.App.Spec.SyncPolicy.AutomatedEnabled() {
						t.Errorf("%s offers a rollback, which is refused while automated sync is on", r.Code)
					}
				}
				if r.Code == Pinned || r.Code == DriftAllowed || r.Code == HeldByGuard && facts.App.Status.OperationState == nil {
					t.Errorf("%s is reported, which has no effect with Argo CD", r.Code)
				}
				if strings.Contains(r.Next, "APP") {
					t.Errorf("%s does not name the application: %q", r.Code, r.Next)
				}
			}
			if got := Revisions(facts); !got.PinnedAt.IsZero() || len(got.Warnings) > 0 {
				t.Errorf("the revisions report a pin, which has no effect with Argo CD: %+v", got)
			}
		})
	}
}

// TestWhatToDoAboutASignatureFitsItsKind has one of every check that Unverified knows.
func TestWhatToDoAboutASignatureFitsItsKind(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{}
	app.Spec.Project = "shop"
	for check, want := range map[string]string{
		"GIT/GPG": "slipway gpg list", "GIT/SSH": "configmap slipway-allowed-signers", "HELM/GPG": "publish the chart again",
		"OCI/COSIGN": "configmap slipway-artifact-keys", "OCI/NOTATION": "configmap slipway-trust-stores",
	} {
		message := check + ": Failed verifying revision 1.0.0 of oci://registry.example/web: unsigned"
		if !v1alpha1.Unverified(message) {
			t.Errorf("%s is no check of signatures", check)
		}
		got := (&teller{Facts: Facts{Namespace: "argocd"}, app: app}).signing(message)
		if !strings.Contains(got, want) || !strings.Contains(got, `project "shop"`) || !strings.Contains(got, "edit appproject shop") {
			t.Errorf("%s: %s", check, got)
		}
		if pushes := strings.Contains(got, "and push"); pushes != strings.HasPrefix(check, "GIT/") {
			t.Errorf("%s: %s", check, got)
		}
	}
}
