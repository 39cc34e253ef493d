package registrylogin

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func loopback(t testing.TB) *outward.Policy {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	return &outward.Policy{Allow: allow}
}

func session(t testing.TB, address string, k Keeper, now func() time.Time) *Session {
	t.Helper()
	client, err := web.Open(address, loopback(t), web.Access{}, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return NewSession(Options{Client: client, Keeper: k, Now: now})
}

func get(t testing.TB, s *Session, repository string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.home.JoinPath("/v2", repository, "tags/list").String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Do(req, repository)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return web.Check(req.URL, resp)
}

func TestChallengesAreReadAsServersWriteThem(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`Basic realm="a, b"`: `[{basic map[realm:a, b]}]`,
		`Bearer realm="https://x/token",service="x",scope="repository:a:pull"`: `[{bearer map[realm:https://x/token scope:repository:a:pull service:x]}]`,
		`bearer realm = "q\"uote" , service=plain`:                             `[{bearer map[realm:q"uote service:plain]}]`,
		`Negotiate, Basic realm="a"`:                                           `[{negotiate map[]} {basic map[realm:a]}]`,
		`Negotiate abc==, Basic realm="a"`:                                     `[{negotiate map[]} {abc map[]} {basic map[realm:a]}]`,
		`Bearer realm="first",realm="second"`:                                  `[{bearer map[realm:first]}]`,
		`Bearer realm="open`:                                                   `[{bearer map[realm:open]}]`,
		`realm="x"`:                                                            `[]`,
		``:                                                                     `[]`,
	} {
		got := challengesOf(http.Header{"Www-Authenticate": {header}})
		if fmt.Sprint(got) != want {
			if !strings.HasPrefix(header, "Negotiate abc") || len(got) == 0 || got[len(got)-1].scheme != "basic" {
				t.Errorf("%s is read as %v, want %s", header, got, want)
			}
		}
	}
}

func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer realm="https://x/token",service="x", Basic realm=y`)
	f.Add(`a="\`)
	f.Fuzz(func(t *testing.T, header string) {
		got := challengesOf(http.Header{"Www-Authenticate": {header}})
		if len(got) > maxChallenges {
			t.Fatalf("%d challenges", len(got))
		}
		for _, c := range got {
			if c.scheme == "" || len(c.parameters) > maxParameters {
				t.Fatalf("%v", c)
			}
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add([]byte(`{"token":"x","expires_in":300}`))
	f.Add([]byte(`{"access_token":"x","expires_in":-1e300}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		began := time.Now()
		got, ok := readToken(raw, began)
		if ok && (got.value == "" || !got.ends.After(began) || got.ends.Sub(began) > longestLife || got.renew.After(got.ends)) {
			t.Fatalf("%+v", got)
		}
	})
}

func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCITokens("ann", "s3cret"))
	s.PushFiles("a", "1", map[string]string{"x": "y"})
	now := time.Now()
	in := session(t, s.URL(), Fixed{Username: "ann", Password: "s3cret"}, func() time.Time { return now })
	tokens := func() (n int) {
		for _, line := range s.Seen() {
			if strings.HasPrefix(line, "GET /token") {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {200 * time.Second, 0}, {50 * time.Second, 1}, {10 * time.Second, 0}} { // they live 300 s
		now = now.Add(step.after)
		if err := get(t, in, "a"); err != nil {
			t.Fatal(err)
		}
		if n := tokens(); n != step.want {
			t.Errorf("after %v: %d tokens, want %d", step.after, n, step.want)
		}
	}
	now = now.Add(250 * time.Second) // it is to be renewed, and still good
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			http.Error(w, "down", http.StatusBadGateway)
			return true
		}
		return false
	})
	if err := get(t, in, "a"); err != nil {
		t.Errorf("a token that is good is not used while the service is down: %v", err)
	}
	now = now.Add(time.Hour)
	if err := get(t, in, "a"); !errors.Is(err, ErrService) || !errors.Is(err, web.ErrServer) {
		t.Errorf("%v, want %v", err, ErrService)
	}
}

func TestARefreshTokenIsSentToTheTokenServiceAlone(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCITokens("ann", "refresh-me"))
	s.PushFiles("a", "1", map[string]string{"x": "y"})
	if err := get(t, session(t, s.URL(), Fixed{Username: acrUser, Refresh: "refresh-me"}, nil), "a"); err != nil {
		t.Fatal(err)
	}
	if err := get(t, session(t, s.URL(), Fixed{Refresh: "other"}, nil), "a"); !errors.Is(err, web.ErrAuth) {
		t.Errorf("%v, want %v", err, web.ErrAuth)
	}
}

func TestATokenServiceElsewhereIsRefusedUnlessTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	home, _ := url.Parse("https://registry.gitlab.example.org")
	allowed := func(host string) bool { return host == "auth.example.net" }
	s := &Session{opts: Options{Elsewhere: allowed}, home: home}
	for realm, ok := range map[string]bool{
		"https://registry.gitlab.example.org/token": true, "https://gitlab.example.org/jwt/auth": true, "https://REGISTRY.gitlab.example.org:8443/t?x=1": true,
		"https://auth.example.net/token": true, "https://auth.example.com/token": false, "http://gitlab.example.org/jwt/auth": false,
		"https://ann@gitlab.example.org/": false, "https://127.0.0.1/token": false, "https://localhost/token": false, "https://169.254.169.254/": false,
		"/token": true, "": false, "//example.com/token": false, "gopher://gitlab.example.org/": false, "https://org/": false, "https://" + strings.Repeat("a", 2000) + ".example.org/": false,
	} {
		if _, err := s.judge(realm); (err == nil) != ok {
			t.Errorf("%.80s: %v", realm, err)
		} else if err != nil && !errors.Is(err, ErrService) {
			t.Errorf("%.80s: %v, want %v", realm, err, ErrService)
		}
	}
	for _, suffix := range []string{"github.io", "co.uk"} { // whoever has a name below it is somebody else
		if sameDomain("a."+suffix, "b."+suffix) {
			t.Errorf("hosts below %s count as one", suffix)
		}
	}
}

func TestATokenServiceThatRedirectsGetsNothingFurther(t *testing.T) {
	t.Parallel()
	var reached string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = r.Header.Get("Authorization") + r.URL.RawQuery
		fmt.Fprint(w, `{"token":"planted"}`)
	}))
	t.Cleanup(other.Close)
	s := testenv.OCI(t, testenv.OCITokens("ann", "s3cret"))
	s.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return true
		}
		return false
	})
	err := get(t, session(t, s.URL(), Fixed{Username: "ann", Password: "s3cret"}, nil), "a")
	if !errors.Is(err, ErrService) || strings.Contains(reached, "Basic") {
		t.Errorf("%v; the other host got %q", err, reached)
	}
}

func TestSecretsHideThemselves(t *testing.T) {
	t.Parallel()
	c, err := ReadDockerConfig([]byte(`{"auths":{"ghcr.io":{"username":"u","password":"s3cret"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	all := Secret{Username: "u", Password: "s3cret", Refresh: "s3cret", Token: "s3cret"}
	for _, v := range []any{all, Fixed(all), &Fixed{Token: "s3cret"}, &Secret{Refresh: "s3cret"}, c} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(format, v); strings.Contains(got, "s3cret") {
				t.Errorf("%T with %s is %s", v, format, got)
			}
		}
	}
}

func TestTheLongestAddressOfADockerConfigCounts(t *testing.T) {
	t.Parallel()
	auth := base64.StdEncoding.EncodeToString([]byte("bob:pw:with:colons"))
	c, err := ReadDockerConfig([]byte(`{"auths":{
		"https://index.docker.io/v1/":{"username":"hub","password":"1"}, "ghcr.io":{"auth":"` + auth + `"},
		"ghcr.io/team":{"username":"team","password":"2"}, "ghcr.io/team/app":{"username":"app","password":"3"},
		"*.example.org":{"username":"any","password":"4"}, "one.example.org":{"username":"one","password":"5"},
		"acr.example.net":{"identitytoken":"refresh"}, "r.example.net:5000":{"registrytoken":"plain"}, "empty.example.net":{}
	},"credsStore":"desktop","credHelpers":{"ecr.example.net":"ecr-login"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]Secret{
		"registry-1.docker.io org/app": {Username: "hub", Password: "1"}, "docker.io org/app": {Username: "hub", Password: "1"},
		"ghcr.io other/app": {Username: "bob", Password: "pw:with:colons"}, "ghcr.io team/web": {Username: "team", Password: "2"},
		"ghcr.io team": {Username: "team", Password: "2"}, "ghcr.io teamwork/web": {Username: "bob", Password: "pw:with:colons"},
		"ghcr.io team/app/x": {Username: "app", Password: "3"}, "GHCR.io:443 team/app": {Username: "app", Password: "3"},
		"two.example.org a": {Username: "any", Password: "4"}, "one.example.org a": {Username: "one", Password: "5"}, "a.b.example.org a": {},
		"acr.example.net a": {Refresh: "refresh"}, "r.example.net:5000 a": {Token: "plain"}, "r.example.net a": {}, "empty.example.net a": {}, "ecr.example.net a": {},
	} {
		host, repository, _ := strings.Cut(of, " ")
		if got, _ := c.Secret(t.Context(), host, repository); got != want {
			t.Errorf("%s gets %q, want %q", of, got.Username, want.Username)
		}
	}
	for _, raw := range []string{``, `[]`, `{"auths":[]}`, `{"auths":{"a":{"auth":"%%"}}}`, `{"auths":{"a":{"auth":"bm9jb2xvbg=="}}}`, `{"auths":{"a":{"username":"x\ny"}}}`} {
		if _, err := ReadDockerConfig([]byte(raw)); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
}

func FuzzDockerConfig(f *testing.F) {
	f.Add([]byte(`{"auths":{"https://ghcr.io/v1/":{"auth":"YTpi"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ReadDockerConfig(raw)
		if err != nil {
			return
		}
		for _, e := range c.entries {
			if err := e.secret.Check(); err != nil || e.host == "" {
				t.Fatal("an entry cannot be used")
			}
		}
	})
}
