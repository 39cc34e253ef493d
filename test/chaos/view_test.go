package chaos

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// ref names an object of the one namespace that is looked at.
type ref struct{ kind, name string }

type object = map[string]any

// view is what the cluster holds, kept up to date by watches over every restart of the API server.
type view struct {
	client    dynamic.Interface
	namespace string

	mu       sync.Mutex
	objects  map[ref]object
	versions map[string]map[string]bool // UID -> the resource versions that were seen of it
	changed  chan struct{}              // closed at the next change
}

// newView starts to watch the kinds that the fleet uses, until the test ends.
func newView(t *testing.T, config *rest.Config, namespace string) *view {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	v := &view{
		client: client, namespace: namespace, objects: map[ref]object{}, versions: map[string]map[string]bool{},
		changed: make(chan struct{}),
	}
	v.follow(t, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, namespace, "ConfigMap")
	v.follow(t, schema.GroupVersionResource{Version: "v1", Resource: "services"}, namespace, "Service")
	v.follow(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, namespace, "Deployment")
	v.follow(t, schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		"", "CustomResourceDefinition")
	return v
}

func (v *view) followApplications(t *testing.T, namespace string) {
	t.Helper()
	v.follow(t, applications(), namespace, "Application")
}

// follow watches one kind. It asks often when the API server is away, so that the view is never late.
func (v *view) follow(t *testing.T, gvr schema.GroupVersionResource, namespace, kind string) {
	t.Helper()
	in := v.client.Resource(gvr).Namespace(namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return in.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return in.Watch(ctx, o) },
	}
	r := cache.NewReflectorWithOptions(lw, nil, &shelf{view: v, kind: kind}, cache.ReflectorOptions{
		Name: kind, Backoff: &wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1, Steps: 1 << 30},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.RunWithContext(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// await waits until check finds nothing wrong, looking again at every change, and returns what is wrong at the end.
func (v *view) await(ctx context.Context, longest time.Duration, check func(map[ref]object) string) string {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for {
		objects, changed := v.now()
		problem := check(objects)
		if problem == "" {
			return ""
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return problem
		}
	}
}

func (v *view) now() (map[ref]object, chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return maps.Clone(v.objects), v.changed
}

// seenVersions returns how many versions of an object there were, as far as the watch has shown.
func (v *view) seenVersions(uid string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.versions[uid])
}

func (v *view) awaitApplicationKind(t *testing.T) {
	t.Helper()
	problem := v.await(t.Context(), converged, func(objects map[ref]object) string {
		crd := objects[ref{"CustomResourceDefinition", "applications.argoproj.io"}]
		conditions, _, _ := unstructured.NestedSlice(crd, "status", "conditions")
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return ""
			}
		}
		return "the kind Application is not served"
	})
	if problem != "" {
		t.Fatal(problem)
	}
}

// shelf puts the objects of one kind into a view.
type shelf struct {
	view *view
	kind string
}

func (s *shelf) Add(o any) error    { return s.change(o, false) }
func (s *shelf) Update(o any) error { return s.change(o, false) }
func (s *shelf) Delete(o any) error { return s.change(o, true) }
func (s *shelf) Resync() error      { return nil }

func (s *shelf) change(o any, gone bool) error {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch delivered a %T", o)
	}
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	if gone {
		delete(s.view.objects, ref{s.kind, u.GetName()})
	} else {
		s.put(u)
	}
	s.view.notify()
	return nil
}

// put takes an object in. Callers hold the lock.
func (s *shelf) put(u *unstructured.Unstructured) {
	s.view.objects[ref{s.kind, u.GetName()}] = u.Object
	uid := string(u.GetUID())
	if s.view.versions[uid] == nil {
		s.view.versions[uid] = map[string]bool{}
	}
	s.view.versions[uid][u.GetResourceVersion()] = true
}

// notify wakes those who wait. Callers hold the lock.
func (v *view) notify() {
	close(v.changed)
	v.changed = make(chan struct{})
}

func (s *shelf) Replace(list []any, _ string) error {
	s.view.mu.Lock()
	defer s.view.mu.Unlock()
	maps.DeleteFunc(s.view.objects, func(r ref, _ object) bool { return r.kind == s.kind })
	for _, o := range list {
		if u, ok := o.(*unstructured.Unstructured); ok {
			s.put(u)
		}
	}
	s.view.notify()
	return nil
}
