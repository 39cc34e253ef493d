package registry

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

// Client reads and patches Applications. It never writes one whole, so that fields which no type of ours has stay.
type Client struct {
	Dynamic dynamic.Interface
	Stream  *stream.Client
}

// NewClient makes a client of Applications.
func NewClient(cfg *rest.Config) (*Client, error) {
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
	return &Client{Dynamic: d, Stream: s}, nil
}

// Path is the collection of Applications in a namespace, or in all.
func (c *Client) Path(namespace string) string {
	p := "/apis/" + v1alpha1.Group + "/" + v1alpha1.Version
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + v1alpha1.ResourceApplications
}

// In is the client of Applications in a namespace, or in all.
func (c *Client) In(namespace string) dynamic.ResourceInterface {
	return c.Dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(namespace)
}

// Patch merges into an Application and returns what it is then.
func (c *Client) Patch(ctx context.Context, app *v1alpha1.Application, patch []byte) (*v1alpha1.Application, []string, error) {
	raw, err := c.Stream.Patch(ctx, c.Path(app.Namespace)+"/"+app.Name, types.MergePatchType, patch, "slipway-agent")
	if err != nil {
		return nil, nil, err
	}
	return Decode(raw)
}

// Watch feeds the registry with the Applications of one namespace, or of all.
type Watch struct {
	client    *Client
	namespace string
	Allowed   func(namespace string) bool // nil: all
	registry  *Registry
	log       *slog.Logger
	Synced    chan struct{}
	once      sync.Once
}

// NewWatch makes a watch on the Applications of a namespace, or of all.
func NewWatch(c *Client, namespace string, r *Registry, log *slog.Logger) *Watch {
	return &Watch{client: c, namespace: namespace, registry: r, log: log, Synced: make(chan struct{})}
}

// Run watches until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	lw := w.client.Stream.ListWatch(w.client.Path(w.namespace), nil, nil)
	cache.NewReflectorWithOptions(lw, nil, w, cache.ReflectorOptions{Name: "applications", Clock: live.ClockUntil(ctx)}).RunWithContext(ctx)
}

// Add takes a new Application.
func (w *Watch) Add(v any) error { return w.Update(v) }

// Update takes a changed Application. One that cannot be read is logged: it must not stop the others.
func (w *Watch) Update(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of Applications delivered a %T", v)
	}
	id := Name{Namespace: o.Namespace, Name: o.Name}
	if w.Allowed != nil && !w.Allowed(o.Namespace) {
		return nil
	}
	if w.registry.knows(id, o.ResourceVersion) {
		return nil
	}
	app, unknown, err := Decode(o.Raw)
	if err != nil {
		w.log.Error("application not readable: correct its fields", "app", id.String(), "err", err)
		return nil
	}
	w.registry.Seen(app, unknown)
	return nil
}

// Delete takes an Application out.
func (w *Watch) Delete(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of Applications delivered a %T", v)
	}
	w.registry.Removed(Name{Namespace: o.Namespace, Name: o.Name})
	return nil
}

// Replace takes a complete list.
func (w *Watch) Replace(items []any, _ string) error {
	listed := make(map[Name]bool, len(items))
	for _, v := range items {
		if o, ok := v.(*stream.Object); ok {
			listed[Name{Namespace: o.Namespace, Name: o.Name}] = true
		}
		if err := w.Update(v); err != nil {
			return err
		}
	}
	w.registry.keep(w.namespace, listed)
	w.once.Do(func() { close(w.Synced) })
	return nil
}

// Resync has nothing to do.
func (w *Watch) Resync() error { return nil }

// knows reports whether an Application is known at this or a newer version.
func (r *Registry) knows(id Name, resourceVersion string) bool {
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[id]
	return e != nil && e.version >= version
}
