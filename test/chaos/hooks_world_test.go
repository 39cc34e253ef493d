package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// lookEvery is the time between two looks at an Application.
const lookEvery = 50 * time.Millisecond

// part is an object of a sync: where its turn comes, and what becomes of it.
type part struct {
	name   string // as resource/name
	rank   int    // parts of a lower rank come before it
	hook   string // its hook type; empty for an object that is kept
	delete string // its hook-delete-policy
	wave   int
	fails  bool // a job that fails
	runs   bool // it has its turn
	stays  bool // it is there in the end
}

// story is a sync that is disturbed.
type story struct {
	name  string
	parts []part
	phase string // in which it ends
	// operation is what a person asks for; nil for a sync by the agent itself.
	operation map[string]any
	deploys   bool // it is a deployment, which the history has
}

// stories are syncs with every kind of hook and policy. Most hooks are Pods, which are healthy as soon as they are ready: a
// Job takes a second, and what is longer shows in fewer runs.
func stories() []story {
	well := story{name: "well", phase: "Succeeded", deploys: true, parts: []part{
		{name: "pods/before", rank: 1, hook: "PreSync", runs: true, stays: true},
		{name: "pods/before-gone", rank: 2, hook: "PreSync", wave: 1, delete: "HookSucceeded", runs: true},
		{name: "configmaps/first", rank: 3, runs: true, stays: true},
		{name: "configmaps/among", rank: 4, hook: "Sync", wave: 1, runs: true, stays: true},
		{name: "pods/among-slow", rank: 4, hook: "Sync", wave: 1, delete: "BeforeHookCreation,HookFailed", runs: true, stays: true},
		{name: "configmaps/last", rank: 5, wave: 2, runs: true, stays: true},
		{name: "configmaps/skipped", hook: "Skip"},
		{name: "pods/after", rank: 6, hook: "PostSync", delete: "HookSucceeded", runs: true},
		{name: "pods/after-kept", rank: 7, hook: "PostSync", wave: 1, delete: "BeforeHookCreation,HookFailed", runs: true, stays: true},
		{name: "pods/rescue", hook: "SyncFail"},
		{name: "pods/unnamed-", rank: 2, hook: "PreSync", wave: 1, delete: "HookFailed", runs: true, stays: true},
	}}
	return []story{
		well, well.withJobs(),
		{name: "failing", phase: "Failed", parts: []part{
			{name: "pods/before", rank: 1, hook: "PreSync", runs: true, stays: true},
			{name: "configmaps/first", rank: 3, runs: true, stays: true},
			{name: "pods/bad", rank: 4, hook: "Sync", wave: 1, delete: "BeforeHookCreation,HookFailed", fails: true, runs: true},
			// Hooks for which only success is named stay where the operation fails.
			{name: "pods/good", rank: 4, hook: "Sync", wave: 1, delete: "HookSucceeded", runs: true, stays: true},
			{name: "configmaps/never", wave: 2},
			{name: "pods/after", hook: "PostSync"},
			{name: "pods/rescue", rank: 6, hook: "SyncFail", runs: true, stays: true},
			{name: "pods/rescue-kept", rank: 6, hook: "SyncFail", delete: "HookSucceeded", runs: true, stays: true},
		}},
		{name: "selective", phase: "Succeeded", operation: map[string]any{"sync": map[string]any{
			"resources": []any{map[string]any{"kind": "ConfigMap", "name": "first"}, map[string]any{"kind": "ConfigMap", "name": "last"}},
		}}, parts: []part{
			{name: "pods/before", hook: "PreSync"},
			{name: "configmaps/first", rank: 1, runs: true, stays: true},
			{name: "configmaps/last", rank: 2, wave: 2, runs: true, stays: true},
			{name: "configmaps/other", wave: 1},
			{name: "pods/after", hook: "PostSync"},
		}},
		{name: "dry run", phase: "Succeeded", operation: map[string]any{"sync": map[string]any{"dryRun": true}}, parts: []part{
			{name: "pods/before", hook: "PreSync"}, {name: "configmaps/first"}, {name: "pods/after", hook: "PostSync"},
		}},
	}
}

// withJobs is the same story with Jobs as hooks.
func (s story) withJobs() story {
	s.name, s.parts = s.name+" with jobs", slices.Clone(s.parts)
	for i := range s.parts {
		s.parts[i].name = strings.Replace(s.parts[i].name, "pods/", "jobs/", 1)
	}
	return s
}

// files are what Git has at a commit.
func (s story) files(commit int) map[string]string {
	out := map[string]string{}
	for _, p := range s.parts {
		resource, name, _ := strings.Cut(p.name, "/")
		var notes []string
		for key, value := range map[string]string{"hook": p.hook, "hook-delete-policy": p.delete, "sync-wave": fmt.Sprint(p.wave)} {
			if value != "" {
				notes = append(notes, fmt.Sprintf("argocd.argoproj.io/%s: %q", key, value))
			}
		}
		slices.Sort(notes)
		naming := "name"
		if strings.HasSuffix(name, "-") {
			naming = "generateName"
		}
		meta := fmt.Sprintf("%s: %s, annotations: {%s}", naming, name, strings.Join(notes, ", "))
		outcome := ""
		if p.fails && commit > 1 {
			outcome = "fail"
		}
		text := ""
		switch resource {
		case "pods":
			text = fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {%s, labels: {devcluster/outcome: %q}}\nspec: {containers: [{name: c, image: \"c:%d\"}]}\n",
				meta, outcome, commit)
		case "jobs":
			text = fmt.Sprintf("apiVersion: batch/v1\nkind: Job\nmetadata: {%s}\nspec:\n  backoffLimit: 0\n  template:\n    metadata: {labels: {devcluster/outcome: %q}}\n"+
				"    spec: {restartPolicy: Never, containers: [{name: c, image: \"c:%d\"}]}\n", meta, outcome, commit)
		default:
			text = fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {%s}\ndata: {commit: \"%d\"}\n", meta, commit)
		}
		out[name+".yaml"] = text
	}
	if s.operation == nil && commit == 1 {
		out["pruned.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pruned}\n"
	}
	return out
}

// stage is one namespace with one story, its repository, and agents behind a gate.
type stage struct {
	t       *testing.T
	story   story
	ns      string
	client  dynamic.Interface
	repo    *testenv.GitRepo
	gate    *gate
	agents  []*testenv.Process
	cluster *testenv.Private // nil for the cluster of all tests
	thaw    func()           // has the first agent go on
	commit  string           // the one that is synced under disturbance
}

// newStage makes a stage, whose first agent runs, and brings its Application to the first commit.
func newStage(t *testing.T, on place, s story, agents int, lease string) *stage {
	t.Helper()
	config := on.config
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	st := &stage{t: t, story: s, ns: namespaceOn(t, client), client: client, cluster: on.private, repo: testenv.Git(t).NewRepo("hooks")}
	st.gate = newGate(t, config, st.ns)
	kubeconfig := st.gate.kubeconfig(t)
	for n := range agents {
		dir := t.TempDir()
		st.agents = append(st.agents, testenv.NewProcess(t, fmt.Sprint("agent", n), "slipway-agent", dir, "--standalone", "--kubeconfig", kubeconfig,
			"--data", filepath.Join(dir, "data"), "--namespace", st.ns, "--installation-id", st.ns, "--poll", "300ms", "--lease-duration", lease))
	}
	st.agents[0].Start()
	newView(t, config, st.ns).awaitApplicationKind(t)
	app := map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication,
		"metadata": map[string]any{"name": "app", "annotations": map[string]any{v1alpha1.AnnotationDeletionBudget: "off"}},
	}
	spec := map[string]any{
		"project": "default", "source": map[string]any{"repoURL": st.repo.URL(), "path": "."},
		"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": st.ns},
	}
	if s.operation == nil {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true}, "retry": map[string]any{"limit": int64(0)}}
	}
	app["spec"] = spec
	first := st.repo.Commit(s.files(1), "first")
	if _, err := st.apps().Create(t.Context(), &unstructured.Unstructured{Object: app}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	st.await("the first commit", func(app *unstructured.Unstructured) string {
		if s.operation != nil {
			return differs(app, first, "status", "sync", "revision")
		}
		if problem := differs(app, first, "status", "operationState", "syncResult", "revision"); problem != "" {
			return problem
		}
		return differs(app, "Succeeded", "status", "operationState", "phase")
	})
	st.refresh()
	return st
}

// namespaceOn makes a namespace on a cluster that may be private.
func namespaceOn(t *testing.T, client dynamic.Interface) string {
	t.Helper()
	in := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	made, err := in.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "hooks-"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Delete(context.WithoutCancel(t.Context()), made.GetName(), metav1.DeleteOptions{}) })
	return made.GetName()
}

// sync has the second sync begin: Git has another commit, or a person asks.
func (st *stage) sync() {
	st.t.Helper()
	if st.story.operation != nil {
		st.patch(map[string]any{"operation": st.story.operation})
		return
	}
	changes := []testenv.Change{{Path: "pruned.yaml", Mode: "delete"}}
	for name, content := range st.story.files(2) {
		changes = append(changes, testenv.Change{Path: name, Content: content})
	}
	st.commit = st.repo.Apply("main", "second", changes...)
}

// refresh returns after the Application had a whole turn: what is left to do is done by then.
func (st *stage) refresh() {
	st.t.Helper()
	st.patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: "normal"}}})
	st.await("a refresh", func(app *unstructured.Unstructured) string {
		if _, asked := app.GetAnnotations()[v1alpha1.AnnotationRefresh]; asked {
			return "the refresh is not done"
		}
		return ""
	})
}

// await waits until the Application is as it should be.
func (st *stage) await(what string, check func(app *unstructured.Unstructured) string) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), converged)
	defer cancel()
	problem := ""
	err := wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		app, err := st.apps().Get(ctx, "app", metav1.GetOptions{})
		if err != nil {
			problem = err.Error()
			return false, nil //nolint:nilerr // it is asked again until the time is over
		}
		problem = check(app)
		return problem == "", nil
	})
	if err != nil {
		tails := ""
		for _, a := range st.agents {
			tails += fmt.Sprintf("\nthe end of the log of %s:\n%s", a.Name, a.Tail())
		}
		st.t.Fatalf("%s: %s; written:\n%s%s", what, problem, st.told(), tails)
	}
}

// awaitStrike waits until a write was stopped, and reports whether one was: the sync may be over before.
func (st *stage) awaitStrike(fired chan struct{}) (hit bool) {
	st.t.Helper()
	ctx, cancel := context.WithTimeout(st.t.Context(), converged)
	defer cancel()
	problem := ""
	err := wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		select {
		case <-fired:
			hit = true
			return true, nil
		default:
		}
		app, err := st.apps().Get(ctx, "app", metav1.GetOptions{})
		if err != nil { // the strike may be at the API server
			problem = err.Error()
			return false, nil //nolint:nilerr // it is asked again until the time is over
		}
		problem = st.over(app)
		return problem == "" && st.gate.disarm(), nil // the write that is stopped may be the one that tells the end
	})
	if err != nil {
		st.t.Fatalf("no write stopped, and there is no end: %s; written:\n%s", problem, st.told())
	}
	return hit
}

// over says what is missing to the end of the second sync.
func (st *stage) over(app *unstructured.Unstructured) string {
	if _, asked := app.Object["operation"]; asked {
		return "the operation is still asked for"
	}
	if st.story.operation == nil {
		if problem := differs(app, st.commit, "status", "operationState", "syncResult", "revision"); problem != "" {
			return problem
		}
	}
	return differs(app, st.story.phase, "status", "operationState", "phase")
}

// told is what was written, and what became of the pods, for people.
func (st *stage) told() string {
	var lines []string
	for n, w := range st.gate.record() {
		lines = append(lines, fmt.Sprintf("%3d %s", n, w))
	}
	pods, err := st.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(st.ns).List(st.t.Context(), metav1.ListOptions{})
	if err != nil {
		return strings.Join(append(lines, err.Error()), "\n")
	}
	for i := range pods.Items {
		o := pods.Items[i].Object
		phase, _, _ := unstructured.NestedString(o, "status", "phase")
		node, _, _ := unstructured.NestedString(o, "spec", "nodeName")
		lines = append(lines, fmt.Sprintf("    pods/%s is %s on node %q, made %s, deleted %v", pods.Items[i].GetName(), phase, node,
			pods.Items[i].GetCreationTimestamp().UTC(), pods.Items[i].GetDeletionTimestamp()))
	}
	return strings.Join(lines, "\n")
}

func (st *stage) apps() dynamic.ResourceInterface {
	return st.client.Resource(applications()).Namespace(st.ns)
}

func (st *stage) patch(o map[string]any) {
	st.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		st.t.Fatal(err)
	}
	if _, err := st.apps().Patch(st.t.Context(), "app", types.MergePatchType, raw, metav1.PatchOptions{}); err != nil {
		st.t.Fatal(err)
	}
}

// differs says that a field of an Application is not what it should be.
func differs(app *unstructured.Unstructured, want string, fields ...string) string {
	have, _, _ := unstructured.NestedString(app.Object, fields...)
	if have != want {
		return fmt.Sprintf("%s is %q, not %q", strings.Join(fields, "."), have, want)
	}
	return ""
}
