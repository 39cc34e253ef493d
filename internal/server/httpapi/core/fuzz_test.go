package core

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func FuzzIfMatch(f *testing.F) {
	for _, text := range []string{"", "*", `"1"`, `W/"7"`, `"-1"`, `"1", "2"`, `"9223372036854775808"`, `W/W/"1"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Version(text)
		if err == nil && v < 0 || err != nil && api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%q is version %d (%v)", text, v, err)
		}
		if err == nil && v == 0 && strings.Trim(strings.TrimPrefix(text, "W/"), `"*+0-`) != "" {
			t.Errorf("%q asks for no version", text)
		}
		if back, err := Version(ETag(max(v, 0))); err != nil || back != max(v, 0) {
			t.Errorf("the ETag of version %d is read as %d (%v)", v, back, err)
		}
	})
}

// A query that is accepted has nothing in it but parameters of its route, for whoever reads it.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{"dryRun=true", "dryRun=true&DryRun=false", "dry%52un=x", "a;b=c", "%zz", "dryRun&&&=", "dryRun=a&dryRun=b", "dryRun[]=1", "+dryRun=1"} {
		f.Add(raw)
	}
	route := &Route{parameters: []string{"dryRun", "limit"}}
	f.Fuzz(func(t *testing.T, raw string) {
		if route.checkQuery(raw) != nil {
			return
		}
		r := &http.Request{URL: &url.URL{RawQuery: raw}}
		for name := range r.URL.Query() {
			if !route.Takes(name) {
				t.Errorf("%q passes with %q", raw, name)
			}
		}
	})
}

// Who is not behind a proxy that is trusted has the address that they come from.
func FuzzForwardedFor(f *testing.F) {
	f.Add("192.0.2.1:1", "10.0.0.1", "198.51.100.7")
	f.Add("[::ffff:10.0.0.9]:1", "10.0.0.1, 192.0.2.1", "10.0.0.2,")
	f.Add("@", ",,,", "::1%eth0")
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, remote, first, second string) {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {first, second}}}
		alone := ClientIP(&http.Request{RemoteAddr: remote}, nil)
		if got := ClientIP(r, nil); got != alone {
			t.Errorf("%q is %q, whatever it says of itself; it was %q", remote, alone, got)
		}
		at, err := netip.ParseAddr(alone)
		if got := ClientIP(r, trusted); (err != nil || !trusted[0].Contains(at.Unmap())) && got != alone {
			t.Errorf("%q is no proxy of ours, and is taken for %q", remote, got)
		}
	})
}

// A page of another origin opens no WebSocket.
func FuzzOrigin(f *testing.F) {
	for _, origin := range []string{"https://slipway.example", "https://evil.example", "null", "https://slipway.example.evil.example", "https://evil@slipway.example", "//slipway.example", "https://slipway.example:443", "data:,", "https://SLIPWAY.example"} {
		f.Add(origin)
	}
	h := &Core{cfg: Base{PublicURL: "https://slipway.example", AllowedOrigins: []string{"https://ide.example"}}}
	f.Fuzz(func(t *testing.T, origin string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://slipway.example/api/v1/x", nil)
		r.Host, r.TLS = "slipway.example", &tls.ConnectionState{}
		r.Header.Set("Origin", origin)
		if !h.Allowed(r) || origin == "" || origin == "https://ide.example" {
			return
		}
		if u, err := url.Parse(origin); err != nil || u.Host != "slipway.example" {
			t.Errorf("a page of %q may open a WebSocket", origin)
		}
	})
}
