package beside

import (
	"slices"
	"sync"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/instance"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// statusObjects is which objects Applications have, as Argo CD says in their status.
type statusObjects struct {
	mu     sync.Mutex
	owned  map[string]owned                 // by the name of the Application in tracking marks
	owners map[string]map[object.Key]string // the other way round, by the key of the cluster
}

// owned is what an Application has in its cluster.
type owned struct {
	cluster string
	keys    []object.Key
}

func newStatusObjects() statusObjects {
	return statusObjects{owned: map[string]owned{}, owners: map[string]map[object.Key]string{}}
}

// put keeps what an Application has, and reports whether it is something else than before.
func (d *statusObjects) put(app string, now owned) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.owned[app]
	if was.cluster == now.cluster && slices.Equal(was.keys, now.keys) {
		return false
	}
	for _, key := range was.keys {
		if d.owners[was.cluster][key] == app {
			delete(d.owners[was.cluster], key)
		}
	}
	if delete(d.owned, app); len(now.keys) == 0 {
		return true
	}
	d.owned[app] = now
	if d.owners[now.cluster] == nil {
		d.owners[now.cluster] = map[object.Key]string{}
	}
	for _, key := range now.keys {
		d.owners[now.cluster][key] = app
	}
	return true
}

// deployedIn is what Applications have in one cluster.
type deployedIn struct {
	of      *statusObjects
	cluster string
}

var _ instance.Objects = deployedIn{}

// Get implements instance.Objects.
func (d deployedIn) Get(key object.Key) (rec live.Record, tracked, foreign bool) {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	app, ok := d.of.owners[d.cluster][key]
	return live.Record{Key: key, App: app}, ok, false
}

// Owned implements instance.Objects.
func (d deployedIn) Owned(app string) []live.Record {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	have := d.of.owned[app]
	if have.cluster != d.cluster {
		return nil
	}
	out := make([]live.Record, 0, len(have.keys))
	for _, key := range have.keys {
		out = append(out, live.Record{Key: key, App: app})
	}
	return out
}

// Objects are those that statuses name.
func (d *ArgoCD) Objects(key string, _ *live.Cluster) instance.Objects {
	return deployedIn{&d.deployed, key}
}

// Works reports that no Application has its turns here.
func (d *ArgoCD) Works(registry.Name) bool { return false }

// place notes what an Application has, and where.
func (d *ArgoCD) place(old, fresh *v1alpha1.Application) {
	instances := d.Linked().Reporter()
	if instances == nil {
		return // nothing is notified
	}
	app := fresh
	if app == nil {
		app = old
	}
	called, now := object.InstanceName(app.Namespace, app.Name, d.Namespace), owned{}
	if fresh != nil {
		if key, err := d.Clusters().KeyOf(app.Spec.Project, app.Spec.Destination); err == nil { // else the status says why
			now.cluster = key
			for _, r := range app.Status.Resources {
				now.keys = append(now.keys, object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
			}
		}
	}
	if d.deployed.put(called, now) {
		instances.Moved(called)
	}
}
