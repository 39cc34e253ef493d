package git

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
	"golang.org/x/net/proxy"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// proxyTime bounds how long a proxy may take until it has connected.
const proxyTime = 20 * time.Second

// parseProxy reads the address of a proxy.
func parseProxy(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("the proxy of the repository is no URL: write it as http://host:port")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return u, nil
	}
	return nil, errors.New("the proxy of the repository has a scheme that is not known: use http, https, socks5 or socks5h")
}

// proxied reports whether ssh connects through the proxy of a credential. HTTP is left to git.
func (r Remote) proxied(cred Credential) bool {
	if r.scheme != "ssh" || cred.Proxy == "" {
		return false
	}
	to, err := (&httpproxy.Config{HTTPSProxy: cred.Proxy, NoProxy: cred.NoProxy}).ProxyFunc()(&url.URL{Scheme: "https", Host: r.host})
	return err == nil && to != nil
}

// relay carries the one connection of an ssh client to its server through a proxy: ssh itself knows none. It listens on loopback,
// takes one connection, and ends with the access.
type relay struct {
	listener net.Listener
	alias    string
	done     chan struct{}

	mu    sync.Mutex
	wrong error
	conns []net.Conn
	shut  bool
}

// newRelay makes a relay to the host of a remote.
func (c *Client) newRelay(ctx context.Context, r Remote, cred Credential) (*relay, error) {
	to, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	port := to.Port()
	if port == "" {
		port = "22"
	}
	through, err := parseProxy(cred.Proxy)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for ssh: %w", err)
	}
	l := &relay{listener: listener, alias: pinned{host: to.Hostname(), port: port}.alias(), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		conn, err := listener.Accept()
		_ = listener.Close() // the next one is not ours
		if err != nil {
			return
		}
		l.keep(conn)
		far, err := c.through(ctx, r, through, to.Hostname(), port, cred.CA)
		if err != nil {
			l.fail(err)
			_ = conn.Close()
			return
		}
		l.keep(far)
		l.carry(conn, far)
	}()
	return l, nil
}

// carry copies both ways until one side ends.
func (l *relay) carry(near, far net.Conn) {
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // ends with the connection
			_ = pair[0].Close()
		})
	}
	both.Wait()
}

// keep remembers a connection, so that it ends with the relay.
func (l *relay) keep(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		_ = conn.Close()
	}
	l.conns = append(l.conns, conn)
}

func (l *relay) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = err
}

// err is why the proxy did not connect.
func (l *relay) err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

func (l *relay) close() {
	if l == nil {
		return
	}
	_ = l.listener.Close()
	l.mu.Lock()
	l.shut = true
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.mu.Unlock()
	<-l.done
}

// ssh are options. The key of the host is still that of its name.
func (l *relay) ssh() []string {
	port := strconv.Itoa(l.listener.Addr().(*net.TCPAddr).Port)
	return []string{"-o", "HostName=127.0.0.1", "-o", "Port=" + port, "-o", "HostKeyAlias=" + l.alias, "-o", "CheckHostIP=no"}
}

// through connects to a host through a proxy.
func (c *Client) through(ctx context.Context, r Remote, to *url.URL, host, port string, ca []byte) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, proxyTime)
	defer cancel()
	fail := func(detail string) error {
		return &Error{Kind: ErrUnreachable, URL: r.URL, Detail: detail, Hint: "check the address of the proxy, and user and password in it"}
	}
	if to.Scheme == "socks5" { // the name is resolved here
		found, err := c.addresses(ctx, r, host)
		if err != nil {
			return nil, err
		}
		if found != "" {
			host = found
		}
	}
	near := proxyDialer{c, r, to}
	if to.Scheme == "socks5" || to.Scheme == "socks5h" {
		var login *proxy.Auth
		if to.User != nil {
			password, _ := to.User.Password()
			login = &proxy.Auth{User: to.User.Username(), Password: password}
		}
		socks, err := proxy.SOCKS5("tcp", proxyAddress(to), login, near)
		if err != nil {
			return nil, fail("the proxy cannot be used")
		}
		conn, err := socks.(proxy.ContextDialer).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
		if known := new(Error); err != nil && !errors.As(err, &known) {
			return nil, fail("the SOCKS proxy does not connect to the host")
		}
		return conn, err
	}
	conn, err := near.DialContext(ctx, "tcp", proxyAddress(to))
	if err != nil {
		return nil, err
	}
	far, detail := tunnel(ctx, conn, to, net.JoinHostPort(host, port), ca)
	if detail != "" {
		_ = conn.Close()
		return nil, fail(detail)
	}
	return far, nil
}

// tunnel has an HTTP proxy connect to a host. It returns the connection to that host, over the one to the proxy, or what went wrong.
func tunnel(ctx context.Context, conn net.Conn, to *url.URL, address string, ca []byte) (net.Conn, string) {
	if to.Scheme == "https" {
		config := &tls.Config{ServerName: to.Hostname(), MinVersion: tls.VersionTLS12}
		if len(ca) > 0 {
			config.RootCAs, _ = outward.Authorities(ca) // nil, which is the system's, where it holds none
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, "the certificate of the proxy is not trusted, or it does not speak TLS"
		}
		conn = secure
	}
	far, _, err := outward.Connect(ctx, conn, to, address) // an ssh server may speak first
	if refused := new(outward.ProxyRefused); errors.As(err, &refused) {
		return nil, refused.Error()
	}
	if err != nil {
		return nil, "the proxy does not answer as a proxy does"
	}
	return far, ""
}

// proxyAddress is host and port of a proxy; without a port those that curl takes.
func proxyAddress(to *url.URL) string {
	port := to.Port()
	if port == "" {
		port = "1080"
		if to.Scheme == "https" {
			port = "443"
		}
	}
	return net.JoinHostPort(to.Hostname(), port)
}

// proxyDialer connects to a proxy at an address that was found harmless.
type proxyDialer struct {
	client *Client
	remote Remote
	to     *url.URL
}

// Dial implements proxy.Dialer.
func (d proxyDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext implements proxy.ContextDialer.
func (d proxyDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	found, err := d.client.addresses(ctx, d.remote, d.to.Hostname())
	if err != nil {
		return nil, err
	}
	if _, port, err := net.SplitHostPort(address); err == nil && found != "" {
		address = net.JoinHostPort(found, port)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, &Error{
			Kind: ErrUnreachable, URL: d.remote.URL, Detail: "the proxy cannot be reached", Hint: "check the address of the proxy and the network",
		}
	}
	return conn, nil
}

// addresses resolves a host to an address that may be connected to; "" where every one may.
func (c *Client) addresses(ctx context.Context, r Remote, host string) (string, error) {
	if c.opts.Hosts == nil {
		return "", nil
	}
	found, err := c.opts.Hosts.Resolve(ctx, host)
	switch {
	case err != nil && c.opts.Hosts.Refuses(err):
		return "", &Error{Kind: ErrDenied, URL: r.URL, Detail: "the host may not be connected to", Hint: err.Error(), cause: err}
	case err != nil || len(found) == 0:
		return "", &Error{
			Kind: ErrUnreachable, URL: r.URL, Detail: "could not resolve " + clean(host),
			Hint: "check the address, the network and the proxy", cause: err,
		}
	}
	return byPreference(found)[0].String(), nil
}

// byPreference has addresses of IPv4 first, as more networks have it.
func byPreference(found []netip.Addr) []netip.Addr {
	rank := func(at netip.Addr) int {
		if at.Unmap().Is4() {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(found), func(a, b netip.Addr) int { return rank(a) - rank(b) })
}
