// Package observe looks at what server and agent say of themselves, as the programs that they are: metrics, and the
// dashboards and alerts that are made of them.
package observe

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	password = "a-harbour-with-20-boats"
	// longest bounds the waits for what has no bound of its own; lookEvery is the time between two looks.
	longest   = 2 * time.Minute
	lookEvery = 50 * time.Millisecond
)

// world is a server and an agent with an Application.
type world struct {
	t             *testing.T
	server, agent *testenv.Process
	// serverMetrics and agentMetrics are addresses.
	serverMetrics, agentMetrics string
	url                         string
	admin                       *client.Client
	cluster                     dynamic.Interface
	ns                          string
	repo                        *testenv.GitRepo
	target                      api.Target
}

// start starts them, and waits until the server has the Application, synced. Env is that of both programs.
func start(t *testing.T, env ...string) *world {
	t.Helper()
	kubeconfig := testenv.Kubeconfig(t)
	config := testenv.Cluster(t)
	w := &world{t: t, ns: testenv.NamespaceOn(t, config), serverMetrics: testenv.Address(t), agentMetrics: testenv.Address(t)}
	var err error
	if w.cluster, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	w.repo = testenv.Git(t).NewRepo("observe")
	w.repo.Commit(map[string]string{"app/config.yaml": configMap("one")}, "one")
	w.startServer(env)
	made, err := w.admin.CreateAgent(t.Context(), api.Agent{Meta: api.Meta{Name: "seen"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(made.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	w.agent = testenv.NewProcess(t, "agent", "slipway-agent", dir, "--kubeconfig", kubeconfig, "--namespace", w.ns, "--poll", "1s",
		"--data", filepath.Join(dir, "data"), "--server", w.url, "--insecure-skip-verify", "--registration-token-file", token, "--workers", "2",
		"--metrics-listen", w.agentMetrics, "--metrics-applications")
	w.agent.Env = env
	w.agent.NothingMissed(w.agentMetrics)
	w.agent.Start()
	w.target = api.Target{Agent: made.Agent.ID, Namespace: w.ns, Name: "web-" + w.ns} // its name is its mark: the cluster has those of other tests
	w.createApplication()
	w.await("the server has the application, synced", func(ctx context.Context) string {
		got, err := w.admin.Application(w.target).Get(ctx)
		if err != nil {
			return err.Error()
		}
		if got.Sync != string(v1alpha1.SyncStatusSynced) {
			return "it is " + got.Sync
		}
		return ""
	})
	return w
}

func (w *world) startServer(env []string) {
	w.t.Helper()
	dir, address := w.t.TempDir(), testenv.Address(w.t)
	w.url = "http://" + address
	w.server = testenv.NewProcess(w.t, "server", "slipway-server", dir, "--listen", address, "--data", filepath.Join(dir, "data"),
		"--metrics-listen", w.serverMetrics)
	w.server.Env = append([]string{"SLIPWAY_ADMIN_PASSWORD=" + password}, env...)
	w.server.NothingMissed(w.serverMetrics)
	w.server.Start()
	anybody, err := client.New(client.Config{Server: w.url})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(anybody.Close)
	w.await("somebody signs in", func(ctx context.Context) string {
		session, err := anybody.SignIn(ctx, api.SignIn{Username: "admin", Password: password, Token: "observe"})
		if err != nil {
			return err.Error()
		}
		w.admin = anybody.With(session.Token)
		return ""
	})
}

func (w *world) createApplication() {
	w.t.Helper()
	apps := w.cluster.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(w.ns)
	app := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication, "metadata": map[string]any{"name": w.target.Name},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": w.repo.URL(), "path": "app", "targetRevision": "main"},
			"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": w.ns},
			"syncPolicy":  map[string]any{"automated": map[string]any{}},
		},
	}}
	w.await("the Application is made", func(ctx context.Context) string { // its definition comes with the agent
		if _, err := apps.Create(ctx, app, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

// await looks again and again until nothing is wrong any more.
func (w *world) await(what string, wrong func(context.Context) string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), longest)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	problem := ""
	for {
		now := wrong(ctx)
		if now == "" {
			return
		}
		if ctx.Err() == nil || problem == "" { // else it is that of the end
			problem = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			tails := ""
			for _, p := range []*testenv.Process{w.server, w.agent} {
				if p != nil {
					tails += fmt.Sprintf("\nthe end of the log of %s:\n%s", p.Name, p.Tail())
				}
			}
			w.t.Fatalf("not in time: %s: %s%s", what, problem, tails)
		}
	}
}

func configMap(value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}\ndata: {value: %q}\n", value)
}

// get reads an address.
func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}
