package authn

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/luikyv/go-oidc/pkg/goidc"
	"golang.org/x/oauth2"

	"github.com/slipway-gitops/slipway/api"
)

func (s *site) beginCLI(redirect, verifier string) string {
	return beginPath + "?" + url.Values{
		"cli_redirect": {redirect}, "cli_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "cli_state": {"mine"},
	}.Encode()
}

func TestACommandLineSignsInByTheBrowser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	arrived := make(chan url.Values, 1)
	loopback := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.URL.Query() }))
	t.Cleanup(loopback.Close)
	verifier := oauth2.GenerateVerifier()
	b := s.newBrowser(t)
	if status, text, _ := b.get(s.beginCLI(loopback.URL+"/done", verifier)); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	got := <-arrived
	if got.Get("state") != "mine" {
		t.Errorf("%v", got)
	}
	if len(s.store.sessions) != 0 {
		t.Error("the browser has a session too")
	}
	session, err := s.ExchangeCode(t.Context(), got.Get("code"), verifier, "laptop")
	if err != nil || session.User.ID != "ada" || !session.ExpiresAt.Equal(s.clock.now().Add(s.cfg.Longest)) {
		t.Fatalf("%+v, %v", session, err)
	}
	if who, err := s.bearer(t, "Bearer "+session.Token); err != nil || who.Principal.ID != "ada" || who.Token.Name != "laptop" {
		t.Errorf("%+v, %v", who, err)
	}
	if _, err := s.ExchangeCode(t.Context(), got.Get("code"), verifier, "laptop"); api.CodeOf(err) != api.CodeUnauthenticated {
		t.Errorf("once more: %v", err)
	}
}

func TestACommandLineIsToldWhyNobodyIsSignedIn(t *testing.T) {
	t.Parallel()
	const redirect = "http://127.0.0.1:1/done"
	s := newSite(t)
	s.issuer.set(func(i *issuer) { i.deny = goidc.NewError(goidc.ErrorCodeAccessDenied, "the user said no") })
	got := s.newBrowser(t).upTo(s.beginCLI(redirect, oauth2.GenerateVerifier()), redirect).Query()
	if got.Get("state") != "mine" || !strings.Contains(got.Get("error"), "ask the operator of the provider") || strings.Contains(got.Get("error"), "the user said no") || got.Has("code") {
		t.Errorf("it is told %v", got)
	}
	// What is nobody's business stays in the server's log.
	inner := (&cliLogin{Redirect: redirect, State: "mine"}).refused(errors.New("secret of the database"))
	if strings.Contains(inner, "secret") || !strings.Contains(inner, "log") {
		t.Errorf("it is told %s", inner)
	}
}

func TestACodeForTheCommandLineIsWorthNothingToOthers(t *testing.T) {
	t.Parallel()
	const redirect = "http://127.0.0.1:1/done"
	verifier := oauth2.GenerateVerifier()
	tests := []struct {
		name   string
		before func(*site)
		used   string
		code   api.Code
	}{
		{"with another verifier", nil, oauth2.GenerateVerifier(), api.CodeUnauthenticated},
		{"without a verifier", nil, "", api.CodeUnauthenticated},
		{"too late", func(s *site) { s.clock.pass(codeLasts) }, verifier, api.CodeUnauthenticated},
		{"of a user who is gone", func(s *site) { delete(s.store.users, "ada") }, verifier, api.CodeUnauthenticated},
		{"of a user who is disabled", func(s *site) {
			u := s.store.users["ada"]
			u.Disabled = true
			s.store.users["ada"] = u
		}, verifier, api.CodeForbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			code := s.newBrowser(t).upTo(s.beginCLI(redirect, verifier), redirect).Query().Get("code")
			if tt.before != nil {
				tt.before(s)
			}
			if _, err := s.ExchangeCode(t.Context(), code, tt.used, "laptop"); api.CodeOf(err) != tt.code {
				t.Errorf("%v", err)
			}
			if len(s.store.tokens) != 0 {
				t.Error("there is a token")
			}
			if _, err := s.ExchangeCode(t.Context(), code, verifier, "laptop"); len(tt.used) >= minVerifier && api.CodeOf(err) != api.CodeUnauthenticated {
				t.Errorf("the code counts once more: %v", err)
			}
		})
	}
}

func TestACodeGoesToLoopbackOnly(t *testing.T) {
	t.Parallel()
	challenge := oauth2.S256ChallengeFromVerifier(oauth2.GenerateVerifier())
	for _, redirect := range []string{
		"", "http://evil.example:80/", "https://127.0.0.1:80/", "http://localhost:80/", "http://127.0.0.1/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/",
		"http://127.0.0.1:80@evil.example/", "http://u@127.0.0.1:80/", "http://127.0.0.1:80/?a=b", "http://127.0.0.1:80/#f", "http://127.0.0.1.evil.example:80/",
		"http://127.0.0.1:80/" + strings.Repeat("x", 300), "javascript:alert(1)", "//127.0.0.1:80/", "http://127.0.0.1:80/?",
	} {
		if _, err := readCLILogin(url.Values{"cli_redirect": {redirect}, "cli_challenge": {challenge}, "cli_state": {"x"}}); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", redirect, err)
		}
	}
	good := url.Values{"cli_redirect": {"http://[::1]:4711/done"}, "cli_challenge": {challenge}, "cli_state": {"x"}}
	if _, err := readCLILogin(good); err != nil {
		t.Error(err)
	}
	for key, value := range map[string]string{"cli_challenge": "x", "cli_state": strings.Repeat("x", 200)} {
		bad := url.Values{}
		for k, v := range good {
			bad[k] = v
		}
		bad.Set(key, value)
		var said *api.Error
		if _, err := readCLILogin(bad); !errors.As(err, &said) || said.Field != key {
			t.Errorf("%s: %v", key, err)
		}
	}
	if in, err := readCLILogin(url.Values{}); in != nil || err != nil {
		t.Errorf("%v, %v", in, err)
	}
}

func FuzzCLIRedirect(f *testing.F) {
	f.Add("http://127.0.0.1:80/done")
	f.Add("http://[::1]:80/")
	f.Add("http://127.0.0.1:80@evil.example/")
	f.Fuzz(func(t *testing.T, text string) {
		if checkLoopback(text) != nil {
			return
		}
		u, err := url.Parse(text + "?" + url.Values{"code": {"c"}}.Encode())
		if err != nil || !loopback(u.Hostname()) || u.Scheme != "http" || u.Query().Get("code") != "c" {
			t.Fatalf("%q goes to %v (%v)", text, u, err)
		}
	})
}
