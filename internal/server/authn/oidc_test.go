package authn

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func TestTheFirstSignInMakesAUserAndTheNextFindsThem(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(p *Provider) { p.Groups = map[string][]string{"leads": {"account.leads"}} })
	s.store.claims["org.acme.devs"] = "developers"
	s.issuer.set(func(i *issuer) { i.claims["groups"] = []string{"developers", "leads", "unknown"} })
	b := s.newBrowser(t)
	if status, text := b.signIn(); status != http.StatusOK || text != "at /apps" {
		t.Fatalf("%d %s", status, text)
	}
	if _, text, _ := b.get("/whoami"); text != "ada account.leads,org.acme.devs" {
		t.Errorf("signed in as %s", text)
	}
	made := s.store.users["ada"]
	if made.Origin != api.OriginOIDC || made.Email != "ada@example.org" || made.DisplayName != "Ada L." || made.Provider != s.issuer.url ||
		made.ProviderSubject != "42" || made.PasswordHash != "" {
		t.Errorf("%+v", made)
	}

	s.issuer.set(func(i *issuer) {
		i.claims = map[string]any{"preferred_username": "adele", "name": "Ada M.", "groups": []string{"developers"}}
	})
	again := s.newBrowser(t)
	if status, text := again.signIn(); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if _, text, _ := again.get("/whoami"); text != "ada org.acme.devs" {
		t.Errorf("signed in as %s: the subject counts, not the name", text)
	}
	if len(s.store.users) != 1 || s.store.users["ada"].DisplayName != "Ada M." {
		t.Errorf("%+v", s.store.users)
	}
	for _, session := range s.store.sessions {
		if session.Method != "sso" || session.IP != "192.0.2.9" {
			t.Errorf("%+v", session)
		}
	}
}

func TestASameNameIsSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user(t, "ada")
	b := s.newBrowser(t)
	if status, text := b.signIn(); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if _, text, _ := b.get("/whoami"); text != "ada-sso" {
		t.Errorf("signed in as %s", text)
	}
	s.issuer.set(func(i *issuer) { i.subject = "43" })
	other := s.newBrowser(t)
	if status, text := other.signIn(); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if _, text, _ := other.get("/whoami"); !strings.HasPrefix(text, "ada-") || text == "ada-sso" {
		t.Errorf("signed in as %s", text)
	}
	if s.store.users["ada"].Provider != "" {
		t.Error("the local user was taken over")
	}
}

func TestTheSamePersonTwiceAtAMomentIsOneUser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var all sync.WaitGroup
	for range 6 {
		b := s.newBrowser(t)
		all.Go(func() {
			answer, err := b.do(beginPath)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("status %d", answer.StatusCode)
			}
		})
	}
	all.Wait()
	if len(s.store.users) != 1 {
		t.Errorf("%+v", s.store.users)
	}
}

func TestADisabledUserIsRefusedByTheProviderToo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newBrowser(t).signIn()
	if err := change(s.store, s.store.users, "ada", func(u *User) { u.Disabled = true }); err != nil {
		t.Fatal(err)
	}
	if status, text := s.newBrowser(t).signIn(); status != http.StatusForbidden || !strings.Contains(text, "ada is disabled") {
		t.Errorf("%d %s", status, text)
	}
}

func TestAnAnswerCountsOnceAndInTheBrowserThatAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mine, other := s.newBrowser(t), s.newBrowser(t)
	answer := mine.upTo(beginPath, s.url+callbackPath)
	other.upTo(beginPath, s.url+callbackPath) // so that it has a cookie of its own
	if status, text, _ := other.get(answer.String()); status != http.StatusUnprocessableEntity || !strings.Contains(text, "sign in again") {
		t.Errorf("in another browser: %d %s", status, text)
	}

	answer = mine.upTo(beginPath, s.url+callbackPath)
	if status, _, _ := s.newBrowser(t).get(answer.String()); status != http.StatusUnprocessableEntity {
		t.Errorf("in a browser without a cookie: %d", status)
	}
	if status, text, _ := mine.get(answer.String()); status != http.StatusOK {
		t.Errorf("in the browser that asked: %d %s", status, text)
	}
	if status, _, _ := mine.get(answer.String()); status != http.StatusUnprocessableEntity {
		t.Errorf("once more: %d", status)
	}

	answer = mine.upTo(beginPath, s.url+callbackPath)
	s.clock.pass(loginLasts)
	if status, _, _ := mine.get(answer.String()); status != http.StatusUnprocessableEntity {
		t.Errorf("too late: %d", status)
	}
	if len(s.store.sessions) != 1 {
		t.Errorf("there are %d sessions", len(s.store.sessions))
	}
}

func TestTwoTabsCanBothFinish(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newBrowser(t)
	first := b.upTo(beginPath+"?returnTo=/one", s.url+callbackPath)
	second := b.upTo(beginPath+"?returnTo=/two", s.url+callbackPath)
	if _, text, _ := b.get(second.String()); text != "at /two" {
		t.Error(text)
	}
	// The cookie went with the first that finished; the other tab is signed in by that.
	if status, _, _ := b.get(first.String()); status != http.StatusUnprocessableEntity {
		t.Errorf("status %d", status)
	}
	if _, text, _ := b.get("/whoami"); !strings.HasPrefix(text, "ada") {
		t.Error(text)
	}
}

// TestACodeOfAnotherSignInIsWorthNothing holds PKCE: an answer whose code was exchanged for one that somebody else got.
func TestACodeOfAnotherSignInIsWorthNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	victim, thief := s.newBrowser(t), s.newBrowser(t)
	stolen := victim.upTo(beginPath, s.url+callbackPath).Query().Get("code")
	answer := thief.upTo(beginPath, s.url+callbackPath)
	query := answer.Query()
	query.Set("code", stolen)
	answer.RawQuery = query.Encode()
	if status, text, _ := thief.get(answer.String()); status != http.StatusServiceUnavailable || !strings.Contains(text, "does not accept the code") {
		t.Errorf("%d %s", status, text)
	}
	if len(s.store.sessions) != 0 {
		t.Error("the thief has a session")
	}
}

// TestAnIDTokenOfAnotherSignInIsWorthNothing holds the nonce: the provider, or who is in between, sends one from before.
func TestAnIDTokenOfAnotherSignInIsWorthNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var before string
	s.issuer.set(func(i *issuer) {
		i.between = func(next http.Handler, w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/token" {
				next.ServeHTTP(w, r)
				return
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			var answer map[string]any
			if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
				t.Error(err)
			}
			if before == "" {
				before, _ = answer["id_token"].(string)
			}
			answer["id_token"] = before
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		}
	})
	if status, text := s.newBrowser(t).signIn(); status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || !strings.Contains(text, "it is not for this sign-in") {
		t.Errorf("%d %s", status, text)
	}
}

func TestABrowserIsSentToNoOtherSite(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/apps?x=1#y": "/apps?x=1#y", "": "/", "https://evil.example": "/", "//evil.example": "/", "/\\evil.example": "/", "javascript:alert(1)": "/",
		"/\t/evil.example": "/", "\\\\evil.example": "/", "evil.example": "/", "/a\nb": "/", "/" + strings.Repeat("x", 3000): "/",
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q goes to %q", to, got)
		}
	}
}

func TestAnUnknownProviderIsNotBegun(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if status, text, _ := s.newBrowser(t).get(beginPath + "?provider=other"); status != http.StatusNotFound || !strings.Contains(text, `no identity provider "other"`) {
		t.Errorf("%d %s", status, text)
	}
	none := newDesk(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, beginPath, nil)
	if _, _, err := none.BeginOIDC(r, "/"); api.CodeOf(err) != api.CodeNotFound {
		t.Error(err)
	}
}

func TestAddressesAtTheProviderTellNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.newBrowser(t)
	target := b.upTo(beginPath, s.issuer.url+"/authorize")
	query := target.Query()
	if query.Get("code_challenge_method") != "S256" || query.Get("nonce") == "" || query.Get("state") == "" || query.Get("scope") != "openid profile email" ||
		query.Get("redirect_uri") != s.url+callbackPath {
		t.Errorf("%v", query)
	}
	site, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	cookie := b.client.Jar.Cookies(site)[0].Value
	kept, err := json.Marshal(s.store.pending)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{cookie, query.Get("state"), derive(cookie, "pkce", query.Get("state")), derive(cookie, "nonce", query.Get("state"))} {
		if strings.Contains(string(kept), secret) {
			t.Errorf("%s is kept in clear", secret)
		}
	}
}
