package testenv

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// TokenService gives tokens over HTTPS as GitHub (for Apps), Google and Microsoft Entra do, to the holder of one private key or
// secret. It ends with the test.
type TokenService struct {
	Key    []byte // private key, PEM, of the App or the service account
	Secret string // of the service principal, and the token of the workload
	Now    func() time.Time
	Lasts  time.Duration // of each token

	web    *httptest.Server
	public *rsa.PublicKey
	given  atomic.Int64
	broken atomic.Int64 // the status of every answer; 0 for none

	mu     sync.Mutex
	tokens map[string]time.Time // that count, with their end
	last   string
	scope  string // that Entra was asked for
}

// NewTokenService starts one. Tokens last an hour.
func NewTokenService(t testing.TB) *TokenService {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatalf("make key: %v", err)
	}
	s := &TokenService{
		Key:    pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)}),
		Secret: "secret-of-the-principal", Now: time.Now, Lasts: time.Hour, public: &private.PublicKey, tokens: map[string]time.Time{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", s.github)
	mux.HandleFunc("GET /api/v3/orgs/{owner}/installation", s.installation("team"))
	mux.HandleFunc("GET /api/v3/users/{owner}/installation", s.installation("someone"))
	mux.HandleFunc("POST /token", s.google)
	mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", s.entra)
	s.web = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := s.broken.Load(); status != 0 {
			http.Error(w, "Zaubernuss", int(status))
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.web.Close)
	return s
}

// URL is the address of the service.
func (s *TokenService) URL() string { return s.web.URL }

// CA is the PEM certificate that vouches for the service.
func (s *TokenService) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.web.Certificate().Raw})
}

// Given is how many tokens were given.
func (s *TokenService) Given() int64 { return s.given.Load() }

// Break makes every answer one with a status; 0 ends it.
func (s *TokenService) Break(status int) { s.broken.Store(int64(status)) }

// Takes reports whether a request signs in with a token that counts: as password of x-access-token or robot@…, or as bearer.
func (s *TokenService) Takes(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, token, ok = r.BasicAuth()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ends, known := s.tokens[token]
	return ok && known && s.Now().Before(ends)
}

// Withdraw makes all tokens that were given worthless.
func (s *TokenService) Withdraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Last is the last token that was given.
func (s *TokenService) Last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Scope is what the last token of Entra was asked for.
func (s *TokenService) Scope() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scope
}

func (s *TokenService) give() (string, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = fmt.Sprintf("token-%d-%s", s.given.Add(1), rand.Text())
	ends := s.Now().Add(s.Lasts)
	s.tokens[s.last] = ends
	return s.last, ends
}

// signed reports whether a statement is signed by the key, holds now, and has these claims.
func (s *TokenService) signed(text string, claims map[string]string) bool {
	parsed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return false
	}
	var all map[string]any
	if parsed.Claims(s.public, &all) != nil {
		return false
	}
	begins, _ := all["iat"].(float64)
	ends, _ := all["exp"].(float64)
	now := float64(s.Now().Unix())
	for name, want := range claims {
		if all[name] != want {
			return false
		}
	}
	const tenMinutes = 600
	return begins <= now && now < ends && ends-now <= tenMinutes
}

// AppID is the number of the App, and Installation that of its installation for team.
const (
	AppID        = 4711
	Installation = 99
)

func (s *TokenService) app(r *http.Request) bool {
	return s.signed(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), map[string]string{"iss": fmt.Sprint(AppID)})
}

func (s *TokenService) github(w http.ResponseWriter, r *http.Request) {
	switch {
	case !s.app(r):
		http.Error(w, "Zaubernuss", http.StatusUnauthorized)
	case r.PathValue("id") != fmt.Sprint(Installation):
		http.Error(w, "Zaubernuss", http.StatusNotFound)
	default:
		token, ends := s.give()
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "expires_at": ends.UTC().Format(time.RFC3339)})
	}
}

func (s *TokenService) installation(of string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.app(r):
			http.Error(w, "Zaubernuss", http.StatusUnauthorized)
		case r.PathValue("owner") != of:
			http.Error(w, "Zaubernuss", http.StatusNotFound)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"id": Installation})
		}
	}
}

// ServiceAccount is the email of the service account of Google Cloud.
const ServiceAccount = "robot@project.iam.gserviceaccount.com"

func (s *TokenService) google(w http.ResponseWriter, r *http.Request) {
	ok := r.FormValue("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
		s.signed(r.FormValue("assertion"), map[string]string{"iss": ServiceAccount, "aud": s.web.URL + "/token"})
	s.answer(w, ok)
}

// Client is the application of Microsoft Entra.
const Client = "11111111-2222-3333-4444-555555555555"

func (s *TokenService) entra(w http.ResponseWriter, r *http.Request) {
	proof := r.FormValue("client_secret") + r.FormValue("client_assertion")
	s.mu.Lock()
	s.scope = r.FormValue("scope")
	s.mu.Unlock()
	s.answer(w, r.PathValue("tenant") == "tenant" && r.FormValue("client_id") == Client && proof == s.Secret &&
		r.FormValue("grant_type") == "client_credentials")
}

func (s *TokenService) answer(w http.ResponseWriter, ok bool) {
	if !ok {
		http.Error(w, `{"error":"invalid_grant","error_description":"Zaubernuss"}`, http.StatusBadRequest)
		return
	}
	token, _ := s.give()
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "expires_in": int(s.Lasts / time.Second), "token_type": "Bearer"})
}
