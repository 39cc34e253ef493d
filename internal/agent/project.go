package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/project"
)

// projects holds the rules of the AppProjects in the agent's namespace. It is the store that their watch feeds.
type projects struct {
	namespace string
	changed   func(name string)
	log       *slog.Logger
	ready     chan struct{} // closed after the first complete list
	once      sync.Once

	mu    sync.Mutex
	known map[string]compiled
}

// compiled is a project as last seen: its rules, or why it has none.
type compiled struct {
	spec  v1alpha1.AppProjectSpec
	rules *project.Rules
	err   error
}

var _ engine.Projects = (*projects)(nil)

func newProjects(namespace string, changed func(name string), log *slog.Logger) *projects {
	return &projects{namespace: namespace, changed: changed, log: log, ready: make(chan struct{}), known: map[string]compiled{}}
}

// Rules implements engine.Projects.
func (p *projects) Rules(called string) (*project.Rules, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.known[called]
	if !ok {
		return nil, fmt.Errorf("project %q does not exist: create the AppProject %s in namespace %s, or name another one in spec.project",
			called, called, p.namespace)
	}
	return c.rules, c.err
}

// watchProjects starts the watch on AppProjects; the channel closes after the first complete list.
func (a *Agent) watchProjects(ctx context.Context, g *errgroup.Group) <-chan struct{} {
	in := a.apps.dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(a.cfg.Namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return in.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return in.Watch(ctx, o) },
	}
	r := cache.NewReflectorWithOptions(lw, nil, a.projects, cache.ReflectorOptions{Name: "projects", Clock: live.ClockUntil(ctx)})
	g.Go(func() error { r.RunWithContext(ctx); return nil })
	return a.projects.ready
}

// projectChanged queues the Applications of a project: what they may do may be another now.
func (a *Agent) projectChanged(called string) {
	a.registry.each(func(id name, app *v1alpha1.Application) {
		if app.Spec.ProjectName() == called {
			a.queue.add(id)
		}
	})
}

// Add takes a new project.
func (p *projects) Add(v any) error { return p.Update(v) }

// Update takes a changed project. One that cannot be read permits nothing and does not stop the others.
func (p *projects) Update(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of AppProjects delivered a %T", v)
	}
	called := u.GetName()
	next := compile(u)
	p.mu.Lock()
	old, known := p.known[called]
	same := known && old.err == nil && next.err == nil && reflect.DeepEqual(old.spec, next.spec) // an empty whitelist is not an absent one
	if !same {
		p.known[called] = next
	}
	p.mu.Unlock()
	if same {
		return nil // its status or metadata changed: equal rules stay the same ones
	}
	if next.err != nil {
		p.log.Error("project permits nothing until it is corrected", "project", called, "err", next.err)
	}
	p.changed(called)
	return nil
}

func compile(u *unstructured.Unstructured) compiled {
	u.SetManagedFields(nil)
	raw, err := json.Marshal(u.Object)
	if err != nil {
		return compiled{err: fmt.Errorf("encode project %q: %w", u.GetName(), err)}
	}
	in, _, err := v1alpha1.DecodeProject(raw)
	if err != nil {
		return compiled{err: fmt.Errorf("project %q cannot be read, correct the AppProject: %w", u.GetName(), err)}
	}
	rules, err := project.New(in)
	if err != nil {
		return compiled{err: err}
	}
	return compiled{spec: in.Spec, rules: rules}
}

// Delete takes a project out.
func (p *projects) Delete(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of AppProjects delivered a %T", v)
	}
	p.drop(u.GetName())
	return nil
}

func (p *projects) drop(called string) {
	p.mu.Lock()
	delete(p.known, called)
	p.mu.Unlock()
	p.changed(called)
}

// Replace takes a complete list.
func (p *projects) Replace(items []any, _ string) error {
	listed := make(map[string]bool, len(items))
	for _, v := range items {
		if err := p.Update(v); err != nil {
			return err
		}
		if u, ok := v.(*unstructured.Unstructured); ok {
			listed[u.GetName()] = true
		}
	}
	var gone []string
	p.mu.Lock()
	for called := range p.known {
		if !listed[called] {
			gone = append(gone, called)
		}
	}
	p.mu.Unlock()
	for _, called := range gone {
		p.drop(called)
	}
	p.once.Do(func() { close(p.ready) })
	return nil
}

// Resync has nothing to do.
func (p *projects) Resync() error { return nil }
