package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
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

func TestAPlanSaysNothingOfANamespaceThatIsAsItShouldBe(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	must[any](s, agentapi.KindObjectPatch, s.app(s.name), agentapi.ObjectPatch{Type: "merge", Patch: []byte(`{"spec":{"syncPolicy":{"syncOptions":["CreateNamespace=true"]}}}`)})
	if got := lines(must[api.SyncPlan](s, agentapi.KindPlan, s.app(s.name), api.SyncRequest{})); slices.ContainsFunc(got, func(l string) bool { return strings.HasSuffix(l, " "+s.ns) }) {
		t.Errorf("of a namespace that is there the plan says %q", got)
	}
}
