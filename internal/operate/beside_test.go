package operate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
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

// What Argo CD's server stores for `argocd app sync`, read from a real one (3.5.1); it resolves the revision before, the controller after.
func TestASyncBesideArgoCDIsWhatItsOwnCommandLineAsksFor(t *testing.T) {
	t.Parallel()
	app := deployedApp("aaaaaaaa")
	got, err := SyncBeside(app, api.SyncRequest{}, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	want := &v1alpha1.SyncOperation{Source: app.Spec.Source, SyncStrategy: &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{}}}
	if diff := cmp.Diff(want, got.Operation.Sync); diff != "" {
		t.Error(diff)
	}
	several := deployedApp("aaaaaaaa")
	several.Spec.Source, several.Spec.Sources = nil, []v1alpha1.ApplicationSource{*app.Spec.Source, {RepoURL: "https://git.example.com/b.git", Ref: "values"}}
	if got, err = SyncBeside(several, api.SyncRequest{Force: true}, anna(), noon()); err != nil {
		t.Fatal(err)
	}
	want = &v1alpha1.SyncOperation{Sources: several.Spec.Sources, SyncStrategy: &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}}
	if diff := cmp.Diff(want, got.Operation.Sync); diff != "" {
		t.Error(diff)
	}
}

// A merge patch keeps what it does not name: nothing of an operation may be that of the one before.
func TestNothingOfTheOperationBeforeIsLeftInTheNextOne(t *testing.T) {
	t.Parallel()
	before := func() *v1alpha1.Application {
		app := deployedApp("aaaaaaaa", "bbbbbbbb")
		op := app.Status.OperationState
		op.Operation.Sync = &v1alpha1.SyncOperation{
			Prune: true, DryRun: true, Revision: "old", Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "old"}},
			SyncOptions: v1alpha1.SyncOptions{"Replace=true"}, Manifests: []string{"old"},
		}
		op.RetryCount, op.Message = 4, "old"
		return app
	}
	gone := before()
	gone.Status.Resources = nil
	past := []Version{{Entry: &gone.Status.History[0], Objects: []object.Manifest{manifestOf(t, "ConfigMap", "lost", map[string]any{})}}}
	for name, ask := range map[string]func(*v1alpha1.Application) (Change, error){
		"sync": func(app *v1alpha1.Application) (Change, error) { return Sync(app, api.SyncRequest{}, anna(), noon()) },
		"sync beside": func(app *v1alpha1.Application) (Change, error) {
			return SyncBeside(app, api.SyncRequest{}, anna(), noon())
		},
		"rollback": func(app *v1alpha1.Application) (Change, error) {
			return Rollback(app, api.RollbackRequest{}, anna(), noon())
		},
		"rollback beside": func(app *v1alpha1.Application) (Change, error) {
			return RollbackBeside(app, api.RollbackRequest{}, anna(), noon())
		},
		"restore": func(app *v1alpha1.Application) (Change, error) {
			return Restore(app, api.RestoreRequest{From: id(0)}, past, nil, anna(), noon())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := before()
			c, err := ask(app)
			if err != nil || c.Operation == nil {
				t.Fatalf("%+v, %v", c, err)
			}
			// An operation that began meanwhile must not lose its state.
			if meta, _ := c.Patch["metadata"].(map[string]any); meta["resourceVersion"] != app.ResourceVersion {
				t.Errorf("the patch is for any version: %v", c.Patch)
			}
			after := merged(t, app, c.Patch)
			if after.Status.OperationState != nil {
				t.Errorf("left of the operation before: %+v", after.Status.OperationState)
			}
			if diff := cmp.Diff(c.Operation, after.Operation); diff != "" {
				t.Error(diff)
			}
			if len(after.Status.History) != 2 {
				t.Errorf("the history is gone: %+v", after.Status)
			}
		})
	}
}

// merged is what a JSON merge patch makes of an Application.
func merged(t *testing.T, app *v1alpha1.Application, patch map[string]any) *v1alpha1.Application {
	t.Helper()
	raw, err := json.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	change, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = jsonpatch.MergePatch(raw, change); err != nil {
		t.Fatal(err)
	}
	out := &v1alpha1.Application{}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
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
