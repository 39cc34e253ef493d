package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Resource says how a kind is reached on one cluster.
type Resource struct {
	Kind       object.Kind
	Version    string   // the version that the cluster prefers; live state is read at this version
	Versions   []string // all served versions
	Plural     string
	Namespaced bool
	Watchable  bool // list and watch are supported
}

// Path returns the REST path of one object, or of the collection when name is empty.
func (r Resource) Path(version, namespace, name string) string {
	var b strings.Builder
	if r.Kind.Group == "" {
		b.WriteString("/api/" + version)
	} else {
		b.WriteString("/apis/" + r.Kind.Group + "/" + version)
	}
	if r.Namespaced && namespace != "" {
		b.WriteString("/namespaces/" + namespace)
	}
	b.WriteString("/" + r.Plural)
	if name != "" {
		b.WriteString("/" + name)
	}
	return b.String()
}

// UnknownKindError says that a cluster does not know a kind, or not at that version.
type UnknownKindError = object.UnknownKindError

// catalog is what a cluster's discovery says, reduced to what the engine asks.
type catalog struct {
	client *discovery.DiscoveryClient

	mu      sync.Mutex
	known   *kinds                   // nil: not asked yet, or outdated
	last    *kinds                   // the last answer, outdated or not; nil: there was none
	asking  *question                // under way; nil: none
	failed  error                    // of the last question, if it failed
	askedAt time.Time                // when the last question ended
	edition int                      // grows with each invalidate
	absent  map[absentKind]time.Time // asked for and not there, and when last
	lacking atomic.Bool              // absent has something in it
	defined *definitions
}

// kinds is one answer of discovery. It is immutable.
type kinds struct {
	resources map[object.Kind]Resource
	plurals   map[reached]bool // whether objects have a namespace
	versions  []string         // "apps/v1", "apps/v1/Deployment"; sorted
	server    string
}

// reached is a kind as paths name it.
type reached struct{ group, plural string }

// question is one request for discovery, which many may wait for.
type question struct {
	done  chan struct{}
	known *kinds // valid after done
	err   error
}

const (
	// discoveryTimeout bounds each request for discovery.
	discoveryTimeout = 10 * time.Second
	// askPause is how long a failure stands before the cluster is asked again, and how old an answer must be before
	// a kind that is not in it makes us ask again: an API server that starts does not list all of its kinds immediately.
	askPause = 5 * time.Second
)

func newCatalog(cfg *rest.Config) (*catalog, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = discoveryTimeout
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	return &catalog{client: client, absent: map[absentKind]time.Time{}, defined: newDefinitions()}, nil
}

// invalidate makes the next question ask the cluster again. One that is under way may have been answered from before
// the change, so no caller joins it any more.
func (c *catalog) invalidate() {
	c.mu.Lock()
	c.known, c.asking = nil, nil
	c.edition++
	c.mu.Unlock()
}

// load returns what is known, or asks the cluster. Of those who need it one asks and the others wait; when the
// question before had no answer they do not wait but fail, so that a cluster that hangs holds up one of them alone.
func (c *catalog) load(ctx context.Context) (*kinds, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	if known := c.known; known != nil {
		c.mu.Unlock()
		return known, nil
	}
	if c.failed != nil && (c.asking != nil || time.Since(c.askedAt) < askPause) {
		defer c.mu.Unlock()
		return nil, c.failed
	}
	q := c.asking
	if q != nil {
		c.mu.Unlock()
		select {
		case <-q.done:
			return q.known, q.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	q = &question{done: make(chan struct{})}
	c.asking = q
	c.mu.Unlock()
	q.known, q.err = c.ask()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed, c.askedAt = q.err, time.Now()
	if c.asking == q {
		c.known, c.asking = q.known, nil
	}
	close(q.done)
	return q.known, q.err
}

func (c *catalog) ask() (*kinds, error) {
	info, err := insist(c.client.ServerVersion)
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	var groups []*metav1.APIGroup
	lists, err := insist(func() (lists []*metav1.APIResourceList, err error) {
		groups, lists, err = c.client.ServerGroupsAndResources()
		return lists, err
	})
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask the API server for its kinds: %w", err)
	}
	byPreference(groups, lists)
	resources, plurals := map[object.Kind]Resource{}, map[reached]bool{}
	var versions []string
	for _, list := range lists {
		group, version := object.SplitAPIVersion(list.GroupVersion)
		versions = append(versions, list.GroupVersion)
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			versions = append(versions, list.GroupVersion+"/"+r.Kind)
			plurals[reached{group, r.Name}] = r.Namespaced
			kind := object.Kind{Group: group, Kind: r.Kind}
			res, ok := resources[kind]
			if !ok { // the version that the cluster prefers comes first
				res = Resource{
					Kind: kind, Version: version, Plural: r.Name, Namespaced: r.Namespaced,
					Watchable: slices.Contains(r.Verbs, "watch") && slices.Contains(r.Verbs, "list"),
				}
			}
			res.Versions = append(res.Versions, version)
			resources[kind] = res
		}
	}
	slices.Sort(versions)
	known := &kinds{resources: resources, plurals: plurals, versions: slices.Compact(versions), server: info.GitVersion}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = known
	return known, nil
}

// byPreference orders lists of kinds by how the API server prefers their versions: discovery returns them in any order. Were a
// kind read at another version than it is written at, what others do to it would count as drift.
func byPreference(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) {
	rank := map[string]int{}
	for _, g := range groups {
		for i, v := range g.Versions {
			rank[v.GroupVersion] = i + 1
		}
		rank[g.PreferredVersion.GroupVersion] = 0
	}
	slices.SortFunc(lists, func(a, b *metav1.APIResourceList) int {
		return cmp.Or(cmp.Compare(rank[a.GroupVersion], rank[b.GroupVersion]), cmp.Compare(a.GroupVersion, b.GroupVersion))
	})
}

// maxUnauthorized is how often a question is asked that is answered with 401.
const maxUnauthorized = 5

// insist asks again where the credentials are refused: a token that has just expired is renewed by that very answer.
func insist[T any](ask func() (T, error)) (answer T, err error) {
	for range maxUnauthorized {
		if answer, err = ask(); !unauthorized(err) {
			break
		}
	}
	return answer, err
}

// unauthorized also looks into an answer that lacks some groups: which of them are asked for last is chance.
func unauthorized(err error) bool {
	var lacks *discovery.ErrGroupDiscoveryFailed
	if errors.As(err, &lacks) {
		for _, of := range lacks.Groups {
			if apierrors.IsUnauthorized(of) {
				return true
			}
		}
	}
	return apierrors.IsUnauthorized(err)
}

// reach reports whether objects of a kind have a namespace; known is false where the last answer does not have the kind.
func (c *catalog) reach(group, plural string) (namespaced, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		return false, false
	}
	namespaced, known = c.last.plurals[reached{group, plural}]
	return namespaced, known
}

// find returns how kind is reached; version may be empty for any.
func (c *catalog) find(ctx context.Context, kind object.Kind, version string) (Resource, error) {
	res, err := c.seek(ctx, kind, version)
	var unknown *UnknownKindError
	if lacks := errors.As(err, &unknown); lacks || err == nil {
		c.noteAbsent(kind, version, !lacks)
	}
	return res, err
}

func (c *catalog) seek(ctx context.Context, kind object.Kind, version string) (Resource, error) {
	known, err := c.load(ctx)
	if err != nil {
		return Resource{}, err
	}
	res, unknown := known.find(kind, version)
	if unknown == nil || !c.forget(known) {
		return res, unknown
	}
	if known, err = c.load(ctx); err != nil {
		return Resource{}, err
	}
	return known.find(kind, version)
}

// forget drops an answer that is not quite new, and reports whether it did.
func (c *catalog) forget(known *kinds) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == known && time.Since(c.askedAt) > askPause {
		c.known, c.asking = nil, nil
	}
	return c.known != known
}

func (k *kinds) find(kind object.Kind, version string) (Resource, error) {
	res, ok := k.resources[kind]
	if !ok {
		return Resource{}, &UnknownKindError{Kind: kind, Version: version}
	}
	if version != "" && !slices.Contains(res.Versions, version) {
		return Resource{}, &UnknownKindError{Kind: kind, Version: version, Served: res.Versions}
	}
	return res, nil
}
