package support

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// labelled chooses what belongs to an agent that is installed in a cluster.
const labelled = "app.kubernetes.io/name=slipway-agent"

// maxObjects is how many objects of one kind are read.
const maxObjects = 5000

// agentPart is what an agent serves on a port of its pod.
type agentPart struct{ port, path string }

// status are the fields of an Application that say how it is, and nothing of what is wanted.
func status() fields {
	return keep("agent", "metadata.name", "metadata.namespace", "metadata.generation", "metadata.creationTimestamp",
		"metadata.deletionTimestamp",
		"status.sync.status", "status.sync.revision", "status.sync.revisions", "status.health", "status.conditions", "status.reconciledAt",
		"status.sourceType", "status.sourceTypes", "status.controllerNamespace",
		"status.resources.group", "status.resources.kind", "status.resources.namespace", "status.resources.name", "status.resources.status",
		"status.resources.health",
		"status.operationState.phase", "status.operationState.message", "status.operationState.startedAt", "status.operationState.finishedAt",
		"status.operationState.retryCount", "status.operationState.syncResult.revision", "status.operationState.syncResult.revisions",
		"status.operationState.syncResult.resources.kind", "status.operationState.syncResult.resources.namespace",
		"status.operationState.syncResult.resources.name", "status.operationState.syncResult.resources.status",
		"status.operationState.syncResult.resources.hookPhase", "status.operationState.syncResult.resources.message")
}

// site is a cluster, looked at without a server.
type site struct {
	*connect.Cluster
	names     metadata.Interface
	namespace string
}

func newCluster(c *connect.Cluster) (*site, error) {
	names, err := metadata.NewForConfig(c.Config)
	if err != nil {
		return nil, fmt.Errorf("make client of names: %w", err)
	}
	return &site{c, names, c.Apps.Namespace()}, nil
}

func (s *site) parts() []part {
	return []part{
		{"cluster.json", "version of the API server", s.version},
		{"agent.json", "Deployments and StatefulSets of the agent: images, replicas, conditions", s.deployments},
		{"pods.json", "pods of the agent: phase, restarts, why they ended", s.pods},
		{"leases.json", "Leases in the namespace: holders, and since when", s.leases},
		{"events.json", "Events in the namespace", s.events},
		{"applications.json", "Applications: sync, health, conditions, last operation; no spec", s.applications},
		{"projects.json", "AppProjects: names", s.projects},
		{"settings.json", "ConfigMaps of Argo CD: names and keys, no values", s.settings},
		{"secrets.json", "Secrets of repositories and clusters: names and types; no data is read", s.secrets},
		{"repositories.json", "repositories that Applications name: address and how many, without credentials", s.repositories},
		{"metrics.txt", "/metrics of the agent", s.served(agentPart{"metrics", "metrics"})},
		{"goroutines.txt", "what the agent's goroutines do", s.served(agentPart{"pprof", "debug/pprof/goroutine"})},
	}
}

func (s *site) version(ctx context.Context) (found, error) {
	raw, err := s.Discovery.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return found{}, connect.Explain(err)
	}
	return found{items: []any{json.RawMessage(raw)}, keep: keep("gitVersion", "platform", "buildDate")}, nil
}

// list reads objects of the namespace.
func (s *site) list(ctx context.Context, group, version, resource, selector string, kept fields) (found, error) {
	list, err := s.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(s.namespace).
		List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: maxObjects})
	if err != nil {
		return found{}, connect.Explain(fmt.Errorf("list %s: %w", resource, err))
	}
	out := found{keep: kept}
	for i := range list.Items {
		out.items = append(out.items, list.Items[i].Object)
	}
	if list.GetContinue() != "" {
		out.note = fmt.Sprintf("the first %d only", len(out.items))
	}
	if len(out.items) == 0 && selector != "" {
		out.note = fmt.Sprintf("namespace %s has no %s with label %s; an agent that runs outside of it is not seen",
			s.namespace, resource, selector)
	}
	return out, nil
}

func (s *site) deployments(ctx context.Context) (found, error) {
	kept := keep("kind", "metadata.name", "metadata.creationTimestamp", "metadata.generation", "spec.replicas",
		"spec.template.spec.containers.name",
		"spec.template.spec.containers.image", "spec.template.spec.containers.resources", "status.observedGeneration", "status.replicas",
		"status.readyReplicas", "status.updatedReplicas", "status.availableReplicas", "status.unavailableReplicas", "status.conditions")
	out, err := s.list(ctx, "apps", "v1", "deployments", labelled, kept)
	if err != nil {
		return out, err
	}
	sets, err := s.list(ctx, "apps", "v1", "statefulsets", labelled, kept)
	out.items = append(out.items, sets.items...)
	if len(out.items) > 0 {
		out.note = ""
	}
	return out, err
}

func (s *site) pods(ctx context.Context) (found, error) {
	return s.list(ctx, "", "v1", "pods", labelled, keep("metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp",
		"spec.nodeName", "status.phase", "status.reason", "status.message", "status.conditions", "status.startTime", "status.qosClass",
		"status.containerStatuses.name", "status.containerStatuses.ready", "status.containerStatuses.restartCount",
		"status.containerStatuses.image",
		"status.containerStatuses.state", "status.containerStatuses.lastState"))
}

func (s *site) leases(ctx context.Context) (found, error) {
	return s.list(ctx, "coordination.k8s.io", "v1", "leases", "", keep("metadata.name", "spec"))
}

func (s *site) events(ctx context.Context) (found, error) {
	return s.list(ctx, "", "v1", "events", "", keep("type", "reason", "message", "count", "firstTimestamp", "lastTimestamp",
		"involvedObject.kind", "involvedObject.namespace", "involvedObject.name"))
}

func (s *site) applications(ctx context.Context) (found, error) {
	v := v1alpha1.GroupVersion()
	return s.list(ctx, v.Group, v.Version, v1alpha1.ResourceApplications, "", status())
}

func (s *site) projects(ctx context.Context) (found, error) {
	v := v1alpha1.GroupVersion()
	return s.list(ctx, v.Group, v.Version, v1alpha1.ResourceAppProjects, "", keep("metadata.name", "metadata.creationTimestamp"))
}

// settings lists the keys of ConfigMaps.
func (s *site) settings(ctx context.Context) (found, error) {
	got, err := s.list(ctx, "", "v1", "configmaps", "", nil)
	var out found
	for _, one := range got.items {
		fields, _ := one.(map[string]any)
		obj := unstructured.Unstructured{Object: fields}
		if !strings.HasPrefix(obj.GetName(), "argocd-") {
			continue
		}
		data, _, _ := unstructured.NestedMap(fields, "data")
		out.items = append(out.items, map[string]any{"name": obj.GetName(), "keys": slices.Sorted(maps.Keys(data))})
	}
	return out, err
}

// secrets has the API server send no more than the metadata of Secrets.
func (s *site) secrets(ctx context.Context) (found, error) {
	list, err := s.names.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(s.namespace).
		List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelSecretType})
	if err != nil {
		return found{}, connect.Explain(fmt.Errorf("list names of Secrets: %w", err))
	}
	var out found
	for i := range list.Items {
		// Not "secret…", below which everything is hidden.
		out.items = append(out.items, map[string]any{"name": list.Items[i].Name, "type": list.Items[i].Labels[v1alpha1.LabelSecretType]})
	}
	return out, nil
}

// repositories takes addresses from Applications: those of the Secrets are data.
func (s *site) repositories(ctx context.Context) (found, error) {
	apps, err := s.Apps.List(ctx, "")
	if err != nil {
		return found{}, err
	}
	count := map[string]int{}
	for i := range apps {
		spec := &apps[i].Spec
		for _, source := range append(slices.Clone(spec.Sources), one(spec.Source)...) {
			count[text(source.RepoURL)]++
		}
	}
	var out found
	for _, url := range slices.Sorted(maps.Keys(count)) {
		out.items = append(out.items, map[string]any{"url": url, "sources": count[url]})
	}
	return out, nil
}

func one(source *v1alpha1.ApplicationSource) []v1alpha1.ApplicationSource {
	if source == nil {
		return nil
	}
	return []v1alpha1.ApplicationSource{*source}
}

// served reads what the agent serves on a port of its pods, through the API server. One that cannot be reached is reported,
// and the others are still read.
func (s *site) served(what agentPart) func(context.Context) (found, error) {
	return func(ctx context.Context) (found, error) {
		pods, err := s.list(ctx, "", "v1", "pods", labelled, nil)
		if err != nil || len(pods.items) == 0 {
			return found{note: pods.note}, err
		}
		var out found
		var fault error
		for _, pod := range pods.items {
			fields, _ := pod.(map[string]any)
			name, port := (&unstructured.Unstructured{Object: fields}).GetName(), portOf(fields, what.port)
			if port == 0 {
				continue
			}
			raw, err := s.proxied(ctx, name, port, what.path)
			if err != nil {
				fault = connect.Explain(fmt.Errorf("read %s of pod %s: %w", what.path, name, err))
				out.note = "FAILED for one: " + fault.Error()
				continue
			}
			out.text += fmt.Sprintf("# pod %s\n%s\n", name, raw)
		}
		switch {
		case out.text != "":
			return out, nil
		case fault != nil:
			return found{}, fault
		}
		return found{note: fmt.Sprintf("no pod of the agent has a port that is called %s", what.port)}, nil
	}
}

// proxied reads what a pod serves.
func (s *site) proxied(ctx context.Context, pod string, port int64, path string) ([]byte, error) {
	body, err := s.Discovery.RESTClient().Get().
		AbsPath("/api/v1/namespaces", s.namespace, "pods", pod+":"+strconv.FormatInt(port, 10), "proxy", path).
		Param("debug", "1").Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }() // it was read as far as it matters
	return io.ReadAll(io.LimitReader(body, maxFile))
}

// portOf is the number of a port of a pod: the API server knows no names of them on the way to a pod. 0 for none.
func portOf(pod map[string]any, name string) int64 {
	containers, _, _ := unstructured.NestedSlice(pod, "spec", "containers")
	for _, c := range containers {
		container, _ := c.(map[string]any)
		ports, _, _ := unstructured.NestedSlice(container, "ports")
		for _, p := range ports {
			port, _ := p.(map[string]any)
			if number, ok := port["containerPort"].(int64); ok && port["name"] == name {
				return number
			}
		}
	}
	return 0
}
