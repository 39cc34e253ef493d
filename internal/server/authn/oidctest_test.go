package authn

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/luikyv/go-oidc/pkg/goidc"
	op "github.com/luikyv/go-oidc/pkg/provider"
	"golang.org/x/crypto/bcrypt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/outward"
)

const clientSecret = "the-secret-of-the-client"

// issuer is a real identity provider in this process. Whoever comes to it is signed in as the person that is set.
type issuer struct {
	url    string
	caFile string

	mu sync.Mutex
	// subject and claims are of who signs in; those of userInfo are told there only.
	subject          string
	claims, userInfo map[string]any
	// deny is what is answered instead.
	deny error
	// between changes requests and answers on their way.
	between func(next http.Handler, w http.ResponseWriter, r *http.Request)
}

func (i *issuer) set(do func(*issuer)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	do(i)
}

func (i *issuer) ServeHTTP(next http.Handler, w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	between := i.between
	i.mu.Unlock()
	if between != nil {
		between(next, w, r)
		return
	}
	next.ServeHTTP(w, r)
}

// signingKey is made once, since that takes longer than a test.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newIssuer(t *testing.T, redirect string, tls bool) *issuer {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key, KeyID: "k1", Algorithm: "RS256", Use: "sig"}}}
	hashed, err := bcrypt.GenerateFromPassword([]byte(clientSecret), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{subject: "42", claims: map[string]any{"preferred_username": "ada", "name": "Ada L.", "email": "ada@example.org", "email_verified": true}}
	var handler http.Handler
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { i.ServeHTTP(handler, w, r) }))
	i.url = "http://" + server.Listener.Addr().String()
	if tls {
		i.url = "https://" + server.Listener.Addr().String()
	}
	idp, err := op.New(goidc.ProfileOpenID, i.url,
		func(context.Context) (jose.JSONWebKeySet, error) { return keys, nil },
		op.WithScopes(goidc.ScopeOpenID, goidc.ScopeProfile, goidc.ScopeEmail),
		op.WithTokenAuthnMethods(goidc.ClientAuthnSecretBasic),
		op.WithAuthorizationCodeGrant(),
		op.WithPKCE(goidc.CodeChallengeMethodSHA256),
		op.WithIssuerResponseParameter(),
		op.WithStaticClient(&goidc.Client{ID: "slipway", HashedSecret: string(hashed), ClientMetaInfo: goidc.ClientMetaInfo{
			ScopeIDs: "openid profile email", TokenAuthnMethod: goidc.ClientAuthnSecretBasic, RedirectURIs: []string{redirect},
			GrantTypes: []goidc.GrantType{goidc.GrantAuthorizationCode}, ResponseTypes: []goidc.ResponseType{goidc.ResponseTypeCode},
		}}),
		op.WithPolicy(goidc.NewPolicy("all", func(*http.Request, *goidc.Client, *goidc.AuthnSession) bool { return true }, i.authenticate)),
	)
	if err != nil {
		t.Fatal(err)
	}
	handler = idp.Handler()
	if tls {
		server.StartTLS()
		i.caFile = filepath.Join(t.TempDir(), "ca.pem")
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := os.WriteFile(i.caFile, block, 0o600); err != nil {
			t.Fatal(err)
		}
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return i
}

func (i *issuer) authenticate(_ http.ResponseWriter, _ *http.Request, s *goidc.AuthnSession) (goidc.AuthnStatus, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.deny != nil {
		return goidc.StatusFailure, i.deny
	}
	s.SetUserID(i.subject)
	s.GrantScopes(s.Scopes)
	for name, value := range i.claims {
		s.SetIDTokenClaim(name, value)
	}
	for name, value := range i.userInfo {
		s.SetUserInfoClaim(name, value)
	}
	return goidc.StatusSuccess, nil
}

// site is a server with sign-in by the provider, and browsers that use it.
type site struct {
	desk
	issuer *issuer
	url    string
}

// newSite starts both. Adapt changes what is configured of the provider.
func newSite(t *testing.T, adapt ...func(*Provider)) *site {
	t.Helper()
	return newSiteWith(t, false, adapt...)
}

func newSiteWith(t *testing.T, tls bool, adapt ...func(*Provider)) *site {
	t.Helper()
	s := &site{}
	server := httptest.NewUnstartedServer(s)
	s.url = "http://" + server.Listener.Addr().String()
	s.issuer = newIssuer(t, s.url+callbackPath, tls)
	secretFile := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secretFile, []byte(clientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Provider{Name: "sso", Issuer: s.issuer.url, ClientID: "slipway", ClientSecretFile: secretFile, CAFile: s.issuer.caFile}
	for _, a := range adapt {
		a(&p)
	}
	s.desk = newDesk(t, func(c *Config) {
		c.URL = s.url
		c.Providers = []Provider{p}
	})
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// ServeHTTP is what the interface does with the package.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var to string
	var cookies []*http.Cookie
	var err error
	switch r.URL.Path {
	case beginPath:
		to, cookies, err = s.BeginOIDC(r, r.URL.Query().Get("returnTo"))
	case callbackPath:
		to, _, cookies, err = s.FinishOIDC(r, Client{IP: "192.0.2.9"})
	case "/whoami":
		who, err := s.Identify(r)
		if err != nil {
			http.Error(w, err.Error(), api.CodeOf(err).Status())
			return
		}
		_, _ = io.WriteString(w, who.Principal.ID+" "+strings.Join(who.Subject.Groups, ","))
		return
	default:
		_, _ = io.WriteString(w, "at "+r.URL.String())
		return
	}
	for _, c := range cookies {
		http.SetCookie(w, c)
	}
	if err != nil && to == "" {
		http.Error(w, err.Error(), api.CodeOf(err).Status())
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// browser is a browser with cookies of its own.
type browser struct {
	t      *testing.T
	site   *site
	client *http.Client
}

func (s *site) newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	if s.issuer.caFile != "" {
		client, err := providerClient(s.issuer.caFile, &outward.Policy{Private: true, Allow: outward.List{Names: []string{"localhost"}, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}})
		if err != nil {
			t.Fatal(err)
		}
		transport = client.Transport.(bounded).next.(*http.Transport)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, s, &http.Client{Jar: jar, Transport: transport}}
}

// get goes to an address and follows where it is sent.
func (b *browser) get(to string) (status int, text string, at *url.URL) {
	b.t.Helper()
	answer, err := b.do(to)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(body)), answer.Request.URL
}

func (b *browser) do(to string) (*http.Response, error) {
	if strings.HasPrefix(to, "/") {
		to = b.site.url + to
	}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, to, nil)
	if err != nil {
		return nil, err
	}
	return b.client.Do(r)
}

// signIn goes through all of it.
func (b *browser) signIn() (status int, text string) {
	b.t.Helper()
	status, text, _ = b.get(beginPath + "?returnTo=/apps")
	return status, text
}

// upTo goes on until it is sent to an address that begins so, and gives that without going there.
func (b *browser) upTo(from, prefix string) *url.URL {
	b.t.Helper()
	var stop *url.URL
	client := *b.client
	client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), prefix) {
			stop = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	answer, err := (&browser{b.t, b.site, &client}).do(from)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	if stop == nil {
		text, _ := io.ReadAll(answer.Body) // for the message
		b.t.Fatalf("not sent to %s, but %d: %s", prefix, answer.StatusCode, text)
	}
	return stop
}
