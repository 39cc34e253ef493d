package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// run starts a server until the test ends.
func run(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("the server does not end")
		}
	})
}

// trusting is a client that trusts the server's own certificate.
func trusting(t *testing.T, s *Server, certificates ...tls.Certificate) *http.Client {
	t.Helper()
	raw, err := os.ReadFile(s.cfg.TLSCert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(raw)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: certificates}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

func TestASelfSignedServerIsTrustedByItsCertificateAndAsksAgentsForTheirs(t *testing.T) {
	t.Parallel()
	ca := t.TempDir()
	authority := Config{Data: ca, SelfSigned: true, Now: time.Now, Log: newServer(t, nil).log}
	if err := selfSign(&authority); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(c *Config) { c.PublicURL, c.SelfSigned, c.ClientCA = "", true, authority.TLSCert })
	run(t, s)
	client := trusting(t, s)
	answer, err := client.Get(s.URL() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("people need no certificate: %s", answer.Status)
	}
	answer, err = client.Post(s.URL()+agentapi.PathRegister, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || !bytes.Contains(text, []byte("certificate")) {
		t.Errorf("an agent without a certificate: %s %s", answer.Status, text)
	}
	own, err := tls.LoadX509KeyPair(authority.TLSCert, authority.TLSKey)
	if err != nil {
		t.Fatal(err)
	}
	_ = own // a certificate for servers is none for clients: it is refused by TLS itself
	if _, err := trusting(t, s, own).Get(s.URL() + "/healthz"); err == nil {
		t.Error("a certificate for another use was taken")
	}
	if info, err := os.Stat(filepath.Join(s.cfg.Data, "server.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is readable for others: %v %v", info, err)
	}
}

func TestACertificateIsReadAgainWhenItChanged(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	log := newServer(t, nil).log
	now := time.Now()
	for _, dir := range []string{one, two} {
		if err := selfSign(&Config{Data: dir, Now: time.Now, Log: log}); err != nil {
			t.Fatal(err)
		}
	}
	pair := &certificate{cert: filepath.Join(one, "server.crt"), key: filepath.Join(one, "server.key"), log: log, now: func() time.Time { return now }}
	serial := func() string {
		t.Helper()
		c, err := pair.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.SerialNumber.String()
	}
	before := serial()
	move := func(name string) {
		t.Helper()
		raw, err := os.ReadFile(filepath.Join(two, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(one, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(one, name), now.Add(time.Hour), now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	move("server.crt")
	if half := serial(); half != before {
		t.Error("a certificate without its key is in force")
	}
	move("server.key")
	if after := serial(); after == before {
		t.Error("the new certificate is not in force")
	}
}

func TestPlainHTTPIsForThisMachineUnlessItIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cfg    Config
		refuse string
	}{
		{"loopback", Config{Listen: "127.0.0.1:0"}, ""},
		{"loopback of IPv6", Config{Listen: "[::1]:0"}, ""},
		{"everywhere", Config{Listen: ":8080"}, "--insecure-http"},
		{"a name", Config{Listen: "slipway.example.org:80"}, "--insecure-http"},
		{"everywhere, asked for", Config{Listen: ":8080", InsecureHTTP: true}, ""},
		{"everywhere with TLS", Config{Listen: ":8443", SelfSigned: true}, ""},
		{"half a certificate", Config{TLSCert: "a"}, "--tls-key"},
		{"mutual TLS without TLS", Config{ClientCA: "a"}, "--client-ca"},
		{"other servers without an address of its own", Config{Routes: []string{"nats://a"}}, "--cluster-listen"},
		{"a public URL with a path", Config{PublicURL: "https://a/b"}, "--public-url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.cfg.Data = "data"
			err := c.cfg.check()
			if (c.refuse == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%v", err)
			}
		})
	}
}
