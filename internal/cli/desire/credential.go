package desire

import (
	"context"
	"encoding/base64"
	"fmt"
	neturl "net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/git"
)

// credentials are the repository Secrets of a cluster.
type credentials struct {
	exact      map[string]git.Credential // by repository
	prefixes   []prefix                  // longest first
	knownHosts []byte                    // of SSH servers
	roots      map[string]string         // PEM bundle by host
	ways       []way                     // to Helm repositories, registries and web servers
	names      map[string]string         // address of a Helm repository by its name
}

func newCredentials() credentials {
	return credentials{exact: map[string]git.Credential{}, names: map[string]string{}}
}

// sort puts the longest prefix first.
func (c *credentials) sort() {
	slices.SortFunc(c.prefixes, func(a, b prefix) int { return len(b.url) - len(a.url) })
}

type prefix struct {
	url  string
	cred git.Credential
}

// of returns how a repository is reached: its credential, and whom to trust.
func (c credentials) of(url string) git.Credential {
	cred := c.secret(url)
	cred.KnownHosts = c.knownHosts
	if remote, _, err := git.ParseRemote(url, true); err == nil {
		if u, err := neturl.Parse(remote.URL); err == nil && c.roots[u.Hostname()] != "" {
			cred.CA = []byte(c.roots[u.Hostname()])
		}
	}
	return cred
}

// secret returns the credential for a repository: its own, else that of the longest matching URL prefix, else none.
func (c credentials) secret(url string) git.Credential {
	key := normal(url)
	if cred, ok := c.exact[key]; ok && cred.Scope() != (git.Credential{}).Scope() {
		return cred
	}
	for _, p := range c.prefixes {
		// A prefix ends where a part of the path does: https://example.com is not https://example.com.evil.org.
		if rest, ok := strings.CutPrefix(key, p.url); ok && (rest == "" || rest[0] == '/') {
			return p.cred
		}
	}
	return c.exact[key]
}

// normal spells a repository one way: letter case of the host and the end of the path are ignored.
func normal(url string) string {
	if remote, _, err := git.ParseRemote(url, true); err == nil {
		url = remote.URL
	}
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

func readCredentials(ctx context.Context, cluster *connect.Cluster) (credentials, error) {
	out := newCredentials()
	secrets := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(cluster.Apps.Namespace())
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s in (%s,%s)",
		v1alpha1.LabelSecretType, v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds)})
	if err != nil {
		return out, connect.Explain(fmt.Errorf("read repository Secrets: %w", err))
	}
	for i := range list.Items {
		s := &list.Items[i]
		out.add(s.GetLabels()[v1alpha1.LabelSecretType], field(s))
	}
	out.sort()
	hosts, err := readConfigMap(ctx, cluster, "argocd-ssh-known-hosts-cm")
	if err != nil {
		return out, err
	}
	out.knownHosts = []byte(hosts["ssh_known_hosts"])
	out.roots, err = readConfigMap(ctx, cluster, "argocd-tls-certs-cm")
	return out, err
}

// readConfigMap returns the data of a ConfigMap beside the Applications; nothing where it does not exist.
func readConfigMap(ctx context.Context, cluster *connect.Cluster, name string) (map[string]string, error) {
	maps := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(cluster.Apps.Namespace())
	obj, err := maps.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("read ConfigMap %s: %w", name, err))
	}
	data, _, err := unstructured.NestedStringMap(obj.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", name, err)
	}
	return data, nil
}

// field reads the data of a Secret; what is missing or not base64 is empty.
func field(s *unstructured.Unstructured) func(name string) []byte {
	data, _, _ := unstructured.NestedStringMap(s.Object, "data")
	return func(name string) []byte {
		raw, err := base64.StdEncoding.DecodeString(data[name])
		if err != nil {
			return nil
		}
		return raw
	}
}

func credential(get func(string) []byte) git.Credential {
	yes := func(name string) bool { return string(get(name)) == "true" }
	return git.Credential{
		Username:   string(get("username")),
		Password:   string(get("password")),
		Bearer:     string(get("bearerToken")),
		ClientCert: get("tlsClientCertData"),
		ClientKey:  get("tlsClientCertKey"),
		SSHKey:     get("sshPrivateKey"),
		Insecure:   yes("insecure") || yes("insecureIgnoreHostKey"),
		Proxy:      string(get("proxy")),
		NoProxy:    string(get("noProxy")),
	}
}
