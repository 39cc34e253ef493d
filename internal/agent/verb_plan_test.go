package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// settingsOf are some ConfigMaps, each with annotations, in an order of their own.
func settingsOf(more map[string]string) string {
	var out strings.Builder
	names := make([]string, 0, len(more))
	for name := range more {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {%s}}\ndata: {a: b}\n", name, more[name])
	}
	return out.String()
}

// lines are the items of a plan: "Sync 0 update settings".
func lines(p api.SyncPlan) []string {
	var out []string
	for _, phase := range p.Phases {
		for _, wave := range phase.Waves {
			for _, item := range wave.Items {
				out = append(out, fmt.Sprintf("%s %d %s %s", phase.Phase, wave.Wave, item.Verb, item.Name))
			}
		}
	}
	return out
}

func TestAPlanSaysWhatASyncWouldDoAndDoesNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	s.repo.Commit(map[string]string{"web/all.yaml": settingsOf(map[string]string{
		"settings": "", "late": `argocd.argoproj.io/sync-wave: "2"`, "before": "argocd.argoproj.io/hook: PreSync", "after": `argocd.argoproj.io/hook: PostSync, argocd.argoproj.io/sync-wave: "1"`,
	})}, "second")
	must[any](s, agentapi.KindRefresh, s.app(s.name), nil)
	app := s.await(func(app *v1alpha1.Application) bool {
		return app.Annotations[v1alpha1.AnnotationRefresh] == "" && app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync
	})
	head := app.Status.Sync.Revision

	plan := must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{Prune: true, DryRun: true})
	want := []string{
		"PreSync 0 hook before", "Sync 0 delete login", "Sync 0 update settings", "Sync 0 delete web", "Sync 2 create late", "PostSync 1 hook after",
	}
	if got := lines(plan); !slices.Equal(got, want) {
		t.Errorf("the plan is %q, want %q", got, want)
	}
	if plan.Counts != (api.PlanCounts{Create: 1, Update: 1, Delete: 2, Hooks: 2}) || plan.Digest == "" || len(plan.Revisions) != 1 || plan.Revisions[0] != head {
		t.Errorf("the plan counts %+v, is %q and at %v", plan.Counts, plan.Digest, plan.Revisions)
	}
	if plan.Guard.Held || plan.Guard.Deletions != 2 || !plan.Windows.Allowed || plan.Refused != "" {
		t.Errorf("the plan says %+v, %+v, %q", plan.Guard, plan.Windows, plan.Refused)
	}
	for _, p := range plan.Phases {
		for _, item := range p.Waves[0].Items {
			if item.Name == "settings" && !strings.Contains(item.Diff, "-  size: \"1\"") {
				t.Errorf("the difference of settings is %q", item.Diff)
			}
		}
	}

	// Without pruning what is not wanted stays, and hooks run only in a sync of everything.
	plan = must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{})
	if got := lines(plan); !slices.Contains(got, "Sync 0 keep web") || plan.Counts.Delete != 0 || plan.Counts.Unchanged != 2 || plan.Digest != "" {
		t.Errorf("without pruning the plan is %q with %+v", got, plan.Counts)
	}
	plan = must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "late"}}})
	if got := lines(plan); !slices.Equal(got, []string{"Sync 2 create late"}) {
		t.Errorf("for one object the plan is %q", got)
	}

	now := s.await(func(*v1alpha1.Application) bool { return true })
	if now.Operation != nil || len(now.Status.History) != 1 || !slices.EqualFunc(now.Status.Resources, app.Status.Resources, func(a, b v1alpha1.ResourceStatus) bool {
		return a.Name == b.Name && a.Status == b.Status
	}) {
		t.Errorf("after the plan the status is %+v", now.Status)
	}
	s.refused(agentapi.KindPlan, s.app(s.name), api.SyncRequest{Options: []string{"x"}}, agentapi.CodeInvalid)
	s.refused(agentapi.KindPlan, s.app(s.name), api.SyncRequest{Revisions: []string{"a", "b"}}, agentapi.CodeInvalid)
	s.refused(agentapi.KindPlan, s.app("none"), api.SyncRequest{}, agentapi.CodeNotFound)
	if _, err := s.do(agentapi.KindPlan, s.app(s.name), api.SyncRequest{Revisions: []string{"--upload-pack=/bin/sh"}}); err == nil {
		t.Error("a revision that is an option is planned with")
	}
}

func TestAPlanSaysWhatWouldHoldTheSync(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	must[any](s, agentapi.KindObjectPatch, s.app(s.name), agentapi.ObjectPatch{Type: "merge", Patch: []byte(
		`{"metadata":{"annotations":{"` + v1alpha1.AnnotationDeletionBudget + `":"1"}},"spec":{"syncPolicy":{"syncOptions":["Nonsense=true"]}}}`)})
	must[any](s, agentapi.KindObjectPatch, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}, agentapi.ObjectPatch{Type: "merge", Patch: []byte(
		`{"spec":{"syncWindows":[{"kind":"deny","schedule":"* * * * *","duration":"1h","applications":["*"]}]}}`)})
	s.repo.Commit(map[string]string{"web/all.yaml": settingsOf(map[string]string{"settings": ""})}, "second")
	must[any](s, agentapi.KindRefresh, s.app(s.name), nil)
	s.await(func(app *v1alpha1.Application) bool {
		return app.Annotations[v1alpha1.AnnotationRefresh] == "" && app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync
	})
	plan := must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{Prune: true})
	if g := plan.Guard; !g.Held || g.Of != "Application" || g.Budget != "1" || g.Deletions != 2 || !strings.Contains(g.Reason, plan.Digest) || plan.Digest == "" {
		t.Errorf("the guard says %+v of plan %q", g, plan.Digest)
	}
	if w := plan.Windows; w.Allowed || w.Automatic || !strings.Contains(w.Reason, "sync window deny") || !w.Until.IsZero() {
		t.Errorf("the windows say %+v", w)
	}
	if !slices.ContainsFunc(plan.Warnings, func(w string) bool { return strings.Contains(w, "Nonsense") }) {
		t.Errorf("the warnings are %q", plan.Warnings)
	}
}

func TestAPlanIsToldInTheOrderOfTheSync(t *testing.T) {
	t.Parallel()
	task := func(verb diff.Verb, name string, wave int) plan.Task {
		return plan.Task{Change: diff.Change{Verb: verb, Wave: wave, Why: "a reason", Key: object.Key{Kind: "ConfigMap", Namespace: "shop", Name: name}}}
	}
	with := func(t plan.Task, change func(*plan.Task)) plan.Task {
		change(&t)
		return t
	}
	hook := func(name string, phase v1alpha1.SyncPhase) plan.Task {
		return with(task(diff.Update, name, 0), func(t *plan.Task) { t.Hook, t.Phase = true, phase })
	}
	namespace := func(verb diff.Verb) plan.Task {
		return plan.Task{First: true, Change: diff.Change{Verb: verb, Phase: v1alpha1.PhasePreSync, Key: object.Key{Kind: "Namespace", Name: "shop"}}}
	}
	for _, c := range []struct {
		name  string
		tasks []plan.Task
		last  bool
		want  []string
	}{
		{"nothing to do", []plan.Task{with(task(diff.Keep, "same", 0), func(t *plan.Task) { t.Why = "" })}, false, nil},
		{
			"deletions go through their waves backwards",
			[]plan.Task{task(diff.Delete, "old", 0), task(diff.Delete, "older", 3), task(diff.Create, "new", 1)},
			false,
			[]string{"Sync 0 delete older", "Sync 1 create new", "Sync 3 delete old"},
		},
		{
			"PruneLast: all of them come after the last wave",
			[]plan.Task{task(diff.Delete, "old", 0), task(diff.Delete, "older", 3), task(diff.Create, "new", 1)},
			true,
			[]string{"Sync 1 create new", "Sync 4 delete old", "Sync 4 delete older"},
		},
		{
			"PruneLast of one object",
			[]plan.Task{
				task(diff.Create, "new", 2), task(diff.Delete, "first", 2), with(task(diff.Delete, "last", 0), func(t *plan.Task) { t.Last = true }),
			},
			false,
			[]string{"Sync 0 delete first", "Sync 2 create new", "Sync 3 delete last"},
		},
		{
			"what is kept stays in its wave",
			[]plan.Task{task(diff.Keep, "kept", 1), task(diff.Create, "new", 2), task(diff.Delete, "old", 0)},
			true,
			[]string{"Sync 1 keep kept", "Sync 2 create new", "Sync 3 delete old"},
		},
		{
			"hooks and deletions that are last",
			[]plan.Task{hook("after", v1alpha1.PhasePostSync), task(diff.Delete, "old", 0), hook("before", v1alpha1.PhasePreSync), task(diff.Update, "web", 5)},
			true,
			[]string{"PreSync 0 hook before", "Sync 5 update web", "Sync 6 delete old", "PostSync 0 hook after"},
		},
		{
			"a namespace that comes with the sync",
			[]plan.Task{task(diff.Create, "web", 0), namespace(diff.Create)},
			false,
			[]string{"PreSync 0 create shop", "Sync 0 create web"},
		},
	} {
		got := planAnswer(engine.Outlook{Plan: plan.Build(c.tasks, plan.Options{PruneLast: c.last})}, nil)
		if d := cmp.Diff(c.want, lines(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestAPlanSaysNothingOfANamespaceThatIsAsItShouldBe(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	must[any](s, agentapi.KindObjectPatch, s.app(s.name), agentapi.ObjectPatch{Type: "merge", Patch: []byte(`{"spec":{"syncPolicy":{"syncOptions":["CreateNamespace=true"]}}}`)})
	if got := lines(must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{})); slices.ContainsFunc(got, func(l string) bool { return strings.HasSuffix(l, " "+s.ns) }) {
		t.Errorf("of a namespace that is there the plan says %q", got)
	}
}
