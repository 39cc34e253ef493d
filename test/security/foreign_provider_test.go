package security

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// provider is an identity provider that is sound up to the answer that a code or a page asks for.
type provider struct {
	s   *strangers
	url string
	key *rsa.PrivateKey

	mu    sync.Mutex
	nonce string
}

func (s *strangers) provider() *provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		s.t.Fatal(err)
	}
	p := &provider{s: s, key: key}
	server := httptest.NewServer(p)
	s.t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// pages are the endpoints that one provider of several has elsewhere, by its name.
func pages() []string { return []string{"sound", "jwks_uri", "token_endpoint", "userinfo_endpoint"} }

// ServeHTTP answers below /NAME/.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, page, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	issuer := p.url + "/" + name
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-"+p.s.mark, p.s.mark)
	say := func(code int, v any) {
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v) // who is gone misses nothing
	}
	switch page {
	case ".well-known/openid-configuration":
		doc := map[string]any{
			"issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token", "jwks_uri": issuer + "/keys", "userinfo_endpoint": issuer + "/info",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "service_documentation": p.s.mark, "op_policy_uri": "http://" + p.s.mark + ".invalid/",
		}
		if host, is := strings.CutPrefix(name, "away-"); is {
			doc[host] = "http://" + p.s.mark + ".invalid/x"
		} else if slices.Contains(pages(), name) && name != "sound" {
			doc[name] = p.s.url + "/phrase"
		}
		say(http.StatusOK, doc)
	case "keys":
		say(http.StatusOK, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256", "n": base64.RawURLEncoding.EncodeToString(p.key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()), "x5t": p.s.mark,
		}}})
	case "token":
		p.token(r.PostFormValue("code"), issuer, say)
	default:
		say(http.StatusInternalServerError, map[string]any{"error": p.s.mark, "error_description": p.s.mark})
	}
}

// codes are what the token endpoint can be asked for.
func codes() []string {
	return []string{"error", "known", "none", "garbage", "parts", "key", "aud", "iss", "nonce", "azp", "sub", "exp", "nbf", "alg", "sound"}
}

func (p *provider) token(code, issuer string, say func(int, any)) {
	p.s.note("code " + code)
	m := p.s.mark
	p.mu.Lock()
	nonce := p.nonce
	p.mu.Unlock()
	header := map[string]any{"alg": "RS256", "kid": "one"}
	claims := map[string]any{"iss": issuer, "sub": "42", "aud": "slipway", "nonce": nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(), m: m}
	switch code {
	case "error":
		say(http.StatusBadRequest, map[string]any{"error": m, "error_description": m, "error_uri": "http://" + m + ".invalid/"})
		return
	case "known":
		say(http.StatusBadRequest, map[string]any{"error": "invalid_scope", "error_description": m})
		return
	case "none":
		say(http.StatusOK, map[string]any{"access_token": m, "token_type": m})
		return
	case "garbage":
		say(http.StatusOK, map[string]any{"access_token": m, "token_type": "Bearer", "id_token": m})
		return
	case "parts":
		say(http.StatusOK, map[string]any{"access_token": m, "token_type": "Bearer", "id_token": m + "." + m + "." + m})
		return
	case "key", "alg":
		header[map[string]string{"key": "kid", "alg": "alg"}[code]] = m
	case "aud", "iss", "nonce":
		claims[code] = m
	case "azp":
		claims["aud"], claims["azp"] = []string{"slipway", m}, m
	case "sub":
		claims["sub"] = m + "\x00"
	case "exp":
		claims["exp"] = 1
	case "nbf":
		claims["nbf"] = time.Now().Add(time.Hour).Unix()
	}
	part := func(v any) string {
		raw, _ := json.Marshal(v) // texts and numbers
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, sum[:])
	if err != nil {
		p.s.t.Error(err)
	}
	say(http.StatusOK, map[string]any{"access_token": m, "token_type": "Bearer", "id_token": text + "." + base64.RawURLEncoding.EncodeToString(signature)})
}

// providers writes the file that describes all providers, and gives their names: one for every answer in place of a configuration,
// and one for every endpoint that is somewhere else.
func (s *strangers) providers(p *provider) (file string, names []string) {
	type config struct {
		Name     string `json:"name"`
		Issuer   string `json:"issuer"`
		ClientID string `json:"clientID"`
	}
	var all []config
	add := func(name, issuer string) {
		names = append(names, name)
		all = append(all, config{name, issuer, "slipway"})
	}
	for name := range s.answers() {
		add(name, s.url+"/"+name)
	}
	for _, name := range pages() {
		add(strings.ReplaceAll(name, "_", "-"), p.url+"/"+name)
		if name != "sound" {
			add("away-"+strings.ReplaceAll(name, "_", "-"), p.url+"/away-"+name)
		}
	}
	raw, err := json.Marshal(map[string]any{"providers": all})
	if err != nil {
		s.t.Fatal(err)
	}
	file = filepath.Join(s.t.TempDir(), "oidc.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file, names
}

// signsIn asks to be signed in by a provider, and comes back with a query.
func (p *provider) signsIn(w *world, from int, name string, back url.Values) answer {
	// What an address may ask for in a minute is bounded.
	client := client()
	client.Transport = &http.Transport{DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(from))}}).DialContext}
	begun, err := client.Do(w.request("", http.MethodGet, "/api/v1/session/oidc?provider="+name, ""))
	if err != nil {
		w.t.Fatal(err)
	}
	first := w.read("the begin of a sign-in", begun)
	if begun.StatusCode != http.StatusSeeOther || back == nil {
		return first
	}
	to, err := begun.Location()
	if err != nil {
		w.t.Fatal(err)
	}
	p.mu.Lock()
	p.nonce = to.Query().Get("nonce")
	p.mu.Unlock()
	back.Set("state", to.Query().Get("state"))
	r := w.request("", http.MethodGet, "/api/v1/session/oidc/callback?"+back.Encode(), "")
	for _, cookie := range begun.Cookies() {
		r.AddCookie(cookie)
	}
	response, err := client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.read("a sign-in", response) // its address has the mark
}

// asksProviders signs in by every provider, and by the sound ones with every answer.
func (f *foreign) asksProviders(p *provider, names []string) {
	from := 0
	refused := func(name string, back url.Values) {
		from++
		if out := p.signsIn(f.w, 1+from%200, name, back); out.StatusCode < 400 {
			f.t.Errorf("provider %s with %v signs in: %s", name, back, out)
		}
	}
	for _, name := range names {
		switch {
		case name == "sound":
			for _, code := range codes() {
				refused(name, url.Values{"code": {code}})
			}
			for _, says := range []url.Values{{"error": {f.mark}}, {"error": {"access_denied"}, "error_description": {f.mark}}, {"error": {"invalid_scope"}, "error_uri": {f.mark}}, {"code": {"error"}, "iss": {f.mark}}} {
				refused(name, says)
			}
		case strings.HasPrefix(name, "away-"), slices.Contains(pages(), strings.ReplaceAll(name, "-", "_")):
			refused(name, url.Values{"code": {"sound"}})
		default:
			refused(name, nil)
		}
	}
	for _, code := range codes() {
		f.reached("code " + code)
	}
}
