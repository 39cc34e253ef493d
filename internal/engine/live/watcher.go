package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// watchers are the watches of one kind: one of the whole cluster, or one of each namespace that its limits name.
type watchers struct {
	res    Resource
	each   []*watcher
	ctx    context.Context //nolint:containedctx // ends with the watches
	cancel context.CancelFunc
}

func newWatchers(c *Cluster, res Resource) *watchers {
	all := &watchers{res: res}
	all.ctx, all.cancel = context.WithCancel(c.ctx)
	namespaces := c.limits.Namespaces()
	if len(namespaces) == 0 || !res.Namespaced {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		all.each = append(all.each, &watcher{
			cluster: c, all: all, res: res, namespace: namespace, ready: make(chan struct{}), fail: make(chan struct{}),
		})
	}
	return all
}

// await returns when the first list of each is complete, or why it is not.
func (ws *watchers) await(ctx context.Context, timeout time.Duration) error {
	until := time.Now().Add(timeout)
	for _, w := range ws.each {
		if err := w.await(ctx, max(time.Until(until), 0), timeout); err != nil {
			return err
		}
	}
	return nil
}

// watcher lists and watches one kind into the index, for as long as the cluster is open.
type watcher struct {
	cluster   *Cluster
	all       *watchers // that it is one of
	res       Resource
	namespace string        // "" for all of them, and for a kind without
	ready     chan struct{} // closed after the first complete list

	once sync.Once
	mu   sync.Mutex
	err  error // why the last list or watch did not work
	fail chan struct{}
}

// run keeps the watch up. The reflector reconnects with backoff automatically and gives up only when ctx ends.
func (w *watcher) run(ctx context.Context) {
	lw := w.cluster.stream.ListWatch(w.res.Path(w.res.Version, w.namespace, ""), nil, w.note)
	r := cache.NewReflectorWithOptions(lw, nil, (*kindStore)(w), cache.ReflectorOptions{
		Name: w.res.Kind.String(), TypeDescription: w.res.Kind.String(), Clock: ClockUntil(ctx),
	})
	r.RunWithContext(ctx)
}

// note remembers the last error and wakes those who wait for the first list, unless it is temporary (a
// watch-list that the server does not offer, an expired version).
func (w *watcher) note(err error) {
	if w.omitted(err) {
		defer w.cluster.omit(w.all)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	permanent := apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsUnauthorized(err) ||
		apierrors.IsMethodNotSupported(err)
	if permanent {
		select {
		case <-w.fail:
		default:
			close(w.fail)
		}
	} else if err == nil {
		select {
		case <-w.fail:
			w.fail = make(chan struct{})
		default:
		}
	}
}

func (w *watcher) lastError() (chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fail, w.err
}

// await returns when the first list is complete, or why it is not; it waits for left of a time limit.
func (w *watcher) await(ctx context.Context, left, timeout time.Duration) error {
	select {
	case <-w.ready:
		return nil
	default:
	}
	fail, _ := w.lastError()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-w.ready:
		return nil
	case <-fail:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	_, err := w.lastError()
	if err == nil {
		err = fmt.Errorf("no answer within %s: check that the cluster is reachable", timeout)
	}
	return explainList(w.res.Kind, w.namespace, err)
}

// kindStore is the face of a watcher that the reflector writes to.
type kindStore watcher

var _ cache.TransformingStore = (*kindStore)(nil)

// digested is an object of a list, reduced to its observation as soon as it is decoded.
type digested struct {
	metav1.ObjectMeta
	metav1.TypeMeta
	observation
}

// DeepCopyObject is required of every object that a reflector handles.
func (d *digested) DeepCopyObject() runtime.Object { c := *d; return &c }

// Transformer reduces the objects of a list while it streams in, so that no list is ever held in full.
func (s *kindStore) Transformer() cache.TransformFunc {
	return func(v any) (any, error) {
		o, ok := v.(*stream.Object)
		if !ok {
			return v, nil
		}
		seen, err := s.observation(o)
		if err != nil {
			return nil, err
		}
		seen.obj = nil
		return &digested{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}, observation: seen}, nil
	}
}

// span is what the watch covers.
func (s *kindStore) span() span { return span{s.res.Kind, s.namespace} }

func (s *kindStore) key(o *stream.Object) object.Key {
	return object.Key{Group: s.res.Kind.Group, Kind: s.res.Kind.Kind, Namespace: o.Namespace, Name: o.Name}
}

func (s *kindStore) observation(v any) (observation, error) {
	switch o := v.(type) {
	case *digested:
		return o.observation, nil
	case *stream.Object:
		obj, err := object.DecodeJSON(o.Raw)
		if err != nil {
			return observation{}, err
		}
		return s.cluster.index.digest(s.res.Kind, obj), nil
	}
	return observation{}, fmt.Errorf("watch of %s delivered a %T", s.res.Kind, v)
}

// Add takes a new object.
func (s *kindStore) Add(v any) error { return s.Update(v) }

// Update takes a changed object. What our own apply has reported already is not decoded.
func (s *kindStore) Update(v any) error {
	if o, ok := v.(*stream.Object); ok && s.cluster.index.knows(s.key(o), parseVersion(o.ResourceVersion)) {
		return nil
	}
	o, err := s.observation(v)
	if err != nil {
		return err
	}
	s.cluster.index.observe(o)
	return nil
}

// Delete takes an object out.
func (s *kindStore) Delete(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of %s delivered a %T", s.res.Kind, v)
	}
	s.cluster.index.remove(s.key(o), string(o.UID), parseVersion(o.ResourceVersion))
	return nil
}

// Replace takes a complete list.
func (s *kindStore) Replace(items []any, resourceVersion string) error {
	list := make([]observation, 0, len(items))
	var errs []error
	for _, item := range items {
		o, err := s.observation(item)
		errs = append(errs, err)
		o.obj = nil
		list = append(list, o)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.cluster.index.replace(s.span(), list, parseVersion(resourceVersion))
	s.once.Do(func() { close(s.ready) })
	return nil
}

// Resync has nothing to do: the index misses nothing.
func (s *kindStore) Resync() error { return nil }
