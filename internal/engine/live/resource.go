package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

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
type UnknownKindError struct {
	Kind    object.Kind
	Version string   // what was asked for
	Served  []string // versions that the cluster has, if any
}

func (e *UnknownKindError) Error() string {
	if len(e.Served) > 0 {
		return fmt.Sprintf("the cluster serves %s at version %s, not %s: change apiVersion in the manifest",
			e.Kind, strings.Join(e.Served, ", "), e.Version)
	}
	return fmt.Sprintf("the cluster does not know kind %s: install its CustomResourceDefinition first, or correct apiVersion and kind in the manifest", e.Kind)
}

// catalog is what a cluster's discovery says, reduced to what the engine asks.
type catalog struct {
	client discovery.DiscoveryInterface

	mu       sync.Mutex
	kinds    map[object.Kind]Resource // nil: not asked yet, or outdated
	versions []string                 // "apps/v1", "apps/v1/Deployment"; sorted
	server   string
}

func newCatalog(cfg *rest.Config) (*catalog, error) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	return &catalog{client: client}, nil
}

// invalidate makes the next question ask the cluster again.
func (c *catalog) invalidate() {
	c.mu.Lock()
	c.kinds = nil
	c.mu.Unlock()
}

func (c *catalog) load(ctx context.Context) (map[object.Kind]Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds != nil {
		return c.kinds, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	info, err := c.client.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask the API server for its version: %w", err)
	}
	_, lists, err := c.client.ServerGroupsAndResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("ask the API server for its kinds: %w", err)
	}
	kinds := map[object.Kind]Resource{}
	var versions []string
	for _, list := range lists {
		group, version := object.SplitAPIVersion(list.GroupVersion)
		versions = append(versions, list.GroupVersion)
		for _, r := range list.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			versions = append(versions, list.GroupVersion+"/"+r.Kind)
			kind := object.Kind{Group: group, Kind: r.Kind}
			res, ok := kinds[kind]
			if !ok { // versions of a group come in order of preference
				res = Resource{
					Kind: kind, Version: version, Plural: r.Name, Namespaced: r.Namespaced,
					Watchable: slices.Contains(r.Verbs, "watch") && slices.Contains(r.Verbs, "list"),
				}
			}
			res.Versions = append(res.Versions, version)
			kinds[kind] = res
		}
	}
	slices.Sort(versions)
	c.kinds, c.versions, c.server = kinds, slices.Compact(versions), info.GitVersion
	return kinds, nil
}

// find returns how kind is reached; version may be empty for any.
func (c *catalog) find(ctx context.Context, kind object.Kind, version string) (Resource, error) {
	kinds, err := c.load(ctx)
	if err != nil {
		return Resource{}, err
	}
	res, ok := kinds[kind]
	if !ok {
		return Resource{}, &UnknownKindError{Kind: kind, Version: version}
	}
	if version != "" && !slices.Contains(res.Versions, version) {
		return Resource{}, &UnknownKindError{Kind: kind, Version: version, Served: res.Versions}
	}
	return res, nil
}
