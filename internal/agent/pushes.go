package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

const (
	// configPushes is the ConfigMap by which a replica notifies the others of pushes: a webhook reaches one of them.
	configPushes = "slipway-agent-pushes"
	// maxPushes bounds what it holds; more repositories share keys, which costs a look too many.
	maxPushes = 256
	// maxPush bounds an address or a reference, in bytes.
	maxPush  = 1 << 10
	pushTime = 10 * time.Second
)

// pushes passes on what webhooks say. A nil one notifies no replica.
type pushes struct {
	in   dynamic.ResourceInterface
	wake func(address, ref string)
	// known reports whether an Application is deployed from an address: what a stranger says is not passed on.
	known func(address string) bool
	log   *slog.Logger

	mu      sync.Mutex
	waiting map[string]string // values by key, to be written
	told    chan struct{}
	heard   map[string]string // of the reflector: what was heard last
	first   bool              // the first list was heard
}

// watchPushes passes pushes on, and hears of those that reached others.
func (a *Agent) watchPushes(ctx context.Context, g *errgroup.Group) {
	p := a.pushes
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = "metadata.name=" + configPushes
			return p.in.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = "metadata.name=" + configPushes
			return p.in.Watch(ctx, o)
		},
	}
	g.Go(func() error {
		cache.NewReflectorWithOptions(lw, nil, p, cache.ReflectorOptions{Name: "pushes", Clock: live.ClockUntil(ctx)}).RunWithContext(ctx)
		return nil
	})
	g.Go(func() error { p.run(ctx); return nil })
}

// addPushes prepares to pass pushes on, where replicas share the Applications.
func (a *Agent) addPushes() error {
	if a.cfg.Shards <= 1 {
		return nil
	}
	client, err := dynamic.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for pushes: %w", err)
	}
	a.pushes = &pushes{
		in:   client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(a.cfg.Namespace),
		wake: func(address, ref string) { a.background.Go(func() { a.pool.Wake(a.ctx, address, ref) }) },
		known: func(address string) bool {
			found := false
			a.registry.Each(func(_ registry.Name, app *v1alpha1.Application) {
				for _, src := range app.Spec.EffectiveSources() {
					found = found || webhook.SameRemote(src.RepoURL, address)
				}
			})
			return found
		},
		log: a.log, waiting: map[string]string{}, told: make(chan struct{}, 1), heard: map[string]string{},
	}
	return nil
}

// tell passes a push on.
func (p *pushes) tell(address, ref string) {
	if p == nil || len(address) > maxPush || len(ref) > maxPush || !p.known(address) {
		return
	}
	address = redact.URLs(address)
	key := strconv.FormatUint(hashOf([]byte(address+" "+ref))%maxPushes, 10)
	p.mu.Lock()
	p.waiting[key] = fmt.Sprintf("%d %s %s", time.Now().UnixNano(), ref, address)
	p.mu.Unlock()
	select {
	case p.told <- struct{}{}:
	default:
	}
}

// run writes what waits, as one change while several come.
func (p *pushes) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.told:
		}
		p.mu.Lock()
		data := p.waiting
		p.waiting = map[string]string{}
		p.mu.Unlock()
		if err := p.write(ctx, data); err != nil && ctx.Err() == nil {
			p.log.Warn("other replicas are not notified of a push; they look at their next poll", "err", err)
		}
	}
}

func (p *pushes) write(ctx context.Context, data map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return err
	}
	_, err = p.in.Patch(ctx, configPushes, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "slipway-agent"})
	if !apierrors.IsNotFound(err) {
		return err
	}
	values := map[string]any{}
	for key, value := range data {
		values[key] = value
	}
	_, err = p.in.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": configPushes}, "data": values,
	}}, metav1.CreateOptions{FieldManager: "slipway-agent"})
	if apierrors.IsAlreadyExists(err) {
		_, err = p.in.Patch(ctx, configPushes, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "slipway-agent"})
	}
	return err
}

// Add hears of pushes.
func (p *pushes) Add(v any) error { return p.Update(v) }

// Update hears of pushes.
func (p *pushes) Update(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of pushes delivered a %T", v)
	}
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	for key, value := range data {
		if p.heard[key] == value {
			continue
		}
		p.heard[key] = value
		if parts := strings.SplitN(value, " ", 3); len(parts) == 3 && p.first {
			p.wake(parts[2], parts[1])
		}
	}
	return nil
}

// Delete has nothing to do.
func (p *pushes) Delete(any) error { return nil }

// Replace hears of what was missed.
func (p *pushes) Replace(items []any, _ string) error {
	for _, v := range items {
		if err := p.Update(v); err != nil {
			return err
		}
	}
	p.first = true
	return nil
}

// Resync has nothing to do.
func (p *pushes) Resync() error { return nil }
