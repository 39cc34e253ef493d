package authn

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// browser signs in and gives the cookies.
func (d desk) browser(t *testing.T, name, password string) (api.Session, []*http.Cookie) {
	t.Helper()
	s, cookies, err := d.SignIn(t.Context(), api.SignIn{Username: name, Password: password}, Client{IP: "192.0.2.1", UserAgent: "Browser/1"})
	if err != nil {
		t.Fatal(err)
	}
	return s, cookies
}

func request(t *testing.T, cookies []*http.Cookie) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	for _, c := range cookies {
		r.AddCookie(c)
	}
	return r
}

func (d desk) identify(t *testing.T, cookies []*http.Cookie) (Identity, error) {
	t.Helper()
	return d.Identify(request(t, cookies))
}

func (d desk) bearer(t *testing.T, header string) (Identity, error) {
	t.Helper()
	r := request(t, nil)
	r.Header.Set("Authorization", header)
	return d.Identify(r)
}

func TestASessionIsWhoSignedIn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.store.members["ada"] = []string{"account.ops"}
	s, cookies := d.browser(t, "ada", goodPassword)
	who, err := d.identify(t, cookies)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rbac.Subject{UserID: "ada", Groups: []string{"account.ops"}}, who.Subject); diff != "" {
		t.Error(diff)
	}
	if who.User == nil || who.User.ID != "ada" || who.Token != nil || who.ExpiresAt != s.ExpiresAt || s.Token != "" {
		t.Errorf("%+v", who)
	}
	c := cookies[0]
	if c.Name != "__Host-slipway_session" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) != 52 {
		t.Errorf("the cookie is %s", c)
	}
	if text := fmt.Sprintf("%+v", d.store.sessions); strings.Contains(text, c.Value) {
		t.Error("the id of the session is kept in clear")
	}
	if kept := d.store.sessions[who.Session]; kept.IP != "192.0.2.1" || kept.UserAgent != "Browser/1" || kept.Method != "password" {
		t.Errorf("%+v", kept)
	}
}

func TestWithoutTLSACookieIsPlain(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *Config) { c.URL = "http://127.0.0.1:8080/" })
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	if c := cookies[0]; c.Name != "slipway_session" || c.Secure || !c.HttpOnly {
		t.Errorf("the cookie is %s", c)
	}
}

func TestASessionEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(*testing.T, desk)
	}{
		{"when it is not used", func(_ *testing.T, d desk) { d.clock.pass(12*time.Hour + time.Second) }},
		{"when it is old, however much it is used", func(t *testing.T, d desk) {
			for range 7 * 24 {
				d.clock.pass(time.Hour)
				for _, s := range d.store.sessions {
					if err := d.store.TouchSession(t.Context(), s.Hash, d.clock.now()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}},
		{"when the user is gone", func(_ *testing.T, d desk) { delete(d.store.users, "ada") }},
		{"when all of the user are ended", func(t *testing.T, d desk) {
			if err := d.store.DeleteSessionsOf(t.Context(), "ada"); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.user(t, "ada")
			_, cookies := d.browser(t, "ada", goodPassword)
			d.clock.pass(11 * time.Hour)
			if _, err := d.identify(t, cookies); err != nil {
				t.Fatal(err)
			}
			tt.do(t, d)
			if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated || !strings.Contains(err.Error(), "the session is over: sign in again") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestADisabledUsersSessionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	if err := change(d.store, d.store.users, "ada", func(u *User) { u.Disabled = true }); err != nil {
		t.Fatal(err)
	}
	if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("%v", err)
	}
}

func TestUseIsNotedOnceAMinute(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	for range 12 {
		d.clock.pass(10 * time.Second)
		if _, err := d.identify(t, cookies); err != nil {
			t.Fatal(err)
		}
	}
	if d.store.touches != 2 {
		t.Errorf("noted %d times in two minutes", d.store.touches)
	}
}

func TestWhoSignsOutIsOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	gone, err := d.SignOut(request(t, cookies))
	if err != nil || len(gone) != 1 || gone[0].MaxAge >= 0 || gone[0].Name != cookies[0].Name {
		t.Fatalf("%v, %v", gone, err)
	}
	if _, err := d.identify(t, cookies); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("%v", err)
	}
	s, none, err := d.SignIn(t.Context(), api.SignIn{Username: "ada", Password: goodPassword, Token: "laptop"}, Client{})
	if err != nil || len(none) != 0 || s.Token == "" {
		t.Fatalf("%+v, %v, %v", s, none, err)
	}
	r := request(t, nil)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	if _, err := d.SignOut(r); err != nil {
		t.Fatal(err)
	}
	if _, err := d.bearer(t, "Bearer "+s.Token); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("%v", err)
	}
}

func TestWhoSaysNothingIsNobody(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, r := range []*http.Request{
		request(t, nil),
		request(t, []*http.Cookie{{Name: "__Host-slipway_session", Value: "short"}}),
		request(t, []*http.Cookie{{Name: "__Host-slipway_session", Value: strings.Repeat("a", 52)}}),
		request(t, []*http.Cookie{{Name: "slipway_session", Value: strings.Repeat("a", 52)}}),
	} {
		if who, err := d.Identify(r); api.CodeOf(err) != api.CodeUnauthenticated {
			t.Errorf("%+v, %v", who, err)
		}
	}
}

func TestAHeaderThatIsWrongIsNotMadeGoodByACookie(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	_, cookies := d.browser(t, "ada", goodPassword)
	r := request(t, cookies)
	r.Header.Set("Authorization", "Bearer slp_wrong")
	if _, err := d.Identify(r); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("%v", err)
	}
}

func TestPasswordsCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(c *Config) {
		c.NoPasswords = true
		c.Providers = []Provider{{Name: "sso", Title: "Example SSO", Issuer: "https://login.example.org", ClientID: "slipway"}}
	})
	d.user(t, "ada")
	if err := d.try(t, "ada", goodPassword); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "Example SSO") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(api.SignInMethods{OIDC: "/api/v1/session/oidc", OIDCName: "Example SSO"}, d.Methods(t.Context())); diff != "" {
		t.Error(diff)
	}
}

func TestWhatHasExpiredIsForgotten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.user(t, "ada")
	d.browser(t, "ada", goodPassword)
	_ = d.try(t, "ada", "wrong password") // what is told is another test's
	if err := d.store.CreatePending(t.Context(), Pending{Hash: "x", ExpiresAt: d.clock.now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	if err := d.Clean(t.Context()); err != nil || len(d.store.sessions) != 1 || len(d.store.attempts) != 3 || len(d.store.pending) != 1 {
		t.Errorf("what counts was forgotten: %v", err)
	}
	d.clock.pass(25 * time.Hour)
	if err := d.Clean(t.Context()); err != nil || len(d.store.sessions) != 0 || len(d.store.attempts) != 1 || len(d.store.pending) != 0 {
		t.Errorf("something but the address of the user is left: %v", err)
	}
	d.clock.pass(knownFor)
	if err := d.Clean(t.Context()); err != nil || len(d.store.attempts) != 0 {
		t.Errorf("the address of the user is left: %v", err)
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	good := Provider{Name: "sso", Issuer: "https://login.example.org", ClientID: "slipway"}
	with := func(do func(*Provider)) Config {
		p := good
		do(&p)
		return Config{URL: "https://slipway.example.org", Providers: []Provider{p}}
	}
	tests := []struct {
		cfg Config
		why string
	}{
		{Config{}, "the server's own URL"},
		{Config{URL: "slipway.example.org"}, "the server's own URL"},
		{Config{URL: "https://u:p@slipway.example.org"}, "the server's own URL"},
		{Config{URL: "https://slipway.example.org", Idle: time.Second}, "a session may be idle"},
		{Config{URL: "https://slipway.example.org", NoPasswords: true}, "no user could sign in"},
		{Config{URL: "https://slipway.example.org", Providers: []Provider{good, good}}, "sso is there twice"},
		{with(func(p *Provider) { p.Name = "" }), "a name is missing"},
		{with(func(p *Provider) { p.Issuer = "http://login.example.org" }), "is not https"},
		{with(func(p *Provider) { p.Issuer = "login" }), "the issuer is no URL"},
		{with(func(p *Provider) { p.ClientID = "" }), "redirect URI, and give the id"},
		{with(func(p *Provider) { p.ClientSecretFile = "/nowhere/at/all" }), "client secret"},
		{with(func(p *Provider) { p.CAFile = "/nowhere/at/all" }), "/nowhere/at/all"},
	}
	for _, tt := range tests {
		if _, err := New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%+v: %v, want %q", tt.cfg, err, tt.why)
		}
	}
}
