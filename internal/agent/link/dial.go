package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// Limits of a connection that is being made.
const (
	connectLimit   = 5 * time.Second // for TCP: lost packets of a network that is back are sent again within that time
	handshakeLimit = 10 * time.Second
	maxCAFile      = 4 << 20
)

// Transport says how the server is reached. Files are read for each connection, so that they may be renewed.
type Transport struct {
	CAFile   string // PEM; certificates of the server or of a proxy that looks inside, beside the system's
	CertFile string // PEM; the agent's identity for servers that request a certificate
	KeyFile  string
	Insecure bool // verify no certificate

	// Proxy finds the proxy for a URL; nil: HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment.
	Proxy func(*url.URL) (*url.URL, error)
}

// unreachable is the failure to reach anything at all: trying again costs next to nothing.
type unreachable struct{ err error }

// Error says what could not be reached.
func (u *unreachable) Error() string { return u.err.Error() }

// Unwrap returns the cause.
func (u *unreachable) Unwrap() error { return u.err }

// ParseServer reads the URL of a server. One without TLS is taken on loopback only, or where nothing is to be verified.
func ParseServer(text string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil {
		return nil, errors.New("the URL of the server cannot be read: write https://HOST[:PORT]") // it may hold a password
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("the URL of the server is %q: write https://HOST[:PORT]", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL of the server has more than scheme, host and path: an agent proves itself by its key")
	case u.Scheme == "http" && !insecure && !loopback(u.Hostname()):
		return nil, fmt.Errorf("the URL of the server is %s, without TLS: write https:// (http:// is for loopback, "+
			"or with --insecure-skip-verify)", u)
	}
	return u, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// address returns host and port of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// dial connects to the server, through a proxy where one is set, and with TLS where the URL says so.
func (t *Transport) dial(ctx context.Context, server *url.URL) (net.Conn, error) {
	find := t.Proxy
	if find == nil {
		find = httpproxy.FromEnvironment().ProxyFunc()
	}
	proxy, err := find(server)
	if err != nil {
		return nil, fmt.Errorf("find the proxy for %s: correct HTTPS_PROXY", server.Host) // the cause may hold its password
	}
	var conn net.Conn
	if proxy == nil {
		conn, err = dialTCP(ctx, address(server), "the server")
	} else {
		conn, err = t.dialProxy(ctx, proxy, address(server))
	}
	if err != nil || server.Scheme != "https" {
		return conn, err
	}
	return t.secure(ctx, conn, server.Hostname(), "the server "+server.Host)
}

func dialTCP(ctx context.Context, addr, who string) (net.Conn, error) {
	d := net.Dialer{Timeout: connectLimit, KeepAlive: 30 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, &unreachable{fmt.Errorf("reach %s: %w", who, err)}
	}
	return conn, nil
}

// dialProxy asks a proxy for a way to the server.
func (t *Transport) dialProxy(ctx context.Context, proxy *url.URL, target string) (net.Conn, error) {
	who := "the proxy " + proxy.Host
	if proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, fmt.Errorf("%s has the scheme %q: the link takes proxies of http:// and https://", who, proxy.Scheme)
	}
	conn, err := dialTCP(ctx, address(proxy), who)
	if err != nil {
		return nil, err
	}
	if proxy.Scheme == "https" {
		if conn, err = t.secure(ctx, conn, proxy.Hostname(), who); err != nil {
			return nil, err
		}
	}
	tunnel, err := askProxy(ctx, conn, proxy, target)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("ask %s for %s: %w", who, target, err)
	}
	return tunnel, nil
}

// askProxy does the CONNECT.
func askProxy(ctx context.Context, conn net.Conn, proxy *url.URL, target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	tunnel, early, err := outward.Connect(ctx, conn, proxy, target)
	var refused *outward.ProxyRefused
	switch {
	case early:
		return nil, errors.New("it sent more than its answer")
	case errors.As(err, &refused) && refused.Code == http.StatusProxyAuthRequired:
		return nil, errors.New("it wants a user and a password: write them into HTTPS_PROXY")
	case errors.As(err, &refused) && (refused.Code == http.StatusBadGateway || refused.Code == http.StatusServiceUnavailable ||
		refused.Code == http.StatusGatewayTimeout):
		return nil, &unreachable{fmt.Errorf("it cannot reach the server: it answers with %s", outward.Status(refused.Code))}
	case errors.As(err, &refused):
		return nil, fmt.Errorf("it refuses with %s: let it pass connections to that address, or name it in NO_PROXY",
			outward.Status(refused.Code))
	case err != nil:
		return nil, hungUp(&wordless{err})
	}
	return tunnel, nil
}

// secure makes a TLS connection of a plain one, which it closes where that fails.
func (t *Transport) secure(ctx context.Context, conn net.Conn, name, who string) (net.Conn, error) {
	cfg, err := t.tls(name)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeLimit)
	defer cancel()
	secured := tls.Client(conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &unknown) {
			return nil, fmt.Errorf("trust %s: %w: give the CA that signed its certificate, or that of the proxy in between, by --server-ca FILE",
				who, err)
		}
		return nil, hungUp(alertOf(fmt.Errorf("talk TLS with %s: %w", who, err), cfg, who))
	}
	// The server judges the agent's certificate after the handshake; its answer is the first thing that is read.
	return &vetted{Conn: secured, cfg: cfg, who: who}, nil
}

// hungUp marks the error of a connection that was accepted and closed again: a proxy, or a balancer, without a server
// behind it.
func hungUp(err error) error {
	for _, cause := range []error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, os.ErrDeadlineExceeded, context.DeadlineExceeded,
	} {
		if errors.Is(err, cause) {
			return &unreachable{err}
		}
	}
	return err
}

// tls reads the files of the transport.
func (t *Transport) tls(name string) (*tls.Config, error) {
	cfg := &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: t.Insecure}
	if t.CAFile != "" {
		pem, err := readFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read --server-ca: %w", err)
		}
		if cfg.RootCAs, err = outward.Authorities(pem); err != nil {
			return nil, fmt.Errorf("read --server-ca %s: %w", t.CAFile, err)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := t.pair()
		if err != nil {
			return nil, err
		}
		// It is shown even if the server names other authorities: a refusal with a reason is better than no certificate.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair, nil }
		cfg.Certificates = []tls.Certificate{*pair}
	}
	return cfg, nil
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxCAFile {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", name, info.Size(), maxCAFile)
	}
	return os.ReadFile(name)
}
