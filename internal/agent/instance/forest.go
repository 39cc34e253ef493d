package instance

import (
	"slices"
	"unique"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// pod is what is kept of a pod. Texts that many pods have are kept once.
type pod struct {
	owner   object.Key // its controller; the zero key for none
	images  unique.Handle[string]
	node    unique.Handle[string]
	phase   unique.Handle[string]
	started int64 // seconds since 1970; 0 for not yet
	ready   bool
	over    bool // it has run to its end, and is no instance any more
}

// imageBreak is between the images of a pod.
const imageBreak = "\n"

// maxDepth is how many owners there are above a pod at most.
const maxDepth = 6

// forest is which pods there are in a cluster, and what owns them: pods, and those of their owners that others own.
type forest struct {
	pods     map[types.NamespacedName]pod
	parents  map[object.Key]object.Key   // of ReplicaSets and the like: what controls them
	children map[object.Key][]object.Key // the other way round, pods too
}

func newForest() *forest {
	return &forest{
		pods: map[types.NamespacedName]pod{}, parents: map[object.Key]object.Key{}, children: map[object.Key][]object.Key{},
	}
}

func podKey(id types.NamespacedName) object.Key {
	return object.Key{Kind: "Pod", Namespace: id.Namespace, Name: id.Name}
}

// setPod keeps a pod as it is now, and reports whether anything is another thing than before.
func (f *forest) setPod(id types.NamespacedName, now pod) bool {
	was, known := f.pods[id]
	if known && was == now {
		return false
	}
	f.pods[id] = now
	if !known || was.owner != now.owner {
		f.detach(podKey(id), was.owner)
		f.attach(podKey(id), now.owner)
	}
	return true
}

func (f *forest) dropPod(id types.NamespacedName) {
	if was, known := f.pods[id]; known {
		delete(f.pods, id)
		f.detach(podKey(id), was.owner)
	}
}

// setParent keeps what controls an object; the zero key for nothing.
func (f *forest) setParent(key, owner object.Key) {
	was := f.parents[key]
	if was == owner {
		return
	}
	f.detach(key, was)
	f.attach(key, owner)
	if owner == (object.Key{}) {
		delete(f.parents, key)
	} else {
		f.parents[key] = owner
	}
}

func (f *forest) attach(key, owner object.Key) {
	if owner != (object.Key{}) {
		f.children[owner] = append(f.children[owner], key)
	}
}

func (f *forest) detach(key, owner object.Key) {
	list := f.children[owner]
	at := slices.Index(list, key)
	if at < 0 {
		return
	}
	if list = slices.Delete(list, at, at+1); len(list) == 0 {
		delete(f.children, owner)
	} else {
		f.children[owner] = list
	}
}

// above calls visit for an object and what owns it, from below, until visit returns false.
func (f *forest) above(key object.Key, visit func(object.Key) bool) {
	for range maxDepth {
		if key == (object.Key{}) || !visit(key) {
			return
		}
		if key.Group == "" && key.Kind == "Pod" {
			key = f.pods[types.NamespacedName{Namespace: key.Namespace, Name: key.Name}].owner
		} else {
			key = f.parents[key]
		}
	}
}

// below calls visit for each pod that an object is or owns, also through others.
func (f *forest) below(key object.Key, visit func(types.NamespacedName, pod)) {
	f.belowAt(key, maxDepth, visit)
}

func (f *forest) belowAt(key object.Key, depth int, visit func(types.NamespacedName, pod)) {
	if depth == 0 {
		return
	}
	if key.Group == "" && key.Kind == "Pod" {
		id := types.NamespacedName{Namespace: key.Namespace, Name: key.Name}
		if p, ok := f.pods[id]; ok {
			visit(id, p)
		}
		return
	}
	for _, child := range f.children[key] {
		f.belowAt(child, depth-1, visit)
	}
}
