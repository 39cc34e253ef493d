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
// that leads elsewhere the next time gains nothing. Proxies of the environment are the operator's choice, and pass.
func (p *Policy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("connect to %s: only TCP can be used", shown(address))
	}
	dialer := &net.Dialer{Timeout: connectTime, KeepAlive: 30 * time.Second}
	if isProxy(address) {
		return dialer.DialContext(ctx, network, address)
	}
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

// Proxy gives the proxy of the environment for a request. A proxy resolves names itself, so the host is checked as it is
// written.
func (p *Policy) Proxy(r *http.Request) (*url.URL, error) {
	to, err := http.ProxyFromEnvironment(r)
	if err != nil || to == nil {
		return to, err
	}
	return to, p.Check(r.URL.Hostname())
}

// Transport is one that connects to nothing else. The caller sets what else it needs.
func (p *Policy) Transport() *http.Transport {
	return &http.Transport{
		Proxy: p.Proxy, DialContext: p.Dial, TLSHandshakeTimeout: connectTime, ResponseHeaderTimeout: 30 * time.Second,
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
		port := u.Port()
		if port == "" {
			port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
		}
		if port == "" {
			port = "80"
		}
		if net.JoinHostPort(u.Hostname(), port) == address {
			return true
		}
	}
	return false
}

func proxyVariables() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
}
