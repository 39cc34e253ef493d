// Package instance knows the pods of Applications: which there are, whether they are ready, what they run. It watches
// pods, and what stands between them and an Application's objects, in clusters that Applications deploy workloads to, and
// keeps some hundred bytes of each. Where nothing changes it does nothing.
package instance

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Config is what a Reporter is made of.
type Config struct {
	// Changed is called for an Application whose pods may have changed, at most once in a Pause. It must not block.
	Changed func(app types.NamespacedName)
	// Instance is the name of an Application in tracking marks, and Application the opposite.
	Instance    func(app types.NamespacedName) string
	Application func(instance string) (types.NamespacedName, bool)
	// Pause is between two words about the same Application; 0: a second.
	Pause time.Duration
	Log   *slog.Logger
}

// Reporter knows the pods of Applications. Make it with New and Close it; it is safe for concurrent use.
type Reporter struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // watches live as long as it
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu       sync.Mutex
	clusters map[string]*cluster
	uses     map[types.NamespacedName]use
	told     map[types.NamespacedName]*word
}

// use is where an Application has workloads.
type use struct {
	cluster    string
	namespaces []string // sorted
}

// word is when an Application was reported last, and what reports it next; nil for nothing.
type word struct {
	at    time.Time
	timer *time.Timer
}

// defaultPause is the Pause where Config has none.
const defaultPause = time.Second

// New makes a Reporter that watches nothing yet.
func New(cfg Config) *Reporter {
	if cfg.Pause == 0 {
		cfg.Pause = defaultPause
	}
	r := &Reporter{cfg: cfg, clusters: map[string]*cluster{}, uses: map[types.NamespacedName]use{}, told: map[types.NamespacedName]*word{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Close ends all watches and waits for them.
func (r *Reporter) Close() {
	r.cancel()
	r.mu.Lock()
	for _, w := range r.told {
		if w.timer != nil {
			w.timer.Stop()
		}
	}
	r.mu.Unlock()
	r.wait.Wait()
}

// at returns a cluster. Callers hold the lock.
func (r *Reporter) at(key string) *cluster {
	c := r.clusters[key]
	if c == nil {
		c = newCluster(r.ctx, r.tellInstances, &r.wait, r.cfg.Log)
		r.clusters[key] = c
	}
	return c
}

// Open says how a cluster is reached, and what Applications have there; again where that has changed. It asks the
// cluster nothing itself.
func (r *Reporter) Open(key string, config *rest.Config, objects Objects) {
	r.mu.Lock()
	c := r.at(key)
	r.mu.Unlock()
	c.open(config, objects)
}

// Use says in which namespaces of a cluster an Application has objects that may have pods; "" for no cluster, where it
// has none or is gone.
func (r *Reporter) Use(app types.NamespacedName, key string, namespaces []string) {
	now := use{key, slices.Compact(slices.Sorted(slices.Values(namespaces)))}
	r.mu.Lock()
	was, known := r.uses[app]
	changed := was.cluster != now.cluster || !slices.Equal(was.namespaces, now.namespaces)
	if key == "" {
		delete(r.uses, app)
	} else {
		r.uses[app] = now
	}
	if changed {
		for _, key := range []string{was.cluster, now.cluster} {
			if key != "" {
				r.at(key).use(r.used(key))
			}
		}
	}
	r.mu.Unlock()
	if known || key != "" {
		r.touch(app)
	}
}

// used are the namespaces of a cluster in which Applications have workloads; nil for none. Callers hold the lock.
func (r *Reporter) used(key string) map[string]bool {
	var out map[string]bool
	for _, u := range r.uses {
		if u.cluster != key {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		for _, namespace := range u.namespaces {
			out[namespace] = true
		}
	}
	return out
}

// Moved says that an object of an Application appeared or is gone.
func (r *Reporter) Moved(instance string) { r.tellInstances(map[string]bool{instance: true}) }

// tellInstances reports Applications by their names in tracking marks.
func (r *Reporter) tellInstances(instances map[string]bool) {
	for instance := range instances {
		app, ok := r.cfg.Application(instance)
		if !ok {
			continue
		}
		r.mu.Lock()
		_, used := r.uses[app]
		r.mu.Unlock()
		if used {
			r.touch(app)
		}
	}
}

// touch reports an Application: now, or a Pause after its last report.
func (r *Reporter) touch(app types.NamespacedName) {
	r.mu.Lock()
	w := r.told[app]
	if w == nil {
		w = &word{}
		r.told[app] = w
	}
	now := time.Now()
	wait := r.cfg.Pause - now.Sub(w.at)
	switch {
	case w.timer != nil || r.ctx.Err() != nil:
		r.mu.Unlock()
		return
	case wait > 0 && !w.at.IsZero():
		w.timer = time.AfterFunc(wait, func() { r.tell(app) })
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	r.tell(app)
}

func (r *Reporter) tell(app types.NamespacedName) {
	r.mu.Lock()
	if w := r.told[app]; w != nil {
		w.at, w.timer = time.Now(), nil
	}
	if _, used := r.uses[app]; !used {
		delete(r.told, app)
	}
	closed := r.ctx.Err() != nil
	r.mu.Unlock()
	if !closed {
		r.cfg.Changed(app)
	}
}

// Apps lists the Applications that have pods; false while a cluster has not listed all of its pods yet.
func (r *Reporter) Apps() ([]types.NamespacedName, bool) {
	r.mu.Lock()
	uses := maps.Clone(r.uses)
	r.mu.Unlock()
	var out []types.NamespacedName
	all := true
	for app := range uses {
		has, ready := false, false
		if c := r.of(app); c != nil {
			has, ready = c.any(r.cfg.Instance(app))
		}
		all = all && ready
		if has {
			out = append(out, app)
		}
	}
	return out, all
}

// of is the cluster that an Application has workloads in; nil for none.
func (r *Reporter) of(app types.NamespacedName) *cluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, used := r.uses[app]
	if !used {
		return nil
	}
	return r.clusters[u.cluster]
}

// Instances are the pods of an Application; nil for none.
func (r *Reporter) Instances(app types.NamespacedName) *agentapi.Instances {
	c := r.of(app)
	if c == nil {
		return nil
	}
	out := c.instances(r.cfg.Instance(app))
	if out.Total == 0 {
		return nil
	}
	return &out
}

// any reports whether an Application has pods, and whether the cluster has listed all of them.
func (c *cluster) any(instance string) (has, ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready = c.config != nil && c.used != nil
	for _, namespace := range c.namespaces() {
		ready = ready && c.synced[place{pods().kind, namespace}]
	}
	c.each(instance, func(types.NamespacedName, pod, string) { has = true })
	return has, ready
}

// each calls visit for each pod of an Application that is not over, once, with the object that it belongs to. Callers
// hold the lock.
func (c *cluster) each(instance string, visit func(types.NamespacedName, pod, string)) {
	if c.objects == nil || len(c.forest.pods) == 0 {
		return
	}
	met := map[types.NamespacedName]bool{}
	for _, rec := range c.objects.Owned(instance) {
		c.forest.below(rec.Key, func(id types.NamespacedName, p pod) {
			if !met[id] && !p.over {
				met[id] = true
				visit(id, p, rec.Key.Kind+"/"+rec.Key.Name)
			}
		})
	}
}

// maxBytes bounds the texts of the pods that are named, so that the item fits.
const maxBytes = agentapi.MaxItem - 96<<10

func (c *cluster) instances(instance string) agentapi.Instances {
	var out agentapi.Instances
	c.mu.Lock()
	c.each(instance, func(id types.NamespacedName, p pod, owner string) {
		out.Total++
		if p.ready {
			out.Ready++
		}
		one := agentapi.Instance{
			Namespace: id.Namespace, Pod: id.Name, Ready: p.ready, Phase: p.phase.Value(), Node: p.node.Value(), Owner: owner,
		}
		if images := p.images.Value(); images != "" {
			one.Images = strings.Split(images, imageBreak)
		}
		if p.started != 0 {
			one.StartedAt = time.Unix(p.started, 0).UTC()
		}
		out.Instances = append(out.Instances, one)
	})
	c.mu.Unlock()
	slices.SortFunc(out.Instances, func(a, b agentapi.Instance) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Pod, b.Pod))
	})
	size, named := 0, 0
	for _, one := range out.Instances {
		size += 120 + len(one.Namespace) + len(one.Pod) + len(one.Node) + len(one.Owner)
		for _, image := range one.Images {
			size += 4 + len(image)
		}
		if size > maxBytes || named == agentapi.MaxInstances {
			break
		}
		named++
	}
	out.Instances = out.Instances[:named:named]
	return out
}
