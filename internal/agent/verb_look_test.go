package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestAnApplicationHasEventsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	tell := func(name, uid, reason string, at time.Time) {
		t.Helper()
		event := map[string]any{
			"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": name}, "type": "Warning", "reason": reason, "message": "said so",
			"involvedObject": map[string]any{"apiVersion": v1alpha1.Group + "/" + v1alpha1.Version, "kind": "Application", "namespace": s.ns, "name": s.name, "uid": uid},
			"source":         map[string]any{"component": "argocd"}, "lastTimestamp": at.UTC().Format(time.RFC3339),
		}
		if _, err := s.in("", "v1", "events").Create(t.Context(), &unstructured.Unstructured{Object: event}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	uid := string(s.raw(s.name).GetUID())
	tell("second", uid, "OperationCompleted", now)
	tell("first", uid, "OperationStarted", now.Add(-time.Minute))
	tell("other", "00000000-0000-0000-0000-000000000000", "OfOneThatWasDeleted", now)

	ask := func(namespace, name string) map[string]any {
		return map[string]any{"resource": api.ResourceRef{Group: v1alpha1.Group, Kind: "Application", Namespace: namespace, Name: name}}
	}
	got := must[api.ResourceEvents](s, agentapi.KindResourceEvents, s.app(s.name), ask(s.ns, s.name)).Events
	if len(got) != 2 || got[0].Reason != "OperationStarted" || got[1].Reason != "OperationCompleted" || got[1].Source != "argocd" {
		t.Errorf("its events are %+v", got)
	}
	s.refused(agentapi.KindResourceEvents, s.app("none"), ask(s.ns, "none"), agentapi.CodeNotFound)
	s.refused(agentapi.KindResourceEvents, s.app("none"), ask(s.ns, s.name), agentapi.CodeNotFound)
	// Of another one, only what belongs to this one is told.
	s.refused(agentapi.KindResourceEvents, s.app(s.name), ask("kube-system", s.name), agentapi.CodeForbidden)
}

func items(o api.OperationTimeline) []string {
	var out []string
	for _, s := range o.Steps {
		for _, item := range s.Items {
			out = append(out, fmt.Sprintf("%s %d %s %s %s", s.Phase, s.Wave, item.Verb, item.Name, item.State))
		}
	}
	return out
}

func TestAnOperationIsFollowedStepByStep(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := `---
apiVersion: v1
kind: Pod
metadata: {name: migrate, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/sync-wave: "-1"}}
spec: {restartPolicy: Never, containers: [{name: migrate, image: registry.invalid/migrate}]}
`
	s.repo.Commit(map[string]string{"web/all.yaml": pod + settingsOf(map[string]string{"settings": "", "late": `argocd.argoproj.io/sync-wave: "2"`, "after": "argocd.argoproj.io/hook: PostSync"})}, "second")
	s.create()
	none := must[api.OperationTimeline](s, agentapi.KindOperation, s.app(s.name), nil)
	if none.Phase != "" || len(none.Steps) != 0 {
		t.Errorf("before there was one, the operation is %+v", none)
	}
	must[api.OperationAnswer](s, agentapi.KindSync, s.app(s.name), api.SyncRequest{})
	s.await(func(app *v1alpha1.Application) bool {
		op := app.Status.OperationState
		return op != nil && op.SyncResult != nil && len(op.SyncResult.Resources) == 1 && op.SyncResult.Resources[0].Status != "" // it was created
	})
	got := must[api.OperationTimeline](s, agentapi.KindOperation, s.app(s.name), nil)
	want := []string{
		"PreSync -1 hook migrate running", "Sync 0 apply settings waiting", "Sync 2 apply late waiting", "PostSync 0 hook after waiting",
	}
	if !slices.Equal(items(got), want) || got.Phase != "Running" || got.InitiatedBy != "user:anna" || got.Progress != (api.OperationProgress{Total: 4}) || len(got.Revisions) != 1 {
		t.Errorf("while the hook runs the operation is %q and %+v, want %q", items(got), got, want)
	}
	// No kubelet runs pods here: the end of this one is written as one would.
	if _, err := s.in("", "v1", "pods").Patch(t.Context(), "migrate", "application/merge-patch+json", []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{FieldManager: "test"}, "status"); err != nil {
		t.Fatal(err)
	}
	s.await(func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState.Phase.Completed()
	})
	got = must[api.OperationTimeline](s, agentapi.KindOperation, s.app(s.name), nil)
	for i := range want {
		want[i] = want[i][:strings.LastIndexByte(want[i], ' ')] + " succeeded"
	}
	if !slices.Equal(items(got), want) || got.Phase != "Succeeded" || got.Progress != (api.OperationProgress{Done: 4, Total: 4}) || got.FinishedAt.IsZero() {
		t.Errorf("in the end the operation is %q and %+v, want %q", items(got), got, want)
	}
}

func TestARevisionTellsWhoMadeItAndWhatFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.repo.Commit(map[string]string{"other": "x"}, "a title\n\n<script>alert(1)</script>\x1b[31m\u202e\nand more\n"+strings.Repeat("z", 100_000))
	s.create()
	app := s.synced(api.SyncRequest{})
	head := app.Status.Sync.Revision
	const nobody = "0123456789abcdef0123456789abcdef01234567"
	got := must[api.RevisionsAnswer](s, agentapi.KindRevisions, s.app(s.name), api.RevisionsRequest{Revisions: []string{strings.ToUpper(head), nobody, "--upload-pack=sh", "main"}}).Items
	if len(got) != 4 {
		t.Fatalf("%d are told of", len(got))
	}
	first := got[0]
	if !first.Known || first.Revision != head || first.Author.Name == "" || first.Date.IsZero() || first.RepoURL != s.repo.URL() || first.WebURL != "" || first.Signature != "" {
		t.Errorf("the commit is %.300q", fmt.Sprintf("%+v", first))
	}
	if !strings.HasPrefix(first.Message, "a title\n\n<script>") || strings.ContainsAny(first.Message, "\x1b\u202e") || len(first.Message) > 64<<10 {
		t.Errorf("the message has %d bytes and begins %.100q", len(first.Message), first.Message)
	}
	for _, other := range got[1:] {
		if other.Known || other.Reason == "" || other.Message != "" {
			t.Errorf("what is no commit of its repository is %+v", other)
		}
	}
	s.refused(agentapi.KindRevisions, s.app(s.name), api.RevisionsRequest{}, agentapi.CodeInvalid)
	s.refused(agentapi.KindRevisions, s.app(s.name), api.RevisionsRequest{Revisions: make([]string, api.MaxRevisions+1)}, agentapi.CodeInvalid)
}

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
