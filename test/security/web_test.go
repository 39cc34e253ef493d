package security

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server"
)

func TestASessionIsMadeBySigningInAndEndsWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user("ada")
	// What somebody put into the browser before is not what the session is known by.
	fixed := &http.Cookie{Name: "slipway_session", Value: strings.Repeat("a", 52)}
	for _, cookie := range []*http.Cookie{nil, fixed, {Name: "slipway_session", Value: "' OR 1=1 --"}, {Name: "slipway_session"}} {
		if out := w.browse(cookie, "GET", "/session", ""); out.problem() != api.CodeUnauthenticated || out.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("with cookie %v: %s", cookie, out)
		}
	}
	r := w.request("", "POST", "/api/v1/session", fmt.Sprintf(`{"username":"ada","password":%q}`, password))
	r.AddCookie(fixed)
	first := w.send(r).Cookies()[0]
	if first.Value == fixed.Value || !first.HttpOnly || first.SameSite != http.SameSiteLaxMode || first.Path != "/" {
		t.Errorf("the session's cookie is %v", first)
	}
	second := w.session("ada", password)
	if first.Value == second.Value {
		t.Error("two sign-ins gave one session")
	}
	// A new password ends the other sessions.
	if out := w.browse(first, "POST", "/session/password", fmt.Sprintf(`{"current":%q,"new":%q}`, password, password+" two")); out.StatusCode != http.StatusNoContent {
		t.Fatal(out)
	}
	if out := w.browse(second, "GET", "/session", ""); out.problem() != api.CodeUnauthenticated {
		t.Errorf("another session after a change of password: %s", out)
	}
	if out := w.browse(first, "GET", "/session", ""); out.StatusCode != http.StatusOK {
		t.Errorf("the session that changed the password: %s", out)
	}
	// Signing out ends it on the server, too.
	if out := w.browse(first, "DELETE", "/session", ""); out.StatusCode != http.StatusNoContent {
		t.Fatal(out)
	}
	if out := w.browse(first, "GET", "/session", ""); out.problem() != api.CodeUnauthenticated {
		t.Errorf("a session after signing out: %s", out)
	}
	// So does being disabled, and for tokens as well.
	third, token := w.session("ada", password+" two"), w.signIn("ada", password+" two")
	w.must(w.admin, "PUT", "/users/ada", `{"name":"ada","disabled":true}`)
	if out := w.browse(third, "GET", "/session", ""); out.StatusCode == http.StatusOK {
		t.Errorf("a session of a disabled user: %s", out)
	}
	if out := w.do(token, "GET", "/session", ""); out.StatusCode == http.StatusOK {
		t.Errorf("a token of a disabled user: %s", out)
	}
}

func TestASessionAndATokenExpire(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Now()}
	w := newWorld(t, func(cfg *server.Config) { cfg.Now = clock.now })
	cookie := w.session("admin", password)
	clock.add(25 * time.Hour)
	if out := w.browse(cookie, "GET", "/session", ""); out.problem() != api.CodeUnauthenticated {
		t.Errorf("a session after a day: %s", out)
	}
	clock.add(400 * 24 * time.Hour)
	if out := w.do(w.admin, "GET", "/session", ""); out.problem() != api.CodeUnauthenticated {
		t.Errorf("a token after a year: %s", out)
	}
}

func TestWrongPasswordsLockANameWhetherThereIsOneOrNot(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Now()}
	w := newWorld(t, func(cfg *server.Config) { cfg.Now = clock.now })
	seen := map[string]string{}
	for _, name := range []string{"admin", "nosuchuser"} {
		for range 8 {
			out := w.do("", "POST", "/session", fmt.Sprintf(`{"username":%q,"password":"wrong password %s"}`, name, name))
			p := into[api.Problem](t, out.text)
			seen[name] += fmt.Sprintln(out.StatusCode, p.Code, strings.ReplaceAll(p.Detail, name, "NAME"))
		}
	}
	if seen["admin"] != seen["nosuchuser"] {
		t.Errorf("the answers tell that there is a user:\n%s\nand that there is none:\n%s", seen["admin"], seen["nosuchuser"])
	}
	out := w.do("", "POST", "/session", fmt.Sprintf(`{"username":"admin","password":%q}`, password))
	if out.problem() != api.CodeTooMany || out.Header.Get("Retry-After") == "" {
		t.Errorf("the right password while the name is locked: %s", out)
	}
	clock.add(15 * time.Minute)
	w.session("admin", password)
	if strings.Contains(w.log.String(), "wrong password admin") {
		t.Error("a wrong password is in the log")
	}
}

func TestAPageOfAnotherOriginChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *server.Config) { cfg.AllowedOrigins = []string{"https://portal.example.org"} })
	cookie := w.session("admin", password)
	role := `{"name":"made","permissions":["application_view"]}`
	for _, headers := range [][]string{
		{"Origin", "https://evil.example.org"},
		{"Origin", "https://evil.example.org", "Sec-Fetch-Site", "cross-site"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Origin", "https://evil.example.org", "Content-Type", "text/plain"},
		// An allowed origin brings a token of its own.
		{"Origin", "https://portal.example.org"},
		{"Origin", "https://portal.example.org", "Sec-Fetch-Site", "same-site"},
	} {
		for _, change := range [][3]string{{"POST", "/roles", role}, {"DELETE", "/users/admin", ""}, {"PUT", "/settings", `{}`}} {
			if out := w.browse(cookie, change[0], change[1], change[2], headers...); out.StatusCode != http.StatusForbidden && out.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s with %v: %s", change[0], change[1], headers, out)
			}
		}
		if out := w.browse(cookie, "GET", "/users", "", headers...); out.Header.Get("Access-Control-Allow-Credentials") != "" ||
			headers[1] != "https://portal.example.org" && out.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("a page with %v may read: %v", headers, out.Header)
		}
	}
	if out := w.browse(cookie, "POST", "/roles", role, "Origin", w.url, "Sec-Fetch-Site", "same-origin"); out.StatusCode != http.StatusOK {
		t.Errorf("our own page: %s", out)
	}
	r := w.request(w.admin, "GET", "/api/v1/users", "")
	r.Header.Set("Origin", "https://portal.example.org")
	if out := w.send(r); out.StatusCode != http.StatusOK || out.Header.Get("Access-Control-Allow-Origin") != "https://portal.example.org" {
		t.Errorf("an allowed origin with a token: %s %v", out, out.Header)
	}
	preflight := w.request("", "OPTIONS", "/api/v1/users", "")
	preflight.Header.Set("Origin", "https://evil.example.org")
	preflight.Header.Set("Access-Control-Request-Method", "POST")
	if out := w.send(preflight); out.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("any origin is allowed: %v", out.Header)
	}
}

func TestEveryAnswerTellsBrowsersToBeCareful(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/", "/healthz", "/nowhere", "/api/v1/users", "/api/v1/session/methods", "/api/v1/openapi.json", "/link"} {
		out := w.send(w.request("", "GET", path, ""))
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
			if got := out.Header.Get(name); got != want && path != "/link" {
				t.Errorf("GET %s: %s is %q", path, name, got)
			}
		}
		if !strings.Contains(out.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") && path != "/link" {
			t.Errorf("GET %s: a page may frame it: %q", path, out.Header.Get("Content-Security-Policy"))
		}
		if strings.HasPrefix(path, "/api/") && out.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("GET %s: it may be kept: %q", path, out.Header.Get("Cache-Control"))
		}
		if out.Header.Get("Server") != "" || out.Header.Get("X-Powered-By") != "" {
			t.Errorf("GET %s tells what it is made of: %v", path, out.Header)
		}
	}
}

func TestPathsAndHeadersAreNotMoreThanTheySay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	w.must(w.admin, "POST", "/agents", `{"name":"prod"}`)
	w.must(w.admin, "POST", "/agents", `{"name":"mine","scope":"org.acme"}`)
	mallory := w.user("mallory", api.RoleAdmin+"@org.acme")
	for _, path := range []string{
		"/agents/org.acme.mine%2f..%2faccount.prod", "/agents/org.acme.mine%2F..%2Faccount.prod/manifest", "/agents/account.prod%00", "/agents/account.prod%20",
		"/agents/org.acme.mine/../account.prod", "/agents/./account.prod", "/agents/%2e%2e/users", "/agents/account%2eprod", "/agents/ACCOUNT.PROD", "/agents//account.prod",
		"/agents/org.acme.mine/applications/argocd%2f..%2f..%2faccount.prod/x", "/agents/org.acme.mine/applications/../../account.prod/applications",
		"/users/admin%2f", "/users/..%2fadmin", "/tokens/%2e%2e%2fusers%2fadmin", "/roles/account.admin%0d%0aSet-Cookie:x=y",
		"/../../../../etc/passwd", "/openapi.json/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/metrics/../api/v1/users",
	} {
		out := w.do(mallory, "GET", path, "")
		if out.StatusCode == http.StatusOK || out.StatusCode >= 500 || strings.Contains(out.text, `"uid"`) || strings.Contains(out.text, "root:") || out.Header.Get("Set-Cookie") != "" {
			t.Errorf("GET %s: %s", path, out)
		}
		if at := out.Header.Get("Location"); at != "" && (!strings.HasPrefix(at, "/") || strings.HasPrefix(at, "//")) {
			t.Errorf("GET %s leads to %s", path, at)
		}
	}
	for _, to := range []string{"https://evil.example.org", "//evil.example.org", `/\evil.example.org`, "/%0d%0aSet-Cookie:x=y", "javascript:alert(1)"} {
		out := w.do("", "GET", "/session/oidc?returnTo="+to, "")
		if strings.Contains(out.Header.Get("Location"), "evil") || out.Header.Get("Set-Cookie") != "" && strings.Contains(out.Header.Get("Set-Cookie"), "x=y") {
			t.Errorf("returnTo %s: %v", to, out.Header)
		}
	}
	// Only a proxy that is trusted says who asks.
	r := w.request(w.admin, "POST", "/api/v1/roles", `{"name":"seen","permissions":["application_view"]}`)
	r.Header.Set("X-Forwarded-For", "203.0.113.7")
	r.Header.Set("X-Real-Ip", "203.0.113.7")
	r.Header.Set("X-Request-Id", "chosen")
	if out := w.send(r); out.StatusCode != http.StatusOK || out.Header.Get("X-Request-Id") == "chosen" {
		t.Errorf("%s %v", out, out.Header)
	}
	if text := w.must(w.admin, "GET", "/audit", ""); strings.Contains(text, "203.0.113.7") || strings.Contains(text, "chosen") {
		t.Errorf("the audit believes what the client says of itself: %s", text)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	deep := strings.Repeat(`{"a":`, 200_000) + "1" + strings.Repeat("}", 200_000)
	lists := strings.Repeat("[", 900_000)
	for name, body := range map[string]string{
		"deep object": deep, "open lists": lists, "deep label": `{"name":"x","labels":` + deep + `}`, "large": `{"name":"` + strings.Repeat("x", 3<<20) + `"}`,
		"many keys": "{" + strings.Repeat(`"a":1,`, 300_000) + `"a":1}`, "long name": `{"name":"` + strings.Repeat("x", 1<<20) + `"}`,
		"large number": `{"name":1e999999999}`, "no JSON": "\x00\xff", "empty": "", "null": "null", "text": `"x"`, "twice": `{"name":"a"}{"name":"b"}`,
	} {
		for _, path := range []string{"/session", "/roles", "/agents/account.prod/applications"} {
			out := w.do(w.admin, "POST", path, body)
			if out.StatusCode < 400 || out.StatusCode >= 500 || len(out.text) > 20_000 {
				t.Errorf("%s to %s: %d, %d bytes: %.300s", name, path, out.StatusCode, len(out.text), out.text)
			}
		}
	}
	if out := w.do(w.admin, "GET", "/users?search="+strings.Repeat("x", 100_000), ""); out.StatusCode < 400 || out.StatusCode >= 500 {
		t.Errorf("a long query: %s", out)
	}
	for _, query := range []string{"limit=-1", "limit=1000000", "page=0&page=-1", "cursor=%27%20OR%201=1", "sort=password_hash", "sort=name;drop%20table%20person", "scope=org.*", "search=%25%27"} {
		if out := w.do(w.admin, "GET", "/users?"+query, ""); out.StatusCode >= 500 || strings.Contains(out.text, "argon2") {
			t.Errorf("%s: %s", query, out)
		}
	}
}

func TestWhoSendsSlowlyIsCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /api/v1/session/methods HTTP/1.1\r\nHost: x\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatalf("half a header held a connection for %s: %v", time.Since(start), err)
	}
}

func TestAnIdempotencyKeyIsOfOneUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.user("other", api.RoleAdmin+"@account")
	send := func(token, body string) answer {
		r := w.request(token, "POST", "/api/v1/roles", body)
		r.Header.Set("Idempotency-Key", "one-key")
		return w.send(r)
	}
	one, two := `{"name":"one","permissions":["application_view"]}`, `{"name":"two","permissions":["application_view"]}`
	if out := send(w.admin, one); out.StatusCode != http.StatusOK {
		t.Fatal(out)
	}
	if out := send(w.admin, one); out.StatusCode != http.StatusOK || out.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same again: %s %v", out, out.Header)
	}
	if out := send(other, one); out.Header.Get("Idempotency-Replayed") != "" || out.problem() != api.CodeConflict {
		t.Errorf("the key of somebody else gives their answer: %s", out)
	}
	if out := send(w.admin, two); out.problem() != api.CodeConflict {
		t.Errorf("the key for something else: %s", out)
	}
	// Nor do two tokens of one user share answers: the other one may see less.
	narrow := into[api.TokenCreated](t, w.must(w.admin, "POST", "/tokens", `{"name":"narrow","permissions":["application_view"]}`)).Secret
	if out := send(narrow, one); out.Header.Get("Idempotency-Replayed") != "" || out.problem() != api.CodeForbidden {
		t.Errorf("the key of a token that may do more gives its answer: %s", out)
	}
	// What is said once is not kept to be said again.
	for range 2 {
		r := w.request(w.admin, "POST", "/api/v1/tokens", `{"name":"once"}`)
		r.Header.Set("Idempotency-Key", "secret-key")
		if out := w.send(r); out.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("a secret was said twice: %s", out)
		}
	}
}

// watch opens a stream of events.
func (w *world) watch(ctx context.Context, token string) *record {
	w.t.Helper()
	r := w.request(token, "GET", "/api/v1/events", "").WithContext(ctx)
	response, err := client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("events: %s", response.Status)
	}
	out := newRecord()
	go func() {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			fmt.Fprintln(out, lines.Text())
			fmt.Fprintln(w.answers, lines.Text())
		}
		fmt.Fprintln(out, "THE END")
	}()
	out.until(w.t, "welcome")
	return out
}

func TestEventsFollowTheRightsOfTheirReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	ada := w.user("ada")
	grace := w.user("grace", api.RoleViewer+"@org.acme")
	w.must(w.admin, "POST", "/groups", `{"name":"viewers","members":["ada"]}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"viewers","principal":{"type":"group","id":"account.viewers"},"role":"account.viewer"}`)
	byGroup, byBinding, byAdmin := w.watch(t.Context(), ada), w.watch(t.Context(), grace), w.watch(t.Context(), w.admin)
	agent := func(name string) {
		w.must(w.admin, "POST", "/agents", fmt.Sprintf(`{"name":%q,"scope":"org.acme"}`, name))
		byAdmin.until(t, "org.acme."+name)
	}
	w.must(w.admin, "POST", "/agents", `{"name":"elsewhere"}`)
	agent("first")
	byGroup.until(t, "org.acme.first")
	byBinding.until(t, "org.acme.first")
	if strings.Contains(byBinding.String(), "account.elsewhere") {
		t.Error("an event of another scope was sent")
	}
	w.must(w.admin, "DELETE", "/bindings/org.acme.grace-0", "")
	w.must(w.admin, "PUT", "/groups/account.viewers", `{"name":"viewers","members":[]}`)
	byGroup.until(t, "THE END") // who comes back has no rights
	agent("second")
	again := w.watch(t.Context(), ada)
	agent("third")
	w.must(w.admin, "PUT", "/users/grace", `{"name":"grace","disabled":true}`)
	byBinding.until(t, "THE END")
	for _, text := range []string{byBinding.String(), again.String(), byGroup.String()} {
		if strings.Contains(text, "second") || strings.Contains(text, "third") {
			t.Errorf("an event was sent after the right to it was gone:\n%s", text)
		}
	}
}

func TestATerminalIsOpenedByNobodyElsesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.session("admin", password)
	at := strings.Replace(w.url, "http://", "ws://", 1) + "/api/v1/agents/account.prod/applications/argocd/shop/terminal?podNamespace=shop&pod=web"
	for _, origin := range []string{"https://evil.example.org", "null", "http://127.0.0.1:1"} {
		header := http.Header{"Origin": {origin}, "Cookie": {cookie.Name + "=" + cookie.Value}}
		conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), at, header)
		if err == nil {
			conn.Close()
			t.Errorf("a page of %s opened a terminal", origin)
			continue
		}
		if response == nil || response.StatusCode == http.StatusSwitchingProtocols || response.StatusCode >= 500 {
			t.Errorf("a page of %s: %v", origin, err)
		}
	}
}

func TestProblemsTellNothingOfWhatIsInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.user("nobody")
	w.must(w.admin, "POST", "/agents", `{"name":"prod"}`)
	same := func(a, b, name, other string) {
		t.Helper()
		strip := func(out answer, name string) string {
			p := into[api.Problem](t, out.text)
			return fmt.Sprint(out.StatusCode, p.Code, strings.ReplaceAll(p.Detail, name, "NAME"))
		}
		one, two := strip(w.do(nobody, "GET", a, ""), name), strip(w.do(nobody, "GET", b, ""), other)
		if one != two {
			t.Errorf("%s and %s can be told apart: %s, %s", a, b, one, two)
		}
	}
	same("/agents/account.prod", "/agents/account.none", "account.prod", "account.none")
	same("/users/admin", "/users/none", "admin", "none")
	same("/agents/account.prod/manifest", "/agents/account.none/manifest", "account.prod", "account.none")
	same("/bindings/account.admin", "/bindings/account.none", "account.admin", "account.none")
	for _, out := range []answer{
		w.do(nobody, "POST", "/session/password", `{"current":"`+strings.Repeat("x", 20)+`","new":"short"}`),
		w.do("", "POST", "/session", `{"username":{},"password":["top secret value"]}`),
		w.do("", "POST", "/session/oidc/exchange", `{"code":"top secret value","verifier":"v","token":"t"}`),
		w.do(w.admin, "POST", "/users", `{"name":"x","password":"top secret value\u0000"}`),
		w.do(w.admin, "POST", "/users", `{"name":"Not A Name","password":"top secret value"}`),
	} {
		text := strings.ReplaceAll(out.text, into[api.Problem](t, out.text).RequestID, "") // any letters may be in that
		for _, word := range []string{"top secret value", "goroutine", ".go:", "SQL", "sqlite", "/work", "argon2"} {
			if strings.Contains(text, word) {
				t.Errorf("%s is told in %s", word, out)
			}
		}
		if out.StatusCode >= 500 || out.StatusCode < 400 {
			t.Errorf("%s", out)
		}
	}
}
