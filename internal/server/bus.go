package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// bus is the NATS server at which servers meet, instead of reaching each other.
func (c *Config) bus() (*gateway.Cluster, error) {
	if c.ClusterListen != "" || c.ClusterAdvertise != "" || len(c.Routes) > 0 || c.ClusterSecretFile != "" {
		return nil, errors.New("servers that meet at --nats-url do not reach each other: leave out --cluster-listen, --cluster-advertise, " +
			"--nats-route and --cluster-secret-file")
	}
	if len(c.NatsURLs) == 0 {
		return nil, errors.New("--nats-creds and --nats-ca are for --nats-url: give it, too")
	}
	bus := &gateway.Bus{Credentials: c.NatsCredentials}
	encrypted := true
	for _, text := range c.NatsURLs {
		u, err := url.Parse(text)
		// What it says is not shown: it may have a password.
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return nil, errors.New("--nats-url is no address of a NATS server: write tls://HOST:7422 or wss://HOST, where it takes leaf nodes")
		}
		secure := u.Scheme == "tls" || u.Scheme == "wss"
		encrypted = encrypted && (secure || c.NatsCA != "" || loopback(u.Hostname()))
		if secure && bus.TLS == nil {
			bus.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		bus.URLs = append(bus.URLs, u)
	}
	if c.NatsCA != "" {
		raw, err := os.ReadFile(c.NatsCA)
		if err != nil {
			return nil, fmt.Errorf("read --nats-ca: %w", err)
		}
		bus.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !bus.TLS.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("read --nats-ca: %s holds no certificate in PEM", c.NatsCA)
		}
	}
	if c.NatsCredentials != "" {
		if _, err := os.Stat(c.NatsCredentials); err != nil {
			return nil, fmt.Errorf("read --nats-creds: %w", err)
		}
	}
	if !encrypted {
		c.Log.Warn("THE CONNECTION TO --nats-url IS NOT ENCRYPTED: write tls://, unless the network is your own")
	}
	return &gateway.Cluster{Bus: bus}, nil
}

// meeting says when the NATS server at which servers meet cannot be reached, and when it can again.
func (m *member) meeting() {
	if len(m.server.cfg.NatsURLs) == 0 {
		return
	}
	switch meets := m.server.gateway.Peers.Meets(); {
	case meets == m.meets:
	case meets:
		m.server.log.Info("other servers are met at --nats-url")
	default:
		m.server.log.Warn("--nats-url CANNOT BE REACHED: agents of one server cannot be asked through another until it can; " +
			"see the log at level debug")
	}
	m.meets = m.server.gateway.Peers.Meets()
}
