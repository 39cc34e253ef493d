package agent

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
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
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// Names of the objects that configure an agent, besides labelled Secrets.
const (
	secretArgoCD      = "argocd-secret"
	configArgoCD      = "argocd-cm"
	configParameters  = "argocd-cmd-params-cm"
	configKnownHosts  = "argocd-ssh-known-hosts-cm"
	configCertificate = "argocd-tls-certs-cm"
	configGPGKeys     = "argocd-gpg-keys-cm"
)

// settings is what Secrets and ConfigMaps in the agent's namespace say. Values of Secrets stay in here: they leave
// only as credentials that hide themselves.
type settings struct {
	changed func()

	version atomic.Uint64 // grows with every change of what follows
	mu      sync.Mutex
	secrets map[string]secret            // labelled Secrets and argocd-secret, by name
	configs map[string]map[string]string // ConfigMaps that configure us, by name
	edition map[string]string            // of ConfigMaps: their resourceVersion, by name
}

type secret struct {
	kind    string // value of the secret-type label
	data    map[string][]byte
	labels  map[string]string
	edition string // resourceVersion
}

func (s secret) get(key string) string { return strings.TrimSpace(string(s.data[key])) }

func newSettings(changed func()) *settings {
	return &settings{changed: changed, secrets: map[string]secret{}, configs: map[string]map[string]string{}, edition: map[string]string{}}
}

// config returns the data of a ConfigMap that configures us; nil when there is none. It is not to be changed.
func (s *settings) config(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.configs[name]
}

// timeLimit is how long a sync may take; 0 for ever.
func (s *settings) timeLimit() time.Duration {
	seconds, err := strconv.Atoi(s.config(configParameters)["controller.sync.timeout.seconds"])
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// webhookSecrets returns what deliveries are verified with.
func (s *settings) webhookSecrets() webhook.Secrets {
	s.mu.Lock()
	defer s.mu.Unlock()
	return webhook.SecretsFrom(s.secrets[secretArgoCD].data)
}

// credential finds how a project reaches a repository: its own Secret, then one for every project, then the template
// with the longest matching URL prefix.
func (s *settings) credential(project, url string) (git.Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, name := s.pick(project, url)
	return s.toCredential(best, name, url)
}

// repository returns what the Secret holds that a project reaches a repository with; nothing where there is none. It is not
// to be changed.
func (s *settings) repository(project, url string) map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, _ := s.pick(project, url)
	return best.data
}

// pick finds the Secret that a project reaches a repository with. Callers hold the lock.
func (s *settings) pick(project, url string) (best secret, bestName string) {
	rank, length := 0, -1
	for name, sec := range s.secrets {
		r, n := 0, 0
		switch owner := sec.get("project"); {
		case owner != "" && owner != project:
			continue
		case sec.kind == v1alpha1.SecretTypeRepository && webhook.SameRemote(sec.get("url"), url):
			r = 2
			if owner != "" {
				r = 3
			}
		case sec.kind == v1alpha1.SecretTypeRepoCreds && sec.get("url") != "" && below(url, sec.get("url")):
			r, n = 1, len(sec.get("url"))
		default:
			continue
		}
		if r > rank || (r == rank && (n > length || (n == length && name < bestName))) {
			best, bestName, rank, length = sec, name, r, n
		}
	}
	return best, bestName
}

// below reports whether a URL is at or under a prefix. The prefix ends at a boundary, so that what is meant for
// https://git.example is never sent to https://git.example.evil.
func below(url, prefix string) bool {
	rest, ok := strings.CutPrefix(url, prefix)
	return ok && (rest == "" || strings.HasSuffix(prefix, "/") || strings.HasPrefix(rest, "/"))
}

// toCredential reads a repository Secret. Callers hold the lock.
func (s *settings) toCredential(sec secret, name, url string) (git.Credential, error) {
	for _, key := range []string{"githubAppID", "githubAppPrivateKey", "gcpServiceAccountKey"} {
		if sec.get(key) != "" {
			return git.Credential{}, fmt.Errorf("Secret %s has %s, which is not supported by this version: use a token or an SSH key", name, key)
		}
	}
	cred := git.Credential{
		Username: sec.get("username"), Password: sec.get("password"), Bearer: sec.get("bearerToken"),
		ClientCert: sec.data["tlsClientCertData"], ClientKey: sec.data["tlsClientCertKey"],
		SSHKey: sec.data["sshPrivateKey"], Insecure: sec.get("insecure") == "true" || sec.get("insecureIgnoreHostKey") == "true",
		Proxy: sec.get("proxy"), NoProxy: sec.get("noProxy"),
		KnownHosts: []byte(s.configs[configKnownHosts]["ssh_known_hosts"]),
	}
	if remote, _, err := git.ParseRemote(url, true); err == nil {
		cred.CA = []byte(s.configs[configCertificate][remote.Hostname()])
	}
	return cred, nil
}

// watchSettings starts the watches on what configures the agent; each channel closes after the first complete list.
func (a *Agent) watchSettings(ctx context.Context, g *errgroup.Group) ([]<-chan struct{}, error) {
	client, err := dynamic.NewForConfig(a.cfg.REST)
	if err != nil {
		return nil, fmt.Errorf("make client for settings: %w", err)
	}
	var out []<-chan struct{}
	for _, f := range []*feed{
		{resource: "secrets", labels: v1alpha1.LabelSecretType},
		{resource: "secrets", fields: "metadata.name=" + secretArgoCD},
		{resource: "configmaps", fields: "metadata.name=" + configArgoCD},
		{resource: "configmaps", fields: "metadata.name=" + configParameters},
		{resource: "configmaps", fields: "metadata.name=" + configKnownHosts},
		{resource: "configmaps", fields: "metadata.name=" + configCertificate},
		{resource: "configmaps", fields: "metadata.name=" + configGPGKeys},
		{resource: "configmaps", fields: "metadata.name=" + link.ConfigPolicy},
	} {
		f.settings, f.ready, f.names = a.settings, make(chan struct{}), map[string]bool{}
		in := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: f.resource}).Namespace(a.cfg.Namespace)
		g.Go(func() error { f.run(ctx, in); return nil })
		out = append(out, f.ready)
	}
	return out, nil
}

// feed is one watch into the settings.
type feed struct {
	resource       string
	labels, fields string
	settings       *settings
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
	data, _, _ := unstructured.NestedStringMap(u.Object, "data")
	f.names[u.GetName()] = true
	f.settings.mu.Lock()
	defer f.settings.mu.Unlock()
	f.settings.version.Add(1)
	if f.resource == "configmaps" {
		f.settings.configs[u.GetName()], f.settings.edition[u.GetName()] = data, u.GetResourceVersion()
		return nil
	}
	sec := secret{kind: u.GetLabels()[v1alpha1.LabelSecretType], data: make(map[string][]byte, len(data)), labels: u.GetLabels(), edition: u.GetResourceVersion()}
	for key, value := range data {
		if raw, err := base64.StdEncoding.DecodeString(value); err == nil {
			sec.data[key] = raw
		}
	}
	f.settings.secrets[u.GetName()] = sec
	return nil
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
	f.settings.mu.Lock()
	defer f.settings.mu.Unlock()
	f.settings.version.Add(1)
	if f.resource == "configmaps" {
		delete(f.settings.configs, name)
	} else {
		delete(f.settings.secrets, name)
	}
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
