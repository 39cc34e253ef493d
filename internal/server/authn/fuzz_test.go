package authn

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// Where a browser goes on after it signed in is a path of ours, as a browser reads it.
func FuzzLocalPath(f *testing.F) {
	for _, to := range []string{"/", "/apps?x=1#y", "//host", "/\\host", "/%2fhost", "/\thost", "https:/host", "/a/../..//host", "/.//host", "javascript:x", "/\x00", "/;//host"} {
		f.Add(to)
	}
	base, _ := url.Parse("https://slipway.example/sign-in")
	f.Fuzz(func(t *testing.T, to string) {
		got := localPath(to)
		// A browser leaves out what breaks a line, and takes \ for /.
		seen := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(got)
		u, err := base.Parse(seen)
		if err != nil || u.Host != base.Host || u.Scheme != base.Scheme || strings.HasPrefix(seen, "//") {
			t.Errorf("%q leads to %q", to, seen)
		}
	})
}

// Without the key of a provider nothing that it seems to send signs anybody in.
func FuzzProviderAnswers(f *testing.F) {
	const good = `{"issuer":"ISSUER","authorization_endpoint":"ISSUER/a","token_endpoint":"ISSUER/token","jwks_uri":"ISSUER/keys","userinfo_endpoint":"ISSUER/u","id_token_signing_alg_values_supported":["RS256","none","HS256"]}`
	f.Add(good, `{"access_token":"a","token_type":"bearer","id_token":"eyJhbGciOiJub25lIn0.eyJpc3MiOiJJU1NVRVIiLCJhdWQiOiJjbGllbnQiLCJzdWIiOiJ4In0."}`, `{"keys":[]}`)
	f.Add(good, `{"id_token":"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"}`, `{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256"}]}`)
	f.Add(`{"issuer":"https://other"}`, `access_token=x&id_token=y`, `[`)
	f.Add(`{"Issuer":"ISSUER","issuer":null,"token_endpoint":":"}`, `{}`, `{"keys":[null]}`)
	var discovery, token, keys string
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	f.Cleanup(server.Close)
	answer := func(body *string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(strings.ReplaceAll(*body, "ISSUER", server.URL)))
		}
	}
	mux.HandleFunc("/.well-known/openid-configuration", answer(&discovery))
	mux.HandleFunc("/token", answer(&token))
	mux.HandleFunc("/keys", answer(&keys))
	p, err := newProvider(Provider{Name: "main", Issuer: server.URL, ClientID: "client"}, "https://slipway.example/callback", &outward.Policy{Private: true})
	if err != nil {
		f.Fatal(err)
	}
	here := p.client.Transport
	p.client.Transport = onlyTo{strings.TrimPrefix(server.URL, "http://"), here}
	f.Fuzz(func(t *testing.T, d, tok, k string) {
		discovery, token, keys = d, tok, k
		p.known = nil
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		found, err := p.discover(ctx, time.Now())
		if err != nil {
			return
		}
		if who, err := p.exchange(ctx, found, time.Now, "code", "verifier", "nonce", slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("somebody is signed in: %+v", who)
		}
	})
}

// onlyTo keeps what an answer names from leading elsewhere than to the server of a test.
type onlyTo struct {
	host string
	next http.RoundTripper
}

// RoundTrip asks the host, and none else.
func (o onlyTo) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != o.host {
		return nil, http.ErrNotSupported
	}
	return o.next.RoundTrip(r)
}

func FuzzSessionCookie(f *testing.F) {
	f.Add("slipway_session=abc")
	f.Add("slipway_session=" + strings.Repeat("a", 43) + "; slipway_session=\"" + strings.Repeat("b", 43) + "\"")
	f.Add("__Host-slipway_session=\x00; =; ;;slipway_session")
	a := &Authn{base: &url.URL{Scheme: "https", Host: "slipway.example"}}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Cookie", header)
		got := a.readCookie(r, sessionCookie)
		if got != "" && (len(got) != len(secret()) || !strings.Contains(header, hostPrefix+sessionCookie)) {
			t.Errorf("%q holds the session %q", header, got)
		}
	})
}
