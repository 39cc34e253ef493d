package server

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// askingServer is a server that asks agents for a certificate of what is in a file. Its clock can be moved.
func askingServer(t *testing.T, authorities []byte) (s *Server, file string, later func(time.Duration)) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "agents.pem")
	if err := os.WriteFile(file, authorities, 0o600); err != nil {
		t.Fatal(err)
	}
	var ahead atomic.Int64
	s = newServer(t, func(c *Config) {
		c.PublicURL, c.SelfSigned, c.ClientCA = "", true, file
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	run(t, s)
	return s, file, func(d time.Duration) { ahead.Add(int64(d)) }
}

// link opens the link with a certificate, as far as the upgrade.
func link(t *testing.T, s *Server, cert tls.Certificate) (net.Conn, *http.Response, error) {
	t.Helper()
	raw, err := os.ReadFile(s.cfg.TLSCert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(raw)
	at, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", at.Host, &tls.Config{
		RootCAs: pool, ServerName: "localhost", NextProtos: []string{"http/1.1"},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil },
	})
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+agentapi.PathLink, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
	} {
		req.Header.Set(name, value)
	}
	if err := req.Write(conn); err != nil {
		return nil, nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), req)
	return conn, answer, err
}

func TestALinkEndsWithTheCertificateThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	signer := testenv.NewAuthority(t)
	s, _, _ := askingServer(t, signer.PEM())
	// Certificates have whole seconds, so this one ends within two or three.
	ends := time.Now().Add(3 * time.Second)
	conn, answer, err := link(t, s, signer.IssueUntil(ends, "agent").TLS)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the link: %v, %v", answer, err)
	}
	var timeout net.Error
	_, err = io.Copy(io.Discard, conn) // ends when the server closes it
	if errors.As(err, &timeout) && timeout.Timeout() {
		t.Fatal("the link outlives the certificate")
	}
	if early := time.Until(ends.Truncate(time.Second)); early > 0 {
		t.Errorf("the link ended %s before the certificate", early)
	}
	if _, _, err := link(t, s, signer.IssueUntil(time.Now().Add(-time.Minute), "agent").TLS); err == nil {
		t.Error("a certificate that expired was taken")
	}
}

func TestTheAuthoritiesForAgentsAreReadAgainWhenTheyChange(t *testing.T) {
	t.Parallel()
	one, two := testenv.NewAuthority(t), testenv.NewAuthority(t)
	s, file, later := askingServer(t, one.PEM())
	taken := func(of *testenv.Authority) bool {
		t.Helper()
		_, answer, err := link(t, s, of.IssueUntil(time.Now().Add(time.Hour), "agent").TLS)
		return err == nil && answer.StatusCode == http.StatusSwitchingProtocols
	}
	if !taken(one) || taken(two) {
		t.Fatal("the first authority is not the one in force")
	}
	for _, step := range []struct {
		content  []byte
		one, two bool
	}{
		{append(append([]byte{}, one.PEM()...), two.PEM()...), true, true},
		{[]byte("no certificate"), true, true}, // what cannot be read changes nothing
		{two.PEM(), false, true},
	} {
		if err := os.WriteFile(file, step.content, 0o600); err != nil {
			t.Fatal(err)
		}
		later(time.Minute)
		if have := taken(one); have != step.one {
			t.Errorf("with %d bytes the first is taken: %t", len(step.content), have)
		}
		if have := taken(two); have != step.two {
			t.Errorf("with %d bytes the second is taken: %t", len(step.content), have)
		}
	}
}
