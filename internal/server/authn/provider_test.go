package authn

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/luikyv/go-oidc/pkg/goidc"
	"golang.org/x/oauth2"
)

func TestTheProvidersRefusalIsToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		deny   error
		status int
		say    []string
	}{
		{"cancelled", goidc.NewError(goidc.ErrorCodeAccessDenied, "the user said no"), 403, []string{"access_denied", "ask the operator of the provider"}},
		{"signed out there", goidc.NewError(goidc.ErrorCodeLoginRequired, "no session"), 403, []string{"sign in at the provider first"}},
		{"the scope", goidc.NewError("invalid_scope", "groups"), 503, []string{"openid profile email", "configuration"}},
		{"another", goidc.NewError("strange", ""), 503, []string{"an error that no standard has", "provider's log"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.issuer.set(func(i *issuer) { i.deny = tt.deny })
			status, text := s.newBrowser(t).signIn()
			for _, say := range tt.say {
				if status != tt.status || !strings.Contains(text, say) {
					t.Errorf("%d %s, want %q", status, text, say)
				}
			}
		})
	}
}

func TestAFaultOfTheBackChannelSaysWhatToDo(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/html"):
			_, _ = io.WriteString(w, "<html>secret-of-a-proxy</html>")
		case strings.HasPrefix(r.URL.Path, "/long"):
			_, _ = w.Write(make([]byte, 2<<20))
		case strings.HasPrefix(r.URL.Path, "/broken"):
			http.Error(w, "secret-of-a-proxy", http.StatusBadGateway)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(odd.Close)
	wrongSecret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(wrongSecret, []byte("secret-that-is-wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		tls   bool
		adapt func(*Provider)
		say   string
	}{
		{"the wrong secret", false, func(p *Provider) { p.ClientSecretFile = wrongSecret }, `does not accept our client "slipway" (the secret is read from ` + wrongSecret},
		{"no secret", false, func(p *Provider) { p.ClientSecretFile = "" }, "no client secret is configured"},
		{"an authority that is not known", true, func(p *Provider) { p.CAFile = "" }, "give that authority's certificate as CA file"},
		{"an issuer with another spelling", false, func(p *Provider) { p.Issuer += "/" }, "write it to the letter as it does"},
		{"a provider that is away", false, func(p *Provider) { p.Issuer = closed.URL }, "look whether it runs"},
		{"another server", false, func(p *Provider) { p.Issuer = odd.URL + "/realms/none" }, "there is no /.well-known/openid-configuration below the issuer"},
		{"a page", false, func(p *Provider) { p.Issuer = odd.URL + "/html" }, "is no JSON of OpenID Connect"},
		{"a flood", false, func(p *Provider) { p.Issuer = odd.URL + "/long" }, "its answer is longer than 1 MiB"},
		{"a broken proxy", false, func(p *Provider) { p.Issuer = odd.URL + "/broken" }, "it answers with status 502"},
		{"TLS where there is none", false, func(p *Provider) { p.Issuer = strings.Replace(p.Issuer, "http://", "https://", 1) }, "does not speak TLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSiteWith(t, tt.tls, tt.adapt)
			b := s.newBrowser(t)
			if tt.tls {
				b.client.Transport = http.DefaultTransport
			}
			status, text := b.signIn()
			if status != http.StatusServiceUnavailable || !strings.Contains(text, tt.say) || !strings.HasPrefix(text, "identity provider sso: cannot ") {
				t.Errorf("%d %s, want %q", status, text, tt.say)
			}
			if strings.Contains(text, "secret-") {
				t.Errorf("the answer or the secret is shown: %s", text)
			}
		})
	}
}

func TestAProviderWithItsOwnAuthorityIsReached(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, true)
	if status, text := s.newBrowser(t).signIn(); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

func TestAProviderThatComesBackIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	away := func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "away", http.StatusServiceUnavailable)
	}
	s.issuer.set(func(i *issuer) { i.between = away })
	if status, _ := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	s.issuer.set(func(i *issuer) { i.between = nil })
	if status, text := s.newBrowser(t).signIn(); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	// What it said counts on while its description cannot be read.
	s.issuer.set(func(i *issuer) {
		i.between = func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/.well-known") {
				away(next, w, r)
				return
			}
			next.ServeHTTP(w, r)
		}
	})
	s.providers[0].known.at = s.clock.now().Add(-2 * discoverEvery)
	if status, text := s.newBrowser(t).signIn(); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}

func TestClocksThatDisagreeAreNamed(t *testing.T) {
	t.Parallel()
	late := newSite(t)
	late.clock.pass(48 * time.Hour)
	if status, text := late.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || !strings.Contains(text, "whether the clocks of the server and of the provider agree") {
		t.Errorf("%d %s", status, text)
	}
}

func TestTheSecretIsSentAsTheProviderTakesIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		methods []string
		want    []oauth2.AuthStyle
	}{
		{nil, []oauth2.AuthStyle{oauth2.AuthStyleInHeader}},
		{[]string{"client_secret_post", "client_secret_basic"}, []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams}},
		{[]string{"client_secret_post"}, []oauth2.AuthStyle{oauth2.AuthStyleInParams}},
		{[]string{"none"}, []oauth2.AuthStyle{oauth2.AuthStyleInParams}},
	} {
		if diff := cmp.Diff(tt.want, authStyles(tt.methods)); diff != "" {
			t.Errorf("%v: %s", tt.methods, diff)
		}
	}
}
