package clue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// replicaSets reads the newest ReplicaSet of a Deployment with its pods, and one before it that still has some.
func (r *reader) replicaSets(ctx context.Context, b *cause.Branch) {
	sets := r.owned(ctx, b, Query{GroupVersionResource: grouped("apps", "replicasets"), Limit: maxPods}, true)
	slices.SortStableFunc(sets, func(x, y map[string]any) int {
		return cmp.Or(cmp.Compare(rollout(y), rollout(x)), strings.Compare(created(y), created(x)))
	})
	for i, set := range sets {
		if i > 0 && object.Count(object.Dict(set, "status"), "replicas") == 0 {
			continue
		}
		child := &cause.Branch{Key: keyOf("apps", "ReplicaSet", set), Object: set}
		child.Events = r.events(ctx, child.Key, set)
		r.pods(ctx, child)
		b.Pods, b.Troubled = b.Pods+child.Pods, b.Troubled+child.Troubled
		if b.Below = append(b.Below, child); len(b.Below) == 2 {
			return
		}
	}
}

// rollout is the number by which a Deployment or a Rollout counts a ReplicaSet.
func rollout(set map[string]any) int {
	notes := object.Dict(object.Dict(set, "metadata"), "annotations")
	for _, name := range []string{"deployment.kubernetes.io/revision", "rollout.argoproj.io/revision"} {
		if n, err := strconv.Atoi(object.Text(notes, name)); err == nil {
			return n
		}
	}
	return 0
}

func created(obj map[string]any) string {
	return object.Text(object.Dict(obj, "metadata"), "creationTimestamp")
}

// pods counts the pods of a workload, and looks into those that have the most trouble, the newest first.
func (r *reader) pods(ctx context.Context, b *cause.Branch) {
	all := r.owned(ctx, b, Query{GroupVersionResource: core("pods"), Limit: maxPods}, true)
	type one struct {
		pod     map[string]any
		trouble int
	}
	var troubled []one
	for _, pod := range all {
		if n := cause.Trouble(pod, r.ask.Now); n > 0 {
			troubled = append(troubled, one{pod, n})
		}
	}
	b.Pods, b.Troubled = len(all), len(troubled)
	slices.SortStableFunc(troubled, func(x, y one) int {
		return cmp.Or(cmp.Compare(y.trouble, x.trouble), strings.Compare(created(y.pod), created(x.pod)),
			strings.Compare(nameOf(x.pod), nameOf(y.pod)))
	})
	for _, t := range troubled[:min(len(troubled), maxShown)] {
		child := &cause.Branch{Key: keyOf("", "Pod", t.pod), Object: t.pod}
		child.Events = r.events(ctx, child.Key, t.pod)
		child.Below = r.claims(ctx, t.pod)
		b.Below = append(b.Below, child)
	}
}

// claims reads the volume claims of a pod that has no node yet.
func (r *reader) claims(ctx context.Context, pod map[string]any) []*cause.Branch {
	if object.Text(object.Dict(pod, "spec"), "nodeName") != "" {
		return nil
	}
	var out []*cause.Branch
	namespace := object.Text(object.Dict(pod, "metadata"), "namespace")
	for _, volume := range object.Dicts(object.Dict(pod, "spec"), "volumes") {
		name := object.Text(object.Dict(volume, "persistentVolumeClaim"), "claimName")
		if object.Dict(volume, "ephemeral") != nil {
			name = nameOf(pod) + "-" + object.Text(volume, "name")
		}
		if name == "" || len(out) == maxClaims {
			continue
		}
		obj, known := r.get(ctx, core("persistentvolumeclaims"), namespace, name)
		if !known {
			continue
		}
		child := &cause.Branch{Key: object.Key{Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name}, Object: obj}
		if obj != nil && object.Text(object.Dict(obj, "status"), "phase") != "Bound" {
			child.Events = r.events(ctx, child.Key, obj)
		}
		out = append(out, child)
	}
	return out
}

// jobs reads the newest Job of a CronJob with its pods.
func (r *reader) jobs(ctx context.Context, b *cause.Branch) {
	all := r.owned(ctx, b, Query{GroupVersionResource: grouped("batch", "jobs"), Limit: maxJobs}, false)
	if len(all) == 0 {
		return
	}
	newest := slices.MaxFunc(all, func(x, y map[string]any) int {
		return cmp.Or(strings.Compare(created(x), created(y)), strings.Compare(nameOf(x), nameOf(y)))
	})
	child := &cause.Branch{Key: keyOf("batch", "Job", newest), Object: newest}
	child.Events = r.events(ctx, child.Key, newest)
	r.pods(ctx, child)
	b.Below = []*cause.Branch{child}
}

// heirs reads what a custom resource owns: its controller may make anything that runs.
func (r *reader) heirs(ctx context.Context, b *cause.Branch, level int) {
	for _, kind := range []struct {
		Query
		kind string
	}{
		{Query{GroupVersionResource: grouped("apps", "statefulsets")}, "StatefulSet"},
		{Query{GroupVersionResource: grouped("apps", "deployments")}, "Deployment"},
		{Query{GroupVersionResource: grouped("apps", "daemonsets")}, "DaemonSet"},
		{Query{GroupVersionResource: grouped("batch", "jobs")}, "Job"},
	} {
		kind.Limit = maxHeirs
		for _, obj := range r.owned(ctx, b, kind.Query, false) {
			b.Below = append(b.Below, r.grow(ctx, keyOf(kind.Group, kind.kind, obj), obj, level+1))
		}
	}
	// Some controllers make pods themselves, and have no selector.
	bare := cause.Branch{Key: b.Key, Object: map[string]any{"metadata": b.Object["metadata"]}}
	r.pods(ctx, &bare)
	b.Below = append(b.Below, bare.Below...)
	b.Pods, b.Troubled = bare.Pods, bare.Troubled
}

// owned lists the objects that another one owns, by its selector where selected says so and it has one.
func (r *reader) owned(ctx context.Context, b *cause.Branch, q Query, selected bool) []map[string]any {
	q.Namespace = b.Key.Namespace
	uid := object.Text(object.Dict(b.Object, "metadata"), "uid")
	if q.Namespace == "" || uid == "" {
		return nil
	}
	if selected {
		q.Labels = selector(b.Object)
	}
	var out []map[string]any
	for _, obj := range r.list(ctx, q) {
		for _, ref := range object.Dicts(object.Dict(obj, "metadata"), "ownerReferences") {
			if object.Text(ref, "uid") == uid {
				out = append(out, obj)
				break
			}
		}
	}
	return out
}

// selector is the selector of a workload as a query has it; "" where it has none.
func selector(obj map[string]any) string {
	sel := object.Dict(object.Dict(obj, "spec"), "selector")
	equal := object.Dict(sel, "matchLabels")
	if equal == nil && sel["matchExpressions"] == nil {
		equal = sel // of a Service or a ReplicationController
	}
	parts := equals(equal)
	for _, e := range object.Dicts(sel, "matchExpressions") {
		var values []string
		for _, v := range object.List(e, "values") {
			if s, ok := v.(string); ok {
				values = append(values, s)
			}
		}
		key, in := object.Text(e, "key"), strings.Join(values, ",")
		switch object.Text(e, "operator") {
		case "In":
			parts = append(parts, fmt.Sprintf("%s in (%s)", key, in))
		case "NotIn":
			parts = append(parts, fmt.Sprintf("%s notin (%s)", key, in))
		case "Exists":
			parts = append(parts, key)
		case "DoesNotExist":
			parts = append(parts, "!"+key)
		}
	}
	return strings.Join(parts, ",")
}

func equals(labels map[string]any) []string {
	var out []string
	for key, value := range labels {
		if s, ok := value.(string); ok {
			out = append(out, key+"="+s)
		}
	}
	slices.Sort(out)
	return out
}

// endpoints counts what receives the traffic of a Service; nil where that cannot be read.
func (r *reader) endpoints(ctx context.Context, key object.Key, obj map[string]any) *cause.Backends {
	sel := equals(object.Dict(object.Dict(obj, "spec"), "selector"))
	if len(sel) == 0 {
		return nil // another program decides where its traffic goes
	}
	shards, err := r.cluster.List(ctx, Query{
		GroupVersionResource: grouped("discovery.k8s.io", "endpointslices"), Namespace: key.Namespace,
		Labels: "kubernetes.io/service-name=" + key.Name, Limit: maxPods,
	})
	if err != nil {
		r.lack(fmt.Sprintf("could not list endpointslices in namespace %s: %v", key.Namespace, err))
		return nil
	}
	out := &cause.Backends{}
	for _, shard := range shards {
		for _, end := range object.Dicts(shard, "endpoints") {
			if ready, said := object.Dict(end, "conditions")["ready"].(bool); ready || !said {
				out.Ready++
			}
		}
	}
	if out.Ready > 0 {
		return out
	}
	pods, err := r.cluster.List(ctx, Query{
		GroupVersionResource: core("pods"), Namespace: key.Namespace, Labels: strings.Join(sel, ","), Limit: maxPods,
	})
	if err != nil {
		r.lack(fmt.Sprintf("could not list pods in namespace %s: %v", key.Namespace, err))
		return nil
	}
	for _, pod := range pods {
		out.Pods++
		for _, c := range object.Dicts(object.Dict(pod, "status"), "conditions") {
			if object.Text(c, "type") == "Ready" && object.Text(c, "status") == "True" {
				out.PodsReady++
			}
		}
	}
	if out.Pods == 0 {
		out.Maker, out.Wanted = r.maker(ctx, key.Namespace, object.Dict(object.Dict(obj, "spec"), "selector"))
	}
	return out
}

// maker finds a workload whose pods have labels, and how many of them it wants.
func (r *reader) maker(ctx context.Context, namespace string, labels map[string]any) (called string, wanted int64) {
	for _, kind := range []struct{ kind, resource string }{{"Deployment", "deployments"}, {"StatefulSet", "statefulsets"}} {
		for _, obj := range r.list(ctx, Query{GroupVersionResource: grouped("apps", kind.resource), Namespace: namespace, Limit: maxHeirs}) {
			spec := object.Dict(obj, "spec")
			has := object.Dict(object.Dict(object.Dict(spec, "template"), "metadata"), "labels")
			fits := true
			for name := range labels {
				fits = fits && object.Text(has, name) == object.Text(labels, name)
			}
			if !fits {
				continue
			}
			wanted = 1
			if _, said := spec["replicas"]; said {
				wanted = object.Count(spec, "replicas")
			}
			return fmt.Sprintf("%s %s/%s", kind.kind, namespace, nameOf(obj)), wanted
		}
	}
	return "", 0
}

// backends finds the Services of an Ingress that are not there, or lack the port.
func (r *reader) backends(ctx context.Context, obj map[string]any) *cause.Backends {
	namespace, sp := object.Text(object.Dict(obj, "metadata"), "namespace"), object.Dict(obj, "spec")
	wanted := []map[string]any{object.Dict(object.Dict(sp, "defaultBackend"), "service")}
	for _, rule := range object.Dicts(sp, "rules") {
		for _, path := range object.Dicts(object.Dict(rule, "http"), "paths") {
			wanted = append(wanted, object.Dict(object.Dict(path, "backend"), "service"))
		}
	}
	out := &cause.Backends{}
	seen := map[string]map[string]any{}
	for _, to := range wanted {
		name := object.Text(to, "name")
		if name == "" {
			continue
		}
		service, known := seen[name]
		if !known {
			if len(seen) == maxService {
				break
			}
			if service, known = r.get(ctx, core("services"), namespace, name); !known {
				continue
			}
			seen[name] = service
		}
		lacking := fmt.Sprintf("Service %s/%s", namespace, name)
		if service != nil {
			port := object.Dict(to, "port")
			if hasPort(service, port) {
				continue
			}
			lacking = fmt.Sprintf("port %s of %s", cmp.Or(object.Text(port, "name"), strconv.FormatInt(object.Count(port, "number"), 10)), lacking)
		}
		if !slices.Contains(out.Lacking, lacking) {
			out.Lacking = append(out.Lacking, lacking)
		}
	}
	return out
}

func hasPort(service, port map[string]any) bool {
	if object.Text(object.Dict(service, "spec"), "type") == "ExternalName" || len(port) == 0 {
		return true
	}
	for _, p := range object.Dicts(object.Dict(service, "spec"), "ports") {
		if name := object.Text(port, "name"); name != "" && name == object.Text(p, "name") ||
			name == "" && object.Count(p, "port") == object.Count(port, "number") {
			return true
		}
	}
	return false
}
