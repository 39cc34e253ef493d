package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/inlet"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/strict"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// Config is what a Server needs. What is not set has a default.
type Config struct {
	// Listen is the one address, host:port; port 0 for any.
	Listen string
	// PublicURL is where people and agents reach the server; made from Listen where it is empty.
	PublicURL string
	// TLSCert and TLSKey are files, read again when they change. SelfSigned makes both, and keeps them with the data.
	TLSCert, TLSKey string
	SelfSigned      bool
	// ClientCA is a file with certificates: agents must show a certificate that one of them signed.
	ClientCA string
	// InsecureHTTP allows plain HTTP on other addresses than loopback.
	InsecureHTTP bool

	// MetricsListen is an address of its own for /metrics, without sign-in; where it is empty, /metrics is at
	// Listen, for users who may see the settings.
	MetricsListen string

	// Data is a directory for the database of SQLite and the keys of the server.
	Data string
	// Database is a path or a URL of PostgreSQL; a file in Data where it is empty.
	Database string
	// Providers are identity providers; NoPasswords turns local users off.
	Providers   []authn.Provider
	NoPasswords bool
	// GroupsLast is how long groups of an identity provider count after a sign-in, and how long a sign-in by one lasts at
	// most; 24 hours where it is 0.
	GroupsLast time.Duration
	// AdminPassword is that of the first user; if it is empty, a random one is made and printed once.
	AdminPassword string

	// ClusterListen is the address for other servers, ClusterAdvertise the one that they get if it is another. Routes
	// are those of others beside the ones that the database knows. ClusterSecretFile is what they show each other; where it is
	// empty, that follows from their common key.
	ClusterListen     string
	ClusterAdvertise  string
	Routes            []string
	ClusterSecretFile string
	// NatsURLs are addresses of a NATS server where servers meet instead of reaching each other, NatsCredentials its file of
	// credentials and NatsCA one with certificates that sign its own; "" for none, and those of the system.
	NatsURLs                []string
	NatsCredentials, NatsCA string

	TrustedProxies []netip.Prefix
	AllowedOrigins []string
	Limits         core.Limits
	// Connections bounds those of HTTP.
	Connections inlet.Limits
	// AgentImage is that of the agent, in install manifests.
	AgentImage string
	Version    string
	// ReleaseKeys is a file with public keys that releases of the agent are signed with; "" for none.
	ReleaseKeys string

	// Tracer makes spans; nil for none. TrustTraces lets callers of the API decide which of their traces are kept.
	Tracer      *trace.Tracer
	TrustTraces bool

	Log *slog.Logger
	// Say is the output for what is printed once: the first password. Nil for nowhere.
	Say io.Writer
	// Now is time.Now where it is nil.
	Now func() time.Time

	// Hosted says which clusters agents beside the server are for, and how they run; none where its Dir is empty.
	Hosted hosting.Options

	// NotifySecrets is a directory with the secrets of notification channels, files <scope>.<secret>; empty for none.
	NotifySecrets string
	// Demo lets the pages offer a tour of the demo of `slipway up`.
	Demo bool
	// NotifyAllowPrivate lets notifications go to private networks.
	NotifyAllowPrivate bool
	// Outbound is what may be connected to where users and identity providers choose the address; nil for all but this
	// machine, the link and services of clouds.
	Outbound *outward.Policy
	// courier is the program that sends notifications, with its arguments; this one where it is empty.
	courier []string

	// Hash is how much work a password's hash is; the standard of sign-in where it is zero, and no flag changes that. Tests have
	// Many users.
	Hash authn.Params
}

// groupsLast is how long groups of an identity provider count where its file says nothing else, and the bounds of that.
const (
	groupsLast         = 24 * time.Hour
	groupsLastShortest = 5 * time.Minute
	groupsLastLongest  = 30 * 24 * time.Hour
)

// complete fills in what is left out.
func (c *Config) complete() {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.Outbound = cmp.Or(c.Outbound, &outward.Policy{Private: true})
	if c.Say == nil {
		c.Say = io.Discard
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.GroupsLast = cmp.Or(c.GroupsLast, groupsLast)
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:8080")
}

// Check refuses what would be a danger, and fills in what is left out.
func (c *Config) check() error {
	c.complete()
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q is no address: write HOST:PORT, such as 0.0.0.0:8443", c.Listen)
	}
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key belong together: give both")
	case c.TLSCert != "" && c.SelfSigned:
		return errors.New("--self-signed makes a certificate, and --tls-cert brings one: give one of them")
	case c.ClientCA != "" && !c.tls():
		return errors.New("--client-ca needs TLS: give --tls-cert and --tls-key, or --self-signed")
	case !c.tls() && !loopback(host) && !c.InsecureHTTP:
		return fmt.Errorf("--listen %s is reached by others, and passwords and tokens must not travel in clear: "+
			"give --tls-cert and --tls-key, or --self-signed, or --insecure-http where a proxy on a network of your own does TLS", c.Listen)
	case c.Data == "":
		return errors.New("--data is missing: give a directory for the database and the server's keys")
	case (len(c.Routes) > 0 || c.ClusterSecretFile != "" || c.ClusterAdvertise != "") && c.ClusterListen == "":
		return errors.New("--cluster-listen is missing: it is where other servers reach this one, such as 0.0.0.0:6222")
	}
	if c.MetricsListen != "" {
		if _, _, err := net.SplitHostPort(c.MetricsListen); err != nil {
			return fmt.Errorf("--metrics-listen %q is no address: write HOST:PORT, such as 127.0.0.1:9090", c.MetricsListen)
		}
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" || u.User != nil ||
			u.RawQuery != "" {
			return fmt.Errorf("--public-url %q cannot be used: write https://HOST, without a path", c.PublicURL)
		}
		c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	}
	if c.Database == "" {
		c.Database = filepath.Join(c.Data, "slipway.db")
	}
	return c.checkHosted()
}

func (c *Config) tls() bool { return c.TLSCert != "" || c.SelfSigned }

// loopback is true for an address that only this machine reaches.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// OIDC is a file that describes identity providers.
type OIDC struct {
	Providers   []authn.Provider `json:"providers"`
	NoPasswords bool             `json:"noPasswords"`
	// GroupsLast is how long groups of a provider count after a sign-in, such as 8h; 24h where it is empty.
	GroupsLast string `json:"groupsLast"`
}

// lasts reads GroupsLast.
func (o OIDC) lasts() (time.Duration, error) {
	if o.GroupsLast == "" {
		return groupsLast, nil
	}
	d, err := time.ParseDuration(o.GroupsLast)
	if err != nil || d < groupsLastShortest || d > groupsLastLongest {
		return 0, fmt.Errorf("groupsLast %.40q is how long groups count after a sign-in: write a time from %s to %s, such as 8h", o.GroupsLast,
			groupsLastShortest, groupsLastLongest)
	}
	return d, nil
}

// ReadOIDC reads a file that describes identity providers, in JSON.
func ReadOIDC(path string) (OIDC, error) {
	var out OIDC
	raw, err := os.ReadFile(path)
	if err != nil {
		return out, fmt.Errorf("read identity providers: %w", err)
	}
	if err := strict.Decode(raw, &out); err != nil {
		return out, fmt.Errorf("read identity providers of %s: %w: write {\"providers\":[{\"name\":…,\"issuer\":…,\"clientID\":…}]}", path, err)
	}
	return out, nil
}
