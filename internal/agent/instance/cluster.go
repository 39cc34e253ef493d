package instance

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Objects are those of a cluster that Applications have.
type Objects interface {
	// Get returns a tracked object.
	Get(key object.Key) (rec live.Record, tracked, foreign bool)
	// Owned returns all objects of an Application, by its name in tracking marks.
	Owned(app string) []live.Record
}

var _ Objects = (*live.Cluster)(nil)

// place is what is watched: a kind in a namespace.
type place struct {
	kind      object.Kind
	namespace string
}

// cluster is a cluster that Applications deploy to.
type cluster struct {
	tell func(apps map[string]bool) // by their names in tracking marks; it is called without a lock
	log  *slog.Logger
	ctx  context.Context //nolint:containedctx // watches live as long as it
	wait *sync.WaitGroup

	mu      sync.Mutex
	config  *rest.Config // nil before it was opened
	objects Objects
	client  *stream.Client
	forest  *forest
	feeds   map[place]*feed
	used    map[string]bool // namespaces with workloads; nil where there are none
	narrow  bool            // the agent may not look at all namespaces
	synced  map[place]bool  // lists of pods that were complete once
	denied  map[place]int   // how often the agent was refused to watch
	pause   time.Duration   // until a refused watch begins again; it doubles
}

// A right that is granted a moment after it was used is not there for good: what was refused is asked for again, more and
// more seldom.
const (
	deniedPause        = 2 * time.Second
	longestDeniedPause = 5 * time.Minute
)

func newCluster(ctx context.Context, tell func(map[string]bool), wait *sync.WaitGroup, log *slog.Logger) *cluster {
	return &cluster{
		ctx: ctx, tell: tell, wait: wait, log: log, forest: newForest(), feeds: map[place]*feed{}, synced: map[place]bool{},
		denied: map[place]int{}, pause: deniedPause,
	}
}

// open says how the cluster is reached, from now on. What is known of it stays until the new watches know better.
func (c *cluster) open(config *rest.Config, objects Objects) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config, c.objects, c.client, c.narrow = config, objects, nil, false
	c.halt()
	c.watch()
}

// use says in which namespaces Applications have workloads; nil for none, and then nothing is watched or kept.
func (c *cluster) use(namespaces map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used = namespaces; namespaces == nil {
		c.halt()
		c.forest = newForest()
		clear(c.synced)
		return
	}
	c.watch()
}

// halt ends all watches. Callers hold the lock.
func (c *cluster) halt() {
	for at, f := range c.feeds {
		f.stop()
		delete(c.feeds, at)
	}
}

// watch starts the watches on pods that are missing. Callers hold the lock.
func (c *cluster) watch() {
	if c.used == nil || c.config == nil || c.ctx.Err() != nil {
		return
	}
	for _, namespace := range c.namespaces() {
		c.start(pods(), namespace)
	}
	for at, f := range c.feeds { // of namespaces that are no longer used
		if at.namespace != "" && !c.used[at.namespace] {
			f.stop()
			delete(c.feeds, at)
			delete(c.synced, at)
			for _, id := range c.known(f) {
				c.forget(f, id)
			}
		}
	}
}

// namespaces are those to be watched; "" for all together. Callers hold the lock.
func (c *cluster) namespaces() []string {
	if !c.narrow {
		return []string{""}
	}
	var out []string
	for namespace := range c.used {
		out = append(out, namespace)
	}
	return out
}

// start watches a kind in a namespace, unless it is watched. Callers hold the lock.
func (c *cluster) start(what watched, namespace string) {
	at := place{what.kind, namespace}
	if c.feeds[at] != nil {
		return
	}
	if c.client == nil {
		client, err := connect(c.config)
		if err != nil {
			c.log.Warn("instances are not watched", "cluster", c.config.Host, "err", err)
			return
		}
		c.client = client
	}
	f := &feed{watched: what, namespace: namespace, of: c}
	f.ctx, f.stop = context.WithCancel(c.ctx)
	c.feeds[at] = f
	client := c.client
	c.wait.Go(func() { f.run(client) })
}

func connect(config *rest.Config) (*stream.Client, error) {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	return stream.NewClient(config, httpClient)
}

// refused is called if the agent may not see what a feed watches. Where that was all namespaces, it looks at each.
func (c *cluster) refused(f *feed, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.feeds[place{f.kind, f.namespace}] != f {
		return
	}
	if f.namespace != "" || c.narrow {
		if c.denied[place{f.kind, f.namespace}] == 0 {
			c.log.Warn("the agent may not watch the objects of instances: grant its service account list and watch on it",
				"what", f.where(), "err", err)
		}
		c.wait.Go(func() { c.again(f) })
		return
	}
	c.log.Info("instances are watched in each namespace: the agent may not watch them in all", "cluster", c.config.Host)
	c.narrow = true
	c.halt()
	c.watch()
}

// again begins a watch that was refused once more, after a pause.
func (c *cluster) again(f *feed) {
	at := place{f.kind, f.namespace}
	c.mu.Lock()
	pause := min(c.pause<<min(c.denied[at], 20), longestDeniedPause)
	c.denied[at]++
	c.mu.Unlock()
	timer := time.NewTimer(clock.About(pause))
	defer timer.Stop()
	select {
	case <-c.ctx.Done():
		return
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.feeds[at] == f && c.used != nil && c.ctx.Err() == nil {
		delete(c.feeds, at)
		c.start(f.watched, f.namespace)
	}
}

// found collects the Applications that an object and its owners belong to. Callers hold the lock. A chain that ends at a
// kind that others may own has that kind watched.
func (c *cluster) found(key object.Key, apps map[string]bool) {
	top, mine := key, false
	c.forest.above(key, func(k object.Key) bool {
		top = k
		if rec, tracked, _ := c.objects.Get(k); tracked && rec.App != "" {
			apps[rec.App], mine = true, true
		}
		return !mine
	})
	if mine || c.used == nil {
		return
	}
	if what, ok := owners(top.GroupKind()); ok {
		for _, namespace := range c.namespaces() {
			c.start(what, namespace)
		}
	}
}

// put takes an object of a feed.
func (c *cluster) put(f *feed, s *seen) {
	c.mu.Lock()
	apps := map[string]bool{}
	if f.ctx.Err() == nil {
		c.set(f, s, apps)
	}
	c.mu.Unlock()
	c.tell(apps)
}

// set keeps an object, and collects whom that concerns. Callers hold the lock.
func (c *cluster) set(f *feed, s *seen, apps map[string]bool) {
	id := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	key := f.key(s.Namespace, s.Name)
	if f.kind.Kind == "Pod" {
		if was, known := c.forest.pods[id]; known && was.owner != s.pod.owner {
			c.found(key, apps)
		}
		if c.forest.setPod(id, s.pod) {
			c.found(key, apps)
		}
		return
	}
	if c.forest.parents[key] == s.owner {
		return
	}
	before := map[string]bool{}
	c.found(key, before)
	c.forest.setParent(key, s.owner)
	if len(c.forest.children[key]) > 0 { // else it has no pods, and nothing is reported
		for app := range before {
			apps[app] = true
		}
		c.found(key, apps)
	}
}

// drop takes an object of a feed out.
func (c *cluster) drop(f *feed, id types.NamespacedName) {
	c.mu.Lock()
	apps := map[string]bool{}
	if f.ctx.Err() == nil {
		c.remove(f, id, apps)
	}
	c.mu.Unlock()
	c.tell(apps)
}

// remove forgets an object, and collects whom that concerns. Callers hold the lock.
func (c *cluster) remove(f *feed, id types.NamespacedName, apps map[string]bool) {
	key := f.key(id.Namespace, id.Name)
	if f.kind.Kind == "Pod" || len(c.forest.children[key]) > 0 {
		c.found(key, apps)
	}
	c.forget(f, id)
}

// forget takes an object out. Callers hold the lock.
func (c *cluster) forget(f *feed, id types.NamespacedName) {
	if f.kind.Kind == "Pod" {
		c.forest.dropPod(id)
	} else {
		c.forest.setParent(f.key(id.Namespace, id.Name), object.Key{})
	}
}

// replace makes what is known of a feed exactly a list.
func (c *cluster) replace(f *feed, list []*seen) {
	c.mu.Lock()
	apps := map[string]bool{}
	if f.ctx.Err() == nil {
		listed := make(map[types.NamespacedName]bool, len(list))
		for _, s := range list {
			listed[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = true
			c.set(f, s, apps)
		}
		for _, id := range c.known(f) {
			if !listed[id] {
				c.remove(f, id, apps)
			}
		}
		if f.kind.Kind == "Pod" {
			c.synced[place{f.kind, f.namespace}] = true
		}
	}
	c.mu.Unlock()
	c.tell(apps)
}

// known lists what is known of a feed. Callers hold the lock.
func (c *cluster) known(f *feed) []types.NamespacedName {
	var out []types.NamespacedName
	add := func(namespace, name string) {
		if f.namespace == "" || f.namespace == namespace {
			out = append(out, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	if f.kind.Kind == "Pod" {
		for id := range c.forest.pods {
			add(id.Namespace, id.Name)
		}
		return out
	}
	for key := range c.forest.parents {
		if key.GroupKind() == f.kind {
			add(key.Namespace, key.Name)
		}
	}
	return out
}
