package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/luikyv/go-oidc/pkg/goidc"
	op "github.com/luikyv/go-oidc/pkg/provider"
	"golang.org/x/crypto/bcrypt"
)

// signInLimit is how long a sign-in may take, of which nothing waits for a person.
const signInLimit = time.Minute

// newProvider starts a real identity provider in this process, and gives its address. Who signs in there is told by who.
func newProvider(t *testing.T, redirect, secret string, who goidc.AuthnFunc) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key, KeyID: "k1", Algorithm: "RS256", Use: "sig"}}}
	hashed, err := bcrypt.GenerateFromPassword([]byte(secret), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	address := "http://" + server.Listener.Addr().String()
	idp, err := op.New(goidc.ProfileOpenID, address,
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
		op.WithPolicy(goidc.NewPolicy("all", func(*http.Request, *goidc.Client, *goidc.AuthnSession) bool { return true }, who)),
	)
	if err != nil {
		t.Fatal(err)
	}
	handler = idp.Handler()
	server.Start()
	t.Cleanup(server.Close)
	return address
}

// authenticate signs whoever comes in as ada.
func authenticate(_ http.ResponseWriter, _ *http.Request, s *goidc.AuthnSession) (goidc.AuthnStatus, error) {
	s.SetUserID("42")
	s.GrantScopes(s.Scopes)
	for name, value := range map[string]any{"preferred_username": "ada", "name": "Ada L.", "email": "ada@example.org", "email_verified": true} {
		s.SetIDTokenClaim(name, value)
	}
	return goidc.StatusSuccess, nil
}

// refuse signs nobody in.
func refuse(http.ResponseWriter, *http.Request, *goidc.AuthnSession) (goidc.AuthnStatus, error) {
	return goidc.StatusFailure, goidc.NewError(goidc.ErrorCodeAccessDenied, "not on a Sunday")
}

// signedIn is a server whose users come from a provider.
func signedIn(t *testing.T, who goidc.AuthnFunc) *serverProcess {
	t.Helper()
	const secret = "sesame-of-the-client"
	s := newServer(t)
	issuer := newProvider(t, s.url+"/api/v1/session/oidc/callback", secret, who)
	dir := t.TempDir()
	secretFile := filepath.Join(dir, "secret")
	if err := os.WriteFile(secretFile, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{"providers": []map[string]any{
		{"name": "sso", "issuer": issuer, "clientID": "slipway", "clientSecretFile": secretFile},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "oidc.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	s.flags = []string{"--oidc-config", file}
	s.start()
	return s
}

// loginProcess is a `slipway login --sso` that waits for a browser.
type loginProcess struct {
	t       *testing.T
	command *exec.Cmd
	env     []string
	// address is what it told the user to open.
	address string
	said    chan string // all of it, at its end
}

func startLogin(t *testing.T, server string) *loginProcess {
	t.Helper()
	program, err := exec.LookPath("slipway") // TestMain put it into PATH
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), signInLimit)
	t.Cleanup(cancel)
	l := &loginProcess{t: t, said: make(chan string, 1)}
	// No other program is in its PATH: it must not open a browser here.
	l.env = []string{"PATH=" + filepath.Dir(program), "XDG_CONFIG_HOME=" + t.TempDir(), "HOME=" + t.TempDir()}
	l.command = exec.CommandContext(ctx, program, "login", server, "--sso", "--timeout", signInLimit.String())
	l.command.Env = l.env
	stderr, err := l.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.command.Start(); err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string, 1)
	go func() {
		var all strings.Builder
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
			if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, server+"/api/v1/session/oidc") {
				addresses <- text
			}
		}
		close(addresses)
		l.said <- all.String()
	}()
	address, ok := <-addresses
	if !ok {
		t.Fatalf("slipway login said no address, but: %s", <-l.said)
	}
	l.address = address
	return l
}

// end waits for the end, and gives what was said on the way and how it ended.
func (l *loginProcess) end() (string, error) {
	said := <-l.said
	return said, l.command.Wait()
}

// browse opens an address as a browser would: it has cookies, and goes where it is sent.
func browse(t *testing.T, address string) (status int, text string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Jar: jar, Transport: transport, Timeout: signInLimit}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestACommandLineSignsInWithAnIdentityProvider(t *testing.T) {
	t.Parallel()
	s := signedIn(t, authenticate)
	l := startLogin(t, s.url)
	// What comes to the command line without its state is of somebody else, and ends nothing.
	at, err := url.Parse(l.address)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := browse(t, at.Query().Get("cli_redirect")+"?code=guessed&state=guessed"); status != http.StatusBadRequest {
		t.Errorf("a code with the state of somebody else is answered with %d", status)
	}
	if status, text := browse(t, l.address); status != http.StatusOK || !strings.Contains(text, "You are signed in") {
		t.Errorf("the browser shows %d: %s", status, text)
	}
	said, err := l.end()
	if err != nil || !strings.Contains(said, "signed in to "+s.url+" as ada") {
		t.Fatalf("it ended with %v: %s", err, said)
	}
	whoami := exec.CommandContext(t.Context(), l.command.Path, "whoami")
	whoami.Env = l.env
	out, err := whoami.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "user ada") {
		t.Errorf("whoami ended with %v: %s", err, out)
	}
	// The token is in the file of contexts and nowhere else that anybody sees.
	if strings.Contains(said+string(out), "slp_") {
		t.Error("the token is shown")
	}
}

func TestACommandLineEndsWhereTheProviderRefuses(t *testing.T) {
	t.Parallel()
	l := startLogin(t, signedIn(t, refuse).url)
	if status, text := browse(t, l.address); status != http.StatusOK || !strings.Contains(text, "You are not signed in") || !strings.Contains(text, "access_denied") || strings.Contains(text, "not on a Sunday") {
		t.Errorf("the browser shows %d: %s", status, text)
	}
	said, err := l.end()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 || !strings.Contains(said, "access_denied") || strings.Contains(said, "not on a Sunday") || strings.Contains(said, "nobody signed in within") {
		t.Errorf("it ended with %v: %s", err, said)
	}
}
