package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// errPrivate says that an address is one of the server's own network.
var errPrivate = errors.New("this is an address of a private network, of this machine or of the link: " +
	"start the server with --notify-allow-private if notifications may go there")

// errRedirect says that a receiver wants the message to go elsewhere.
var errRedirect = errors.New("the receiver redirects elsewhere, which is not followed: give the address that it redirects to")

// dialTime bounds a connection, maxAnswer what is read of an answer.
const (
	dialTime  = 5 * time.Second
	maxAnswer = 64 << 10
)

// guard decides which addresses may be reached.
type guard struct {
	private bool
	// proxies are what the environment says: they are the operator's own choice, and decide about what is behind them.
	proxies map[string]bool
}

func newGuard(private bool) *guard {
	g := &guard{private: private, proxies: map[string]bool{}}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		u, err := url.Parse(os.Getenv(name))
		if err != nil || u.Host == "" {
			continue
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"https": "443", "socks5": "1080"}[u.Scheme]
		}
		if port == "" {
			port = "80"
		}
		g.proxies[net.JoinHostPort(u.Hostname(), port)] = true
	}
	return g
}

// reserved are networks that belong to nobody outside, beside those that netip knows.
//
//nolint:gochecknoglobals // a table
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

// check refuses an address that is not one of the internet.
func (g *guard) check(address netip.Addr) error {
	if g.private {
		return nil
	}
	address = address.Unmap()
	inside := !address.IsGlobalUnicast() || address.IsPrivate() || address.IsLoopback() || address.IsLinkLocalUnicast()
	for _, prefix := range reserved {
		inside = inside || prefix.Contains(address)
	}
	if inside {
		return fmt.Errorf("connect to %s: %w", address, errPrivate)
	}
	return nil
}

// dial connects. The address is checked as it was resolved, so a name that means something else the next time gains nothing.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTime}
	if !g.proxies[address] {
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(resolved)
			if err != nil {
				return fmt.Errorf("read address: %w", err)
			}
			return g.check(at.Addr())
		}
	}
	return dialer.DialContext(ctx, network, address)
}

// reach refuses a name that means an address which must not be reached. It is for what does not dial through the guard.
func (g *guard) reach(ctx context.Context, host string) error {
	if g.private {
		return nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("resolve the receiver: %w", err)
	}
	for _, address := range found {
		if err := g.check(address); err != nil {
			return err
		}
	}
	return nil
}

// transport speaks HTTP to what may be reached, and follows nothing.
func (g *guard) transport() http.RoundTripper {
	return unmoved{&http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: g.dial, TLSHandshakeTimeout: dialTime, ResponseHeaderTimeout: sendTime,
		MaxResponseHeaderBytes: maxAnswer, ForceAttemptHTTP2: true, MaxIdleConns: 20, MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second,
	}}
}

// unmoved takes a redirect for an error, and reads only so much of an answer.
type unmoved struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (u unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := u.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		return nil, errors.Join(errRedirect, answer.Body.Close())
	}
	answer.Body = bounded{io.LimitReader(answer.Body, maxAnswer), answer.Body}
	return answer, nil
}

type bounded struct {
	io.Reader
	io.Closer
}

// maxMessage is how long an error is that people are shown.
const maxMessage = 500

// quiet takes a secret out of an error: as it is, its parts, and what encodings make of them.
func quiet(err error, secret string) string {
	text := redact.Addresses(redact.NewKnown(secretParts(secret)...).Text(err.Error()))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// secretParts are what of the address of a receiver must not be shown.
func secretParts(secret string) []string {
	parts := []string{secret}
	_, rest, found := strings.Cut(secret, "://")
	if !found {
		rest = secret
	}
	if u, err := url.Parse(secret); err == nil {
		password, _ := u.User.Password()
		parts = append(parts, u.User.Username(), password)
	}
	// A password is not always where it should be.
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		parts = append(parts, rest[:at])
	}
	return append(parts, strings.FieldsFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})...)
}
