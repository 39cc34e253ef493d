package authn

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestNoForgedIDTokenSignsAnybodyIn(t *testing.T) {
	t.Parallel()
	s, f := forged(t, "127.0.0.1")
	s.user(t, "admin")
	s.store.claims["account.devs"] = "devs"
	f.answers(func(c map[string]any) string { return f.sign(c) }, nil)
	if status, text := s.newBrowser(t).signIn(); status != http.StatusOK {
		t.Fatalf("an honest token: %d %s", status, text)
	}
	sessions := len(s.store.sessions)
	for name, token := range forgeries(t, f) {
		f.answers(token, nil)
		status, text := s.newBrowser(t).signIn()
		if status != http.StatusServiceUnavailable && status != http.StatusForbidden && status != http.StatusUnprocessableEntity || len(text) > 1000 {
			t.Errorf("%s: %d %.300s", name, status, text)
		}
		if n := len(s.store.sessions); n != sessions {
			t.Fatalf("%s: somebody is signed in", name)
		}
	}
}

// forgeries are ID tokens, made of the claims of an honest one, that must sign nobody in.
func forgeries(t *testing.T, f *forger) map[string]func(map[string]any) string {
	t.Helper()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&f.key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	hmacOf := func(secret []byte) func(map[string]any) string {
		return func(c map[string]any) string {
			text := part(map[string]any{"alg": "HS256", "kid": "one"}) + "." + part(c)
			mac := hmac.New(sha256.New, secret)
			mac.Write([]byte(text))
			return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
		}
	}
	with := func(more map[string]any, without ...string) func(map[string]any) string {
		return func(c map[string]any) string {
			maps.Copy(c, more)
			for _, name := range without {
				delete(c, name)
			}
			return f.sign(c)
		}
	}
	// twice is the honest text with something in front, which another reader may believe.
	twice := func(text string) func(map[string]any) string {
		return func(c map[string]any) string {
			raw, _ := json.Marshal(c)
			return f.sign("{" + text + "," + string(raw[1:]))
		}
	}
	return map[string]func(map[string]any) string{
		"no signature":          func(c map[string]any) string { return part(map[string]any{"alg": "none"}) + "." + part(c) + "." },
		"none in other letters": func(c map[string]any) string { return part(map[string]any{"alg": "nOnE"}) + "." + part(c) + "." },
		"a signature that is left out": func(c map[string]any) string {
			return part(map[string]any{"alg": "RS256", "kid": "one"}) + "." + part(c) + "."
		},
		"HMAC with the public key": hmacOf(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		"HMAC with the modulus":    hmacOf(f.key.N.Bytes()),
		"HMAC with nothing":        hmacOf(nil),
		"the key of somebody else": func(c map[string]any) string { return signed(other, map[string]any{"alg": "RS256", "kid": "one"}, c) },
		"a key in the header": func(c map[string]any) string {
			return signed(other, map[string]any{"alg": "RS256", "kid": "two", "jwk": jwk(&other.PublicKey, "two")}, c)
		},
		"keys at an address in the header": func(c map[string]any) string {
			return signed(other, map[string]any{"alg": "RS256", "kid": "two", "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1/x"}, c)
		},
		"a critical extension": func(c map[string]any) string {
			return signed(f.key, map[string]any{"alg": "RS256", "kid": "one", "crit": []string{"x"}, "x": 1}, c)
		},
		"another issuer":                with(map[string]any{"iss": "https://evil.example"}),
		"the issuer with a slash":       with(map[string]any{"iss": f.url + "/"}),
		"no issuer":                     with(nil, "iss"),
		"another audience":              with(map[string]any{"aud": "other"}),
		"no audience":                   with(nil, "aud"),
		"the audience in other letters": with(map[string]any{"aud": "Slipway"}),
		"two audiences and no azp":      with(map[string]any{"aud": []string{"slipway", "other"}}),
		"the azp of another":            with(map[string]any{"aud": []string{"slipway", "other"}, "azp": "other"}),
		"another nonce":                 with(map[string]any{"nonce": "x"}),
		"no nonce":                      with(nil, "nonce"),
		"an empty nonce":                with(map[string]any{"nonce": ""}),
		"a nonce that is a list":        with(map[string]any{"nonce": []string{"x"}}),
		"over":                          with(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
		"no end":                        with(nil, "exp"),
		"not yet":                       with(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"no subject":                    with(nil, "sub"),
		"an empty subject":              with(map[string]any{"sub": ""}),
		"a subject of a number":         with(map[string]any{"sub": 42}),
		"a subject with a NUL":          with(map[string]any{"sub": "42\x00"}),
		"a subject with a line":         with(map[string]any{"sub": "42\n"}),
		"a subject that cannot be read": func(map[string]any) string {
			raw, _ := json.Marshal(f.honest())
			return f.sign(strings.Replace(string(raw), `"42"`, `"4\ud800"`, 1))
		},
		"a long subject":             with(map[string]any{"sub": strings.Repeat("4", 300)}),
		"the subject twice":          twice(`"sub":"1"`),
		"a subject in other letters": twice(`"SUB":"1"`),
		"the audience of a claim in other letters": func(c map[string]any) string {
			c["aud"], c["Aud"] = "other", "slipway"
			return f.sign(c)
		},
		"an access token of another": with(map[string]any{"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
		"no token at all":            func(map[string]any) string { return "" },
		"two dots":                   func(map[string]any) string { return ".." },
		"no JSON":                    func(map[string]any) string { return f.sign("nothing") },
		"deep JSON":                  func(map[string]any) string { return f.sign(strings.Repeat(`{"a":`, 100_000)) },
		"2 MiB":                      with(map[string]any{"x": strings.Repeat("x", 2<<20)}),
	}
}

// TestAProviderGivesNoLocalUserAndNoRightsByWhatItCallsSomebody holds that names, addresses and odd groups are no proof.
func TestAProviderGivesNoLocalUserAndNoRightsByWhatItCallsSomebody(t *testing.T) {
	t.Parallel()
	s, f := forged(t, "127.0.0.1")
	s.user(t, "admin")
	s.store.claims["account.admins"] = "admins"
	for i, c := range []map[string]any{
		{"preferred_username": "admin", "email": "admin@example.org", "email_verified": true},
		{"preferred_username": "ADMIN"},
		{"preferred_username": " admin "},
		{"preferred_username": "ａｄｍｉｎ"},
		{"preferred_username": map[string]any{"x": "admin"}},
		{"preferred_username": ""},
		{"preferred_username": "../admin"},
		{"groups": map[string]any{"admins": true}},
		{"groups": 1},
		{"groups": []any{[]any{"admins"}, 1, nil, map[string]any{"a": "admins"}}},
		{"groups": "Admins"},
		{"groups": []string{" admins", "admins ", strings.Repeat("x", 600)}},
		{"groups": nil},
		{"sub": "42", "preferred_username": "ada"},
		{"sub": "42 "},
		{"sub": " 42"},
	} {
		f.answers(func(honest map[string]any) string {
			delete(honest, "groups")
			honest["sub"] = fmt.Sprint("person ", i)
			maps.Copy(honest, c)
			return f.sign(honest)
		}, map[string]http.HandlerFunc{"/userinfo": func(w http.ResponseWriter, _ *http.Request) {
			sub := fmt.Sprint("person ", i)
			if own, ok := c["sub"].(string); ok {
				sub = own
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"sub": sub})
		}})
		b := s.newBrowser(t)
		if status, text := b.signIn(); status != http.StatusOK {
			t.Errorf("%v: %d %s", c, status, text)
			continue
		}
		if _, who, _ := b.get("/whoami"); strings.HasPrefix(who, "admin ") || strings.HasSuffix(who, "account.admins") {
			t.Errorf("%v signs in as %s", c, who)
		}
	}
	if admin := s.store.users["admin"]; admin.Provider != "" || admin.Email != "" {
		t.Errorf("the local user has changed: %+v", admin)
	}
	subjects := map[string]bool{}
	for _, u := range s.store.users {
		subjects[u.ProviderSubject] = true
	}
	if !subjects["42"] || !subjects["42 "] || !subjects[" 42"] {
		t.Errorf("subjects that differ are one: %v", subjects)
	}
	// What the user info says of somebody else is not taken.
	f.answers(func(honest map[string]any) string { delete(honest, "groups"); return f.sign(honest) }, map[string]http.HandlerFunc{
		"/userinfo": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"sub":"43","groups":["admins"]}`))
		},
	})
	if status, text := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || !strings.Contains(text, "another user") {
		t.Errorf("user info of somebody else: %d %s", status, text)
	}
}

// TestAProviderLeadsNowhereInside has a provider name addresses that are not its own: of keys, of tokens, after redirects.
func TestAProviderLeadsNowhereInside(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reached := map[string]string{}
	inside := newForger(t, "127.0.0.2") // another host of this machine
	inside.answers(nil, map[string]http.HandlerFunc{})
	inner := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		reached[r.URL.Path] = r.Header.Get("Authorization")
	}))
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = inner.Listener.Close()
	inner.Listener = l
	inner.Start()
	t.Cleanup(inner.Close)
	to := "http://" + l.Addr().String()
	for name, change := range map[string]func(f *forger, doc map[string]any, pages map[string]http.HandlerFunc){
		"keys": func(_ *forger, doc map[string]any, _ map[string]http.HandlerFunc) { doc["jwks_uri"] = to + "/keys" },
		"metadata": func(_ *forger, doc map[string]any, _ map[string]http.HandlerFunc) {
			doc["jwks_uri"] = "http://169.254.169.254/latest"
		},
		"token": func(_ *forger, doc map[string]any, _ map[string]http.HandlerFunc) {
			doc["token_endpoint"] = to + "/token"
		},
		"user info": func(_ *forger, doc map[string]any, _ map[string]http.HandlerFunc) {
			doc["userinfo_endpoint"] = to + "/userinfo"
		},
		"keys after a redirect": func(_ *forger, _ map[string]any, pages map[string]http.HandlerFunc) {
			pages["/keys"] = http.RedirectHandler(to+"/keys", http.StatusFound).ServeHTTP
		},
		"token after a redirect": func(_ *forger, _ map[string]any, pages map[string]http.HandlerFunc) {
			pages["/token"] = http.RedirectHandler(to+"/token", http.StatusTemporaryRedirect).ServeHTTP
		},
		"token after a redirect to its own host": func(f *forger, _ map[string]any, pages map[string]http.HandlerFunc) {
			pages["/token"] = http.RedirectHandler(f.url+"/elsewhere", http.StatusTemporaryRedirect).ServeHTTP
			pages["/elsewhere"] = func(http.ResponseWriter, *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				reached["/elsewhere"] = "secret"
			}
		},
		"user info after a redirect": func(_ *forger, _ map[string]any, pages map[string]http.HandlerFunc) {
			pages["/userinfo"] = http.RedirectHandler(to+"/userinfo", http.StatusFound).ServeHTTP
		},
	} {
		s, f := forged(t, "127.0.0.1")
		doc := map[string]any{
			"issuer": f.url, "authorization_endpoint": f.url + "/authorize", "token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys",
			"userinfo_endpoint": f.url + "/userinfo",
		}
		pages := map[string]http.HandlerFunc{}
		change(f, doc, pages)
		pages["/.well-known/openid-configuration"] = func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(doc) }
		f.answers(func(c map[string]any) string { delete(c, "groups"); return f.sign(c) }, pages)
		if status, text := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || strings.Contains(text, "127.0.0.1:") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	s, f := forged(t, "127.0.0.1")
	f.answers(nil, map[string]http.HandlerFunc{"/.well-known/openid-configuration": http.RedirectHandler(to+"/discovery", http.StatusFound).ServeHTTP})
	if status, text, _ := s.newBrowser(t).get(beginPath); status != http.StatusServiceUnavailable {
		t.Errorf("discovery after a redirect: %d %s", status, text)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(reached) > 0 {
		t.Errorf("reached: %v", reached)
	}
}

// TestAProvidersDocumentsAreBoundedAndItsWeakKeysDoNotCount has documents that are large, odd, or have keys that can be broken.
func TestAProvidersDocumentsAreBoundedAndItsWeakKeysDoNotCount(t *testing.T) {
	t.Parallel()
	huge := func(w http.ResponseWriter, _ *http.Request) {
		for range 64 {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
				return
			}
		}
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(s)) }
	}
	for name, pages := range map[string]map[string]http.HandlerFunc{
		"large discovery": {"/.well-known/openid-configuration": huge}, "large keys": {"/keys": huge}, "large token": {"/token": huge},
		"no discovery": {"/.well-known/openid-configuration": text("null")}, "no keys": {"/keys": text(`{"keys":null}`)}, "keys of nothing": {"/keys": text(`{"keys":[{}]}`)},
		"a list of keys": {"/keys": text(`[]`)}, "a token of nothing": {"/token": text(`null`)}, "a page": {"/token": text("<html>")},
		"a symmetric key": {"/keys": text(`{"keys":[{"kty":"oct","kid":"one","alg":"HS256","k":"AAAA"}]}`)},
	} {
		s, f := forged(t, "127.0.0.1")
		f.answers(func(c map[string]any) string { return f.sign(c) }, pages)
		if status, said := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || len(said) > 1000 || len(s.store.sessions) > 0 {
			t.Errorf("%s: %d %.300s", name, status, said)
		}
	}
	weak := weakKey(t)
	s, f := forged(t, "127.0.0.1")
	f.answers(func(c map[string]any) string {
		body := part(map[string]any{"alg": "RS256", "kid": "one"}) + "." + part(c)
		return body + "." + base64.RawURLEncoding.EncodeToString(rawSign(weak, body))
	}, map[string]http.HandlerFunc{"/keys": func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwk(&weak.PublicKey, "one")}})
	}})
	if status, said := s.newBrowser(t).signIn(); status != http.StatusServiceUnavailable || len(s.store.sessions) > 0 {
		t.Errorf("a key of 512 bits: %d %s", status, said)
	}
}

// TestAnAnswerOfAnotherProviderIsNotTaken mixes up two providers.
func TestAnAnswerOfAnotherProviderIsNotTaken(t *testing.T) {
	t.Parallel()
	good, evil := newForger(t, "127.0.0.1"), newForger(t, "127.0.0.1")
	s := &site{issuer: &issuer{url: good.url}}
	server := httptest.NewUnstartedServer(s)
	s.url = "http://" + server.Listener.Addr().String()
	s.desk = newDesk(t, func(c *Config) {
		c.URL = s.url
		c.Providers = []Provider{{Name: "good", Issuer: good.url, ClientID: "slipway"}, {Name: "evil", Issuer: evil.url, ClientID: "slipway"}}
	})
	server.Start()
	t.Cleanup(server.Close)
	good.answers(func(c map[string]any) string { return good.sign(c) }, nil)
	// The evil one has the same key, and says that it is the good one.
	evil.answers(func(c map[string]any) string { c["iss"] = good.url; return evil.sign(c) }, nil)
	b := s.newBrowser(t)
	if status, text, _ := b.get(beginPath + "?provider=evil"); status != http.StatusServiceUnavailable {
		t.Errorf("a token in the name of another: %d %s", status, text)
	}
	answer := b.upTo(beginPath+"?provider=good", s.url+callbackPath)
	query := answer.Query()
	query.Set("iss", evil.url)
	answer.RawQuery = query.Encode()
	if status, text, _ := b.get(answer.String()); status != http.StatusServiceUnavailable || !strings.Contains(text, "another provider answered") {
		t.Errorf("an answer of another: %d %s", status, text)
	}
	if len(s.store.sessions) > 0 {
		t.Error("somebody is signed in")
	}
	// One subject of two providers is two people.
	evil.answers(func(c map[string]any) string { return evil.sign(c) }, nil)
	for _, name := range []string{"good", "evil"} {
		if status, text, _ := s.newBrowser(t).get(beginPath + "?provider=" + name); status != http.StatusOK {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	if len(s.store.users) != 2 {
		t.Errorf("%d users", len(s.store.users))
	}
}
