package live

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// kindsCRD is watched on every cluster, by metadata alone: when it changes, the catalog is outdated.
//
//nolint:gochecknoglobals // read-only
var kindsCRD = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// An API server serves a kind some time after its definition says so: within a second as a rule, within a minute where the
// group is new and another part of the server has to notice it. No event reports when.
const (
	// servedWithin is for how long after the last event about a definition the cluster is asked for kinds that are absent.
	servedWithin = 90 * time.Second
	// kindsLookAlone is kindsLook where no event reports definitions.
	kindsLookAlone = 30 * time.Second
	// kindsLook is the time between two looks that need no event, while a kind is absent.
	kindsLook = 5 * time.Minute
	// absentFor is for how long a kind counts as absent that nothing asks for any more.
	absentFor = 2 * kindsLook
)

// WaitKind names the wait for a kind in Config.Missed.
const WaitKind = "kind"

// absentKind is a kind that the cluster did not serve when it was needed.
type absentKind struct {
	object.Kind
	version string // "" for any
}

// definitions knows which groups' definitions changed lately.
type definitions struct {
	mu     sync.Mutex
	groups map[string]time.Time // last change; "" for a change of any group
	wake   chan struct{}
}

func newDefinitions() *definitions {
	return &definitions{groups: map[string]time.Time{}, wake: make(chan struct{}, 1)}
}

// changed notes a definition by its name, which is PLURAL.GROUP.
func (d *definitions) changed(name string) {
	_, group, _ := strings.Cut(name, ".")
	d.mu.Lock()
	for known, at := range d.groups {
		if time.Since(at) > servedWithin {
			delete(d.groups, known)
		}
	}
	d.groups[group] = time.Now()
	d.mu.Unlock()
	d.look()
}

func (d *definitions) look() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// recent reports whether a definition of a group changed so lately that its kinds may not be served yet.
func (d *definitions) recent(group string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, any := d.groups[group], d.groups[""]
	return time.Since(at) < servedWithin || time.Since(any) < servedWithin
}

// watchKinds keeps the catalog fresh. Where no object of the cluster may be looked at, it goes without events.
func (c *Cluster) watchKinds(changed func()) {
	if changed == nil {
		changed = func() {}
	}
	defined := c.catalog.defined
	if !c.limits.Cluster() {
		c.wait.Go(func() { c.pollKinds(c.ctx, changed) })
		return
	}
	definition := Resource{Kind: object.Kind{Group: kindsCRD.Group}, Plural: kindsCRD.Resource}
	lw := c.stream.Metadata().ListWatch(definition.Path(kindsCRD.Version, "", ""), nil, nil)
	store := &crdStore{generations: map[string]int64{}, changed: func(name string) {
		c.catalog.invalidate()
		changed()
		defined.changed(name)
	}}
	r := cache.NewReflectorWithOptions(lw, nil, store, cache.ReflectorOptions{Name: "kinds", Clock: ClockUntil(c.ctx)})
	c.wait.Go(func() { r.RunWithContext(c.ctx) })
	c.wait.Go(func() { c.followKinds(c.ctx, defined, changed) })
}

// followKinds waits until kinds that are absent are served, and reports it. It asks the cluster after an event about a
// definition, and slowly where no event comes: for a kind of an aggregated API server there is none.
func (c *Cluster) followKinds(ctx context.Context, defined *definitions, changed func()) {
	slow := time.NewTimer(clock.About(c.look))
	defer slow.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-defined.wake:
			c.awaitServed(ctx, defined, changed)
			c.catalog.invalidate() // a concurrent request may have an earlier answer
		case <-slow.C:
			if c.catalog.refresh(nil) {
				c.missed(WaitKind)
				changed()
			}
			slow.Reset(clock.About(c.look))
		}
	}
}

// pollKinds looks for kinds that are absent from time to time, and now and then has all of them asked for again.
func (c *Cluster) pollKinds(ctx context.Context, changed func()) {
	timer := time.NewTimer(clock.About(c.look))
	defer timer.Stop()
	for asked := time.Now(); ; timer.Reset(clock.About(c.look)) {
		select {
		case <-ctx.Done():
			return
		case <-c.catalog.defined.wake: // no definition is seen
			continue
		case <-timer.C:
		}
		if c.catalog.refresh(nil) {
			changed()
		}
		if time.Since(asked) > kindsLook {
			asked = time.Now()
			c.catalog.invalidate()
		}
	}
}

// awaitServed asks the cluster with growing pauses until it serves what is absent of the groups whose definitions changed.
func (c *Cluster) awaitServed(ctx context.Context, defined *definitions, changed func()) {
	backoff := wait.Backoff{Duration: 50 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 100, Cap: 3 * time.Second}
	_ = backoff.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) {
		if c.catalog.refresh(defined.recent) {
			changed()
		}
		return !c.catalog.lacks(defined.recent), nil
	})
}

// noteAbsent remembers whether a kind was there when it was requested.
func (c *catalog) noteAbsent(kind object.Kind, version string, there bool) {
	if there && !c.lacking.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := absentKind{Kind: kind, version: version}
	if there {
		delete(c.absent, of)
		return
	}
	if _, known := c.absent[of]; !known && c.defined.recent(kind.Group) {
		c.defined.look() // its definition is there, and the events about it are over
	}
	c.absent[of] = time.Now()
	c.lacking.Store(true)
}

// lacks reports whether a kind is absent whose group is concerned; nil is for all groups. What is no longer requested is
// forgotten.
func (c *catalog) lacks(concerned func(group string) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	some := false
	for of, at := range c.absent {
		if time.Since(at) > absentFor {
			delete(c.absent, of)
		} else if concerned == nil || concerned(of.Group) {
			some = true
		}
	}
	c.lacking.Store(len(c.absent) > 0)
	return some
}

// refresh asks the cluster for its kinds, where one is absent whose group is concerned, and reports whether one of these is
// served now.
func (c *catalog) refresh(concerned func(group string) bool) bool {
	if !c.lacks(concerned) {
		return false
	}
	c.mu.Lock()
	edition := c.edition
	c.mu.Unlock()
	known, err := c.ask()
	if err != nil {
		return false // users of a kind are notified of it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.edition == edition {
		c.known, c.asking, c.failed, c.askedAt = known, nil, nil, time.Now()
	}
	found := false
	for of := range c.absent {
		if concerned != nil && !concerned(of.Group) {
			continue
		}
		if _, err := known.find(of.Kind, of.version); err == nil {
			delete(c.absent, of)
			found = true
		}
	}
	return found
}
