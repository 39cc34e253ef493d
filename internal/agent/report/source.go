// Package report reports to a server what an agent knows: items, events, how it is, and what operations were.
package report

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/instance"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/veil"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Source is what the server gets: of what the agent knows anyway, as it is when it is sent.
type Source struct {
	Config
	link *link.Link
	sets *setStore
	// instances are the pods of Applications; nil where they are not reported.
	instances  *instance.Reporter
	counts     atomic.Pointer[func(namespace string) bool]
	happenings *happenings
	known      atomic.Pointer[agentapi.Versions]
	speaks     atomic.Bool // this replica reports to the server

	own      reachable // the agent's own API server
	clusters clusterRows

	mu      sync.Mutex
	looked  string            // connections, as last looked at
	entries map[string]parsed // of ConfigMaps with several items
	hide    redaction
}

var _ link.Source = (*Source)(nil)

// Config is what is reported: the parts of an agent.
type Config struct {
	Rest               *rest.Config
	Version, Namespace string          // of the agent
	Engine             agentapi.Engine // that works on the Applications
	Registry           *registry.Registry
	Projects           *place.Projects
	Settings           *place.Settings
	Veil               *veil.Veil // what was decrypted
	Clusters           *place.Clusters
	Pool               *gitsource.Pool
	Artifacts          *artifact.Pool
	Deleters           *verb.Deleters
	Log                *slog.Logger
	Health             func() agentapi.Component                              // of what works on the Applications
	Works              func(registry.Name) bool                               // whether an Application has its turns in this process
	Objects            func(key string, state *live.Cluster) instance.Objects // that Applications have in a cluster
	// Seen is called for every change of an Application, and moved where this replica reports to the server.
	Seen  func(registry.Name)
	Moved func(old, fresh *v1alpha1.Application)
	// Ctx is of what is begun while the agent runs.
	Ctx func() context.Context
}

// parsed are the items of a ConfigMap by name.
type parsed struct {
	edition string
	items   map[string][]byte
}

// New makes the reporter of the parts of an agent.
func New(c Config) *Source {
	s := &Source{
		Config: c, entries: map[string]parsed{},
		clusters: clusterRows{settings: c.Settings, clusters: c.Clusters, applications: c.Registry},
	}
	s.happenings = newHappenings(func(e agentapi.Event) {
		e.Message, e.Reason = s.RedactText(e.Message), s.RedactText(e.Reason)
		s.link.Event(e)
	}, c.Deleters.By)
	s.sets = &setStore{changed: s.setChanged, unready: map[string]bool{}, raw: map[registry.Name][]byte{}}
	return s
}

// Begin has l report what there is to report.
func (s *Source) Begin(l *link.Link) { s.link = l }

// Speak says whether this replica is the one that reports to the server.
func (s *Source) Speak(does bool) { s.speaks.Store(does) }

// Flush reports what is held back because it repeats.
func (s *Source) Flush() { s.happenings.damp.FlushAll() }

// Watch starts the watches that are for the server alone, in the namespaces of the Applications that count.
func (s *Source) Watch(ctx context.Context, g *errgroup.Group, c *registry.Client, namespaces []string, counts func(string) bool) {
	s.counts.Store(&counts)
	for _, namespace := range namespaces {
		s.sets.watch(ctx, g, c, namespace, counts)
	}
}

// ToServer begins to report everything that there is.
func (s *Source) ToServer(ctx context.Context) {
	s.Speak(true)
	s.Registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		s.reach(ctx, app)
		s.UseInstances(id, app)
	})
}

func itemKey(kind agentapi.ItemKind, namespace, called string) agentapi.Key {
	return agentapi.Key{Kind: kind, Namespace: namespace, Name: called}
}

// ApplicationMoved reports an Application that appeared, changed or went.
func (s *Source) ApplicationMoved(old, fresh *v1alpha1.Application) {
	app := fresh
	if app == nil {
		app = old
	}
	id := registry.NameOf(app)
	s.Seen(id)
	if !s.speaks.Load() {
		return // the replica that does reports it
	}
	s.link.Changed(itemKey(agentapi.ItemApplication, app.Namespace, app.Name))
	s.reach(s.Ctx(), fresh)
	s.UseInstances(id, fresh)
	s.Moved(old, fresh)
	s.happenings.moved(old, fresh)
	if fresh == nil {
		s.Deleters.Forget(old.UID)
	}
}

// ProjectMoved reports a project that appeared, changed or went.
func (s *Source) ProjectMoved(called string) {
	s.link.Changed(itemKey(agentapi.ItemArgoProject, s.Namespace, called))
}

func (s *Source) setChanged(id registry.Name) {
	if id == (registry.Name{}) {
		s.link.Rescan(agentapi.ItemApplicationSet)
		return
	}
	s.link.Changed(itemKey(agentapi.ItemApplicationSet, id.Namespace, id.Name))
}

// SettingsChanged reports all changes of settings.
func (s *Source) SettingsChanged() {
	if s != nil {
		s.link.Rescan(agentapi.ItemRepository, agentapi.ItemRepoCreds, agentapi.ItemCluster, agentapi.ItemCertificate, agentapi.ItemGPGKey)
	}
}

// lookAtConnections reports repositories that can be reached no more, or again, and the condition of clusters.
func (s *Source) lookAtConnections() {
	var b strings.Builder
	for _, r := range s.followed() {
		if err := r.Err(); err != nil {
			fmt.Fprintf(&b, "%s %v\n", r.Scope(), err)
		}
	}
	s.mu.Lock()
	news := b.String() != s.looked
	s.looked = b.String()
	s.mu.Unlock()
	if news {
		s.link.Rescan(agentapi.ItemRepository)
	}
	if s.clusters.look(s.clusters.now(), time.Now()) {
		s.link.Rescan(agentapi.ItemCluster)
	}
}

// secretKind is the value of the secret-type label for a kind of items.
func secretKind(kind agentapi.ItemKind) string {
	switch kind {
	case agentapi.ItemRepository:
		return v1alpha1.SecretTypeRepository
	case agentapi.ItemRepoCreds:
		return v1alpha1.SecretTypeRepoCreds
	case agentapi.ItemCluster:
		return v1alpha1.SecretTypeCluster
	}
	return ""
}

// Keys implements link.Source.
func (s *Source) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) {
	var out []agentapi.Key
	switch kind {
	case agentapi.ItemApplication:
		s.Registry.Each(func(id registry.Name, _ *v1alpha1.Application) {
			out = append(out, itemKey(kind, id.Namespace, id.Name))
		})
	case agentapi.ItemApplicationSet:
		names, ready := s.sets.names()
		if !ready {
			return nil, false
		}
		for _, id := range names {
			out = append(out, itemKey(kind, id.Namespace, id.Name))
		}
	case agentapi.ItemArgoProject:
		for _, called := range s.Projects.Names() {
			out = append(out, itemKey(kind, s.Namespace, called))
		}
	case agentapi.ItemCluster:
		for _, called := range s.clusters.names() {
			out = append(out, itemKey(kind, s.Namespace, called))
		}
	case agentapi.ItemRepository, agentapi.ItemRepoCreds:
		for called := range s.Settings.OfKind(secretKind(kind)) {
			out = append(out, itemKey(kind, s.Namespace, called))
		}
	case agentapi.ItemInstances:
		return s.instanceKeys()
	case agentapi.ItemCertificate, agentapi.ItemGPGKey:
		for called := range s.configItems(kind) {
			out = append(out, itemKey(kind, s.Namespace, called))
		}
	}
	return out, true
}

// Has implements link.Source.
func (s *Source) Has(key agentapi.Key) bool {
	id := registry.Name{Namespace: key.Namespace, Name: key.Name}
	switch key.Kind {
	case agentapi.ItemApplication:
		_, ok := s.Registry.Get(id)
		return ok
	case agentapi.ItemApplicationSet:
		return s.sets.get(id) != nil
	case agentapi.ItemArgoProject:
		return s.Projects.Get(key.Name, s.Namespace) != nil
	case agentapi.ItemCluster:
		return slices.Contains(s.clusters.names(), key.Name)
	case agentapi.ItemRepository, agentapi.ItemRepoCreds:
		_, ok := s.Settings.Secret(key.Name, secretKind(key.Kind))
		return ok
	case agentapi.ItemInstances:
		return s.instances != nil && s.instances.Instances(id) != nil
	}
	return s.configItems(key.Kind)[key.Name] != nil
}

// Body implements link.Source.
func (s *Source) Body(key agentapi.Key) []byte {
	id := registry.Name{Namespace: key.Namespace, Name: key.Name}
	var raw []byte
	var err error
	switch key.Kind {
	case agentapi.ItemApplication:
		if app, ok := s.Registry.Get(id); ok {
			raw, err = link.Application(app)
		}
	case agentapi.ItemApplicationSet:
		raw = s.sets.get(id)
	case agentapi.ItemArgoProject:
		if p := s.Projects.Get(key.Name, s.Namespace); p != nil {
			raw, err = link.Project(p)
		}
	case agentapi.ItemCluster:
		raw, err = s.clusters.body(key.Name)
	case agentapi.ItemRepository, agentapi.ItemRepoCreds:
		if sec, ok := s.Settings.Secret(key.Name, secretKind(key.Kind)); ok {
			labels := maps.Clone(sec.Labels)
			delete(labels, v1alpha1.LabelSecretType)
			raw, err = link.SecretSetting(sec.Data, labels, sec.Version, s.connection(key.Kind, sec), nil)
		}
	case agentapi.ItemInstances:
		raw, err = s.instanceBody(id)
	default:
		raw = s.configItems(key.Kind)[key.Name]
	}
	if err != nil {
		s.Log.Error("an item cannot be reported", "item", key.String(), "err", err)
		return nil
	}
	return s.Redact(raw)
}

// connection returns what is known of the way to a repository.
func (s *Source) connection(kind agentapi.ItemKind, sec place.Secret) *agentapi.Connection {
	unknown := &agentapi.Connection{Status: "Unknown"}
	if kind == agentapi.ItemRepository {
		if known := s.artifactConnection(sec); known != nil {
			return known
		}
		remote, _, err := git.ParseRemote(sec.Get("url"), true)
		if err != nil {
			return unknown
		}
		for _, r := range s.Pool.Repos() {
			if r.URL() != remote.URL {
				continue
			}
			if err := r.Err(); err != nil {
				return &agentapi.Connection{Status: "Failed", Message: redact.Addresses(err.Error())}
			}
			if _, at := r.Refs(); !at.IsZero() {
				return &agentapi.Connection{Status: "Successful"}
			}
		}
		return unknown
	}
	return nil
}

// configItems returns the items of a kind that are entries of ConfigMaps, by name. They are not to be changed.
func (s *Source) configItems(kind agentapi.ItemKind) map[string][]byte {
	if kind == agentapi.ItemGPGKey {
		return s.parse(place.ConfigGPGKeys, link.GPGKeys)
	}
	if kind != agentapi.ItemCertificate {
		return nil
	}
	tls := s.parse(place.ConfigCertificate, link.Certificates)
	hosts := s.parse(place.ConfigKnownHosts, func(data map[string]string, edition string) map[string][]byte {
		return link.KnownHosts(data["ssh_known_hosts"], edition)
	})
	out := make(map[string][]byte, len(tls)+len(hosts))
	maps.Copy(out, tls)
	maps.Copy(out, hosts)
	return out
}

// parse reads a ConfigMap, once for each of its versions.
func (s *Source) parse(config string, read func(map[string]string, string) map[string][]byte) map[string][]byte {
	data, edition := s.Settings.ConfigAt(config)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.entries[config]; ok && p.edition == edition {
		return p.items
	}
	items := read(data, edition)
	s.entries[config] = parsed{edition: edition, items: items}
	return items
}

// setStore holds the ApplicationSets as the server gets them.
type setStore struct {
	changed func(id registry.Name) // the empty name: any may be another one

	mu      sync.Mutex
	unready map[string]bool // namespaces that were not listed yet
	raw     map[registry.Name][]byte
}

// watch starts the watch on the ApplicationSets of a namespace, or of all.
func (s *setStore) watch(ctx context.Context, g *errgroup.Group, c *registry.Client, namespace string, counts func(string) bool) {
	s.mu.Lock()
	s.unready[namespace] = true
	s.mu.Unlock()
	path := strings.TrimSuffix(c.Path(namespace), v1alpha1.ResourceApplications) + v1alpha1.ResourceApplicationSets
	feed := &setFeed{store: s, namespace: namespace, counts: counts}
	r := cache.NewReflectorWithOptions(c.Stream.ListWatch(path, nil, nil), nil, feed,
		cache.ReflectorOptions{Name: "applicationsets", Clock: live.ClockUntil(ctx)})
	g.Go(func() error { r.RunWithContext(ctx); return nil })
}

// names returns all that is known; false before each namespace was listed.
func (s *setStore) names() ([]registry.Name, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.raw)), len(s.unready) == 0
}

func (s *setStore) get(id registry.Name) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw[id]
}

func (s *setStore) put(id registry.Name, raw []byte) {
	s.mu.Lock()
	if raw == nil {
		delete(s.raw, id)
	} else {
		s.raw[id] = raw
	}
	s.mu.Unlock()
	s.changed(id)
}

// setFeed feeds the store with the ApplicationSets of one namespace, or of all.
type setFeed struct {
	store     *setStore
	namespace string
	counts    func(namespace string) bool
}

// Add takes a new set.
func (f *setFeed) Add(v any) error { return f.Update(v) }

// Update takes a changed set. One that cannot be read is left out.
func (f *setFeed) Update(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of ApplicationSets delivered a %T", v)
	}
	if !f.counts(o.Namespace) {
		return nil
	}
	var obj map[string]any
	_ = strict.Decode(o.Raw, &obj, strict.Foreign) // what cannot be read is reported as nothing
	if obj == nil {
		return nil
	}
	obj["apiVersion"], obj["kind"] = v1alpha1.GroupVersion().String(), v1alpha1.KindApplicationSet
	raw, err := link.Object(obj)
	if err != nil {
		return fmt.Errorf("keep ApplicationSet %s/%s: %w", o.Namespace, o.Name, err)
	}
	f.store.put(registry.Name{Namespace: o.Namespace, Name: o.Name}, raw)
	return nil
}

// Delete takes a set out.
func (f *setFeed) Delete(v any) error {
	if o, ok := v.(*stream.Object); ok {
		f.store.put(registry.Name{Namespace: o.Namespace, Name: o.Name}, nil)
	}
	return nil
}

// Replace takes a complete list.
func (f *setFeed) Replace(items []any, _ string) error {
	listed := make(map[registry.Name]bool, len(items))
	for _, v := range items {
		if o, ok := v.(*stream.Object); ok {
			listed[registry.Name{Namespace: o.Namespace, Name: o.Name}] = true
		}
		if err := f.Update(v); err != nil {
			return err
		}
	}
	known, _ := f.store.names()
	for _, id := range known {
		if (f.namespace == "" || id.Namespace == f.namespace) && !listed[id] {
			f.store.put(id, nil)
		}
	}
	f.store.mu.Lock()
	first := f.store.unready[f.namespace]
	delete(f.store.unready, f.namespace)
	f.store.mu.Unlock()
	if first {
		f.store.changed(registry.Name{})
	}
	return nil
}

// Resync has nothing to do.
func (f *setFeed) Resync() error { return nil }
