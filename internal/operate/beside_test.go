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

// besideApp is the Application that the operations below were asked of.
func besideApp(t *testing.T, several bool) *v1alpha1.Application {
	t.Helper()
	const one = `{"repoURL":"https://git.example.com/c.git","path":"one","targetRevision":"main"}`
	const two = `{"repoURL":"https://git.example.com/c.git","path":"two","targetRevision":"main"}`
	source, deployed := `"source":`+one, `"source":`+one+`,"revision":"aaaaaaaa"`
	if several {
		source, deployed = `"sources":[`+one+`,`+two+`]`, `"sources":[`+one+`,`+two+`],"revisions":["aaaaaaaa","aaaaaaaa"]`
	}
	app := &v1alpha1.Application{}
	err := json.Unmarshal([]byte(`{"metadata":{"name":"one","resourceVersion":"7"},"spec":{`+source+`,"syncPolicy":{
		"syncOptions":["ApplyOutOfSyncOnly=true","PruneLast=true"],"retry":{"limit":2,"backoff":{"duration":"5s","factor":2,"maxDuration":"1m"}}}},
		"status":{"resources":[{"kind":"ConfigMap","namespace":"c1","name":"a"},{"kind":"Namespace","name":"n"}],
		"history":[{"id":3,`+deployed+`},{"id":4,`+deployed+`}]}}`), app)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// What Argo CD's server stores for its own command line, read from a real one (3.5.1), without who asked. It also resolves the
// revision of a sync, which its controller does as well. Where ours is another one, ours says so.
func TestAnOperationBesideArgoCDIsWhatItsOwnCommandLineAsksFor(t *testing.T) {
	t.Parallel()
	const (
		source  = `"source":{"path":"one","repoURL":"https://git.example.com/c.git","targetRevision":"main"}`
		sources = `"sources":[{"path":"one","repoURL":"https://git.example.com/c.git","targetRevision":"main"},` +
			`{"path":"two","repoURL":"https://git.example.com/c.git","targetRevision":"main"}]`
		options = `"syncOptions":["ApplyOutOfSyncOnly=true","PruneLast=true"]`
		retry   = `"retry":{"backoff":{"duration":"5s","factor":2,"maxDuration":"1m"},"limit":2}`
		hook    = `"syncStrategy":{"hook":{}}`
	)
	sync := func(req api.SyncRequest) func(*v1alpha1.Application) (Change, error) {
		return func(app *v1alpha1.Application) (Change, error) { return SyncBeside(app, req, anna(), noon()) }
	}
	for _, c := range []struct {
		argocd  string // app NAME ...
		several bool
		ask     func(*v1alpha1.Application) (Change, error)
		want    string
	}{
		{"sync", false, sync(api.SyncRequest{}), `{` + retry + `,"sync":{` + source + `,` + options + `,` + hook + `}}`},
		{"sync --prune", false, sync(api.SyncRequest{Prune: true}), `{` + retry + `,"sync":{"prune":true,` + source + `,` + options + `,` + hook + `}}`},
		{"sync --dry-run", false, sync(api.SyncRequest{DryRun: true}), `{` + retry + `,"sync":{"dryRun":true,` + source + `,` + options + `,` + hook + `}}`},
		{
			"sync --resource :ConfigMap:a", false, sync(api.SyncRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "a"}}}),
			`{` + retry + `,"sync":{"resources":[{"kind":"ConfigMap","name":"a","namespace":"c1"}],` + source + `,` + options + `,` + hook + `}}`,
		},
		{"sync --strategy apply", false, sync(api.SyncRequest{ApplyOnly: true}), `{` + retry + `,"sync":{` + source + `,` + options + `,"syncStrategy":{"apply":{}}}}`},
		{"sync --force", false, sync(api.SyncRequest{Force: true}), `{` + retry + `,"sync":{` + source + `,` + options + `,"syncStrategy":{"hook":{"force":true}}}}`},
		{
			"sync --force --strategy apply", false, sync(api.SyncRequest{Force: true, ApplyOnly: true}),
			`{` + retry + `,"sync":{` + source + `,` + options + `,"syncStrategy":{"apply":{"force":true}}}}`,
		},
		{
			"sync --replace (Argo CD's drops the Application's options)", false, sync(api.SyncRequest{Replace: true}),
			`{` + retry + `,"sync":{` + source + `,"syncOptions":["ApplyOutOfSyncOnly=true","PruneLast=true","Replace=true"],` + hook + `}}`,
		},
		{
			"sync --apply-out-of-sync-only", false, sync(api.SyncRequest{Options: []string{"ApplyOutOfSyncOnly=true"}}),
			`{` + retry + `,"sync":{` + source + `,"syncOptions":["ApplyOutOfSyncOnly=true"],` + hook + `}}`,
		},
		{
			"sync --retry-limit 3 --retry-backoff-duration 2s --retry-backoff-factor 3 --retry-backoff-max-duration 1m", false,
			sync(api.SyncRequest{Retry: &api.SyncRetry{Limit: 3, Duration: "2s", Factor: 3, MaxDuration: "1m0s"}}),
			`{"retry":{"backoff":{"duration":"2s","factor":3,"maxDuration":"1m0s"},"limit":3},"sync":{` + source + `,` + options + `,` + hook + `}}`,
		},
		{"sync, of several sources", true, sync(api.SyncRequest{}), `{` + retry + `,"sync":{` + sources + `,` + options + `,` + hook + `}}`},
		{
			"rollback 3 --prune", false,
			func(app *v1alpha1.Application) (Change, error) {
				return RollbackBeside(app, api.RollbackRequest{ID: id(3)}, anna(), noon())
			},
			`{"retry":{},"sync":{"prune":true,"revision":"aaaaaaaa",` + source + `,` + options + `,"syncStrategy":{"apply":{}}}}`,
		},
		{
			"rollback 3 --prune, of several sources (Argo CD's has an empty source beside)", true,
			func(app *v1alpha1.Application) (Change, error) {
				return RollbackBeside(app, api.RollbackRequest{ID: id(3)}, anna(), noon())
			},
			`{"retry":{},"sync":{"prune":true,"revisions":["aaaaaaaa","aaaaaaaa"],` + sources + `,` + options + `,"syncStrategy":{"apply":{}}}}`,
		},
	} {
		t.Run(c.argocd, func(t *testing.T) {
			t.Parallel()
			got, err := c.ask(besideApp(t, c.several))
			if err != nil {
				t.Fatal(err)
			}
			op := got.Operation.DeepCopy()
			op.InitiatedBy, op.Info = v1alpha1.OperationInitiator{}, nil
			want := &v1alpha1.Operation{}
			if err := json.Unmarshal([]byte(c.want), want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, op); diff != "" {
				t.Error(diff)
			}
			patch := map[string]any{
				"metadata": map[string]any{"resourceVersion": "7"}, "operation": got.Operation, "status": map[string]any{"operationState": nil},
			}
			if diff := cmp.Diff(patch, got.Patch); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// `argocd app terminate-op` sets the phase, of the version that it read, and nothing else.
func TestTheEndOfAnOperationBesideArgoCDIsAskedForAsItsOwnCommandLineDoes(t *testing.T) {
	t.Parallel()
	app := besideApp(t, false)
	app.Operation = &v1alpha1.Operation{}
	app.Status.OperationState = &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, Message: "waiting for healthy state of /PersistentVolumeClaim/w0"}
	got, err := Terminate(app, api.TerminateRequest{}, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"metadata": map[string]any{"resourceVersion": "7"},
		"status":   map[string]any{"operationState": map[string]any{"phase": v1alpha1.OperationTerminating}},
	}
	if diff := cmp.Diff(want, got.Patch); diff != "" {
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
