package outward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// connectTime bounds how long a connection takes to come about.
const connectTime = 10 * time.Second

// Dial connects by TCP. The address is checked as it was resolved, in the moment before the connection is begun: a name
// that leads elsewhere the next time gains nothing.
func (p *Policy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("connect to %s: only TCP can be used", shown(address))
	}
	dialer := newDialer()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("read address: %w", err)
	}
	_, allowed, err := p.name(host)
	if err != nil {
		return nil, err
	}
	if !allowed {
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("read address: %w", err)
			}
			return p.address(host, at.Addr())
		}
	}
	conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(strings.TrimSuffix(host, "."), port))
	if refused := new(Refused); errors.As(err, &refused) {
		return nil, refused // without the address that the name leads to
	}
	return conn, err
}

// DialHTTP is Dial for a transport whose proxies are those that Proxy gives: these are the operator's choice, and pass.
func (p *Policy) DialHTTP(ctx context.Context, network, address string) (net.Conn, error) {
	if strings.HasPrefix(network, "tcp") && isProxy(address) {
		return newDialer().DialContext(ctx, network, address)
	}
	return p.Dial(ctx, network, address)
}

func newDialer() *net.Dialer { return &net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second} }

// Proxy gives the proxy of the environment for a request. A proxy resolves names itself, so the host is checked as it is
// written. A request that goes to the proxy's own address without a proxy is refused, since DialHTTP does not distinguish it from
// one through the proxy.
func (p *Policy) Proxy(r *http.Request) (*url.URL, error) {
	host := r.URL.Hostname()
	if err := p.Check(host); err != nil {
		return nil, err
	}
	to, err := http.ProxyFromEnvironment(r)
	if err == nil && to == nil && isProxy(withPort(r.URL)) && !p.Names(host) {
		return nil, &Refused{Host: shown(host), Why: "is the proxy of this program", Hint: hintAllow}
	}
	return to, err
}

// Transport is one that connects to nothing else. The caller sets what else it needs; one that sets another Proxy sets Dial as well.
func (p *Policy) Transport() *http.Transport {
	return &http.Transport{
		Proxy: p.Proxy, DialContext: p.DialHTTP, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true, MaxIdleConns: 20, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
	}
}

// isProxy reports whether an address is that of a proxy in the environment.
func isProxy(address string) bool {
	for _, name := range proxyVariables() {
		u, err := url.Parse(os.Getenv(name))
		if err != nil || u.Host == "" {
			continue
		}
		if strings.EqualFold(withPort(u), address) {
			return true
		}
	}
	return false
}

// withPort is host and port of an address.
func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "wss": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func proxyVariables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
}
