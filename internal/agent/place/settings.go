package place

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// Names of the objects that configure an agent, besides labelled Secrets.
const (
	secretArgoCD      = "argocd-secret"
	ConfigArgoCD      = "argocd-cm"
	ConfigParameters  = "argocd-cmd-params-cm"
	ConfigKnownHosts  = "argocd-ssh-known-hosts-cm"
	ConfigCertificate = "argocd-tls-certs-cm"
	ConfigGPGKeys     = "argocd-gpg-keys-cm"
	ConfigSigners     = "slipway-allowed-signers"
	ConfigArtifacts   = "slipway-artifact-keys"
	ConfigTrustStores = "slipway-trust-stores"
)

// Settings is what Secrets and ConfigMaps in the agent's namespace say. Values of Secrets stay in here: they leave
// only as credentials that hide themselves.
type Settings struct {
	SignIn repository.SignIn // set before anything is asked

	changed func()

	version atomic.Uint64 // grows with every change of what follows
	mu      sync.Mutex
	secrets map[string]Secret            // labelled Secrets and argocd-secret, by name
	configs map[string]map[string]string // ConfigMaps that configure us, by name
	edition map[string]string            // of ConfigMaps: their resourceVersion, by name
	rings   map[string]projectRing       // keys to decrypt with, by project
	ringsAt uint64                       // the version that they are of

	rendering    atomic.Pointer[renderingAt]
	repositories atomic.Pointer[repositoriesAt]
}

// Secret is a labelled Secret of the agent's namespace.
type Secret struct {
	kind    string // value of the secret-type label
	Data    map[string][]byte
	Labels  map[string]string
	Version string // resourceVersion
}

// Get is a field without the spaces around it.
func (s Secret) Get(key string) string { return repository.Secret{Data: s.Data}.Get(key) }

// NewSettings makes settings that are empty, and call changed for every change.
func NewSettings(changed func()) *Settings {
	return &Settings{changed: changed, secrets: map[string]Secret{}, configs: map[string]map[string]string{}, edition: map[string]string{}}
}

// Config returns the data of a ConfigMap that configures us; nil when there is none. It is not to be changed.
func (s *Settings) Config(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configs[name]
}

// TimeLimit is how long a sync may take; 0 for ever.
func (s *Settings) TimeLimit() time.Duration {
	seconds, err := strconv.Atoi(s.Config(ConfigParameters)["controller.sync.timeout.seconds"])
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Keys of argocd-cm.
const (
	// KeyInCluster is "false" where the agent's own cluster is no destination.
	KeyInCluster = "cluster.inClusterEnabled"
	keyRespect   = "resource.respectRBAC"
)

// InCluster reports whether the agent's own cluster may be a destination.
func (s *Settings) InCluster() bool { return s.Config(ConfigArgoCD)[KeyInCluster] != "false" }

// lenience is what becomes of kinds that may not be listed. A value that Argo CD does not know means nothing, as there.
func (s *Settings) lenience() live.Lenience {
	switch l := live.Lenience(s.Config(ConfigArgoCD)[keyRespect]); l {
	case live.LenientRefused, live.LenientReviewed:
		return l
	default:
		return live.LenientNot
	}
}

// WebhookSecrets returns what deliveries are verified with.
func (s *Settings) WebhookSecrets() webhook.Secrets {
	s.mu.Lock()
	defer s.mu.Unlock()
	return webhook.SecretsFrom(s.secrets[secretArgoCD].Data)
}

// OfKind returns the Secrets of a kind by name. They are not to be changed.
func (s *Settings) OfKind(kind string) map[string]Secret {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Secret{}
	for called, sec := range s.secrets {
		if sec.kind == kind {
			out[called] = sec
		}
	}
	return out
}

// Version is a number that grows with every change.
func (s *Settings) Version() uint64 { return s.version.Load() }

// Watch starts the watches on what configures the agent in a namespace; each channel closes after the first complete list.
func (s *Settings) Watch(ctx context.Context, g *errgroup.Group, config *rest.Config, namespace string) ([]<-chan struct{}, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make client for settings: %w", err)
	}
	var out []<-chan struct{}
	for _, f := range []*feed{
		{resource: "secrets", labels: v1alpha1.LabelSecretType},
		{resource: "secrets", fields: "metadata.name=" + secretArgoCD},
		{resource: "configmaps", fields: "metadata.name=" + ConfigArgoCD},
		{resource: "configmaps", fields: "metadata.name=" + ConfigParameters},
		{resource: "configmaps", fields: "metadata.name=" + ConfigKnownHosts},
		{resource: "configmaps", fields: "metadata.name=" + ConfigCertificate},
		{resource: "configmaps", fields: "metadata.name=" + ConfigGPGKeys},
		{resource: "configmaps", fields: "metadata.name=" + ConfigSigners},
		{resource: "configmaps", fields: "metadata.name=" + ConfigArtifacts},
		{resource: "configmaps", fields: "metadata.name=" + ConfigTrustStores},
		{resource: "configmaps", fields: "metadata.name=" + link.ConfigPolicy},
	} {
		f.settings, f.ready, f.names = s, make(chan struct{}), map[string]bool{}
		in := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: f.resource}).Namespace(namespace)
		g.Go(func() error { f.run(ctx, in); return nil })
		out = append(out, f.ready)
	}
	return out, nil
}

// feed is one watch into the settings.
type feed struct {
	resource       string
	labels, fields string
	settings       *Settings
	ready          chan struct{}
	once           sync.Once
	names          map[string]bool // what this feed has put in; used by its reflector alone
}

func (f *feed) run(ctx context.Context, in dynamic.ResourceInterface) {
	narrow := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector, o.FieldSelector = f.labels, f.fields
		return o
	}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return in.List(ctx, narrow(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return in.Watch(ctx, narrow(o))
		},
	}
	cache.NewReflectorWithOptions(lw, nil, f, cache.ReflectorOptions{Name: "settings", Clock: live.ClockUntil(ctx)}).RunWithContext(ctx)
}

// Add takes a new object.
func (f *feed) Add(v any) error { return f.Update(v) }

// Update takes a changed object.
func (f *feed) Update(v any) error {
	if err := f.put(v); err != nil {
		return err
	}
	f.settings.changed()
	return nil
}

func (f *feed) put(v any) error {
	u, ok := v.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("watch of settings delivered a %T", v)
	}
	f.names[u.GetName()] = true
	f.settings.Put(f.resource, u)
	return nil
}

// Put takes in a Secret or a ConfigMap as it is now.
func (s *Settings) Put(resource string, u *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version.Add(1)
	if resource == "configmaps" {
		data, _, _ := unstructured.NestedStringMap(u.Object, "data")
		s.configs[u.GetName()], s.edition[u.GetName()] = data, u.GetResourceVersion()
		return
	}
	s.secrets[u.GetName()] = SecretOf(u)
}

// Drop takes out a Secret or a ConfigMap that is gone.
func (s *Settings) Drop(resource, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version.Add(1)
	if resource == "configmaps" {
		delete(s.configs, name)
	} else {
		delete(s.secrets, name)
	}
}

// SecretOf reads a Secret.
func SecretOf(u *unstructured.Unstructured) Secret {
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	sec := Secret{
		kind: u.GetLabels()[v1alpha1.LabelSecretType], Data: make(map[string][]byte, len(data)), Labels: u.GetLabels(),
		Version: u.GetResourceVersion(),
	}
	for key, value := range data {
		if raw, err := base64.StdEncoding.DecodeString(value); err == nil {
			sec.Data[key] = raw
		}
	}
	return sec
}

// Delete takes an object out.
func (f *feed) Delete(v any) error {
	if u, ok := v.(*unstructured.Unstructured); ok {
		f.drop(u.GetName())
		f.settings.changed()
	}
	return nil
}

func (f *feed) drop(name string) {
	delete(f.names, name)
	f.settings.Drop(f.resource, name)
}

// Replace takes a complete list.
func (f *feed) Replace(items []any, _ string) error {
	before := f.names
	f.names = map[string]bool{}
	for _, v := range items {
		if err := f.put(v); err != nil {
			return err
		}
	}
	for name := range before {
		if !f.names[name] {
			f.drop(name)
		}
	}
	first := false
	f.once.Do(func() { close(f.ready); first = true })
	if !first {
		f.settings.changed()
	}
	return nil
}

// Resync has nothing to do.
func (f *feed) Resync() error { return nil }

// Secret returns a Secret of a kind.
func (s *Settings) Secret(called, kind string) (Secret, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sec, ok := s.secrets[called]
	return sec, ok && sec.kind == kind
}

// ConfigAt returns the data of a ConfigMap and its version.
func (s *Settings) ConfigAt(called string) (map[string]string, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configs[called], s.edition[called]
}

// SecretValues are what must not leave the agent of all Secrets.
func (s *Settings) SecretValues() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, sec := range s.secrets {
		for field, raw := range sec.Data {
			switch {
			case link.PublicField(field), field == "username":
			case field == "config":
				out = append(out, configValues(raw)...)
			default:
				out = append(out, string(raw))
			}
		}
	}
	return out
}

// configValues returns what is secret in the connection of a cluster.
func configValues(raw []byte) []string {
	var in struct {
		Password        string `json:"password"`
		BearerToken     string `json:"bearerToken"`
		ProxyURL        string `json:"proxyUrl"`
		TLSClientConfig struct {
			KeyData string `json:"keyData"`
		} `json:"tlsClientConfig"`
		Exec struct {
			Env map[string]string `json:"env"`
		} `json:"execProviderConfig"`
	}
	_ = json.Unmarshal(raw, &in) // what can be read counts
	out := []string{in.Password, in.BearerToken, in.TLSClientConfig.KeyData}
	for _, v := range in.Exec.Env {
		out = append(out, v)
	}
	if proxy, err := url.Parse(in.ProxyURL); err == nil && proxy.User != nil {
		if password, has := proxy.User.Password(); has {
			out = append(out, password)
		}
	}
	return out
}
