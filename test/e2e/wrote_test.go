package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// recorder notes what an agent writes: every object of a namespace is watched, and the API server says in managedFields who
// set which field.
type recorder struct {
	s      *story
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	lines map[string]bool
}

// managerOfAgents begins the field managers of agents.
const managerOfAgents = "slipway"

// kindsOfStories ends the groups of kinds that stories define. They go when their story does, and a watch of them with them.
const kindsOfStories = "example.com"

// cmdWrote notes what agents write to the namespaces of the story and of its agent: wrote record, and later wrote only FILE,
// which waits for each of its lines and then checks that there is nothing else. A line is an object, for an Application with
// the field; "deleted" is before what is gone from the namespace of the agent.
func cmdWrote(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && (len(args) == 1 && args[0] == "record" || len(args) == 2 && args[0] == "only" && s.recorder != nil), "wrote record, then wrote only FILE")
	if args[0] == "only" {
		s.recorder.only(ts, strings.Split(strings.TrimSpace(expand(ts, ts.ReadFile(args[1]))), "\n"))
		return
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	s.recorder = &recorder{s: s, cancel: cancel, lines: map[string]bool{}}
	s.t.Cleanup(func() {
		cancel()
		s.recorder.done.Wait()
	})
	client, err := discovery.NewDiscoveryClientForConfig(testenv.Cluster(s.t))
	ts.Check(err)
	lists, err := client.ServerPreferredNamespacedResources()
	if !discovery.IsGroupDiscoveryFailedError(err) { // of a kind that has just gone
		ts.Check(err)
	}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		ts.Check(err)
		if strings.HasSuffix(group.Group, kindsOfStories) {
			continue
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "watch") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			for _, namespace := range []string{s.namespace, s.agent.namespace} {
				ts.Check(s.recorder.watch(ctx, group.WithResource(r.Name), namespace))
			}
		}
	}
}

// only waits until all of the lines were noted, and fails where others were.
func (r *recorder) only(ts *testscript.TestScript, want []string) {
	var have []string
	err := wait.PollUntilContextTimeout(r.s.t.Context(), untilPause, waitLimit, true, func(context.Context) (bool, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		have = slices.Sorted(maps.Keys(r.lines))
		return !slices.ContainsFunc(want, func(line string) bool { return !r.lines[line] }), nil
	})
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), have); diff != "" {
		ts.Fatalf("what was written is not what was expected (-expected +written): %s%v", diff, err)
	}
}

// watch notes everything of a kind in a namespace from now on.
func (r *recorder) watch(ctx context.Context, resource schema.GroupVersionResource, namespace string) error {
	in := r.s.cluster.client.Resource(resource).Namespace(namespace)
	list, err := in.List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list %s: %w", resource, err)
	}
	events := testenv.Watch(ctx, r.s.t, list.GetResourceVersion(), in.Watch)
	r.done.Go(func() {
		for event := range events {
			obj, ok := event.Object.(*unstructured.Unstructured)
			if ctx.Err() != nil {
				return
			}
			if !ok || event.Type == watch.Error {
				r.s.t.Errorf("the record of what is written to %s ended: %v", resource, event.Object)
				return
			}
			r.note(obj, event.Type == watch.Deleted && namespace == r.s.agent.namespace)
		}
		if ctx.Err() == nil {
			r.s.t.Errorf("the record of what is written to %s ended", resource)
		}
	})
	return nil
}

func (r *recorder) note(obj *unstructured.Unstructured, deleted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := obj.GetKind() + "/" + obj.GetName()
	if obj.GetNamespace() != r.s.agent.namespace {
		name = "elsewhere " + name
	}
	if deleted {
		r.lines["deleted "+name] = true
		return
	}
	for _, m := range obj.GetManagedFields() {
		if !strings.HasPrefix(m.Manager, managerOfAgents) || m.FieldsV1 == nil {
			continue
		}
		if obj.GetKind() != v1alpha1.KindApplication {
			r.lines[name] = true
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(m.FieldsV1.GetRawBytes(), &fields); err != nil {
			r.s.t.Errorf("read fields of %s: %v", name, err)
			return
		}
		for _, path := range paths(fields) {
			r.lines[name+" "+path] = true
		}
	}
}

// paths are the fields of managedFields, those of a specification or an operation as one.
func paths(fields map[string]any) []string {
	var out []string
	for key, below := range fields {
		name, ok := strings.CutPrefix(key, "f:")
		if !ok {
			continue
		}
		inner, _ := below.(map[string]any)
		more := paths(inner)
		if len(more) == 0 || name == "spec" || name == "operation" || name == "finalizers" {
			out = append(out, name)
			continue
		}
		for _, m := range more {
			out = append(out, name+"."+m)
		}
	}
	return out
}
