// Package fleet runs the server and several agents as the programs that they are, and kills the server, cuts the link,
// copies and wipes agents while people and commits keep all of them busy. These variables of the environment change it:
//
//   - SLIPWAY_SOAK_ROUNDS: how often the server is killed. Where it is set, promised times are checked, and everything is
//     as large as is promised: 20 agents, a link that is cut for 10 minutes.
//   - SLIPWAY_SOAK_CUT: for how long the link is cut.
//   - SLIPWAY_SOAK_AGENTS: how many agents there are.
//   - SLIPWAY_SOAK_SEED: repeats the random choices of an earlier run.
package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	// settled bounds the waits for what has no bound of its own.
	settled = 2 * time.Minute
	// lookEvery is the time between two looks at what a program says.
	lookEvery = 25 * time.Millisecond
)

// soak reports whether there is time for all of it.
func soak() bool { return os.Getenv("SLIPWAY_SOAK_ROUNDS") != "" }

// choose returns a number of the environment, else one for a soak or one for other runs.
func choose(t *testing.T, name string, soaking, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	switch {
	case text == "" && soak():
		return soaking
	case text == "":
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return n
}

// until looks again and again until nothing is wrong any more, and returns what is wrong at the end.
func until(ctx context.Context, longest time.Duration, wrong func(context.Context) string) string {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	problem := ""
	for {
		now := wrong(ctx)
		if now == "" {
			return ""
		}
		if ctx.Err() == nil || problem == "" {
			problem = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return problem
		}
	}
}

// await is until that ends the test.
func await(t *testing.T, longest time.Duration, what string, wrong func(context.Context) string, logs ...*testenv.Process) {
	t.Helper()
	if problem := until(t.Context(), longest, wrong); problem != "" {
		tails := ""
		for _, p := range logs {
			tails += fmt.Sprintf("\nthe end of the log of %s:\n%s", p.Name, p.Tail())
		}
		t.Fatalf("%s: %s%s", what, problem, tails)
	}
}

func applications() schema.GroupVersionResource {
	return v1alpha1.Resource(v1alpha1.ResourceApplications)
}

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func deployments() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
}

func clientOf(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// createApplication makes an Application in the namespace that it deploys to.
func createApplication(t *testing.T, client dynamic.Interface, ns, name, repo, path string, auto bool) {
	t.Helper()
	spec := map[string]any{
		"project": "default", "revisionHistoryLimit": int64(10000),
		"source":      map[string]any{"repoURL": repo, "path": path, "targetRevision": "main"},
		"destination": map[string]any{"server": v1alpha1.InClusterServer, "namespace": ns},
	}
	if auto {
		spec["syncPolicy"] = map[string]any{"automated": map[string]any{"prune": true}}
	}
	_, err := client.Resource(applications()).Namespace(ns).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication,
		"metadata": map[string]any{"name": name}, "spec": spec,
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create Application %s: %v", name, err)
	}
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {value: %q}\n", name, value)
}

// valueIn says in what a ConfigMap differs from what is wanted.
func valueIn(ctx context.Context, client dynamic.Interface, ns, name, want string) string {
	live, err := client.Resource(configMaps()).Namespace(ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	if have, _, _ := unstructured.NestedString(live.Object, "data", "value"); have != want {
		return fmt.Sprintf("ConfigMap %s/%s is at %q, not at %q", ns, name, have, want)
	}
	return ""
}

// mirror compares the server's copies of the Applications of an agent with the cluster.
type mirror struct {
	server *server
	client dynamic.Interface
	agent  string
	ns     string
	same   map[string]string // versions that were found to be the same
}

func (s *server) mirror(client dynamic.Interface, agent, ns string) *mirror {
	return &mirror{server: s, client: client, agent: agent, ns: ns, same: map[string]string{}}
}

// differs says in what the server differs from the cluster; "" for nothing.
func (m *mirror) differs(ctx context.Context) string {
	live, err := m.client.Resource(applications()).Namespace(m.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	kept, err := m.server.copies(ctx, m.agent)
	if err != nil {
		return err.Error()
	}
	if len(kept) != len(live.Items) {
		return fmt.Sprintf("%s: the server has %d applications, the cluster %d", m.agent, len(kept), len(live.Items))
	}
	for i := range live.Items {
		if problem := m.compare(ctx, &live.Items[i], kept); problem != "" {
			return m.agent + ": " + problem
		}
	}
	return ""
}

func (m *mirror) compare(ctx context.Context, live *unstructured.Unstructured, kept map[string]api.Application) string {
	name, version := live.GetName(), live.GetResourceVersion()
	at, ok := kept[name]
	switch {
	case !ok:
		return "the server does not have " + name
	case !at.StaleSince.IsZero():
		return name + " is stale in the server"
	case m.same[name] == version:
		return ""
	}
	detail, err := m.server.admin.Application(api.Target{Agent: m.agent, Namespace: m.ns, Name: name}).Get(ctx)
	if err != nil {
		return err.Error()
	}
	var have struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(detail.Resource, &have); err != nil {
		return err.Error()
	}
	if have.Metadata.ResourceVersion != version {
		return fmt.Sprintf("the server has version %s of %s, the cluster %s", have.Metadata.ResourceVersion, name, version)
	}
	m.same[name] = version
	return ""
}

// copies returns what the server has of the Applications of an agent, by name.
func (s *server) copies(ctx context.Context, agent string) (map[string]api.Application, error) {
	all, err := s.admin.AllApplications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{Agent: agent}})
	if err != nil {
		return nil, err
	}
	out := make(map[string]api.Application, len(all))
	for _, app := range all {
		out[app.Name] = app
	}
	return out, nil
}

// newSeed returns what makes the random choices of a run, and says it.
func newSeed(t *testing.T) uint64 {
	t.Helper()
	seed := choose(t, "SLIPWAY_SOAK_SEED", int(time.Now().UnixNano()%1_000_000), int(time.Now().UnixNano()%1_000_000))
	t.Logf("SLIPWAY_SOAK_SEED=%d", seed)
	return uint64(seed)
}

// repository is one that agents of this test read.
func repository(t *testing.T) *testenv.GitRepo { return testenv.Git(t).NewRepo("fleet") }
