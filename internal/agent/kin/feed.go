package kin

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// feed watches a kind in a namespace for a tree.
type feed struct {
	of      *tree
	cluster Cluster
	res     live.Resource
	at      inspect.Place
	ctx     context.Context //nolint:containedctx // ends with the watch
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu     sync.Mutex
	leaves map[types.NamespacedName]*inspect.Leaf
	there  bool   // the list was complete once, or never will be
	whole  bool   // the list was complete once
	lack   string // what the tree lacks for it
}

// watch begins to watch a kind in a namespace.
func (t *tree) watch(res live.Resource, at inspect.Place) *feed {
	f := &feed{of: t, cluster: t.view.Cluster, res: res, at: at, leaves: map[types.NamespacedName]*inspect.Leaf{}}
	f.ctx, f.stop = context.WithCancel(t.ctx)
	f.done.Go(f.run)
	return f
}

func (f *feed) run() {
	in := f.cluster.client(f.at).ListWatch(f.res.Path(f.res.Version, f.at.Namespace, ""), nil, f.note)
	r := cache.NewReflectorWithOptions(in, nil, f, cache.ReflectorOptions{
		Name: "tree " + f.res.Plural, TypeDescription: f.res.Plural, Clock: live.ClockUntil(f.ctx),
	})
	r.RunWithContext(f.ctx)
}

// end stops the watch and waits for it.
func (f *feed) end() {
	f.stop()
	f.done.Wait()
	f.of.leaves.Add(-int64(len(f.leaves)))
}

// note gives up what the agent may not see, or what is not there: it is not asked for again and again.
func (f *feed) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case apierrors.IsForbidden(err):
		f.lack, _ = without(f.at, err)
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
	default: // it is tried again
		if !f.there {
			f.lack = fmt.Sprintf("%s in namespace %s is not listed yet: %v", f.at.Kind, f.at.Namespace, err)
		}
		return
	}
	f.stop()
	f.there, f.whole = true, false
	f.of.stir()
}

// collect adds what is there, and says what is lacking, whether the list is there or never will be, and whether it is whole.
func (f *feed) collect(to *[]*inspect.Leaf) (lack string, there, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.leaves {
		*to = append(*to, l)
	}
	return f.lack, f.there, f.whole
}

// seen is an object reduced to what is kept, as soon as it is decoded.
type seen struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	leaf *inspect.Leaf
}

// DeepCopyObject is required of every object that a reflector handles.
func (s *seen) DeepCopyObject() runtime.Object { c := *s; return &c }

var _ cache.TransformingStore = (*feed)(nil)

// Transformer reduces objects of a list while it streams in.
func (f *feed) Transformer() cache.TransformFunc {
	return func(v any) (any, error) {
		if o, ok := v.(*stream.Object); ok {
			return f.read(o)
		}
		return v, nil
	}
}

func (f *feed) read(o *stream.Object) (*seen, error) {
	leaf, err := f.cluster.leaf(o, f.res, f.at)
	if err != nil {
		return nil, err
	}
	return &seen{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion}, leaf: leaf}, nil
}

func (f *feed) take(v any) (*seen, error) {
	switch o := v.(type) {
	case *seen:
		return o, nil
	case *stream.Object:
		return f.read(o)
	}
	return nil, fmt.Errorf("watch of %s delivered a %T", f.res.Kind, v)
}

func (s *seen) id() types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
}

// Add takes a new object.
func (f *feed) Add(v any) error { return f.Update(v) }

// Update takes a changed object.
func (f *feed) Update(v any) error {
	s, err := f.take(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	old := f.leaves[s.id()]
	f.leaves[s.id()] = s.leaf
	f.mu.Unlock()
	if old == nil {
		f.of.leaves.Add(1)
	}
	if !reflect.DeepEqual(old, s.leaf) {
		f.of.stir()
	}
	return nil
}

// Delete takes an object out.
func (f *feed) Delete(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of %s delivered a %T", f.res.Kind, v)
	}
	id := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	f.mu.Lock()
	_, known := f.leaves[id]
	delete(f.leaves, id)
	f.mu.Unlock()
	if known {
		f.of.leaves.Add(-1)
		f.of.stir()
	}
	return nil
}

// Replace takes a complete list.
func (f *feed) Replace(items []any, _ string) error {
	fresh := make(map[types.NamespacedName]*inspect.Leaf, len(items))
	for _, item := range items {
		s, err := f.take(item)
		if err != nil {
			return err
		}
		fresh[s.id()] = s.leaf
	}
	f.mu.Lock()
	f.of.leaves.Add(int64(len(fresh) - len(f.leaves)))
	f.leaves, f.there, f.whole, f.lack = fresh, true, true, ""
	f.mu.Unlock()
	f.of.stir()
	return nil
}

// Resync has nothing to do: nothing is missed.
func (f *feed) Resync() error { return nil }
