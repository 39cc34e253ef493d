// Package corpus makes the applications that the benchmark delivers: their Kubernetes objects, the files of the
// repository they come from, and the Application resources that name them. It is pure, and the same shape always
// gives the same bytes.
package corpus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// ProbeLabel is on the one ConfigMap per application that workloads change and watch.
	ProbeLabel = "slipway-bench-probe"
	// AppLabel is on every object and holds the name of its application.
	AppLabel = "slipway-bench-app"
	// RoundAnnotation is on every object of an application once a commit changed all of them.
	RoundAnnotation = "slipway-bench-round"
	// ValueKey is the data key of the probe that holds the value of the last commit.
	ValueKey = "value"

	// fillerBytes makes a ConfigMap about 1 KB.
	fillerBytes = 900
)

// Shape says how much there is.
type Shape struct {
	// Apps is the number of applications, 1 to 10,000.
	Apps int `json:"apps"`
	// Objects is the number of objects of each application, 1 to 500. The first is the probe; 2 to 6 are a
	// Deployment, a Service, a ServiceAccount, a Role and a RoleBinding; all others are ConfigMaps of 1 KB.
	Objects int `json:"objects"`
	// Replicas is what each Deployment asks for.
	Replicas int `json:"replicas"`
	// Namespaces is the number of destination namespaces; application i goes to number i modulo Namespaces.
	Namespaces int `json:"namespaces"`
}

// Validate says what is wrong with the shape, if anything.
func (s Shape) Validate() error {
	switch {
	case s.Apps < 1 || s.Apps > 10_000:
		return fmt.Errorf("applications: %d is not between 1 and 10000", s.Apps)
	case s.Objects < 1 || s.Objects > 500:
		return fmt.Errorf("objects of an application: %d is not between 1 and 500", s.Objects)
	case s.Replicas < 0 || s.Replicas > 10:
		return fmt.Errorf("replicas: %d is not between 0 and 10", s.Replicas)
	case s.Namespaces < 1 || s.Namespaces > 1000:
		return fmt.Errorf("namespaces: %d is not between 1 and 1000", s.Namespaces)
	}
	return nil
}

// AppName is the name of application i, counted from 0.
func (s Shape) AppName(i int) string { return fmt.Sprintf("app-%04d", i) }

// AppPath is the directory of application i in the repository.
func (s Shape) AppPath(i int) string { return "apps/" + s.AppName(i) }

// Namespace is where the objects of application i go: the prefix and a number.
func (s Shape) Namespace(prefix string, i int) string {
	return fmt.Sprintf("%s-%d", prefix, i%s.Namespaces)
}

// AllNamespaces lists every destination below a prefix.
func (s Shape) AllNamespaces(prefix string) []string {
	out := make([]string, min(s.Namespaces, s.Apps))
	for i := range out {
		out[i] = s.Namespace(prefix, i)
	}
	return out
}

// State is the content of the last commits for one application.
type State struct {
	// Value is in the data of the probe.
	Value string
	// Round is in an annotation of every object; none when it is empty.
	Round string
}

// Object is one Kubernetes object in the state that is wanted.
type Object struct {
	// Prefix is the path of its API up to the resource: "/api/v1" or "/apis/apps/v1".
	Prefix string
	// Resource is the plural.
	Resource string
	// Name of the object.
	Name string
	// Body is the object without a namespace.
	Body map[string]any
}

// File is one file of the repository.
type File struct {
	Path string
	Data []byte
}

// Kinds lists path prefix and resource of all the kinds in a shape.
func (s Shape) Kinds() []Object {
	seen := map[string]bool{}
	var out []Object
	for _, o := range s.AppObjects(0, State{}) {
		if !seen[o.Resource] {
			seen[o.Resource] = true
			out = append(out, Object{Prefix: o.Prefix, Resource: o.Resource})
		}
	}
	return out
}

// AppObjects returns all objects of application i.
func (s Shape) AppObjects(i int, state State) []Object {
	app := s.AppName(i)
	out := []Object{s.configMap(i, 0, state)}
	for _, build := range []func(string) Object{s.deployment, service, serviceAccount, role, roleBinding} {
		if len(out) < s.Objects {
			out = append(out, build(app))
		}
	}
	for n := 1; len(out) < s.Objects; n++ {
		out = append(out, s.configMap(i, n, state))
	}
	for n, o := range out {
		decorate(o.Body, o.Name, app, n == 0, state.Round)
	}
	return out
}

// Probe returns the ConfigMap of application i that workloads change.
func (s Shape) Probe(i int, state State) Object {
	o := s.configMap(i, 0, state)
	decorate(o.Body, o.Name, s.AppName(i), true, state.Round)
	return o
}

// ProbeName is the name of that ConfigMap.
func (s Shape) ProbeName(i int) string { return s.AppName(i) + "-config-0" }

// Files returns the manifests of application i as they stand in the repository: one object in each file.
func (s Shape) Files(i int, state State) ([]File, error) {
	return s.files(i, s.AppObjects(i, state))
}

// ProbeFile returns only the file that holds the probe.
func (s Shape) ProbeFile(i int, state State) ([]File, error) {
	return s.files(i, []Object{s.Probe(i, state)})
}

func (s Shape) files(i int, objects []Object) ([]File, error) {
	out := make([]File, 0, len(objects))
	for _, o := range objects {
		data, err := yaml.Marshal(o.Body)
		if err != nil {
			return nil, fmt.Errorf("write manifest of %s %s: %w", o.Resource, o.Name, err)
		}
		out = append(out, File{Path: s.AppPath(i) + "/" + o.Resource + "-" + o.Name + ".yaml", Data: data})
	}
	return out, nil
}

// JSON returns the object for one namespace as a server-side apply sends it.
func (o Object) JSON(namespace string) ([]byte, error) {
	metadata := map[string]any{}
	for key, value := range o.Body["metadata"].(map[string]any) {
		metadata[key] = value
	}
	metadata["namespace"] = namespace
	body := map[string]any{}
	for key, value := range o.Body {
		body[key] = value
	}
	body["metadata"] = metadata
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", o.Resource, o.Name, err)
	}
	return data, nil
}

// Application returns the Argo CD resource for application i, with automatic sync, prune and self heal.
func (s Shape) Application(i int, namespace, destination, repoURL string) ([]byte, error) {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1",
		"kind":       "Application",
		"metadata": map[string]any{
			"name": s.AppName(i), "namespace": namespace, "labels": map[string]any{AppLabel: s.AppName(i)},
		},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repoURL, "targetRevision": "main", "path": s.AppPath(i)},
			"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": destination},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true, "selfHeal": true}},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode application %s: %w", s.AppName(i), err)
	}
	return data, nil
}

// decorate sets what all objects share.
func decorate(body map[string]any, name, app string, probe bool, round string) {
	labels := map[string]any{AppLabel: app}
	if probe {
		labels[ProbeLabel] = "yes"
	}
	metadata := map[string]any{"name": name, "labels": labels}
	if round != "" {
		metadata["annotations"] = map[string]any{RoundAnnotation: round}
	}
	body["metadata"] = metadata
}

func (s Shape) configMap(i, n int, state State) Object {
	data := map[string]any{"filler.txt": filler(uint64(i)<<16 | uint64(n))}
	if n == 0 {
		data[ValueKey] = state.Value
	}
	return Object{
		Prefix: "/api/v1", Resource: "configmaps", Name: fmt.Sprintf("%s-config-%d", s.AppName(i), n),
		Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data},
	}
}

func (s Shape) deployment(app string) Object {
	labels := map[string]any{"app": app}
	container := map[string]any{
		"name":  "main",
		"image": "registry.k8s.io/pause:3.10",
		"ports": []any{map[string]any{"name": "http", "containerPort": 8080, "protocol": "TCP"}},
		"env":   []any{map[string]any{"name": "APP", "value": app}},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "16Mi"},
			"limits":   map[string]any{"memory": "64Mi"},
		},
		"readinessProbe": map[string]any{"httpGet": map[string]any{"path": "/ready", "port": "http"}},
	}
	return Object{Prefix: "/apis/apps/v1", Resource: "deployments", Name: app, Body: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"spec": map[string]any{
			"replicas": s.Replicas,
			"selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{
				"metadata": map[string]any{"labels": labels},
				"spec":     map[string]any{"serviceAccountName": app, "containers": []any{container}},
			},
		},
	}}
}

func service(app string) Object {
	return Object{Prefix: "/api/v1", Resource: "services", Name: app, Body: map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"spec": map[string]any{
			"selector": map[string]any{"app": app},
			"ports":    []any{map[string]any{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}},
		},
	}}
}

func serviceAccount(app string) Object {
	return Object{Prefix: "/api/v1", Resource: "serviceaccounts", Name: app, Body: map[string]any{
		"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
	}}
}

func role(app string) Object {
	return Object{Prefix: "/apis/rbac.authorization.k8s.io/v1", Resource: "roles", Name: app, Body: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
		"rules": []any{map[string]any{
			"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get", "list", "watch"},
		}},
	}}
}

func roleBinding(app string) Object {
	return Object{Prefix: "/apis/rbac.authorization.k8s.io/v1", Resource: "rolebindings", Name: app, Body: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
		"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": app},
		// A group, because a service account here would need the namespace, which the manifests leave open.
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": app}},
	}}
}

// filler returns text that differs from object to object, so that neither Git nor a cache gains from its sameness.
func filler(seed uint64) string {
	source := rand.New(rand.NewPCG(seed, 1))
	var text strings.Builder
	for text.Len() < fillerBytes {
		fmt.Fprintf(&text, "setting-%05d = %08x\n", source.IntN(100_000), source.Uint32())
	}
	return text.String()
}
