package fleet

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// harbour is an environment with an agent of its own, and one Application. That has a name of its own: agents of other tests
// are in the cluster as well, and an Application of the same name would take what theirs have deployed for its own.
type harbour struct {
	t           *testing.T
	server      *server
	environment string // id
	target      api.Target
	client      dynamic.Interface
	agent       *testenv.Process
	// arrived are the revisions that ran here, in their order.
	arrived []arrival
}

// arrival is a revision that began to run: what Git and the cluster say of it, never the server.
type arrival struct {
	commit    string
	committed time.Time
	// asked is before it was deployed, seen when all its pods were there.
	asked, seen time.Time
	image       string
}

func pods() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}
}

// git asks git about the repository.
func git(t *testing.T, repo *testenv.GitRepo, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir", repo.Dir()}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// imageIn is the image that a commit wants, committedAt when it was made.
func imageIn(t *testing.T, repo *testenv.GitRepo, commit string) string {
	t.Helper()
	_, rest, _ := strings.Cut(git(t, repo, "show", commit+":web/Deployment-web.yaml"), `image: "`)
	image, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("commit %s has no image", commit)
	}
	return image
}

func committedAt(t *testing.T, repo *testenv.GitRepo, commit string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, git(t, repo, "log", "-1", "--format=%cI", commit))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func webOf(version string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example.org/web:%s"}]}
`, version)
}

// newHarbour makes an environment with an agent, and an Application there that follows main, or waits for somebody.
func newHarbour(t *testing.T, s *server, name, kubeconfig, ns, repo string, client dynamic.Interface, auto bool) *harbour {
	t.Helper()
	made, err := s.admin.Environments().Create(t.Context(), api.Environment{Meta: api.Meta{Name: name}, Type: api.EnvironmentPreProduction}, false)
	if err != nil {
		t.Fatal(err)
	}
	id, process := s.newAgent(name, s.url, kubeconfig, ns)
	process.Start()
	st := &harbour{t: t, server: s, environment: made.ID, target: api.Target{Agent: id, Namespace: ns, Name: "web-" + ns}, client: client, agent: process}
	await(t, settled, "the agent", s.connected(id), process, s.Process)
	spec := map[string]any{
		"project":     "default",
		"source":      map[string]any{"repoURL": repo, "path": "web", "targetRevision": "main"},
		"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": ns},
	}
	if auto {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true}, "retry": map[string]any{"limit": int64(0)}}
	}
	app := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication, "spec": spec,
		"metadata": map[string]any{"name": st.target.Name, "labels": map[string]any{api.LabelService: "web", api.LabelEnvironment: name}},
	}}
	await(t, settled, "the Application", func(ctx context.Context) string {
		if _, err := client.Resource(applications()).Namespace(ns).Create(ctx, app, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	}, process)
	return st
}

// live is the image that the cluster runs, in all pods, and how many of them there are; problem says that it is on its way.
func (st *harbour) live(ctx context.Context) (image string, count int64, problem string) {
	d, err := st.client.Resource(deployments()).Namespace(st.target.Namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return "", 0, err.Error()
	}
	number := func(path ...string) int64 { n, _, _ := unstructured.NestedInt64(d.Object, path...); return n }
	want := number("spec", "replicas")
	image = imageOf(d, "spec", "template", "spec", "containers")
	list, err := st.client.Resource(pods()).Namespace(st.target.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		return "", 0, err.Error()
	}
	for i := range list.Items {
		if list.Items[i].GetDeletionTimestamp() != nil || imageOf(&list.Items[i], "spec", "containers") != image {
			problem = "a pod of before is there"
		}
	}
	if len(list.Items) != int(want) || number("status", "readyReplicas") != want || number("status", "updatedReplicas") != want ||
		number("status", "observedGeneration") < d.GetGeneration() {
		problem = fmt.Sprintf("%d pods, %d of %d ready", len(list.Items), number("status", "readyReplicas"), want)
	}
	return image, want, problem
}

func imageOf(o *unstructured.Unstructured, path ...string) string {
	containers, _, _ := unstructured.NestedSlice(o.Object, path...)
	if len(containers) == 0 {
		return ""
	}
	first, _ := containers[0].(map[string]any)
	image, _ := first["image"].(string)
	return image
}

// arrive waits until a commit runs, whoever brought it after asked.
func (st *harbour) arrive(repo *testenv.GitRepo, commit string, asked time.Time) {
	st.t.Helper()
	want := imageIn(st.t, repo, commit)
	await(st.t, settled, st.environment+" does not run "+commit, func(ctx context.Context) string {
		image, _, problem := st.live(ctx)
		switch {
		case problem != "":
			return problem
		case image != want:
			return "it runs " + image
		}
		app, err := st.client.Resource(applications()).Namespace(st.target.Namespace).Get(ctx, st.target.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		at := func(path ...string) string { text, _, _ := unstructured.NestedString(app.Object, path...); return text }
		if at("status", "health", "status") != "Healthy" || at("status", "operationState", "phase") != "Succeeded" || at("status", "operationState", "syncResult", "revision") != commit {
			return "the Application is not there yet"
		}
		return ""
	}, st.agent)
	st.arrived = append(st.arrived, arrival{commit: commit, committed: committedAt(st.t, repo, commit), asked: asked, seen: time.Now(), image: want})
}

// promote brings a commit here that runs elsewhere.
func (st *harbour) promote(repo *testenv.GitRepo, commit string) {
	st.t.Helper()
	asked := time.Now()
	await(st.t, settled, "the sync of "+st.environment, func(ctx context.Context) string {
		// An Application that is not known yet is asked again.
		if _, err := st.server.admin.Application(st.target).Operate(ctx, api.SyncRequest{Revisions: []string{commit}, Prune: true, Reason: "promotion"}); err != nil {
			return err.Error()
		}
		return ""
	}, st.agent)
	st.arrive(repo, commit, asked)
}

// ledger is the filter for what happened here.
func (st *harbour) ledger() api.LedgerFilter {
	return api.LedgerFilter{Agent: st.target.Agent, Namespace: st.target.Namespace, Name: st.target.Name}
}

func TestWhatTheServerSaysOfDeliveriesIsWhatGitAndTheClustersSay(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := startServer(t)
	if _, err := s.admin.Services().Create(t.Context(), api.Service{Meta: api.Meta{Name: "web"}}, false); err != nil {
		t.Fatal(err)
	}
	repo := repository(t)
	push := func(message string, files map[string]string) (commit string, asked time.Time) {
		asked = time.Now()
		return repo.Commit(files, message), asked
	}
	first, asked := push("one", map[string]string{"web/Deployment-web.yaml": webOf("1.0.0"), "web/ConfigMap-settings.yaml": configMap("settings", "one")})
	ns, elsewhere := testenv.Namespace(t), testenv.PrivateCluster(t)
	staging := newHarbour(t, s, "staging", testenv.Kubeconfig(t), ns, repo.URL(), clientOf(t, testenv.Cluster(t)), true)
	namespace(t, clientOf(t, elsewhere.Config()), ns)
	production := newHarbour(t, s, "production", elsewhere.Kubeconfig(), ns, repo.URL(), clientOf(t, elsewhere.Config()), false)
	staging.arrive(repo, first, asked)
	production.promote(repo, first)
	d1 := time.Now()

	// It reaches staging first, and production is behind until somebody promotes it.
	second, asked := push("two", map[string]string{"web/Deployment-web.yaml": webOf("1.1.0"), "web/ConfigMap-banner.yaml": configMap("banner", "two")})
	staging.arrive(repo, second, asked)
	whereIs(t, staging, production)
	production.promote(repo, second)
	d2 := time.Now()

	// One is broken, and mended.
	push("broken", map[string]string{"web/Service-web.yaml": "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 700000}]}}\n"})
	failed := staging.fails(repo.Head("main"))
	asked = time.Now()
	mended := repo.Apply("main", "mended", testenv.Change{Path: "web/Service-web.yaml", Mode: "delete"},
		testenv.Change{Path: "web/Deployment-web.yaml", Content: webOf("1.2.0")})
	staging.arrive(repo, mended, asked)
	production.promote(repo, mended)

	whereIs(t, staging, production)
	for _, st := range []*harbour{staging, production} {
		st.ranAt(d1, first)
		st.ranAt(d2, second)
		st.ranAt(time.Time{}, mended)
		st.differs(repo, d1, d2, first, second)
		st.changed(repo)
	}
	delivered(t, began, staging, production, failed)
}
