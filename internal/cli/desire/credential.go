package desire

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/git"
)

// credentials are the repository Secrets of a cluster.
type credentials struct {
	exact    map[string]git.Credential // by repository
	prefixes []prefix                  // longest first
}

type prefix struct {
	url  string
	cred git.Credential
}

// of returns the credential for a repository: its own, else that of the longest matching URL prefix, else none.
func (c credentials) of(url string) git.Credential {
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

// normal spells a repository one way: letter case of the host and the end of the path do not count.
func normal(url string) string {
	if remote, _, err := git.ParseRemote(url, true); err == nil {
		url = remote.URL
	}
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

func readCredentials(ctx context.Context, cluster *access.Cluster) (credentials, error) {
	out := credentials{exact: map[string]git.Credential{}}
	secrets := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(cluster.Apps.Namespace())
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: fmt.Sprintf("%s in (%s,%s)",
		v1alpha1.LabelSecretType, v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds)})
	if err != nil {
		return out, access.Explain(fmt.Errorf("read repository Secrets: %w", err))
	}
	for i := range list.Items {
		s := &list.Items[i]
		get := field(s)
		url := normal(strings.TrimSpace(string(get("url"))))
		if url == "" {
			continue
		}
		if s.GetLabels()[v1alpha1.LabelSecretType] == v1alpha1.SecretTypeRepoCreds {
			out.prefixes = append(out.prefixes, prefix{url, credential(get)})
		} else {
			out.exact[url] = credential(get)
		}
	}
	slices.SortFunc(out.prefixes, func(a, b prefix) int { return len(b.url) - len(a.url) })
	return out, nil
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
