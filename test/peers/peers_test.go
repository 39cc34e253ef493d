// Package peers tells how Slipway does beside a real Argo CD, and in its place. It runs where a built one is
// (ARGO_HOME/bin/argocd), with the scripts of SLIPWAY_PEERS; `make test-peers` says what it needs. Nothing of Argo CD is in it.
package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/sandbox"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

var (
	update = flag.Bool("update", false, "write the differences that stay, and the counts of a takeover, into the documentation")
	keep   = flag.String("keep", "", "folder for the results of either engine (argocd.json, slipway.json); those that exist are used")
)

const (
	// stageLimit bounds the wait for an engine after each stage.
	stageLimit = 6 * time.Minute
	// quietFor is how long nothing may change before an engine counts as done: Argo CD looks again some seconds after a change.
	quietFor = 15 * time.Second
	// look is the time between two looks at a cluster.
	look = 500 * time.Millisecond

	namespace = "argocd"
)

var applications = schema.GroupVersionResource{Group: v1alpha1.Group, Version: "v1alpha1", Resource: "applications"}

func TestMain(m *testing.M) {
	if sandbox.IsLauncher(os.Args) {
		sandbox.Launch(os.Args)
		os.Exit(1)
	}
	testenv.Main(m)
}

// scripts is the folder of what runs a real Argo CD; the test is skipped where there is none.
func scripts(t *testing.T) string {
	t.Helper()
	home := os.Getenv("ARGO_HOME")
	if home == "" {
		t.Skip("ARGO_HOME is not set: no real Argo CD to compare with")
	}
	if _, err := os.Stat(filepath.Join(home, "bin", "argocd")); err != nil {
		t.Skip(err)
	}
	dir := os.Getenv("SLIPWAY_PEERS")
	if dir == "" {
		dir = "../../../shared/peers"
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "argo-start"))
	}
	if err != nil {
		t.Skip(err)
	}
	return dir
}

// site is a cluster of its own with the Applications of the scripts, and a folder for what runs on it.
type site struct {
	t          *testing.T
	scripts    string
	dir        string
	kubeconfig string
	client     dynamic.Interface
	tree       string // the work tree of the repository
	base       string // where the repository is served
	ports      int
	agent      *testenv.Process
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, scripts: scripts(t), dir: t.TempDir()}
	cluster := testenv.PrivateCluster(t)
	s.kubeconfig = cluster.Kubeconfig()
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
	git := testenv.Git(t)
	s.base = git.Base()
	git.NewRepo("parity")
	s.tree = filepath.Join(s.dir, "tree")
	s.run("", "git", "init", "--quiet", "--initial-branch=main", s.tree)
	for name, value := range map[string]string{"user.name": "peers", "user.email": "peers@example.com"} {
		s.run(s.tree, "git", "config", name, value)
	}
	s.run(s.tree, "git", "remote", "add", "origin", s.base+"/parity.git")
	s.ports = freePorts(t)
	return s
}

// freePorts finds the first of a row of ports that are free, as argo-start wants them.
func freePorts(t *testing.T) int {
	t.Helper()
	for base := 21000; base < 30000; base += 500 {
		free := true
		for _, offset := range []int{80, 81, 82, 83, 84, 85, 86, 87, 379} {
			var config net.ListenConfig
			l, err := config.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base+offset)))
			if err != nil {
				free = false
				break
			}
			_ = l.Close()
		}
		if free {
			return base
		}
	}
	t.Fatal("no ports are free")
	return 0
}

// run runs a program with the cluster's kubeconfig and returns what it prints.
func (s *site) run(dir, program string, args ...string) string {
	s.t.Helper()
	out, err := s.try(dir, program, args...)
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

func (s *site) try(dir, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // what argo-start leaves running holds the pipe
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.String(), err
}

// argo starts Argo CD, or what variables of the environment say of it.
func (s *site) argo(env ...string) {
	s.t.Helper()
	args := append(env, filepath.Join(s.scripts, "argo-start"))
	s.t.Log(strings.TrimSpace(s.run("", "env", append(args, s.kubeconfig, filepath.Join(s.dir, "argo"), strconv.Itoa(s.ports))...)))
	s.t.Cleanup(s.stopArgo)
	s.installed()
}

// renderer is what an installation of Argo CD has in the cluster and processes on this machine have not: the repository server, by
// which an agent finds out which version renders. It is scaled to 0, as it is when Slipway takes over.
const renderer = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: argocd-repo-server
  namespace: argocd
  labels: {app.kubernetes.io/part-of: argocd, app.kubernetes.io/component: repo-server, app.kubernetes.io/name: argocd-repo-server}
spec:
  replicas: 0
  selector: {matchLabels: {app.kubernetes.io/name: argocd-repo-server}}
  template:
    metadata: {labels: {app.kubernetes.io/name: argocd-repo-server}}
    spec: {containers: [{name: argocd-repo-server, image: "quay.io/argoproj/argocd:vVERSION"}]}
`

func (s *site) installed() {
	s.t.Helper()
	file := filepath.Join(s.dir, "installed.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(renderer, "VERSION", version(s.t))), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run("", "kubectl", "apply", "--filename", file)
}

func (s *site) stopArgo() {
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), filepath.Join(s.scripts, "argo-stop"), filepath.Join(s.dir, "argo"))
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Logf("argo-stop: %v\n%s", err, out)
	}
	_ = os.Truncate(filepath.Join(s.dir, "argo", "pids"), 0)
}

// slipway starts an agent with flags, in place of the one that runs.
func (s *site) slipway(flags ...string) {
	s.t.Helper()
	s.stopSlipway()
	dir, err := os.MkdirTemp(s.dir, "agent")
	if err != nil {
		s.t.Fatal(err)
	}
	s.agent = testenv.NewProcess(s.t, "agent", "slipway-agent", dir, append([]string{
		"--standalone", "--kubeconfig", s.kubeconfig, "--namespace", namespace, "--data", filepath.Join(dir, "data"), "--health-listen", "127.0.0.1:0",
		"--poll", "5s",
	}, flags...)...)
	s.agent.Start()
}

func (s *site) stopSlipway() {
	if s.agent != nil {
		s.agent.Kill()
		s.agent = nil
	}
}

// load writes the repository and creates the Applications, as either engine finds them.
func (s *site) load() {
	s.t.Helper()
	apps := filepath.Join(s.dir, "apps.yaml")
	s.run("", "python3", s.script("gen.py"), s.tree, apps, s.base)
	s.run(s.tree, "git", "add", "-A")
	s.run(s.tree, "git", "commit", "--quiet", "--message", "first")
	s.run(s.tree, "git", "push", "--quiet", "origin", "HEAD:main")
	s.run("", "bash", s.script("setup.sh"))
	s.run("", "kubectl", "apply", "--filename", apps)
}

func (s *site) script(name string) string { return filepath.Join(s.scripts, "parity", name) }

// stage does what a person does, and waits until the engine is done with it.
func (s *site) stage(name string) {
	s.t.Helper()
	if name == "commit" {
		s.run("", "bash", s.script("commit.sh"), s.tree)
		name = "refresh"
	}
	if out := s.run("", "bash", s.script("stage.sh"), name); out != "" {
		s.t.Logf("%s: %s", name, out)
	}
	s.settle(name)
}

// apps are the Applications by name.
func (s *site) apps() map[string]*v1alpha1.Application {
	s.t.Helper()
	list, err := s.client.Resource(applications).Namespace(namespace).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[string]*v1alpha1.Application{}
	for i := range list.Items {
		app := &v1alpha1.Application{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, app); err != nil {
			s.t.Fatal(err)
		}
		out[app.Name] = app
	}
	return out
}

// settle waits until no Application changes any more, but for the time of its last comparison.
func (s *site) settle(what string) {
	s.t.Helper()
	began, since, last := time.Now(), time.Now(), ""
	err := wait.PollUntilContextTimeout(s.t.Context(), look, stageLimit, true, func(context.Context) (bool, error) {
		busy, now := "", map[string]string{}
		for name, app := range s.apps() {
			op := app.Status.OperationState
			if app.Operation != nil || op != nil && !op.Phase.Completed() && op.FinishedAt == nil && op.Phase != v1alpha1.OperationRunning {
				busy = name
			}
			var conditions []v1alpha1.ConditionType
			for _, c := range app.Status.Conditions {
				conditions = append(conditions, c.Type)
			}
			now[name] = fmt.Sprint(app.Status.Sync.Status, app.Status.Sync.Revision, app.Status.Sync.Revisions, app.Status.Health.Status, conditions, op != nil && op.Phase.Completed(), len(app.Status.History),
				app.Annotations[v1alpha1.AnnotationRefresh], app.Operation != nil)
		}
		raw, err := json.Marshal(now)
		if err != nil {
			return false, err
		}
		if string(raw) != last {
			last, since = string(raw), time.Now()
		}
		return (busy == "" || time.Since(since) > 2*quietFor) && time.Since(since) > quietFor, nil
	})
	if err != nil {
		s.t.Fatalf("%s: the engine is not done after %s: %v", what, stageLimit, err)
	}
	s.t.Logf("%s: %s", what, time.Since(began).Round(time.Second))
}

// snap takes the state that the scripts compare, and returns the file that has it.
func (s *site) snap(name string) string {
	s.t.Helper()
	file := filepath.Join(s.dir, name+".json")
	s.t.Log(strings.TrimSpace(s.run("", "python3", s.script("snap.py"), s.kubeconfig, file)))
	return file
}

// patch sends a JSON merge patch of an Application.
func (s *site) patch(name string, body map[string]any) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = s.client.Resource(applications).Namespace(namespace).Patch(s.t.Context(), name, "application/merge-patch+json", raw, metav1.PatchOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
}

// get reads an object; nil where there is none.
func (s *site) get(gvr schema.GroupVersionResource, ns, name string) *unstructured.Unstructured {
	s.t.Helper()
	obj, err := s.client.Resource(gvr).Namespace(ns).Get(s.t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return obj
}
