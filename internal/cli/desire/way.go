package desire

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// way is how a Helm repository, a registry or a web server is reached.
type way struct {
	url    string // spelled one way
	below  bool   // it is for what is below too
	access web.Access
	plain  bool // no TLS to a registry
}

// spelled spells an address one way, with the scheme of registries left out.
func spelled(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(url), oci.Scheme), "/")
}

// way finds the way for an address: that of its own where it signs in, else that of the longest address which it is below, else that of
// its own after all.
func (c credentials) way(url string) way {
	key, best, own := spelled(url), way{}, way{}
	for _, w := range c.ways {
		if w.url == key && !w.below {
			if w.signsIn() {
				return c.trusting(w, url)
			}
			own = w
			continue
		}
		rest, under := strings.CutPrefix(key, w.url)
		if w.below && under && (rest == "" || rest[0] == '/') && len(w.url) > len(best.url) {
			best = w
		}
	}
	if best.url == "" {
		best = own
	}
	return c.trusting(best, url)
}

// signsIn reports whether a way has a login.
func (w way) signsIn() bool {
	return w.access.Username+w.access.Password+w.access.Bearer != "" || len(w.access.ClientCert) > 0
}

// trusting is a way with the certificates that are trusted at the host.
func (c credentials) trusting(w way, url string) way {
	if u, err := neturl.Parse(url); err == nil && c.roots[u.Hostname()] != "" {
		w.access.CA = []byte(c.roots[u.Hostname()])
	}
	return w
}

// add takes a repository Secret.
func (c *credentials) add(kind string, get func(string) []byte) {
	text := func(name string) string { return strings.TrimSpace(string(get(name))) }
	url := text("url")
	if url == "" {
		return
	}
	below := kind == v1alpha1.SecretTypeRepoCreds
	c.ways = append(c.ways, way{
		url: spelled(url), below: below, plain: text("insecureOCIForceHttp") == "true", access: web.Access{
			Username: string(get("username")), Password: string(get("password")), Bearer: string(get("bearerToken")),
			ClientCert: get("tlsClientCertData"), ClientKey: get("tlsClientCertKey"), Insecure: text("insecure") == "true",
			Proxy: text("proxy"), NoProxy: text("noProxy"), PassCredentials: text("passCredentials") == "true", Within: bounds(url),
		},
	})
	if name := text("name"); name != "" && (text("type") == "helm" || text("type") == "oci" || text("enableOCI") == "true") {
		if !strings.Contains(url, "://") {
			url = oci.Scheme + url
		}
		c.names[name] = cmp.Or(c.names[name], url)
	}
	if below {
		c.prefixes = append(c.prefixes, prefix{normal(text("url")), credential(get)})
		return
	}
	c.exact[normal(text("url"))] = credential(get)
}

// bounds are the addresses over HTTP that the login of a Secret is for, as in an agent.
func bounds(url string) []string {
	if _, err := web.ParseAddress(url); err != nil {
		return nil
	}
	return []string{url}
}

// fileCredentials reads repository Secrets of a file, "" for none.
func fileCredentials(file string) (credentials, error) {
	out := newCredentials()
	if file == "" {
		return out, nil
	}
	docs, err := manifest.Read(file, os.Stdin)
	if err != nil {
		return out, errors.New("read the file of --credentials: it is no YAML with Secrets, or cannot be opened") // its text may be secret
	}
	for _, doc := range docs {
		s := unstructured.Unstructured{Object: doc}
		kind := s.GetLabels()[v1alpha1.LabelSecretType]
		if s.GetKind() != "Secret" || kind != v1alpha1.SecretTypeRepository && kind != v1alpha1.SecretTypeRepoCreds {
			return out, fmt.Errorf("the file of --credentials has a %.50s that is no repository Secret: label it %s=%s or %s", s.GetKind(),
				v1alpha1.LabelSecretType, v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds)
		}
		plain, _, _ := unstructured.NestedStringMap(doc, "stringData")
		data, _, _ := unstructured.NestedStringMap(doc, "data")
		out.add(kind, func(name string) []byte {
			if text, ok := plain[name]; ok {
				return []byte(text)
			}
			raw, err := base64.StdEncoding.DecodeString(data[name])
			if err != nil {
				return nil
			}
			return raw
		})
	}
	out.sort()
	return out, nil
}
