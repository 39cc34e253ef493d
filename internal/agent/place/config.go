package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
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
}

// cluster finds the Secret of a destination by server, or by name where server is empty. Of several, one that is for the
// project comes first, and then the first by name.
func (s *Settings) cluster(project, server, called string) (clusterEntry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var best clusterEntry
	for name, sec := range s.secrets {
		if sec.kind != v1alpha1.SecretTypeCluster {
			continue
		}
		if owner := sec.Get("project"); owner != "" && owner != project {
			continue
		}
		if (server != "" && sec.Get("server") == server) || (server == "" && sec.Get("name") == called) {
			if best.secret != "" && (best.owner > sec.Get("project") || (best.owner == sec.Get("project") && best.secret < name)) {
				continue
			}
			best = clusterEntry{
				server: sec.Get("server"), name: sec.Get("name"), owner: sec.Get("project"), secret: name, id: clusterID(name, sec.Data["config"]),
				config: sec.Data["config"],
			}
		}
	}
	return best, best.secret != ""
}

// has reports whether the Secret of a cluster is there, and its content.
func (s *Settings) has(entry clusterEntry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sec, ok := s.secrets[entry.secret]
	return ok && sec.kind == v1alpha1.SecretTypeCluster && sec.Get("server") == entry.server &&
		clusterID(entry.secret, sec.Data["config"]) == entry.id
}

// clusterID changes with what a cluster Secret says of the connection.
func clusterID(name string, config []byte) string {
	return fmt.Sprintf("%s %x", name, xxhash.Sum64(config))
}

// rest reads the connection of a cluster Secret. Only what needs no program on the agent's machine is taken.
func (c clusterEntry) rest() (*rest.Config, error) {
	var in struct {
		Username        string          `json:"username"`
		Password        string          `json:"password"`
		BearerToken     string          `json:"bearerToken"`
		AWSAuth         json.RawMessage `json:"awsAuthConfig"`
		Exec            json.RawMessage `json:"execProviderConfig"`
		TLSClientConfig struct {
			Insecure   bool   `json:"insecure"`
			ServerName string `json:"serverName"`
			CAData     []byte `json:"caData"`
			CertData   []byte `json:"certData"`
			KeyData    []byte `json:"keyData"`
		} `json:"tlsClientConfig"`
	}
	if len(c.config) > 0 {
		// An Argo CD beside the agent reads names in any case: what it would understand in another way is refused.
		if err := strict.Check(c.config, in, strict.Unknown); err != nil {
			return nil, fmt.Errorf("cluster Secret %s: config: %w", c.secret, err)
		}
		if strict.Decode(c.config, &in, strict.Unknown) != nil {
			return nil, fmt.Errorf("cluster Secret %s: config is not valid JSON: correct it", c.secret)
		}
	}
	if present(in.AWSAuth) || present(in.Exec) {
		return nil, fmt.Errorf("cluster Secret %s: %w", c.secret,
			errors.New("execProviderConfig and awsAuthConfig are not supported by this version: use a bearer token or a client certificate"))
	}
	return &rest.Config{
		Host: c.server, Username: in.Username, Password: in.Password, BearerToken: in.BearerToken,
		TLSClientConfig: rest.TLSClientConfig{
			Insecure: in.TLSClientConfig.Insecure, ServerName: in.TLSClientConfig.ServerName, CAData: in.TLSClientConfig.CAData,
			CertData: in.TLSClientConfig.CertData, KeyData: in.TLSClientConfig.KeyData,
		},
	}, nil
}

// ClusterConfig reads the connection that a cluster Secret describes, or would describe: name is its own, data what it holds. It connects
// to nothing but what the policy allows.
func ClusterConfig(name string, data map[string][]byte, policy *outward.Policy) (*rest.Config, error) {
	config, err := clusterEntry{server: strings.TrimSpace(string(data["server"])), secret: name, config: data["config"]}.rest()
	if err != nil {
		return nil, err
	}
	return bounded(config, policy)
}

// CheckConnection finds what is wrong in the connection that a cluster Secret would describe.
func CheckConnection(name, server string, config []byte) error {
	_, err := clusterEntry{server: server, secret: name, config: config}.rest()
	return err
}

// bounded gives a configuration that connects to nothing but what the policy allows, and has config do so as well. All
// clients that are made of it share one transport, and with it connections.
func bounded(config *rest.Config, policy *outward.Policy) (*rest.Config, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	if err := policy.Check(base.Hostname()); err != nil {
		return nil, err
	}
	config.Dial, config.Proxy = policy.Dial, policy.Proxy
	transport, err := rest.TransportFor(&rest.Config{
		Host: base.String(), TLSClientConfig: config.TLSClientConfig, Dial: config.Dial, Proxy: config.Proxy,
	})
	if err != nil {
		return nil, fmt.Errorf("read TLS settings of the cluster: %w", err)
	}
	out := rest.CopyConfig(config)
	out.WarningHandlerWithContext = rest.NoWarnings{} // they are words of what answers
	out.Host, out.TLSClientConfig, out.Dial, out.Proxy, out.Transport = base.String(), rest.TLSClientConfig{}, nil, nil, discreet{transport}
	return out, nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
