package peers

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/operate"
)

const besideApps = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: one, namespace: argocd}
spec:
  project: default
  source: {repoURL: "BASE/parity.git", path: one, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: default}
  syncPolicy: {syncOptions: [PruneLast=true], retry: {limit: 1}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: waves, namespace: argocd}
spec:
  project: default
  source: {repoURL: "BASE/parity.git", path: waves, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: default}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: stuck, namespace: argocd}
spec:
  project: default
  source: {repoURL: "BASE/parity.git", path: stuck, targetRevision: main}
  destination: {server: https://kubernetes.default.svc, namespace: default}
`

var besideFiles = map[string]string{
	"one/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	"one/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
	"waves/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w1, annotations: {argocd.argoproj.io/sync-wave: \"1\"}}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: w2, annotations: {argocd.argoproj.io/sync-wave: \"2\"}}\n",
	"stuck/a.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: never}\n" +
		"spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n---\n" +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: later, annotations: {argocd.argoproj.io/sync-wave: \"1\"}}\n",
}

// commit makes the files of the tree those of a map, and pushes them.
func (s *site) commit(message string) {
	s.t.Helper()
	s.run(s.tree, "git", "add", "-A")
	s.run(s.tree, "git", "commit", "--quiet", "--message", message)
	s.run(s.tree, "git", "push", "--quiet", "origin", "HEAD:main")
}

// until waits for an Application to be as ok says.
func (s *site) until(name, what string, ok func(*v1alpha1.Application) bool) *v1alpha1.Application {
	s.t.Helper()
	var app *v1alpha1.Application
	err := wait.PollUntilContextTimeout(s.t.Context(), look/5, stageLimit, true, func(context.Context) (bool, error) {
		app = s.apps()[name]
		return app != nil && ok(app), nil
	})
	if err != nil {
		s.t.Fatalf("%s: %s: %v: %+v", name, what, err, app.Status.OperationState)
	}
	return app
}

// ask sends what a request makes of an Application, and waits until its operation is over.
func (s *site) ask(name string, request func(*v1alpha1.Application) (operate.Change, error)) *v1alpha1.OperationState {
	s.t.Helper()
	var c operate.Change
	for {
		app := s.apps()[name]
		var err error
		if c, err = request(app); err != nil {
			s.t.Fatal(err)
		}
		raw, err := json.Marshal(c.Patch)
		if err != nil {
			s.t.Fatal(err)
		}
		_, err = s.client.Resource(applications).Namespace(namespace).Patch(s.t.Context(), name, types.MergePatchType, raw, metav1.PatchOptions{})
		if err == nil {
			break
		}
		s.t.Logf("%s: %v", name, err) // Argo CD wrote the Application meanwhile
		if s.t.Context().Err() != nil {
			s.t.FailNow()
		}
	}
	done := s.until(name, "the operation is over", func(app *v1alpha1.Application) bool {
		op := app.Status.OperationState
		return app.Operation == nil && op != nil && op.Phase.Completed() && slices.ContainsFunc(op.Operation.Info, func(i v1alpha1.Info) bool {
			return i.Name == operate.RequestInfo && i.Value == c.Answer.Request
		})
	})
	op := done.Status.OperationState
	if d := cmp.Diff(*c.Operation, op.Operation); d != "" {
		s.t.Errorf("%s: Argo CD did another operation (-asked +did):\n%s", name, d)
	}
	return op
}

func (s *site) sync(name string, req api.SyncRequest) *v1alpha1.OperationState {
	s.t.Helper()
	return s.ask(name, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.SyncBeside(app, req, operate.Who{Name: "anna", ID: time.Now().String()}, time.Now())
	})
}

func TestOperationsBesideARealArgoCDLeaveNothingToTheNext(t *testing.T) {
	s := newSite(t)
	s.argo()
	for name, text := range besideFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.tree, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.tree, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.commit("first")
	apps := filepath.Join(s.dir, "beside.yaml")
	if err := os.WriteFile(apps, []byte(strings.ReplaceAll(besideApps, "BASE", s.base)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("", "kubectl", "apply", "--filename", apps)
	for _, name := range []string{"one", "waves", "stuck"} {
		s.until(name, "it is compared", func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync })
	}

	// A dry run of two waves changes nothing; the sync after it changes all.
	if op := s.sync("waves", api.SyncRequest{DryRun: true}); op.Phase != v1alpha1.OperationSucceeded || !op.Operation.Sync.DryRun {
		t.Errorf("%+v", op)
	}
	if s.get(kinds[0], "default", "w1") != nil {
		t.Error("the dry run applied something")
	}
	s.sync("waves", api.SyncRequest{})
	if s.get(kinds[0], "default", "w1") == nil || s.get(kinds[0], "default", "w2") == nil {
		t.Error("the sync after a dry run applied nothing")
	}

	// Neither is anything left of a dry run of one object.
	s.sync("one", api.SyncRequest{DryRun: true, Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "a"}}})
	if op := s.sync("one", api.SyncRequest{Prune: true}); len(op.SyncResult.Resources) != 3 {
		t.Errorf("%+v", op.SyncResult)
	}
	if err := os.Remove(filepath.Join(s.tree, "one/c.yaml")); err != nil {
		t.Fatal(err)
	}
	s.commit("second")
	s.patch("one", map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: "normal"}}})
	s.until("one", "the commit is compared", func(app *v1alpha1.Application) bool {
		return app.Annotations[v1alpha1.AnnotationRefresh] == "" && app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync
	})
	op := s.sync("one", api.SyncRequest{})
	if op.Operation.Sync.Prune || s.get(kinds[0], "default", "c") == nil {
		t.Errorf("a sync without prune after one with it pruned: %+v", op.SyncResult)
	}
	s.sync("one", api.SyncRequest{Prune: true})
	if s.get(kinds[0], "default", "c") != nil {
		t.Error("a sync with prune did not prune")
	}
	oldest := s.until("one", "it has a history", func(app *v1alpha1.Application) bool { return len(app.Status.History) > 1 }).Status.History[0].ID
	s.ask("one", func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.RollbackBeside(app, api.RollbackRequest{ID: &oldest}, operate.Who{Name: "anna", ID: "back"}, time.Now())
	})
	if s.get(kinds[0], "default", "c") == nil {
		t.Error("the rollback did not bring back what was deployed")
	}

	// An operation that waits ends when it is told to.
	stuck := s.apps()["stuck"]
	c, err := operate.SyncBeside(stuck, api.SyncRequest{}, operate.Who{Name: "anna", ID: "stuck"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s.patch("stuck", c.Patch)
	waiting := s.until("stuck", "it waits", func(app *v1alpha1.Application) bool {
		return app.Status.OperationState != nil && app.Status.OperationState.Message != "" && !app.Status.OperationState.Phase.Completed()
	})
	if c, err = operate.Terminate(waiting, api.TerminateRequest{}, operate.Who{Name: "anna"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	delete(c.Patch, "metadata") // Argo CD may have written it again meanwhile
	s.patch("stuck", c.Patch)
	ended := s.until("stuck", "it ended", func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState.Phase.Completed()
	})
	if ended.Status.OperationState.Message != "Operation terminated" {
		t.Errorf("%+v", ended.Status.OperationState)
	}
}
