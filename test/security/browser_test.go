package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server"
)

// operations are all routes of the API's description, with something in place of what is variable.
func (w *world) operations() (out [][2]string) {
	w.t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(w.must("", "GET", "/openapi.json", "")), &doc); err != nil {
		w.t.Fatal(err)
	}
	variable := regexp.MustCompile(`\{[^}]*\}`)
	for path, methods := range doc.Paths {
		for method := range methods {
			if m := strings.ToUpper(method); slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, m) {
				out = append(out, [2]string{m, variable.ReplaceAllString(path, "account.x")})
			}
		}
	}
	slices.SortFunc(out, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	if len(out) < 100 {
		w.t.Fatalf("the description has %d routes only", len(out))
	}
	return out
}

// TestNoRouteIsChangedByAPageOfAnotherOrigin sends what a browser sends for a page of others, on every route: simple requests
// that ask nobody before, with the cookie of an administrator.
func TestNoRouteIsChangedByAPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.session("admin", password)
	before := strings.Count(w.must(w.admin, "GET", "/audit?limit=100", ""), `"requestID"`)
	for _, o := range w.operations() {
		if o[0] == http.MethodGet {
			continue
		}
		for _, body := range [][2]string{{"text/plain", `{"name":"x"}`}, {"application/x-www-form-urlencoded", `{"name":"x","y":"=`}, {"multipart/form-data; boundary=x", "--x--"}, {"", ""}} {
			for _, sent := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "null"}, {"Origin", "http://evil.example.org"}} {
				r := w.request("", o[0], o[1], body[1])
				r.Header.Set(sent[0], sent[1])
				r.Header.Del("Content-Type")
				if body[0] != "" {
					r.Header.Set("Content-Type", body[0])
				}
				r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
				if out := w.send(r); out.problem() != api.CodeForbidden {
					t.Errorf("%s %s, %v, %s: %s", o[0], o[1], sent, body[0], out)
				}
			}
		}
	}
	if after := strings.Count(w.must(w.admin, "GET", "/audit?limit=100", ""), `"requestID"`); after != before {
		t.Errorf("the audit has %d entries, before %d: something was begun", after, before)
	}
}

// TestReadingARouteChangesNothing has a method of its own choice in headers, queries and forms, as frameworks take them.
func TestReadingARouteChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cookie := w.session("admin", password)
	w.user("victim")
	for _, header := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"} {
		for _, path := range []string{"/users/victim", "/users/victim?_method=DELETE", "/users/victim?method=DELETE"} {
			for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"} {
				r := w.request("", method, "/api/v1"+path, "_method=DELETE")
				r.Header.Set(header, "DELETE")
				r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
				w.send(r)
			}
		}
	}
	for _, o := range w.operations() {
		if o[0] == http.MethodGet {
			// A side effect of reading would be a change that no origin guards.
			w.browse(cookie, "HEAD", strings.TrimPrefix(o[1], "/api/v1"), "", "Sec-Fetch-Site", "cross-site")
		}
	}
	w.must(w.admin, "GET", "/users/victim", "")
	if text := w.must(w.admin, "GET", "/audit?limit=100", ""); strings.Contains(text, `"user.delete"`) {
		t.Errorf("a user was deleted by reading: %s", text)
	}
}

// TestAStreamIsNotReadByAPageOfAnotherOrigin holds what lasts: events and logs.
func TestAStreamIsNotReadByAPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *server.Config) { cfg.AllowedOrigins = []string{"https://portal.example.org"} })
	cookie := w.session("admin", password)
	for _, path := range []string{"/events", "/agents/account.x/applications/argocd/shop/logs"} {
		for _, origin := range []string{"https://evil.example.org", "null", "https://portal.example.org.evil.example.org", "https://portal.example.org:1", "http://portal.example.org"} {
			r := w.request("", "GET", "/api/v1"+path, "")
			r.Header.Set("Origin", origin)
			r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
			response, err := client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.Header.Get("Access-Control-Allow-Origin") != "" || response.Header.Get("Access-Control-Allow-Credentials") != "" ||
				response.Header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("a page of %s may read %s: %v", origin, path, response.Header)
			}
		}
		// The portal may call, with a token of its own and not with the cookie of ours.
		if out := w.browse(cookie, "GET", path, "", "Origin", "https://portal.example.org"); out.problem() != api.CodeUnauthenticated {
			t.Errorf("a page of the portal reads %s with a cookie: %s", path, out)
		}
	}
}

// TestNoWebSocketIsOpenedByAPageOfAnotherOrigin is about every route that upgrades. A browser sends cookies with a WebSocket
// of any page, and asks nobody before.
func TestNoWebSocketIsOpenedByAPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *server.Config) { cfg.PublicURL = "" })
	tls := newWorld(t, func(cfg *server.Config) { cfg.PublicURL, cfg.InsecureHTTP = "https://slipway.example.org", true })
	const terminal = "/api/v1/agents/account.prod/applications/argocd/shop/terminal?podNamespace=shop&pod=web"
	for _, c := range []struct {
		w       *world
		path    string
		origins []string
	}{
		{w, terminal, []string{"https://evil.example.org", "null", "http://127.0.0.1:1", "http://127.0.0.1", "file://", "http://user@evil.example.org", "chrome-extension://x"}},
		{w, agentapi.PathLink, []string{"https://evil.example.org", "null", w.url, "https://portal.example.org"}},
		// A page that came without TLS was written by anybody who is on the way.
		{tls, terminal, []string{"http://slipway.example.org", "https://slipway.example.org:1", "https://slipway.example.org.evil.example.org", "https://evil.example.org"}},
	} {
		for _, origin := range c.origins {
			header := http.Header{"Origin": {origin}}
			if c.w == tls {
				header.Set("Host", "slipway.example.org")
			}
			// A cookie with the prefix of TLS is sent as well: the name tells nothing of whose page it is.
			header.Set("Cookie", "slipway_session=x; __Host-slipway_session=x")
			if c.w == w {
				cookie := w.session("admin", password)
				header.Set("Cookie", cookie.Name+"="+cookie.Value)
			}
			conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), strings.Replace(c.w.url, "http", "ws", 1)+c.path, header)
			if err == nil {
				_ = conn.Close()
				t.Errorf("a page of %s opened %s", origin, c.path)
				continue
			}
			if response == nil || response.StatusCode != http.StatusForbidden && response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusNotFound {
				t.Errorf("a page of %s at %s: %v", origin, c.path, err)
			}
		}
	}
}

// TestCookiesAreForTheServerAlone looks at the cookies of a server that is reached by TLS.
func TestCookiesAreForTheServerAlone(t *testing.T) {
	t.Parallel()
	w := newWorldAs(t, password, func(cfg *server.Config) { cfg.PublicURL = "http://127.0.0.1:0" })
	plain := w.session("admin", password)
	if !plain.HttpOnly || plain.SameSite != http.SameSiteLaxMode || plain.Domain != "" || plain.Path != "/" {
		t.Errorf("%v", plain)
	}
	secure := newWorld(t, func(cfg *server.Config) { cfg.PublicURL, cfg.InsecureHTTP = "https://slipway.example.org", true })
	out := secure.do("", "POST", "/session", fmt.Sprintf(`{"username":"admin","password":%q}`, password))
	if len(out.Cookies()) != 1 {
		t.Fatal(out)
	}
	c := out.Cookies()[0]
	if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Domain != "" || c.Path != "/" {
		t.Errorf("%v", c)
	}
	if out.Header.Get("Strict-Transport-Security") == "" {
		t.Error("a browser may come back without TLS")
	}
	// The cookie without the prefix, which another host of the domain could set, means nothing.
	r := secure.request("", "GET", "/api/v1/session", "")
	r.AddCookie(&http.Cookie{Name: "slipway_session", Value: c.Value})
	if out := secure.send(r); out.problem() != api.CodeUnauthenticated {
		t.Errorf("a cookie without its prefix: %s", out)
	}
}

// TestWhatOthersWriteIsNoPage asks every route as a browser that follows a link does. No answer is a page, whatever texts are
// in it, and names of objects do not become headers.
func TestWhatOthersWriteIsNoPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const script = `<script>alert(1)</script>`
	w.must(w.admin, "POST", "/organizations", fmt.Sprintf(`{"name":"acme","displayName":%q,"description":%q}`, script, script))
	cookie := w.session("admin", password)
	for _, o := range append(w.operations(), [2]string{"GET", "/api/v1/" + script}, [2]string{"GET", "/api/v1/organizations/acme"}, [2]string{"GET", "/api/v1/users/" + script}, [2]string{"GET", "/api/v1/session/oidc/callback?error=" + script + "&state=x"}) {
		if o[0] != http.MethodGet || strings.HasSuffix(o[1], "/events") {
			continue
		}
		path := strings.ReplaceAll(strings.ReplaceAll(o[1], "<", "%3C"), ">", "%3E")
		out := w.browse(cookie, "GET", strings.TrimPrefix(path, "/api/v1"), "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Dest", "document")
		kind := out.Header.Get("Content-Type")
		if strings.Contains(kind, "html") || strings.Contains(kind, "svg") || strings.Contains(kind, "javascript") || out.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(out.Header.Get("Content-Security-Policy"), "default-src 'none'") && strings.HasPrefix(o[1], "/api/") {
			t.Errorf("GET %s: %s %v", path, kind, out.Header)
		}
		if at := out.Header.Get("Location"); strings.Contains(at, "script") || at != "" && !strings.HasPrefix(at, "/") {
			t.Errorf("GET %s leads to %s", path, at)
		}
	}
}
