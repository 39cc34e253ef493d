package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

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
