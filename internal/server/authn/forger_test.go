package authn

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
	"strings"
	"sync"
	"testing"
	"time"
)

// forger is an identity provider that says what a test has it say, over real HTTP.
type forger struct {
	url string
	key *rsa.PrivateKey

	mu sync.Mutex
	// nonce is that of the last sign-in, token makes the ID token of it, and pages are answers in place of the ordinary ones.
	nonce string
	token func(claims map[string]any) string
	pages map[string]http.HandlerFunc
}

func newForger(t *testing.T, at string) *forger {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{key: key, pages: map[string]http.HandlerFunc{}}
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(f)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	f.url = "http://" + l.Addr().String()
	return f
}

// answers changes what is answered, and forgets what was before.
func (f *forger) answers(token func(map[string]any) string, pages map[string]http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token, f.pages = token, pages
}

func (f *forger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	page := f.pages[r.URL.Path]
	f.mu.Unlock()
	if page != nil {
		page(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		say(map[string]any{
			"issuer": f.url, "authorization_endpoint": f.url + "/authorize", "token_endpoint": f.url + "/token", "jwks_uri": f.url + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}, "userinfo_endpoint": f.url + "/userinfo",
		})
	case "/authorize":
		f.mu.Lock()
		f.nonce = r.URL.Query().Get("nonce")
		f.mu.Unlock()
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=c&state="+url.QueryEscape(r.URL.Query().Get("state")), http.StatusFound)
	case "/keys":
		say(map[string]any{"keys": []any{jwk(&f.key.PublicKey, "one")}})
	case "/token":
		f.mu.Lock()
		token := f.token(f.honest())
		f.mu.Unlock()
		say(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": token})
	case "/userinfo":
		say(map[string]any{"sub": "42"})
	default:
		http.NotFound(w, r)
	}
}

// honest are claims that are right.
func (f *forger) honest() map[string]any {
	return map[string]any{
		"iss": f.url, "sub": "42", "aud": "slipway", "nonce": f.nonce, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		"preferred_username": "ada", "email": "ada@example.org", "groups": []string{"devs"},
	}
}

func jwk(k *rsa.PublicKey, id string) map[string]any {
	return map[string]any{
		"kty": "RSA", "kid": id, "use": "sig", "alg": "RS256", "n": base64.RawURLEncoding.EncodeToString(k.N.Bytes()),
		"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.E)).Bytes()),
	}
}

func part(v any) string {
	raw, isRaw := v.(string)
	if !isRaw {
		b, _ := json.Marshal(v)
		raw = string(b)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}

// signed makes a token; body is claims, or text as it is.
func signed(key *rsa.PrivateKey, header map[string]any, body any) string {
	text := part(header) + "." + part(body)
	sum := sha256.Sum256([]byte(text))
	s, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		return text + "." // of a key that is too short
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(s)
}

func (f *forger) sign(body any) string {
	return signed(f.key, map[string]any{"alg": "RS256", "kid": "one"}, body)
}

// forged is a site whose provider is a forger.
func forged(t *testing.T, at string, adapt ...func(*Provider)) (*site, *forger) {
	t.Helper()
	f := newForger(t, at)
	s := &site{issuer: &issuer{url: f.url}}
	server := httptest.NewUnstartedServer(s)
	s.url = "http://" + server.Listener.Addr().String()
	p := Provider{Name: "sso", Issuer: f.url, ClientID: "slipway"}
	for _, a := range adapt {
		a(&p)
	}
	s.desk = newDesk(t, func(c *Config) { c.URL, c.Providers = s.url, []Provider{p} })
	server.Start()
	t.Cleanup(server.Close)
	return s, f
}

// weakKey is one of 512 bits, which the standard library does not make.
func weakKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	e := big.NewInt(65537)
	for {
		p, err := rand.Prime(rand.Reader, 256)
		if err != nil {
			t.Fatal(err)
		}
		q, err := rand.Prime(rand.Reader, 256)
		if err != nil {
			t.Fatal(err)
		}
		one := big.NewInt(1)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		if d := new(big.Int).ModInverse(e, phi); d != nil {
			return &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, D: d, Primes: []*big.Int{p, q}}
		}
	}
}

// rawSign is PKCS #1 v1.5 with SHA-256, by hand.
func rawSign(k *rsa.PrivateKey, text string) []byte {
	sum := sha256.Sum256([]byte(text))
	prefix := []byte{0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20}
	size := (k.N.BitLen() + 7) / 8
	em := append([]byte{0, 1}, []byte(strings.Repeat("\xff", size-3-len(prefix)-len(sum)))...)
	em = append(append(append(em, 0), prefix...), sum[:]...)
	return new(big.Int).Exp(new(big.Int).SetBytes(em), k.D, k.N).FillBytes(make([]byte, size))
}
