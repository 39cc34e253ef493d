package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
)

// appClient reads and patches Applications. It never writes one whole, so that fields which no type of ours has stay.
type appClient struct {
	dynamic dynamic.Interface
	stream  *stream.Client
}

func newAppClient(cfg *rest.Config) (*appClient, error) {
	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client for Applications: %w", err)
	}
	d, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make client for Applications: %w", err)
	}
	s, err := stream.NewClient(cfg, httpClient)
	if err != nil {
		return nil, err
	}
	return &appClient{dynamic: d, stream: s}, nil
}

// path is the collection of Applications in a namespace, or in all.
func (c *appClient) path(namespace string) string {
	p := "/apis/" + v1alpha1.Group + "/" + v1alpha1.Version
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + v1alpha1.ResourceApplications
}

func (c *appClient) in(namespace string) dynamic.ResourceInterface {
	return c.dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(namespace)
}

// patch merges into an Application and returns what it is then.
func (c *appClient) patch(ctx context.Context, app *v1alpha1.Application, patch []byte) (*v1alpha1.Application, []string, error) {
	raw, err := c.stream.Patch(ctx, c.path(app.Namespace)+"/"+app.Name, types.MergePatchType, patch, "slipway-agent")
	if err != nil {
		return nil, nil, err
	}
	return decodeApplication(raw)
}

// appWatch feeds the registry with the Applications of one namespace, or of all.
type appWatch struct {
	client    *appClient
	namespace string
	allowed   func(namespace string) bool // nil: all
	registry  *registry
	log       *slog.Logger
	synced    chan struct{}
	once      sync.Once
}

func newAppWatch(c *appClient, namespace string, r *registry, log *slog.Logger) *appWatch {
	return &appWatch{client: c, namespace: namespace, registry: r, log: log, synced: make(chan struct{})}
}

func (w *appWatch) run(ctx context.Context) {
	lw := w.client.stream.ListWatch(w.client.path(w.namespace), nil, nil)
	cache.NewReflectorWithOptions(lw, nil, w, cache.ReflectorOptions{Name: "applications", Clock: live.ClockUntil(ctx)}).RunWithContext(ctx)
}

// Add takes a new Application.
func (w *appWatch) Add(v any) error { return w.Update(v) }

// Update takes a changed Application. One that cannot be read is logged: it must not stop the others.
func (w *appWatch) Update(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of Applications delivered a %T", v)
	}
	id := name{Namespace: o.Namespace, Name: o.Name}
	if w.allowed != nil && !w.allowed(o.Namespace) {
		return nil
	}
	if w.registry.knows(id, o.ResourceVersion) {
		return nil
	}
	app, unknown, err := decodeApplication(o.Raw)
	if err != nil {
		w.log.Error("application not readable: correct its fields", "app", id.String(), "err", err)
		return nil
	}
	w.registry.seen(app, unknown)
	return nil
}

// Delete takes an Application out.
func (w *appWatch) Delete(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of Applications delivered a %T", v)
	}
	w.registry.removed(name{Namespace: o.Namespace, Name: o.Name})
	return nil
}

// Replace takes a complete list.
func (w *appWatch) Replace(items []any, _ string) error {
	listed := make(map[name]bool, len(items))
	for _, v := range items {
		if o, ok := v.(*stream.Object); ok {
			listed[name{Namespace: o.Namespace, Name: o.Name}] = true
		}
		if err := w.Update(v); err != nil {
			return err
		}
	}
	w.registry.keep(w.namespace, listed)
	w.once.Do(func() { close(w.synced) })
	return nil
}

// Resync has nothing to do.
func (w *appWatch) Resync() error { return nil }

// knows reports whether an Application is known at this or a newer version.
func (r *registry) knows(id name, resourceVersion string) bool {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	return e != nil && e.version >= version
}
