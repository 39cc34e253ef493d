package chaos

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	agentNamespace = "argocd"
	namespace      = "fleet"
)

func applications() schema.GroupVersionResource {
	return v1alpha1.Resource(v1alpha1.ResourceApplications)
}

// app is one Application and what Git says about it at the last commit.
type app struct {
	name    string
	prune   bool
	chart   bool
	workers bool              // has a Deployment
	maps    map[string]string // ConfigMaps and their value
	left    map[string]string // dropped from Git and not to be pruned
	image   int               // tag of the Deployment's image
	since   map[string]int    // the commit that brought a ConfigMap
	edits   map[string]int    // how often the value of a ConfigMap was set since then; of the Deployment under ""
	last    int               // the last commit that changed this Application
	made    int               // for names that never come again
}

// fleet is a repository with several Applications.
type fleet struct {
	repo *testenv.GitRepo
	rng  *rand.Rand

	mu      sync.Mutex
	apps    []*app
	commits map[string]int // commit id -> number
}

func newFleet(repo *testenv.GitRepo, rng *rand.Rand) *fleet {
	f := &fleet{repo: repo, rng: rng, commits: map[string]int{}, apps: []*app{
		{name: "plain", workers: true},
		{name: "pruned", prune: true, workers: true},
		{name: "chart", prune: true, chart: true, workers: true},
	}}
	var changes []testenv.Change
	for _, a := range f.apps {
		a.maps, a.left = map[string]string{"base": "0"}, map[string]string{}
		a.since, a.edits = map[string]int{"base": 1}, map[string]int{"base": 1, "": 1}
		for range 4 {
			f.add(a, 1)
		}
		a.last = 1
		changes = append(changes, a.files(slices.Collect(maps.Keys(a.maps)), nil, true)...)
		if a.chart {
			changes = append(changes, chartFiles(a.name)...)
		}
	}
	f.commits[repo.Apply("main", "begin", changes...)] = 1
	return f
}

// number returns the number of the last commit.
func (f *fleet) number() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.commits)
}

func (f *fleet) add(a *app, commit int) string {
	a.made++
	name := fmt.Sprintf("m%d", a.made)
	a.maps[name] = fmt.Sprintf("new-%d", f.rng.IntN(1000))
	a.since[name], a.edits[name] = commit, 1
	return name
}

// commit changes some of the Applications: values, one object more, one less, another image. It returns its
// number.
func (f *fleet) commit() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.commits) + 1
	var changes []testenv.Change
	for i, a := range f.apps {
		if f.rng.IntN(3) == 0 && i != n%len(f.apps) {
			continue
		}
		a.last = n
		names := slices.Sorted(maps.Keys(a.maps))
		touched := map[string]bool{}
		for range 2 {
			name := names[f.rng.IntN(len(names))]
			a.maps[name] = fmt.Sprintf("commit-%d-%d", n, f.rng.IntN(1000))
			a.edits[name]++
			touched[name] = true
		}
		touched[f.add(a, n)] = true
		var dropped []string
		// A value of this commit stays: it is how the commit is seen in the cluster.
		if name := names[f.rng.IntN(len(names))]; name != "base" && !touched[name] {
			if !a.prune {
				a.left[name] = "" // which of its values was applied last is not known
			}
			dropped = append(dropped, name)
			delete(a.maps, name)
		}
		image := f.rng.IntN(3) == 0
		if image {
			a.image++
			a.edits[""]++
		}
		changes = append(changes, a.files(slices.Collect(maps.Keys(touched)), dropped, image)...)
	}
	f.commits[f.repo.Apply("main", fmt.Sprintf("commit %d", n), changes...)] = n
	return n
}

// files returns the changes to the repository that bring it to what a says, for the ConfigMaps named.
func (a *app) files(touched, dropped []string, image bool) []testenv.Change {
	if a.chart {
		var values strings.Builder
		fmt.Fprintf(&values, "image: %d\nmaps:\n", a.image)
		for _, name := range slices.Sorted(maps.Keys(a.maps)) {
			fmt.Fprintf(&values, "  %s: %q\n", name, a.maps[name])
		}
		return []testenv.Change{{Path: a.name + "/values.yaml", Content: values.String()}}
	}
	var out []testenv.Change
	for _, name := range touched {
		out = append(out, testenv.Change{Path: a.name + "/" + name + ".yaml", Content: fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s-%s\ndata:\n  value: %q\n", a.name, name, a.maps[name])})
	}
	for _, name := range dropped {
		out = append(out, testenv.Change{Path: a.name + "/" + name + ".yaml", Mode: "delete"})
	}
	if image {
		out = append(out, testenv.Change{Path: a.name + "/deployment.yaml", Content: deployment(a.name, fmt.Sprint(a.image))})
	}
	return out
}

func deployment(name, tag string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      containers:
        - name: main
          image: registry.example/main:%[2]s
          ports: [{containerPort: 8080}]
          resources: {requests: {cpu: 1000m, memory: 1Gi}}
`, name, tag)
}

func chartFiles(name string) []testenv.Change {
	return []testenv.Change{
		{Path: name + "/Chart.yaml", Content: "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n"},
		{Path: name + "/templates/maps.yaml", Content: `{{- range $name, $value := .Values.maps }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $.Chart.Name }}-{{ $name }}
data:
  value: {{ $value | quote }}
{{- end }}
`},
		{Path: name + "/templates/service.yaml", Content: `apiVersion: v1
kind: Service
metadata:
  name: {{ .Chart.Name }}
spec:
  selector: {app: {{ .Chart.Name }}}
  ports: [{port: 80, targetPort: 8080}]
`},
		{Path: name + "/templates/deployment.yaml", Content: deployment(name, "{{ .Values.image }}")},
	}
}

func (f *fleet) createApplications(t *testing.T, config *rest.Config) {
	t.Helper()
	for _, a := range f.apps {
		createApplication(t, config, agentNamespace, a.name, map[string]any{
			"repoURL": f.repo.URL(), "path": a.name, "targetRevision": "main",
		}, map[string]any{"server": v1alpha1.InClusterServer, "namespace": namespace}, a.prune)
	}
}

func createApplication(t *testing.T, config *rest.Config, in, name string, source, destination map[string]any, prune bool,
	project ...string,
) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Resource(applications()).Namespace(in).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication,
		// An outage can end with a commit that deletes most of an application, and nobody is here to confirm it.
		"metadata": map[string]any{"name": name, "annotations": map[string]any{v1alpha1.AnnotationDeletionBudget: "off"}},
		"spec": map[string]any{
			"project": strings.Join(append(project, "default")[:1], ""), "source": source, "destination": destination,
			"syncPolicy": map[string]any{"automated": map[string]any{"prune": prune, "selfHeal": true}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create Application %s: %v", name, err)
	}
}

// makeBystander makes the namespace and an object in it that belongs to nobody.
func makeBystander(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct {
		resource, in string
		object       map[string]any
	}{
		{"namespaces", "", map[string]any{"kind": "Namespace", "metadata": map[string]any{"name": namespace}}},
		{"configmaps", namespace, map[string]any{
			"kind": "ConfigMap", "metadata": map[string]any{"name": bystander.name}, "data": map[string]any{"value": "mine"},
		}},
	} {
		o.object["apiVersion"] = "v1"
		_, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: o.resource}).Namespace(o.in).
			Create(t.Context(), &unstructured.Unstructured{Object: o.object}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}
