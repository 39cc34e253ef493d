package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// cookies signs in as a browser does.
func (w *world) cookies(user string) []*http.Cookie {
	w.t.Helper()
	out := w.send(w.request("", http.MethodPost, "/api/v1/session", fmt.Sprintf(`{"username":%q,"password":%q}`, user, password)))
	if out.Code != http.StatusOK {
		w.t.Fatalf("sign in: %d %s", out.Code, out.Body)
	}
	return out.Result().Cookies()
}

func TestAPageOfAnotherOriginCannotUseASession(t *testing.T) {
	t.Parallel()
	w := &world{t: t, server: newServer(t, nil)}
	cookies := w.cookies("admin")
	for _, c := range []struct {
		name, header, value string
		want                int
	}{
		{"from a page of another site", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"from a page of a sibling", "Sec-Fetch-Site", "same-site", http.StatusForbidden},
		{"from a browser that says the origin only", "Origin", "https://evil.example", http.StatusForbidden},
		{"from a page of ours", "Sec-Fetch-Site", "same-origin", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := w.request("", http.MethodPost, "/api/v1/organizations", `{"name":"`+strings.ReplaceAll(c.name, " ", "-")+`"}`)
			r.Host = "slipway.test"
			r.Header.Set(c.header, c.value)
			for _, cookie := range cookies {
				r.AddCookie(cookie)
			}
			if out := w.send(r); out.Code != c.want {
				t.Errorf("%d %s", out.Code, out.Body)
			}
		})
	}
}

func TestCookiesUnderTLSAreOutOfReachOfScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	w := &world{t: t, server: newServer(t, func(c *Config) { c.PublicURL = "https://slipway.test" })}
	for _, cookie := range w.cookies("admin") {
		if !strings.HasPrefix(cookie.Name, "__Host-") || !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
			t.Errorf("cookie %s", cookie)
		}
	}
}

func TestOtherOriginsMayCallOnlyWhenTheyAreAllowed(t *testing.T) {
	t.Parallel()
	preflight := func(s *Server, origin string) *httptest.ResponseRecorder {
		w := &world{t: t, server: s}
		r := w.request("", http.MethodOptions, "/api/v1/roles", "")
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", "GET")
		return w.send(r)
	}
	if out := preflight(newServer(t, nil), "https://tool.example"); out.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("an origin is allowed by default: %v", out.Header())
	}
	allowing := newServer(t, func(c *Config) { c.AllowedOrigins = []string{"https://tool.example"} })
	if out := preflight(allowing, "https://tool.example"); out.Code != http.StatusNoContent || out.Header().Get("Access-Control-Allow-Origin") != "https://tool.example" || out.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("the allowed origin: %d %v", out.Code, out.Header())
	}
	for _, header := range []string{"Access-Control-Allow-Headers", "Access-Control-Expose-Headers"} { // a page follows its own requests
		if out := preflight(allowing, "https://tool.example"); !strings.Contains(out.Header().Get(header), "Traceparent") {
			t.Errorf("%s: %s", header, out.Header().Get(header))
		}
	}
	if out := preflight(allowing, "https://tool.example.evil"); out.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("an origin that only begins alike is allowed: %v", out.Header())
	}
}

func TestEveryAnswerHasARequestIDAndTheHeadersThatProtectBrowsers(t *testing.T) {
	t.Parallel()
	w := &world{t: t, server: newServer(t, func(c *Config) { c.PublicURL = "https://slipway.test" })}
	for _, path := range []string{"/", "/healthz", "/readyz", "/api/v1/users", "/api/v1/openapi.json", "/api/v1/session/methods", "/nothing"} {
		out := w.send(w.request("", http.MethodGet, path, ""))
		for header, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "X-Request-Id": "",
			"Strict-Transport-Security": "max-age=31536000",
		} {
			if have := out.Header().Get(header); have == "" || want != "" && have != want {
				t.Errorf("%s: %s is %q", path, header, have)
			}
		}
		if csp := out.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if strings.HasPrefix(path, "/api/") && out.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be kept by proxies", path)
		}
	}
	for path, want := range map[string]int{"/": http.StatusOK, "/applications/account.prod/argocd/web": http.StatusOK, "/assets/none.js": http.StatusNotFound, "/api/nothing": http.StatusNotFound, "/metrics/x": http.StatusOK} {
		r := w.request("", http.MethodGet, path, "")
		r.Header.Set("Accept", "text/html")
		if out := w.send(r); out.Code != want || (want == http.StatusOK) != strings.Contains(out.Body.String(), "<title>Slipway</title>") {
			t.Errorf("a browser at %s gets %d %s", path, out.Code, out.Body)
		}
		if out := w.send(w.request("", http.MethodPost, path, "{}")); out.Code != http.StatusNotFound && out.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, out.Code)
		}
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, answer := w.do(w.admin, http.MethodPost, "/api/v1/organizations", `{"name":"`+strings.Repeat("a", 3<<20)+`"}`)
	if code != http.StatusRequestEntityTooLarge || problemOf(t, answer).Code != api.CodeTooLarge {
		t.Errorf("a body of 3 MiB: %d %s", code, answer)
	}
	limited := &world{t: t, server: newServer(t, func(c *Config) {
		c.Limits = core.Limits{PerSecond: 0.001, Burst: 3, AddressPerSecond: 1e6, AddressBurst: 1e6, SignInPerMinute: 0.001, SignInBurst: 2}
	})}
	token := limited.signIn("admin")
	var last *httptest.ResponseRecorder
	for range 4 {
		last = limited.send(limited.request(token, http.MethodGet, "/api/v1/info", ""))
	}
	if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" {
		t.Errorf("the fourth request of three: %d %v", last.Code, last.Header())
	}
	for range 2 {
		last = limited.send(limited.request("", http.MethodPost, "/api/v1/session", `{"username":"admin","password":"no"}`))
	}
	if last.Code != http.StatusTooManyRequests {
		t.Errorf("the third sign-in of two: %d", last.Code)
	}
}

func TestWhoHasANetworkOfAddressesIsHeldToOneRate(t *testing.T) {
	t.Parallel()
	w := &world{t: t, server: newServer(t, func(c *Config) { c.Limits.SignInPerMinute, c.Limits.SignInBurst = 0.001, 2 })}
	ask := func(method, path, body, from string) int {
		r := w.request("", method, path, body)
		r.RemoteAddr = "[" + from + "]:1234"
		return w.send(r).Code
	}
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPost, "/api/v1/session", `{"username":"admin","password":"no"}`},
		{http.MethodGet, "/api/v1/session/oidc", ""},
	} {
		for _, from := range []string{"2001:db8::1", "2001:db8::2"} {
			if code := ask(c.method, c.path, c.body, from); code == http.StatusTooManyRequests {
				t.Errorf("%s from %s: %d, too early", c.path, from, code)
			}
		}
		if code := ask(c.method, c.path, c.body, "2001:db8::3:4"); code != http.StatusTooManyRequests {
			t.Errorf("%s from a third address of the network: %d", c.path, code)
		}
		if code := ask(c.method, c.path, c.body, "2001:db8:0:1::1"); code == http.StatusTooManyRequests {
			t.Errorf("%s from another network: %d", c.path, code)
		}
	}
}

func TestAnIdempotencyKeyMakesAThingOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	post := func(path, key, body string) *httptest.ResponseRecorder {
		r := w.request(w.admin, http.MethodPost, path, body)
		r.Header.Set("Idempotency-Key", key)
		return w.send(r)
	}
	first := post("/api/v1/organizations", "k1", `{"name":"once"}`)
	again := post("/api/v1/organizations", "k1", `{"name":"once"}`)
	if first.Code != http.StatusOK || again.Code != http.StatusOK || again.Body.String() != first.Body.String() || again.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("the second time: %d %s", again.Code, again.Body)
	}
	if other := post("/api/v1/organizations", "k1", `{"name":"twice"}`); other.Code != http.StatusConflict {
		t.Errorf("the key for another request: %d %s", other.Code, other.Body)
	}
	if wrong := post("/api/v1/organizations", "k2", `{"name":"NO"}`); wrong.Code != http.StatusUnprocessableEntity {
		t.Errorf("a wrong request: %d %s", wrong.Code, wrong.Body)
	}
	if right := post("/api/v1/organizations", "k2", `{"name":"no"}`); right.Code != http.StatusOK {
		t.Errorf("a key whose request came to nothing is free: %d %s", right.Code, right.Body)
	}
	secret := post("/api/v1/tokens", "k3", `{"name":"secret"}`)
	replayed := post("/api/v1/tokens", "k3", `{"name":"secret"}`)
	if secret.Code != http.StatusOK || replayed.Code != http.StatusConflict || strings.Contains(replayed.Body.String(), "slp_") {
		t.Errorf("a secret is not said twice: %d %d %s", secret.Code, replayed.Code, replayed.Body)
	}
}

func TestAPasswordThatIsResetOrChangedEndsWhatWasMadeWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	counts := func(token string) bool {
		code, _ := w.do(token, http.MethodGet, "/api/v1/session", "")
		return code == http.StatusOK
	}
	laptop := w.user("hedy", "account.admin", "account")
	other := w.signIn("hedy")
	change := func(now, next, more string) {
		t.Helper()
		code, answer := w.do(laptop, http.MethodPost, "/api/v1/session/password", fmt.Sprintf(`{"current":%q,"new":%q%s}`, now, next, more))
		if code != http.StatusNoContent {
			t.Fatalf("change the password: %d %s", code, answer)
		}
	}
	change(password, password+" two", "")
	if !counts(other) {
		t.Error("a change that says nothing of tokens has ended one")
	}
	change(password+" two", password, `,"endTokens":true`)
	if counts(other) || !counts(laptop) {
		t.Errorf("the other token counts: %t, the one that was used: %t", counts(other), counts(laptop))
	}
	other = w.signIn("hedy")
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/users/hedy/password", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	if counts(laptop) || counts(other) {
		t.Error("a token outlives the reset of its user's password")
	}
}

func TestAPasswordCannotBeTriedAgainstWhatTellsRequestsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const body = `{"name":"kept","password":"` + password + `"}`
	r := w.request(w.admin, http.MethodPost, "/api/v1/users", body)
	r.Header.Set("Idempotency-Key", "k")
	if out := w.send(r); out.Code != http.StatusOK {
		t.Fatalf("%d %s", out.Code, out.Body)
	}
	// What follows from the request alone, whoever reads the database can make for every password there is.
	plain := func(parts ...string) string {
		sum := sha256.New()
		for _, part := range parts {
			one := sha256.Sum256([]byte(part))
			sum.Write(one[:])
		}
		return hex.EncodeToString(sum.Sum(nil))
	}
	token, _, _ := strings.Cut(strings.TrimPrefix(w.admin, api.TokenPrefix), "_")
	place := plain(api.PrincipalUser, "admin", "", token, "k")
	_, err := w.server.store.Claim(t.Context(), place, plain(http.MethodPost, "/api/v1/users", body), time.Now().Add(time.Hour))
	if api.CodeOf(err) != api.CodeConflict {
		t.Errorf("the database holds a hash that needs no key: %v", err)
	}
}

func TestWhatHasChangedMeanwhileIsNotOverwritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/roles/org.acme.deployer"
	read := w.send(w.request(w.admin, http.MethodGet, path, ""))
	if read.Header().Get("ETag") != `"1"` {
		t.Fatalf("ETag %q of %s", read.Header().Get("ETag"), read.Body)
	}
	var role api.Role
	if err := json.Unmarshal(read.Body.Bytes(), &role); err != nil {
		t.Fatal(err)
	}
	put := func(description, match string) *httptest.ResponseRecorder {
		role.Description = description
		raw, err := json.Marshal(role)
		if err != nil {
			t.Fatal(err)
		}
		r := w.request(w.admin, http.MethodPut, path, string(raw))
		if match != "" {
			r.Header.Set("If-Match", match)
		}
		return w.send(r)
	}
	if out := put("first", ""); out.Code != http.StatusOK {
		t.Fatalf("%d %s", out.Code, out.Body)
	}
	if out := put("second, of the same version", ""); out.Code != http.StatusConflict || !strings.Contains(out.Body.String(), "read it again") {
		t.Errorf("stale: %d %s", out.Code, out.Body)
	}
	if out := put("third", `"2"`); out.Code != http.StatusOK {
		t.Errorf("with the ETag of now: %d %s", out.Code, out.Body)
	}
	if code, answer := w.do(w.admin, http.MethodPut, "/api/v1/roles/org.acme.fresh?upsert=true", `{"name":"fresh","scope":"org.acme","permissions":["agent_view"]}`); code != http.StatusOK {
		t.Errorf("upsert: %d %s", code, answer)
	}
	if code, answer := w.do(w.admin, http.MethodPut, "/api/v1/roles/account.viewer", `{"name":"viewer","permissions":["*"]}`); code != http.StatusForbidden {
		t.Errorf("a built-in role: %d %s", code, answer)
	}
}

func TestWhatIsReferredToIsDeletedOnlyByForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, answer := w.do(w.admin, http.MethodDelete, "/api/v1/organizations/acme", "")
	if code != http.StatusConflict || len(problemOf(t, answer).References) == 0 {
		t.Fatalf("%d %s", code, answer)
	}
	code, answer = w.do(w.admin, http.MethodDelete, "/api/v1/agents/account.prod/clusters/argocd/thing?wait=0", "")
	if refs := problemOf(t, answer).References; code != http.StatusConflict || len(refs) != 1 || refs[0].ID != "account.prod/argocd/thing" {
		t.Errorf("a cluster that an application deploys to: %d %s", code, answer)
	}
	if code, answer = w.do(w.admin, http.MethodDelete, "/api/v1/organizations/acme?force=true", ""); code != http.StatusNoContent {
		t.Errorf("by force: %d %s", code, answer)
	}
	if code, _ = w.do(w.admin, http.MethodGet, "/api/v1/roles/org.acme.deployer", ""); code != http.StatusNotFound {
		t.Errorf("what was inside is still there: %d", code)
	}
}

func TestNobodyGivesRightsThatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/roles", `{"name":"keeper","permissions":["binding_edit","binding_view","role_edit","group_edit","group_view","user_edit","user_view","token_edit","serviceaccount_edit"]}`); code != http.StatusOK {
		t.Fatalf("%d %s", code, answer)
	}
	keeper := w.user("keeper", "account.keeper", "account")
	for _, c := range []struct{ name, method, path, body string }{
		{"bind a role with more rights", "POST", "bindings", `{"name":"me","principal":{"type":"user","id":"keeper"},"role":"account.admin"}`},
		{"make a role with more rights", "POST", "roles", `{"name":"mine","permissions":["*"]}`},
		{"join a group with more rights", "PUT", "groups/org.acme.developers", `{"name":"developers","members":["ada","keeper"]}`},
		{"set the password of an administrator", "POST", "users/admin/password", ``},
		{"make a token of an administrator", "POST", "tokens", `{"name":"x","owner":{"type":"user","id":"admin"}}`},
	} {
		if code, answer := w.do(keeper, c.method, "/api/v1/"+c.path, c.body); code != http.StatusForbidden {
			t.Errorf("%s: %d %s", c.name, code, answer)
		}
	}
	// A limited token makes none that is wider.
	code, answer := w.do(w.admin, http.MethodPost, "/api/v1/tokens", `{"name":"narrow","permissions":["token_edit"],"scope":"org.acme"}`)
	var narrow api.TokenCreated
	if err := json.Unmarshal([]byte(answer), &narrow); code != http.StatusOK || err != nil {
		t.Fatalf("%d %s", code, answer)
	}
	if code, answer = w.do(narrow.Secret, http.MethodPost, "/api/v1/tokens", `{"name":"wide"}`); code != http.StatusForbidden {
		t.Errorf("a wider token: %d %s", code, answer)
	}
}

func TestTokensOfOthersTakeAPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, answer := w.do(w.admin, http.MethodGet, "/api/v1/tokens?owner=org.acme.ci&ownerType=serviceaccount", "")
	var page api.Page[api.Token]
	if err := json.Unmarshal([]byte(answer), &page); code != http.StatusOK || err != nil || len(page.Items) != 1 {
		t.Fatalf("%d %s", code, answer)
	}
	ada := w.user("hedy", "", "")
	for _, c := range []struct{ method, path, body string }{
		{"GET", "tokens/" + page.Items[0].ID, ""},
		{"DELETE", "tokens/" + page.Items[0].ID, ""},
		{"GET", "tokens?owner=*", ""},
		{"GET", "tokens?owner=admin", ""},
		{"POST", "tokens", `{"name":"x","owner":{"type":"serviceaccount","id":"org.acme.ci"}}`},
	} {
		if code, answer := w.do(ada, c.method, "/api/v1/"+c.path, c.body); code != http.StatusForbidden && code != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, answer)
		}
	}
	if code, answer := w.do(ada, http.MethodGet, "/api/v1/tokens", ""); code != http.StatusOK || strings.Contains(answer, page.Items[0].ID) {
		t.Errorf("one's own: %d %s", code, answer)
	}
}

func TestTheServerRefusesToSeeASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ noun, fields string }{
		{"repositories", `{"url":"https://git.example.org/a.git","password":"hunter2hunter2"}`},
		{"repositories", `{"url":"https://git.example.org/a.git","sshPrivateKey":"hunter2hunter2"}`},
		{"repositories", `{"url":"https://me:hunter2hunter2@git.example.org/a.git"}`},
		{"credential-templates", `{"url":"https://git.example.org/","githubAppPrivateKey":"hunter2hunter2"}`},
		{"clusters", `{"server":"https://a.example","config":"{\"bearerToken\":\"hunter2hunter2\"}"}`},
	} {
		code, answer := w.do(w.admin, http.MethodPost, "/api/v1/agents/account.prod/"+c.noun, `{"name":"a","fields":`+c.fields+`}`)
		if code != http.StatusUnprocessableEntity || !strings.Contains(answer, "sealed") || strings.Contains(answer, "hunter2") {
			t.Errorf("%s %s: %d %s", c.noun, c.fields, code, answer)
		}
	}
	if _, all := w.do(w.admin, http.MethodGet, "/api/v1/audit?limit=1000", ""); strings.Contains(all, "hunter2") {
		t.Error("the audit holds a secret")
	}
}
