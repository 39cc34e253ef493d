package httpapi_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

func TestAnAddressIsBelievedOnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct{ name, remote, forwarded, want string }{
		{"nobody forwarded", "192.0.2.1:1", "", "192.0.2.1"},
		{"a client that lies", "192.0.2.1:1", "127.0.0.1", "192.0.2.1"},
		{"through a proxy", "10.0.0.1:1", "192.0.2.7", "192.0.2.7"},
		{"through two", "10.0.0.1:1", "192.0.2.7, 10.0.0.2", "192.0.2.7"},
		{"a client that lies to a proxy", "10.0.0.1:1", "127.0.0.1, 192.0.2.7", "192.0.2.7"},
		{"a proxy that says nothing of use", "10.0.0.1:1", "unknown", "10.0.0.1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1", "192.0.2.7", "192.0.2.7"},
		{"through a proxy on this machine", "[::1]:1", "2001:db8::7", "2001:db8::7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = c.remote
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			if have := core.ClientIP(r, proxies); have != c.want {
				t.Errorf("%s", have)
			}
		})
	}
}
