package place

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/credential"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// clusterEntry is a cluster Secret, read as far as finding it needs.
type clusterEntry struct {
	server string
	name   string // that Applications may use
	owner  string // project; "" for every
	secret string // name of the Secret
	id     string // changes with its content
	config []byte
	limits object.Limits
	wrong  error // what it cannot be used for
}

// cluster finds the Secret of a destination by server, or by name where server is empty. Of several, one that is for the
// project comes first, and then the first by name.
func (s *Settings) cluster(project, server, called string) (clusterEntry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best Secret
	var bestName string
	for name, sec := range s.secrets {
		if sec.kind != v1alpha1.SecretTypeCluster {
			continue
		}
		owner := sec.Get("project")
		if owner != "" && owner != project {
			continue
		}
		if (server != "" && sec.Get("server") == server) || (server == "" && sec.Get("name") == called) {
			if bestName != "" && (best.Get("project") > owner || (best.Get("project") == owner && bestName < name)) {
				continue
			}
			best, bestName = sec, name
		}
	}
	if bestName == "" {
		return clusterEntry{}, false
	}
	return entryOf(bestName, best), true
}

// clusterOf reads the cluster Secret of a name, as it is now.
func (s *Settings) clusterOf(name string) (clusterEntry, bool) {
	sec, ok := s.Secret(name, v1alpha1.SecretTypeCluster)
	if !ok {
		return clusterEntry{}, false
	}
	return entryOf(name, sec), true
}

// entryOf reads a cluster Secret.
func entryOf(name string, sec Secret) clusterEntry {
	e := clusterEntry{
		server: sec.Get("server"), name: sec.Get("name"), owner: sec.Get("project"), secret: name,
		id: clusterID(name, sec.Data["config"]), config: sec.Data["config"],
	}
	e.limits, e.wrong = object.NewLimits(name, sec.Get("namespaces"), sec.Get("clusterResources"))
	return e
}

// clusterID changes with what a cluster Secret says of the connection.
func clusterID(name string, config []byte) string {
	return fmt.Sprintf("%s %x", name, xxhash.Sum64(config))
}

// connection is the field config of a cluster Secret.
type connection struct {
	Username           string           `json:"username"`
	Password           string           `json:"password"`
	BearerToken        string           `json:"bearerToken"`
	AWSAuth            *credential.EKS  `json:"awsAuthConfig"`
	Exec               *credential.Exec `json:"execProviderConfig"`
	DisableCompression bool             `json:"disableCompression"`
	ProxyURL           string           `json:"proxyUrl"`
	TLSClientConfig    struct {
		Insecure   bool   `json:"insecure"`
		ServerName string `json:"serverName"`
		CAData     []byte `json:"caData"`
		CertData   []byte `json:"certData"`
		KeyData    []byte `json:"keyData"`
	} `json:"tlsClientConfig"`
}

// connection reads how the cluster is reached.
func (e clusterEntry) connection() (in connection, err error) {
	if len(e.config) == 0 {
		return in, nil
	}
	// An Argo CD beside the agent reads names in any case: what it would understand in another way is refused.
	if err := strict.Check(e.config, in, strict.Unknown); err != nil {
		return in, fmt.Errorf("cluster Secret %s: config: %w", e.secret, err)
	}
	if err := strict.Decode(e.config, &in, strict.Unknown); err != nil {
		var wrong *json.UnmarshalTypeError
		switch { // what the error quotes may be a secret
		case errors.As(err, new(base64.CorruptInputError)):
			return in, fmt.Errorf("cluster Secret %s: config: a field of tlsClientConfig is not base64: write the PEM file in base64", e.secret)
		case errors.As(err, &wrong):
			return in, fmt.Errorf("cluster Secret %s: config: the field %s has another type than it must have: correct it", e.secret, wrong.Field)
		}
		return in, fmt.Errorf("cluster Secret %s: config is not valid JSON: correct it", e.secret)
	}
	return in, nil
}

// stranger names a field of the connection that no type of ours has; "" for none.
func (e clusterEntry) stranger() string {
	var wrong *strict.Error
	if len(e.config) == 0 || !errors.As(strict.Check(e.config, connection{}), &wrong) || !wrong.Unknown {
		return ""
	}
	var path []string
	for _, step := range wrong.At {
		path = append(path, step.Name)
	}
	const most = 80
	return object.Middle(strings.Join(path, "."), most)
}

// bare reports whether a connection has no credentials. For the agent's own cluster, the agent's are used then.
func (in *connection) bare() bool {
	return in.Username == "" && in.Password == "" && in.BearerToken == "" && in.AWSAuth == nil && in.Exec == nil &&
		len(in.TLSClientConfig.CertData) == 0
}

// rest reads the connection of a cluster Secret. What makes its tokens is in the result; nil signs makes none.
func (e clusterEntry) rest(signs *credential.Maker) (*rest.Config, error) {
	in, err := e.connection()
	if err != nil {
		return nil, err
	}
	out := &rest.Config{
		Host: e.server, Username: in.Username, Password: in.Password, BearerToken: in.BearerToken, DisableCompression: in.DisableCompression,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: in.TLSClientConfig.Insecure, ServerName: in.TLSClientConfig.ServerName, CAData: in.TLSClientConfig.CAData,
			CertData: in.TLSClientConfig.CertData, KeyData: in.TLSClientConfig.KeyData,
		},
	}
	if in.ProxyURL != "" {
		proxy, err := readProxy(in.ProxyURL)
		if err != nil {
			return nil, fmt.Errorf("cluster Secret %s: %w", e.secret, err)
		}
		out.Proxy = http.ProxyURL(proxy)
	}
	source, err := signs.Source(e.server, in.AWSAuth, in.Exec)
	if err != nil {
		return nil, fmt.Errorf("cluster Secret %s: %w", e.secret, err)
	}
	if source != nil {
		if in.Username != "" || in.BearerToken != "" {
			return nil, fmt.Errorf("cluster Secret %s: config has a user or a token beside execProviderConfig or awsAuthConfig: keep one of them",
				e.secret)
		}
		out.Wrap(source.Around)
	}
	return out, nil
}

func readProxy(text string) (*url.URL, error) {
	proxy, err := url.Parse(text)
	if err != nil || proxy.Host == "" || !slices.Contains([]string{"http", "https", "socks5"}, proxy.Scheme) {
		return nil, errors.New("config.proxyUrl is no address of a proxy: write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
	}
	return proxy, nil
}

// CheckCluster finds what is wrong in what a cluster Secret would hold, in the words of its fields. A connection that it has already
// stays as it is.
func CheckCluster(name string, have, next map[string][]byte) error {
	was, e := entryOf(name, Secret{Data: have}), entryOf(name, Secret{Data: next})
	if e.wrong != nil || len(have) > 0 && was.id == e.id && was.server == e.server {
		return e.wrong
	}
	if field := e.stranger(); field != "" {
		return fmt.Errorf("cluster Secret %s: config.%s is no field that this version knows: correct its name, or leave it out", name, field)
	}
	_, err := e.rest(nil)
	return err
}

// carry makes the transport of a configuration. It connects to nothing but what the policy allows, and config does so as well from
// then on.
func carry(config *rest.Config, policy *outward.Policy) (http.RoundTripper, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	if err := policy.Check(base.Hostname()); err != nil {
		return nil, err
	}
	proxy := config.Proxy
	config.Host, config.Dial, config.Proxy = base.String(), policy.DialHTTP, policy.Proxy
	if proxy != nil {
		config.Dial = policy.Dial
		config.Proxy = func(r *http.Request) (*url.URL, error) {
			if err := policy.Check(r.URL.Hostname()); err != nil {
				return nil, err
			}
			return proxy(r)
		}
	}
	next, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("read TLS settings of the cluster: %w", err)
	}
	return discreet{next}, nil
}

// over is a configuration whose clients share one transport, which has the credentials.
func over(host string, next http.RoundTripper) *rest.Config {
	return &rest.Config{
		Host: host, Transport: next, QPS: -1, Burst: -1,
		WarningHandlerWithContext: rest.NoWarnings{}, // they are words of what answers
	}
}
