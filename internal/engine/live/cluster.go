// Package live keeps what the engine must know of one cluster's objects: lean records by key and by application, fed
// by watches on the kinds that applications use, and by the answers to our own applies. A record carries the print of
// the fields that we own, so that drift is seen without content and without asking the API server.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Cluster is the live state of one destination cluster. It is safe for concurrent use.
type Cluster struct {
	Server   string          // API server URL, or the in-cluster name
	Tracking object.Tracking // how its objects are marked
	API      API             // what the API server is

	excluded *diff.Exclusions
	limits   object.Limits
	omits    omissions

	log     *slog.Logger
	catalog *catalog
	stream  *stream.Client
	index   *index
	timeout time.Duration // for the first list of a kind
	look    time.Duration // between two looks that need no event
	grace   time.Duration // until what a look found counts as missed
	missed  func(wait string)

	ctx    context.Context //nolint:containedctx // ends with the Cluster; watches live as long as it
	cancel context.CancelFunc
	wait   sync.WaitGroup

	mu      sync.Mutex
	watches map[object.Kind]*watchers
}

// Config is the connection to a cluster and its callbacks.
type Config struct {
	Server string
	REST   *rest.Config
	Log    *slog.Logger
	// Notify is called for every change that concerns an application. It must not block.
	Notify func(Event)
	// KindsChanged is called when kinds were added to or removed from the cluster. It must not block.
	KindsChanged func()
	// Missed is called when a look that needs no event found what an event should have reported; nil for none.
	Missed func(wait string)
	// Tracking is how objects are marked as those of an Application.
	Tracking object.Tracking
	// Excluded are the kinds that are left alone, of which nothing is watched; nil for the standard.
	Excluded *diff.Exclusions
	// Limits are the parts of the cluster that may be looked at. With them, nothing is asked of the whole cluster but its kinds.
	Limits object.Limits
	// Lenient says what becomes of kinds that the credentials may not list.
	Lenient Lenience
	// Shadow is for an engine that writes nothing: any change of an object but of its status is reported as drift.
	Shadow bool
	// Health judges objects where users have scripts for that; nil where they have none.
	Health *health.Assessor

	look time.Duration // for tests: the time between two looks that need no event
}

// firstList is how long the first list of a kind may take before the applications that need it get an error. The
// watch goes on trying behind it.
const firstList = 30 * time.Second

// Open makes the live state of a cluster. Nothing is asked of the cluster until an application needs it.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	cat, err := newCatalog(cfg.REST)
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(cfg.REST)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client for %s: %w", cfg.Server, err)
	}
	return open(ctx, cfg, cat, httpClient)
}

func open(ctx context.Context, cfg Config, cat *catalog, httpClient *http.Client) (*Cluster, error) {
	feed, err := stream.NewClient(cfg.REST, httpClient)
	if err != nil {
		return nil, fmt.Errorf("make client for %s: %w", cfg.Server, err)
	}
	c := &Cluster{
		Server: cfg.Server, Tracking: cfg.Tracking, excluded: cfg.Excluded, limits: cfg.Limits, omits: omissions{how: cfg.Lenient},
		API: API{cat}, log: cfg.Log, catalog: cat, stream: feed,
		index: newIndex(cfg.Notify), timeout: firstList, watches: map[object.Kind]*watchers{}, look: cfg.look,
		grace: eventGrace, missed: cfg.Missed,
	}
	if c.look == 0 {
		c.look = kindsLook
		if !c.limits.Cluster() {
			c.look = kindsLookAlone
		}
	}
	if c.missed == nil {
		c.missed = func(string) {}
	}
	c.index.scripts, c.index.tracking, c.index.shadow = cfg.Health, cfg.Tracking, cfg.Shadow
	c.index.apart = c.limits.Any()
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.watchKinds(cfg.KindsChanged)
	return c, nil
}

// Close ends all watches and waits for them.
func (c *Cluster) Close() {
	c.cancel()
	c.wait.Wait()
}

// Find returns how a kind is reached; version may be empty. An unknown kind fails with *UnknownKindError.
func (c *Cluster) Find(ctx context.Context, kind object.Kind, version string) (Resource, error) {
	return c.catalog.find(ctx, kind, version)
}

// Version returns the API version at which the objects of a kind are watched, without its group; "" for a kind that is not
// watched.
func (c *Cluster) Version(kind object.Kind) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watches[kind]; w != nil {
		return w.res.Version
	}
	return ""
}

// Excludes reports whether the settings leave a kind alone on this cluster: nothing of it is created, compared, deleted or watched.
func (c *Cluster) Excludes(kind object.Kind) bool { return c.excluded.Excludes(kind, c.Server) }

// Exclusions identifies what Excludes goes by: equal settings have equal ids.
func (c *Cluster) Exclusions() string { return c.excluded.ID() }

// ForgetKinds makes the next Find ask the cluster again.
func (c *Cluster) ForgetKinds() { c.catalog.invalidate() }

// Capabilities returns the server's version ("v1.36.3") and its API versions and kinds, sorted.
func (c *Cluster) Capabilities(ctx context.Context) (version string, apis []string, err error) {
	known, err := c.catalog.load(ctx)
	if err != nil {
		return "", nil, err
	}
	return known.server, known.versions, nil
}

// Watch makes sure that live state of a kind is complete: it starts the watch and waits for its first list where
// needed. A kind that cannot be watched (it has no list) is an error.
func (c *Cluster) Watch(ctx context.Context, res Resource) error {
	w, err := c.watcher(res)
	if err != nil {
		return err
	}
	return w.await(ctx, c.timeout)
}

// Reach reports whether objects of a kind have a namespace, by what is known of the cluster; known is false for a kind of which
// nothing is known. It asks nothing of the cluster.
func (c *Cluster) Reach(group, plural string) (namespaced, known bool) {
	return c.catalog.reach(group, plural)
}

func (c *Cluster) watcher(res Resource) (*watchers, error) {
	if c.Excludes(res.Kind) {
		return nil, fmt.Errorf("kind %s is not watched: argocd-cm excludes it (%s, %s)", res.Kind, diff.KeyExclusions, diff.KeyInclusions)
	}
	if !res.Watchable {
		return nil, fmt.Errorf("kind %s cannot be listed and watched, so it cannot be managed: remove it from the source", res.Kind)
	}
	if !res.Namespaced && !c.limits.Cluster() {
		return nil, c.limits.Permits(object.Key{Group: res.Kind.Group, Kind: res.Kind.Kind, Name: "*"})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watches[res.Kind]; w != nil {
		return w, nil
	}
	if c.ctx.Err() != nil {
		return nil, errors.New("the cluster connection is closed")
	}
	w := newWatchers(c, res)
	c.watches[res.Kind] = w
	for _, one := range w.each {
		c.wait.Go(func() { one.run(w.ctx) })
	}
	return w, nil
}

// Knows reports whether objects of a kind have a health.
func (c *Cluster) Knows(group, kind string) bool {
	if c.index.scripts != nil {
		return c.index.scripts.Knows(group, kind)
	}
	return health.Knows(group, kind)
}

// Assess judges an object, as the scripts of users see it where they have some. It reports false where nothing is known about it.
func (c *Cluster) Assess(obj map[string]any) (health.Result, bool) {
	if c.index.scripts != nil {
		return c.index.scripts.Assess(obj)
	}
	return health.Assess(obj)
}

// Get returns the record of a tracked object. foreign is true when an object of that name exists that no Application
// tracks; of that one the record has the version alone.
func (c *Cluster) Get(key object.Key) (rec Record, tracked, foreign bool) { return c.index.get(key) }

// Owned returns the objects that name the application in their tracking annotation, sorted by key.
func (c *Cluster) Owned(app string) []Record { return c.index.owned(app) }

// Applied records the API server's answer to an apply of a manifest with hash wanted, and returns the new record.
// The answer must be at res.Version, the version that the watch reads.
func (c *Cluster) Applied(res Resource, obj map[string]any, wanted uint64) Record {
	fields, _ := diff.OwnedFields(obj, Manager)
	return c.index.applied(res.Kind, obj, fields, wanted)
}

// Settle gives an object the fingerprint of a manifest that a comparison found it to match at resourceVersion version.
func (c *Cluster) Settle(key object.Key, version, wanted uint64) {
	c.index.settle(key, version, wanted)
}

// Unsettle forgets what was applied to the objects of an Application, and keeps what they are.
func (c *Cluster) Unsettle(app string) { c.index.unsettle(app) }

// Claim notes that app wants the object, so that it hears when the object appears or goes. It returns the other
// application that claimed it first, or "".
func (c *Cluster) Claim(key object.Key, app string) (other string) { return c.index.claim(key, app) }

// Await notes that app waits for an object of another application; it hears when the object or the claim is gone.
func (c *Cluster) Await(key object.Key, app string) { c.index.rival(key, app) }

// Release drops a claim of app.
func (c *Cluster) Release(key object.Key, app string) { c.index.release(key, app) }

// Stats counts what the index holds.
type Stats struct {
	Kinds   int // kinds watched
	Tracked int // objects with a record
	Foreign int // objects known to exist only
}

// Stats returns the sizes of the index.
func (c *Cluster) Stats() Stats {
	c.mu.Lock()
	kinds := len(c.watches)
	c.mu.Unlock()
	c.index.mu.Lock()
	defer c.index.mu.Unlock()
	s := Stats{Kinds: kinds, Tracked: len(c.index.records)}
	for _, of := range c.index.foreign {
		s.Foreign += len(of)
	}
	return s
}

func explainList(kind object.Kind, namespace string, err error) error {
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the agent may not list and watch %s%s: grant its service account get, list and watch on them (%w)", kind, where, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the cluster refuses the agent's credentials: renew them (%w)", err)
	}
	return fmt.Errorf("list %s%s: %w", kind, where, err)
}
