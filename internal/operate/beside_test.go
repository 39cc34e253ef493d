package operate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestWhatArgoCDIsAskedForHasWhatItsOwnServerWouldTakeFromTheApplication(t *testing.T) {
	t.Parallel()
	app := deployedApp("aaaaaaaa", "bbbbbbbb")
	app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{SyncOptions: v1alpha1.SyncOptions{"CreateNamespace=true"}, Retry: &v1alpha1.RetryStrategy{Limit: 3}}
	for _, c := range []struct {
		name    string
		req     api.SyncRequest
		options v1alpha1.SyncOptions
		retries int64
	}{
		{"nothing said", api.SyncRequest{}, v1alpha1.SyncOptions{"CreateNamespace=true"}, 3},
		{"an option more", api.SyncRequest{Replace: true}, v1alpha1.SyncOptions{"CreateNamespace=true", "Replace=true"}, 3},
		{"other options", api.SyncRequest{Options: []string{"PruneLast=true"}}, v1alpha1.SyncOptions{"PruneLast=true"}, 3},
		{"no retries", api.SyncRequest{Retry: &api.SyncRetry{}}, v1alpha1.SyncOptions{"CreateNamespace=true"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := SyncBeside(app, c.req, anna(), noon())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.options, got.Operation.Sync.SyncOptions); diff != "" || got.Operation.Retry.Limit != c.retries {
				t.Errorf("options %s, %d retries", diff, got.Operation.Retry.Limit)
			}
		})
	}
	if _, err := SyncBeside(running(deployedApp("aaaaaaaa")), api.SyncRequest{}, anna(), noon()); err == nil {
		t.Error("two operations at a time")
	}
}

func TestARefreshBesideArgoCDIsOneAnnotation(t *testing.T) {
	t.Parallel()
	for kind, hard := range map[string]bool{"normal": false, "hard": true} {
		c, err := RefreshBeside(deployedApp("aaaaaaaa"), api.RefreshRequest{Hard: hard}, anna(), noon())
		want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: kind}}}
		if diff := cmp.Diff(want, c.Patch); err != nil || diff != "" {
			t.Errorf("%s: %s %v", kind, diff, err)
		}
	}
}

func TestGoingBackBesideArgoCDIsAnOperationWithoutAPin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		app      *v1alpha1.Application
		req      api.RollbackRequest
		revision string
		err      string
	}{
		{"the one before", deployedApp("aaaaaaaa", "bbbbbbbb"), api.RollbackRequest{}, "aaaaaaaa", ""},
		{"one that is named", deployedApp("aaaaaaaa", "bbbbbbbb", "cccccccc"), api.RollbackRequest{ID: id(0)}, "aaaaaaaa", ""},
		{"one that is not there", deployedApp("aaaaaaaa"), api.RollbackRequest{ID: id(7)}, "", "no deployment 7"},
		{"automated sync", automated(deployedApp("aaaaaaaa", "bbbbbbbb")), api.RollbackRequest{}, "", "has no pin"},
		{"another operation", running(deployedApp("aaaaaaaa", "bbbbbbbb")), api.RollbackRequest{}, "", "operation under way"},
		{"a trial", deployedApp("aaaaaaaa", "bbbbbbbb"), api.RollbackRequest{DryRun: true}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := RollbackBeside(c.app, c.req, anna(), noon())
			if !checkError(t, err, c.err) {
				return
			}
			if (got.Patch == nil) != c.req.DryRun || got.Pin != nil || got.Answer.Changed == c.req.DryRun {
				t.Errorf("%+v", got)
			}
			if c.req.DryRun {
				return
			}
			if op := got.Operation.Sync; op.Revision != c.revision || op.Source == nil || !op.Prune || op.Source.Path != "web" {
				t.Errorf("%+v", op)
			}
			if meta, _ := got.Patch["metadata"].(map[string]any); meta["annotations"] != nil || got.Answer.Request != "request-1" {
				t.Errorf("%+v", got.Patch)
			}
		})
	}
}
