package swarm

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// core is as much of a cluster, in memory, as a link needs for its identity and its journal. What it does not need is nil.
type core struct {
	typed.CoreV1Interface
	uid     types.UID
	secrets secrets
	configs configs
}

func newCore(uid string) *core {
	return &core{
		uid:     types.UID(uid),
		secrets: secrets{shelf: newShelf[*corev1.Secret]("secrets")},
		configs: configs{shelf: newShelf[*corev1.ConfigMap]("configmaps")},
	}
}

// Secrets implements typed.CoreV1Interface; there is one namespace.
func (c *core) Secrets(string) typed.SecretInterface { return c.secrets }

// ConfigMaps implements typed.CoreV1Interface.
func (c *core) ConfigMaps(string) typed.ConfigMapInterface { return c.configs }

// Namespaces implements typed.CoreV1Interface.
func (c *core) Namespaces() typed.NamespaceInterface { return namespaces{uid: c.uid} }

// The rest of an interface is one level deeper than what a shelf has, so that the shelf's methods count.
type (
	restOfSecrets struct{ typed.SecretInterface }
	restOfConfigs struct{ typed.ConfigMapInterface }
	secrets       struct {
		restOfSecrets
		*shelf[*corev1.Secret]
	}
	configs struct {
		restOfConfigs
		*shelf[*corev1.ConfigMap]
	}
	namespaces struct {
		typed.NamespaceInterface
		uid types.UID
	}
)

// Get returns the namespace whose uid names the cluster.
func (n namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: n.uid}}, nil
}

// object is what a shelf keeps.
type object interface {
	metav1.Object
	runtime.Object
}

// shelf keeps objects of one kind, with versions as an API server has them.
type shelf[T object] struct {
	kind string

	mu      sync.Mutex
	kept    map[string]T
	version int
}

func newShelf[T object](kind string) *shelf[T] { return &shelf[T]{kind: kind, kept: map[string]T{}} }

func (s *shelf[T]) resource() schema.GroupResource { return schema.GroupResource{Resource: s.kind} }

// Get returns a copy.
func (s *shelf[T]) Get(_ context.Context, name string, _ metav1.GetOptions) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, there := s.kept[name]
	if !there {
		var none T
		return none, apierrors.NewNotFound(s.resource(), name)
	}
	return clone(at)
}

// Create keeps a new object.
func (s *shelf[T]) Create(_ context.Context, obj T, _ metav1.CreateOptions) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.kept[obj.GetName()]; there {
		return obj, apierrors.NewAlreadyExists(s.resource(), obj.GetName())
	}
	return s.keep(obj)
}

// Update changes an object that has the version of obj.
func (s *shelf[T]) Update(_ context.Context, obj T, _ metav1.UpdateOptions) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, there := s.kept[obj.GetName()]
	switch {
	case !there:
		return obj, apierrors.NewNotFound(s.resource(), obj.GetName())
	case at.GetResourceVersion() != obj.GetResourceVersion():
		return obj, apierrors.NewConflict(s.resource(), obj.GetName(), fmt.Errorf("it has version %s", at.GetResourceVersion()))
	}
	return s.keep(obj)
}

// keep stores a copy with the next version. Callers hold the lock.
func (s *shelf[T]) keep(obj T) (T, error) {
	kept, err := clone(obj)
	if err != nil {
		return obj, err
	}
	s.version++
	kept.SetResourceVersion(strconv.Itoa(s.version))
	s.kept[obj.GetName()] = kept
	return clone(kept)
}

func clone[T object](obj T) (T, error) {
	out, ok := obj.DeepCopyObject().(T)
	if !ok {
		return obj, fmt.Errorf("copy a %T: the copy is something else", obj)
	}
	return out, nil
}
