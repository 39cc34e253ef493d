package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// crash is a finding below an object of the Application.
func crash(group, kind, name string) api.Finding {
	pod := api.ObjectName{Kind: "Pod", Namespace: "shop", Name: name + "-x"}
	return api.Finding{
		Code: "Crash", What: "container app of Pod shop/" + name + "-x crashes: exit code 1", Next: "fix the program, and push",
		Of: api.ObjectName{Group: group, Kind: kind, Namespace: "shop", Name: name}, Object: pod, Container: "app", Since: now().Add(-2 * time.Minute),
		Evidence: []api.Evidence{
			{Object: pod, Container: "app", Source: api.EvidenceStatus, Text: "restarted 4 times"},
			{Object: pod, Source: api.EvidenceEvent, Text: "BackOff: Back-off restarting failed container", Count: 7, Since: now().Add(-time.Hour), Last: now().Add(-time.Minute)},
		},
		Log: &api.FindingLog{Note: "not asked for"},
	}
}

func TestAFindingIsTheFirstThingThatIsSaid(t *testing.T) {
	t.Parallel()
	deployment := `{status: {health: {status: Progressing}}}`
	hook := operation("Running", "waiting for completion of hook batch/Job/migrate",
		`, syncResult: {revision: abc, resources: [{group: batch, version: v1, kind: Job, namespace: shop, name: migrate, hookType: PreSync, hookPhase: Running}]}`)
	refused := operation("Failed", "one or more objects failed to apply", `, finishedAt: "2030-05-06T11:59:00Z", syncResult: {revision: abc, resources: [
		{group: apps, version: v1, kind: Deployment, namespace: shop, name: web, status: SyncFailed, message: 'admission webhook "policy.example.com" denied the request: no root'}]}`)
	minor := crash("apps", "Deployment", "web")
	minor.Minor = true
	for _, c := range []struct {
		name     string
		parts    []string
		findings []api.Finding
		codes    []Code
		what     string // of the first
		why      string // has this in it
	}{
		{
			"while it is Progressing",
			[]string{deployment, objects(thing("apps", "Deployment", "web", "Progressing", "Waiting for rollout"))},
			[]api.Finding{crash("apps", "Deployment", "web")},
			[]Code{Progressing},
			"container app of Pod shop/web-x crashes: exit code 1", "Deployment.apps shop/web is progressing: Waiting for rollout",
		},
		{
			"before what differs from Git",
			[]string{out, changed, objects(thing("apps", "Deployment", "web", "Degraded", "exceeded its progress deadline"),
				`{kind: ConfigMap, version: v1, namespace: shop, name: settings, status: OutOfSync}`)},
			[]api.Finding{crash("apps", "Deployment", "web")},
			[]Code{Degraded, AutomatedOff},
			"container app of Pod shop/web-x crashes: exit code 1", "exceeded its progress deadline",
		},
		{
			"of a hook that a sync waits for",
			[]string{hook},
			[]api.Finding{crash("batch", "Job", "migrate")},
			[]Code{WaitingForHook},
			"container app of Pod shop/migrate-x crashes: exit code 1", "its sync waits for a hook: waiting for completion of hook",
		},
		{
			"of what the API server refused",
			[]string{refused},
			nil,
			[]Code{Failed},
			"Deployment shop/web cannot be applied: the admission webhook policy.example.com refused it: no root", "its last sync failed",
		},
		{
			"of an object that is Healthy", nil,
			[]api.Finding{crash("", "Service", "web")},
			[]Code{Failing},
			"container app of Pod shop/web-x crashes: exit code 1", "Service shop/web is healthy, and does not do what it is for",
		},
		{"not where nothing failed so far", nil, []api.Finding{minor}, []Code{Done}, "nothing to do", "as Git wanted it"},
		{
			"after what waits for a person",
			[]string{
				out, condition("Held", "held: this sync would delete 11 objects: confirm with `slipway app confirm web`"),
				objects(thing("apps", "Deployment", "web", "Degraded", "bad")),
			},
			[]api.Finding{crash("apps", "Deployment", "web")},
			[]Code{HeldByGuard, Degraded},
			"its sync is held, because it would delete too much", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Explain(Facts{App: application(t, c.parts...), Findings: c.findings, Now: now()})
			var codes []Code
			for _, r := range got.Reasons {
				codes = append(codes, r.Code)
			}
			if first := got.Reasons[0]; !slices.Equal(codes, c.codes) || first.What != c.what || !strings.Contains(first.Why, c.why) {
				t.Errorf("%v: %q, why %q", codes, first.What, first.Why)
			}
		})
	}
}

func TestAFindingIsPrintedWithWhatShowsIt(t *testing.T) {
	t.Parallel()
	f := crash("apps", "Deployment", "web")
	app := application(t, `{status: {health: {status: Degraded}}}`, objects(thing("apps", "Deployment", "web", "Degraded", "exceeded its progress deadline")))
	text := Explain(Facts{App: app, Findings: []api.Finding{f}, Now: now()}).Text(now())
	for _, want := range []string{
		"\ncontainer app of Pod shop/web-x crashes: exit code 1, since 2030-05-06T11:58:00Z (2m)\n",
		"\n  why:  Deployment.apps shop/web is degraded: exceeded its progress deadline\n",
		"\n  seen: Pod shop/web-x, container app: restarted 4 times\n",
		"\n  seen: Pod shop/web-x: BackOff: Back-off restarting failed container (7 times, since 1h, last 1m ago)\n",
		"\n  log:  --logs shows the last lines of container app\n",
		"\n  next: fix the program, and push; `kubectl",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	f.Log = &api.FindingLog{Previous: true, Lines: []string{"starting", "panic: no database"}}
	text = Explain(Facts{App: app, Findings: []api.Finding{f}, Now: now()}).Text(now())
	if want := "\n  log:  container app, the run before:\n        | starting\n        | panic: no database\n"; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

func TestEachRevisionIsNamedAsWhatItIs(t *testing.T) {
	t.Parallel()
	commit := func(digit string) string { return strings.Repeat(digit, 40) }
	app := application(t, `{spec: {source: {targetRevision: main}}, metadata: {annotations: {slipway.io/rollback: '{"id": 2, "revisions": ["`+commit("3")+`"], "at": "2030-05-06T09:00:00Z"}'}},
		status: {sync: {revision: "`+commit("2")+`"}, history: [{id: 5, revision: "`+commit("4")+`", deployedAt: "2030-05-06T10:00:00Z"}]}}`)
	status := WithTips(Revisions(Facts{App: app}), api.TipsAnswer{Same: true, Items: []api.RevisionTip{{Tip: commit("1"), TipSeenAt: now().Add(-12 * time.Second)}}})
	want := `
revisions
  Tip of main: 1111111111 (looked at 12s ago)
  Compared: 2222222222, since 2030-05-06T11:55:00Z (5m); newer commits change nothing that it renders
  Deployed: 4444444444, deployment 5, since 2030-05-06T10:00:00Z (2h)
  Pinned: 3333333333, deployment 2, since 2030-05-06T09:00:00Z (3h)
`
	if got := RevisionText(status, now()); got != want {
		t.Errorf("it is printed as %s", got)
	}
	status = WithTips(Revisions(Facts{App: app}), api.TipsAnswer{Items: []api.RevisionTip{{Tip: commit("1"), TipSeenAt: now().Add(-time.Hour), TipError: "it is away"}}})
	if got := RevisionFacts(status, now())[0][1]; got != "1111111111 (looked at 1h ago); not known since: it is away" {
		t.Errorf("a branch that cannot be looked at is %q", got)
	}
	// Revisions of other sources than there are now are nobody's.
	app.Spec.Sources = append(app.Spec.Sources, *app.Spec.Source, *app.Spec.Source)
	for _, s := range Revisions(Facts{App: app}).Sources {
		if s.Compared != "" || s.Deployed != "" {
			t.Errorf("a source that was added is at %+v", s)
		}
	}
}
