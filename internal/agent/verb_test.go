package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/seal"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// planted is in every secret of these tests: no answer may hold it.
const planted = "sesame-open-up"

// patience bounds the wait for what an agent does.
const patience = time.Minute

// thisMachine lets agents reach what tests start.
var thisMachine = &outward.Policy{Private: true, Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}

// stand is an agent that works on a real API server, with one Application from a real repository.
type stand struct {
	t      *testing.T
	ns     string
	name   string // of its Application: others on the cluster have other ones
	agent  *Agent
	asks   verb.Config
	keeps  setting.Config
	repo   *testenv.GitRepo
	server *testenv.GitServer
	kube   dynamic.Interface
	public seal.PublicKey

	mu      sync.Mutex
	answers strings.Builder // all that was said
}

const standUID = "abcdefghijklmnopqrstuvwxyz"

func newStand(t *testing.T) *stand {
	t.Helper()
	return newStandThrough(t, nil)
}

// newStandThrough makes a stand whose agent reaches the API server through something; nil for nothing.
func newStandThrough(t *testing.T, through func(http.RoundTripper) http.RoundTripper) *stand {
	t.Helper()
	s := &stand{t: t, ns: testenv.Namespace(t), server: testenv.Git(t)}
	s.name = "web-" + s.ns
	s.repo = s.server.NewRepo("shop")
	s.repo.Commit(map[string]string{"web/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {tier: web}}
data: {size: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: ` + planted + `}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: registry.invalid/web}]}
`}, "first")
	config := testenv.Cluster(t)
	reached := rest.CopyConfig(config)
	if through != nil {
		reached.Wrap(through)
	}
	a, err := New(t.Context(), Config{
		Outbound: thisMachine,
		REST:     reached, Namespace: s.ns, Data: t.TempDir(), Identity: "test", InstallCRDs: true, Poll: time.Hour,
		Budget: plan.Budget{Off: true}, Workers: 4, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var g errgroup.Group
	g.Go(func() error { return a.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
	s.agent = a
	select {
	case <-a.ready:
	case <-time.After(patience):
		t.Fatal("the agent is not ready")
	}
	if s.kube, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	key, err := seal.NewKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.public, err = key.Public(); err != nil {
		t.Fatal(err)
	}
	s.asks = verb.Config{
		Deleters: &verb.Deleters{}, Apps: a.apps.Dynamic, Namespace: s.ns, Engine: a.engine, Clusters: a.clusters, Settings: a.settings, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	}
	s.keeps = setting.Config{
		Apps: a.apps.Dynamic, Namespace: s.ns, Engine: a.engine, Settings: a.settings, Clusters: a.clusters, Git: a.git, Outbound: thisMachine, Now: time.Now,
		Artifacts: a.sources.Artifacts, Registries: a.registries,
		Keys: func() []link.SealKey {
			return []link.SealKey{{Public: s.public, Private: [32]byte(key.Bytes())}}
		},
	}
	return s
}

// in is the client of a kind in the stand's namespace.
func (s *stand) in(group, version, plural string) dynamic.ResourceInterface {
	return s.kube.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(s.ns)
}

func (s *stand) app(name string) agentapi.Target {
	return agentapi.Target{Kind: agentapi.ItemApplication, Namespace: s.ns, Name: name}
}

// executors are all commands that are answered once.
func (s *stand) executors() map[agentapi.Kind]link.Executor {
	run := verb.New(s.asks).Executors()
	maps.Copy(run, setting.Executors(s.keeps))
	return run
}

// read reads an Application.
func (s *stand) read(ctx context.Context, name string) (*v1alpha1.Application, error) {
	obj, err := s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	app, _, err := registry.Decode(raw)
	return app, err
}

// do carries out a command, and returns what came of it.
func (s *stand) do(kind agentapi.Kind, target agentapi.Target, body any) (json.RawMessage, error) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := agentapi.Command{ID: "command-1", Agent: standUID, Kind: kind, Target: target, Body: raw, User: "user:anna", Reason: "a test"}
	got, err := s.executors()[kind](s.t.Context(), cmd)
	answer, wrong := json.Marshal(got)
	if wrong != nil {
		s.t.Fatal(wrong)
	}
	said := string(answer)
	if err != nil {
		said += err.Error()
	}
	if strings.Contains(said, planted) || strings.Contains(said, "c2VzYW1lLW9wZW4t") {
		s.t.Errorf("%s tells a secret: %s", kind, said)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers.WriteString(said)
	return answer, err
}

// must is do for what has to work.
func must[T any](s *stand, kind agentapi.Kind, target agentapi.Target, body any) T {
	s.t.Helper()
	raw, err := s.do(kind, target, body)
	if err != nil {
		s.t.Fatalf("%s: %v", kind, err)
	}
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		s.t.Fatalf("%s answers %s: %v", kind, raw, err)
	}
	return out
}

// refused makes sure that a command is refused with a code.
func (s *stand) refused(kind agentapi.Kind, target agentapi.Target, body any, code agentapi.Code) {
	s.t.Helper()
	_, err := s.do(kind, target, body)
	var got *agentapi.Error
	if err == nil || errors.As(err, &got) && got.Code != code || got == nil && command.CodeOf(err) != code {
		s.t.Errorf("%s %+v is answered %v, want %s", kind, body, err, code)
	}
}

// await waits until the Application is as it should be.
func (s *stand) await(f func(app *v1alpha1.Application) bool) *v1alpha1.Application {
	s.t.Helper()
	var last *v1alpha1.Application
	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		app, err := s.read(ctx, s.name)
		last = app
		return err == nil && f(app), nil
	})
	if err != nil {
		s.t.Fatalf("application %s: %v; its status is %+v", s.name, err, last.Status)
	}
	return last
}

// create makes an Application with the command for it.
func (s *stand) create() {
	s.t.Helper()
	s.project()
	must[any](s, agentapi.KindObjectApply, s.app(s.name), agentapi.ObjectApply{Create: true, Object: s.manifest(s.name)})
	s.await(func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync })
}

// project permits the stand's namespace and nothing else.
func (s *stand) project() {
	s.t.Helper()
	must[any](s, agentapi.KindObjectApply, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}, agentapi.ObjectApply{
		Object: json.RawMessage(`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"shop"},
			"spec":{"sourceRepos":["*"],"destinations":[{"server":"*","namespace":"` + s.ns + `"}]}}`),
	})
}

func (s *stand) manifest(name string) json.RawMessage {
	return json.RawMessage(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"` + name + `"},"spec":{"project":"shop",
		"source":{"repoURL":"` + s.repo.URL() + `","path":"web","targetRevision":"main"},
		"destination":{"server":"https://kubernetes.default.svc","namespace":"` + s.ns + `"}}}`)
}

// synced brings the Application to what Git says.
func (s *stand) synced(req api.SyncRequest) *v1alpha1.Application {
	s.t.Helper()
	must[api.OperationAnswer](s, agentapi.KindSync, s.app(s.name), req)
	return s.await(func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState != nil && app.Status.OperationState.Phase.Completed()
	})
}

func (s *stand) edit(name, patch string) {
	s.t.Helper()
	if _, err := s.in("", "v1", "configmaps").Patch(s.t.Context(), name, "application/merge-patch+json", []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		s.t.Fatal(err)
	}
}

func configMap(name string) api.ResourceRef { return api.ResourceRef{Kind: "ConfigMap", Name: name} }

func TestWhatPeopleAskOfAnApplicationIsDone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()

	diff := must[api.DiffAnswer](s, agentapi.KindDiff, s.app(s.name), api.DiffRequest{})
	if len(diff.Items) != 3 || diff.Items[0].Verb != "create" {
		t.Errorf("before the first sync, the difference is %+v", diff)
	}
	app := s.synced(api.SyncRequest{Labels: []string{"tier=web"}})
	op := app.Status.OperationState
	if op.Phase != v1alpha1.OperationSucceeded || len(op.SyncResult.Resources) != 1 || op.Operation.InitiatedBy.Username != "user:anna" {
		t.Errorf("the sync of what has a label ended as %+v", op)
	}
	info := map[string]string{}
	for _, i := range op.Operation.Info {
		info[i.Name] = i.Value
	}
	if info["reason"] != "a test" || info["slipway-request"] != "command-1" {
		t.Errorf("the operation says %v", info)
	}
	if app = s.synced(api.SyncRequest{}); app.Status.OperationState.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("the sync ended as %+v", app.Status.OperationState)
	}
	if diff := must[api.DiffAnswer](s, agentapi.KindDiff, s.app(s.name), api.DiffRequest{}); len(diff.Items) != 0 {
		t.Errorf("after the sync, the difference is %+v", diff)
	}

	s.edit("settings", `{"data":{"size":"7"}}`)
	s.await(func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync }) // the agent has seen it
	drift := must[api.DiffAnswer](s, agentapi.KindDiff, s.app(s.name), api.DiffRequest{Drift: true})
	if len(drift.Items) != 1 || len(drift.Items[0].Fields) != 1 || drift.Items[0].Fields[0].Manager != "kubectl-edit" || drift.Items[0].Fields[0].Since == "" {
		t.Errorf("drift is %+v", drift)
	}
	must[api.OperationAnswer](s, agentapi.KindAllow, s.app(s.name), api.AllowRequest{Object: api.ObjectName{Kind: "ConfigMap", Name: "settings"}, Until: time.Now().Add(time.Hour)})
	if drift = must[api.DiffAnswer](s, agentapi.KindDiff, s.app(s.name), api.DiffRequest{Drift: true}); drift.Items[0].Allowed == nil {
		t.Error("drift is not allowed")
	}
	must[api.OperationAnswer](s, agentapi.KindRevert, s.app(s.name), api.RevertRequest{})
	s.await(func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState.Phase.Completed() && app.Annotations[v1alpha1.AnnotationDriftAllowed] == ""
	})
	if drift = must[api.DiffAnswer](s, agentapi.KindDiff, s.app(s.name), api.DiffRequest{Drift: true}); len(drift.Items) != 0 {
		t.Errorf("after it was put back, drift is %+v", drift)
	}

	s.refused(agentapi.KindRollback, s.app(s.name), api.RollbackRequest{}, agentapi.CodeNotFound)
	s.refused(agentapi.KindRollback, s.app("none"), api.RollbackRequest{}, agentapi.CodeNotFound)
	s.refused(agentapi.KindSync, s.app(s.name), map[string]any{"prune": true, "tomorrow": true}, agentapi.CodeUnsupported)
	s.refused(agentapi.KindSync, s.app(s.name), api.SyncRequest{Options: []string{"x"}}, agentapi.CodeInvalid)
	if got := must[api.OperationAnswer](s, agentapi.KindTerminate, s.app(s.name), nil); got.Changed {
		t.Errorf("nothing is under way, and the answer is %+v", got)
	}
	must[api.OperationAnswer](s, agentapi.KindRefresh, s.app(s.name), api.RefreshRequest{Hard: true})
	s.await(func(app *v1alpha1.Application) bool { return app.Annotations[v1alpha1.AnnotationRefresh] == "" })
}

func TestADeploymentComesBackAndSoDoesWhatWasDeleted(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	s.repo.Commit(map[string]string{"web/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"}, "second")
	must[any](s, agentapi.KindRefresh, s.app(s.name), nil)
	s.await(func(app *v1alpha1.Application) bool { return app.Annotations[v1alpha1.AnnotationRefresh] == "" })
	app := s.synced(api.SyncRequest{Prune: true})
	if app.Status.OperationState.Phase != v1alpha1.OperationSucceeded || len(app.Status.History) < 2 {
		t.Fatalf("the second deployment ended as %+v", app.Status.OperationState)
	}
	list := must[api.OperationAnswer](s, agentapi.KindRestore, s.app(s.name), api.RestoreRequest{DryRun: true})
	if len(list.Objects) < 2 || list.Changed {
		t.Errorf("what is gone is %+v", list)
	}
	must[api.OperationAnswer](s, agentapi.KindRestore, s.app(s.name), api.RestoreRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "settings"}}})
	s.await(func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState.Phase.Completed()
	})
	if _, err := s.in("", "v1", "configmaps").Get(t.Context(), "settings", metav1.GetOptions{}); err != nil {
		t.Errorf("what was restored is not there: %v", err)
	}
	back := must[api.OperationAnswer](s, agentapi.KindRollback, s.app(s.name), api.RollbackRequest{Reason: "orders are lost"})
	if !back.Changed || len(back.Quarantine) != 1 {
		t.Errorf("the rollback says %+v", back)
	}
	app = s.await(func(app *v1alpha1.Application) bool {
		return app.Operation == nil && app.Status.OperationState.Phase.Completed()
	})
	if app.Annotations[v1alpha1.AnnotationRollback] == "" || app.Status.OperationState.SyncResult.Revision != back.Revisions[0] {
		t.Errorf("after the rollback it is at %s, want %v", app.Status.OperationState.SyncResult.Revision, back.Revisions)
	}
	if got := must[api.OperationAnswer](s, agentapi.KindUnpin, s.app(s.name), nil); !got.Changed {
		t.Errorf("the end of the rollback says %+v", got)
	}
	must[api.OperationAnswer](s, agentapi.KindAppDelete, s.app(s.name), api.DeleteApplicationRequest{Cascade: true})
	s.gone(s.in(v1alpha1.Group, v1alpha1.Version, v1alpha1.ResourceApplications), s.name)
}

func TestResourcesOfAnApplicationAreReachedAndNoOthers(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	if _, err := s.in("", "v1", "configmaps").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "foreign"}, "data": map[string]any{"a": planted},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	query := func(ref api.ResourceRef) map[string]any { return map[string]any{"resource": ref} }

	login := must[api.ResourceState](s, agentapi.KindResourceGet, s.app(s.name), query(api.ResourceRef{Kind: "Secret", Name: "login"}))
	if !strings.Contains(string(login.Live), "++++") || !strings.Contains(string(login.Desired), "++++") || strings.Contains(string(login.Live), "managedFields") {
		t.Errorf("the Secret is shown as %s and %s", login.Live, login.Desired)
	}
	for _, kind := range []agentapi.Kind{agentapi.KindResourceActions, agentapi.KindResourceEvents} {
		s.refused(kind, s.app(s.name), query(configMap("foreign")), agentapi.CodeForbidden)
	}
	s.refused(agentapi.KindResourceGet, s.app(s.name), query(configMap("foreign")), agentapi.CodeNotFound)
	s.refused(agentapi.KindResourceGet, s.app(s.name), query(api.ResourceRef{Kind: "ConfigMap", Namespace: "kube-system", Name: "extension-apiserver-authentication"}), agentapi.CodeForbidden)
	s.refused(agentapi.KindResourceGet, s.app(s.name), query(api.ResourceRef{Kind: "Nothing", Name: "a"}), agentapi.CodeNotFound)
	merge := func(name, patch string, dry bool) api.ResourcePatch {
		return api.ResourcePatch{Resource: configMap(name), Type: "merge", Patch: json.RawMessage(patch), DryRun: dry}
	}
	s.refused(agentapi.KindResourcePatch, s.app(s.name), merge("foreign", `{"data":{"a":"b"}}`, false), agentapi.CodeForbidden)
	s.refused(agentapi.KindResourceDelete, s.app(s.name), api.ResourceDelete{Resource: configMap("foreign")}, agentapi.CodeForbidden)
	s.refused(agentapi.KindResourcePatch, s.app(s.name), api.ResourcePatch{
		Resource: api.ResourceRef{Kind: "Secret", Name: "login"}, Type: "merge", Patch: json.RawMessage(`{"data":{"password":"` + planted + ` no base64"}}`),
	}, agentapi.CodeForbidden)

	for _, dry := range []bool{true, false} {
		got := must[api.ResourceState](s, agentapi.KindResourcePatch, s.app(s.name), merge("settings", `{"data":{"size":"9"}}`, dry))
		if !strings.Contains(string(got.Live), `"size":"9"`) {
			t.Errorf("the patch makes %s", got.Live)
		}
		kept := must[api.ResourceState](s, agentapi.KindResourceGet, s.app(s.name), query(configMap("settings")))
		if strings.Contains(string(kept.Live), `"size":"9"`) == dry || !strings.Contains(string(kept.Desired), `"size":"1"`) {
			t.Errorf("after a patch (dry run %v) it is %s, desired %s", dry, kept.Live, kept.Desired)
		}
	}
	web := api.ResourceRef{Group: "apps", Kind: "Deployment", Name: "web"}
	actions := must[api.ResourceActions](s, agentapi.KindResourceActions, s.app(s.name), query(web))
	if len(actions.Actions) == 0 {
		t.Error("a Deployment has no actions")
	}
	ran := must[api.ResourceActionAnswer](s, agentapi.KindResourceAction, s.app(s.name), api.ResourceAction{Resource: web, Action: "scale", Parameters: map[string]string{"replicas": "3"}})
	if len(ran.Impacts) != 1 || !strings.Contains(string(ran.Impacts[0].Object), `"replicas":3`) {
		t.Errorf("scaling answers %+v", ran)
	}
	s.refused(agentapi.KindResourceAction, s.app(s.name), api.ResourceAction{Resource: web, Action: "fly"}, agentapi.CodeInvalid)
	must[api.ResourceEvents](s, agentapi.KindResourceEvents, s.app(s.name), query(web))
	tree := must[api.TreeAnswer](s, agentapi.KindTree, s.app(s.name), nil)
	if len(tree.Items) != 3 {
		t.Errorf("the tree is %+v", tree)
	}
	for _, live := range []bool{true, false} {
		got := must[api.ManifestsAnswer](s, agentapi.KindManifests, s.app(s.name), api.ManifestsRequest{Live: live})
		if len(got.Items) != 3 {
			t.Errorf("manifests (live %v) are %s", live, got.Items)
		}
	}
	must[any](s, agentapi.KindResourceDelete, s.app(s.name), api.ResourceDelete{Resource: configMap("settings")})
	s.gone(s.in("", "v1", "configmaps"), "settings")
}

// gone waits until an object is gone.
func (s *stand) gone(in dynamic.ResourceInterface, name string) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := in.Get(ctx, name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		s.t.Errorf("%s is still there", name)
	}
}
