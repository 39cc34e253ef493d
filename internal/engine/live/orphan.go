package live

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// foreign is what is known of an object that no Application tracks.
type foreign struct {
	owned   bool // it is the child of another object
	version uint64
}

// strays are the foreign objects without an owner in one namespace, and the Applications that hear of them. They are
// kept for namespaces that are requested.
type strays struct {
	keys map[object.Key]bool
	apps map[string]bool
}

// made reports whether an untracked object was made by the cluster for another one, without saying so in its owners.
func made(key object.Key, obj map[string]any) bool {
	kind, _ := obj["type"].(string)
	return key.Group == "" && key.Kind == "Secret" && kind == "kubernetes.io/service-account-token"
}

// copied reports whether the cluster makes objects of this kind for others, with the labels of those and without saying
// so in their owners. A label alone does not make them an Application's own.
func copied(key object.Key) bool {
	switch key.Kind {
	case "Endpoints", "PersistentVolumeClaim":
		return key.Group == ""
	case "EndpointSlice":
		return key.Group == "discovery.k8s.io"
	}
	return false
}

// stray notes that an object strays, or does not, and reports it: all who ask but the one that it is
// tracked by now. Callers hold the lock.
func (x *index) stray(key object.Key, strays bool, owner string) []Event {
	in := x.strays[key.Namespace]
	if in == nil || key.Namespace == "" || in.keys[key] == strays {
		return nil
	}
	if strays {
		in.keys[key] = true
	} else {
		delete(in.keys, key)
	}
	var events []Event
	for app := range in.apps {
		if app != owner {
			events = append(events, Event{App: app, Key: key, Why: Stray})
		}
	}
	return events
}

// askStrays returns the strays of a namespace and makes app hear of them.
func (x *index) askStrays(namespace, app string) []object.Key {
	x.mu.Lock()
	defer x.mu.Unlock()
	in := x.strays[namespace]
	if in == nil {
		in = &strays{keys: map[object.Key]bool{}, apps: map[string]bool{}}
		x.strays[namespace] = in
		for _, of := range x.foreign {
			for key, f := range of {
				if key.Namespace == namespace && !f.owned {
					in.keys[key] = true
				}
			}
		}
	}
	in.apps[app] = true
	out := make([]object.Key, 0, len(in.keys))
	for key := range in.keys {
		if x.claims[key] == "" { // else it is wanted, and will be taken over
			out = append(out, key)
		}
	}
	return out
}

// dropStrays makes app hear of no strays any more, except for those in one namespace; "" for none.
func (x *index) dropStrays(app, except string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for namespace, in := range x.strays {
		if namespace == except {
			continue
		}
		if delete(in.apps, app); len(in.apps) == 0 {
			delete(x.strays, namespace)
		}
	}
}

// abandoned returns the tracked objects of a namespace that have no owner and whose Application exists reports gone.
func (x *index) abandoned(namespace string, exists func(app string) bool) []object.Key {
	x.mu.Lock()
	apps := make([]string, 0, len(x.apps))
	for app := range x.apps {
		apps = append(apps, app)
	}
	x.mu.Unlock()
	apps = slices.DeleteFunc(apps, exists) // not under the lock: it calls other code
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []object.Key
	for _, app := range apps {
		for key, rec := range x.apps[app] {
			if key.Namespace == namespace && !rec.Owned {
				out = append(out, key)
			}
		}
	}
	return out
}

// WatchNamespaced watches all kinds that are in namespaces, that are not excluded and that wanted accepts, and waits for their
// first lists. It returns those that could not be listed: what is in them is not known.
func (c *Cluster) WatchNamespaced(ctx context.Context, wanted func(object.Kind) bool) ([]object.Kind, error) {
	known, err := c.catalog.load(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	started := map[object.Kind]*watchers{}
	for kind, res := range known.resources {
		if !res.Namespaced || !res.Watchable || c.Excludes(kind) || !wanted(kind) || c.omits.lately(kind) {
			continue
		}
		w, err := c.watcher(res)
		if err != nil {
			return nil, err
		}
		started[kind] = w
	}
	var missing []object.Kind
	for kind, w := range started {
		if w.await(ctx, c.timeout) != nil && !c.omits.lately(kind) {
			missing = append(missing, kind)
		}
	}
	slices.SortFunc(missing, func(a, b object.Kind) int {
		return object.Key{Group: a.Group, Kind: a.Kind}.Compare(object.Key{Group: b.Group, Kind: b.Kind})
	})
	return missing, nil
}

// Strays returns the objects of watched kinds in a namespace without an Application: no Application tracks them, or one that
// exists reports gone, and no other object owns them. They are sorted. app hears when they become others (Stray).
func (c *Cluster) Strays(namespace, app string, exists func(app string) bool) []object.Key {
	c.index.dropStrays(app, namespace)
	out := append(c.index.askStrays(namespace, app), c.index.abandoned(namespace, exists)...)
	slices.SortFunc(out, object.Key.Compare)
	return out
}

// ForgetStrays makes app hear of no strays any more.
func (c *Cluster) ForgetStrays(app string) { c.index.dropStrays(app, "") }
