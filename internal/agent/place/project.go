package place

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Projects holds the rules of the AppProjects in the agent's namespace, with what they inherit from global projects. It
// is the store that their watch feeds.
type Projects struct {
	namespace string
	changed   func(name string)
	OnMove    func(name string) // called for every change; nil for none
	log       *slog.Logger
	ready     chan struct{} // closed after the first complete list
	once      sync.Once

	mu      sync.Mutex
	seen    map[string]decoded
	known   map[string]compiled
	text    string // globalProjects of argocd-cm
	globals []project.Global
	broken  error // why globals are not known
}

// decoded is a project as last seen, or why it cannot be read.
type decoded struct {
	project *v1alpha1.AppProject
	err     error
}

// compiled is what came of a project: its rules, or why it has none.
type compiled struct {
	from  []v1alpha1.AppProjectSpec // its own, and what it inherits
	rules *project.Rules
	err   error

	budget, signers string // annotations: for deletions, and for signatures
}

var _ engine.Projects = (*Projects)(nil)

// NewProjects makes the projects of a namespace. It calls changed with the projects whose Applications may do something else now.
func NewProjects(namespace string, changed func(name string), log *slog.Logger) *Projects {
	return &Projects{
		namespace: namespace, changed: changed, log: log, ready: make(chan struct{}), seen: map[string]decoded{}, known: map[string]compiled{},
	}
}

// Rules implements engine.Projects.
func (p *Projects) Rules(called string) (*project.Rules, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.known[called]
	if !ok {
		return nil, fmt.Errorf("project %q does not exist: create the AppProject %s in namespace %s, or name another one in spec.project",
			called, called, p.namespace)
	}
	return c.rules, c.err
}

// Inherit takes globalProjects of argocd-cm.
func (p *Projects) Inherit(text string) {
	p.mu.Lock()
	if text == p.text {
		p.mu.Unlock()
		return
	}
	p.text = text
	p.globals, p.broken = project.ParseGlobals(text)
	changed := p.compile(func(string) bool { return true })
	p.mu.Unlock()
	p.tell(changed)
}

// compile makes the rules of projects again and returns those that are not what they were. Callers hold the lock.
func (p *Projects) compile(wanted func(called string) bool) []string {
	var changed []string
	for called, one := range p.seen {
		if !wanted(called) {
			continue
		}
		next := p.compileOne(called, one)
		old, known := p.known[called]
		// an empty whitelist is not an absent one
		if known && old.err == nil && next.err == nil && reflect.DeepEqual(old.from, next.from) && old.budget == next.budget &&
			old.signers == next.signers {
			continue // its status or metadata changed: equal rules stay the same ones
		}
		p.known[called] = next
		changed = append(changed, called)
	}
	slices.Sort(changed)
	return changed
}

func (p *Projects) compileOne(called string, one decoded) compiled {
	switch {
	case one.err != nil:
		return compiled{err: one.err}
	case p.broken != nil:
		return compiled{err: fmt.Errorf("project %q: what it inherits is not known: %w", called, p.broken)}
	}
	out := compiled{
		from: []v1alpha1.AppProjectSpec{one.project.Spec}, budget: one.project.Annotations[v1alpha1.AnnotationDeletionBudget],
		signers: one.project.Annotations[v1alpha1.AnnotationSourceIntegrity],
	}
	var inherited []*v1alpha1.AppProject
	for _, g := range p.globals {
		if !g.Selects(called, one.project.Labels) {
			continue
		}
		from, ok := p.seen[g.Project]
		switch {
		case !ok:
			return compiled{err: fmt.Errorf("project %q inherits from project %q, which does not exist: create it, "+
				"or take it out of globalProjects in argocd-cm", called, g.Project)}
		case from.err != nil:
			return compiled{err: fmt.Errorf("project %q inherits from project %q: %w", called, g.Project, from.err)}
		}
		out.from = append(out.from, from.project.Spec)
		inherited = append(inherited, from.project)
	}
	out.rules, out.err = project.New(one.project, inherited...)
	return out
}

// concerned reports whether a project is another one, or inherits from it. Callers hold the lock.
func (p *Projects) concerned(called, by string) bool {
	if called == by {
		return true
	}
	one := p.seen[called]
	return one.err == nil && slices.ContainsFunc(p.globals, func(g project.Global) bool {
		return g.Project == by && g.Selects(called, one.project.Labels)
	})
}

// tell logs what is wrong with projects that changed, and lets their Applications have a turn.
func (p *Projects) tell(changed []string) {
	for _, called := range changed {
		rules, err := p.Rules(called)
		switch {
		case err != nil:
			p.log.Error("project permits nothing until it is corrected", "project", called, "err", err)
		case len(rules.Faults()) > 0:
			p.log.Warn("project is invalid, and its invalid parts are ignored", "project", called, "err", errors.Join(rules.Faults()...))
		}
		p.changed(called)
	}
}

// Watch starts the watch on AppProjects; the channel closes after the first complete list.
func (p *Projects) Watch(ctx context.Context, g *errgroup.Group, client dynamic.Interface) <-chan struct{} {
	in := client.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(p.namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return in.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return in.Watch(ctx, o) },
	}
	r := cache.NewReflectorWithOptions(lw, nil, p, cache.ReflectorOptions{Name: "projects", Clock: live.ClockUntil(ctx)})
	g.Go(func() error { r.RunWithContext(ctx); return nil })
	return p.ready
}

// Add takes a new project.
func (p *Projects) Add(v any) error { return p.Update(v) }

// Update takes a changed project. One that cannot be read permits nothing and does not stop the others.
func (p *Projects) Update(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of AppProjects delivered a %T", v)
	}
	one := decode(u)
	p.mu.Lock()
	p.seen[u.GetName()] = one
	changed := p.compile(func(called string) bool { return p.concerned(called, u.GetName()) })
	p.mu.Unlock()
	if p.OnMove != nil {
		p.OnMove(u.GetName())
	}
	p.tell(changed)
	return nil
}

func decode(u *unstructured.Unstructured) decoded {
	u.SetManagedFields(nil)
	raw, err := json.Marshal(u.Object)
	if err != nil {
		return decoded{err: fmt.Errorf("encode project %q: %w", u.GetName(), err)}
	}
	in, _, err := v1alpha1.DecodeProject(raw)
	if err != nil {
		return decoded{err: fmt.Errorf("project %q cannot be read, correct the AppProject: %w", u.GetName(), err)}
	}
	return decoded{project: in}
}

// Delete takes a project out.
func (p *Projects) Delete(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of AppProjects delivered a %T", v)
	}
	p.drop(u.GetName())
	return nil
}

func (p *Projects) drop(called string) {
	p.mu.Lock()
	delete(p.seen, called)
	delete(p.known, called)
	changed := p.compile(func(other string) bool { return p.concerned(other, called) })
	p.mu.Unlock()
	if p.OnMove != nil {
		p.OnMove(called)
	}
	p.changed(called)
	p.tell(changed)
}

// Replace takes a complete list.
func (p *Projects) Replace(items []any, _ string) error {
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
	for called := range p.seen {
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
func (p *Projects) Resync() error { return nil }

// Names returns the names of all projects.
func (p *Projects) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.seen))
}

// Get returns a project as last seen; nil for none. One that cannot be read is there, and has nothing but its name.
func (p *Projects) Get(called, namespace string) *v1alpha1.AppProject {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.seen[called]
	if ok && one.project == nil {
		return &v1alpha1.AppProject{ObjectMeta: metav1.ObjectMeta{Name: called, Namespace: namespace}}
	}
	return one.project
}
