// Package security attacks a real server: as users who want more than they may, as agents that lie, and by looking for
// planted secrets wherever they could have got to. README.md says what holds.
package security

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/agent"
	"github.com/slipway-gitops/slipway/internal/cli"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
	"github.com/slipway-gitops/slipway/internal/server"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// limit bounds every wait of these tests.
const limit = 2 * time.Minute

// password is that of everybody here.
const password = "correct horse battery"

// TestMain makes this binary an agent, a server and the command line too, as the stories do.
func TestMain(m *testing.M) {
	if worker.IsChild(os.Args) {
		if err := worker.Main(os.Args, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	testscript.Main(m, map[string]func(){
		"slipway-agent":  func() { program("slipway-agent", agent.Command()) },
		"slipway-server": func() { program("slipway-server", server.Command("1.2.3")) },
		"slipway":        func() { os.Exit(cli.Run(context.Background(), os.Args[1:], iostream.System())) },
	})
}

// program runs a command until a signal ends it.
func program(name string, command *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// record keeps what was written, for whoever looks for something in it.
type record struct{ *testenv.Record }

func newRecord() *record { return &record{testenv.NewRecord()} }

// until waits for a text.
func (r *record) until(t *testing.T, text string) {
	t.Helper()
	r.Await(t, limit, text)
}

// world is a server on loopback that runs.
type world struct {
	t    *testing.T
	url  string
	data string
	// admin is a token that may do everything.
	admin string
	// Log is what the server logs, answers all that it answered.
	log, answers *record
	stop         func()
}

func plenty() core.Limits {
	return core.Limits{
		PerSecond: 1e6, Burst: 1e6, AddressPerSecond: 1e6, AddressBurst: 1e6, SignInPerMinute: 6e7, SignInBurst: 1e6,
	}
}

func newWorld(t *testing.T, change ...func(*server.Config)) *world {
	t.Helper()
	return newWorldAs(t, password, change...)
}

// newWorldAs starts a server whose first user has a password.
func newWorldAs(t *testing.T, password string, change ...func(*server.Config)) *world {
	t.Helper()
	w, _ := start(t, password, change...)
	return w
}

// start starts a server, and gives it too, for who asks it without a connection.
func start(t *testing.T, password string, change ...func(*server.Config)) (*world, *server.Server) {
	t.Helper()
	w := &world{t: t, data: t.TempDir(), log: newRecord(), answers: newRecord()}
	cfg := server.Config{
		Listen: "127.0.0.1:0", Data: w.data, AdminPassword: password, Limits: plenty(), Version: "1.2.3",
		Log: slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		// What a hash costs is tested where it is made.
		Hash: authn.Params{Memory: 64, Time: 1, Threads: 1},
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := server.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.url = s.URL()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(w.stop)
	w.log.until(t, `"msg":"listening"`)
	w.admin = w.signIn("admin", password)
	return w, s
}

// answer is what came of a request.
type answer struct {
	*http.Response
	text string
}

func (a answer) String() string { return fmt.Sprintf("%d %.2000s", a.StatusCode, a.text) }

// Problem is the kind of an error.
func (a answer) problem() api.Code {
	var p api.Problem
	if json.Unmarshal([]byte(a.text), &p) != nil {
		return ""
	}
	return p.Code
}

func (w *world) request(token, method, path, body string) *http.Request {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

// Client follows nothing, so that every answer is seen.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{DisableKeepAlives: true}}
}

func (w *world) send(r *http.Request) answer {
	w.t.Helper()
	response, err := client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.read(fmt.Sprintf("%s %s", r.Method, r.URL), response)
}

// read reads an answer to what about says, and keeps it.
func (w *world) read(about string, response *http.Response) answer {
	w.t.Helper()
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(w.answers, "%s: %d %v %s\n", about, response.StatusCode, response.Header, raw)
	return answer{response, string(raw)}
}

func (w *world) do(token, method, path, body string) answer {
	w.t.Helper()
	return w.send(w.request(token, method, "/api/v1"+path, body))
}

// must is do for what has to work.
func (w *world) must(token, method, path, body string) string {
	w.t.Helper()
	out := w.do(token, method, path, body)
	if out.StatusCode >= 300 {
		w.t.Fatalf("%s %s: %s", method, path, out)
	}
	return out.text
}

// refused checks that something is refused, and that the answer says so and no more.
func (w *world) refused(token, method, path, body string, codes ...api.Code) {
	w.t.Helper()
	out := w.do(token, method, path, body)
	code := out.problem()
	for _, want := range codes {
		if code == want {
			return
		}
	}
	w.t.Errorf("%s %s %s: %s, want one of %v", method, path, body, out, codes)
}

func into[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// signIn gives a token.
func (w *world) signIn(user, password string) string {
	w.t.Helper()
	text := w.must("", "POST", "/session", fmt.Sprintf(`{"username":%q,"password":%q,"token":"test"}`, user, password))
	return into[api.Session](w.t, text).Token
}

// session gives the cookie of a browser.
func (w *world) session(user, password string) *http.Cookie {
	w.t.Helper()
	out := w.do("", "POST", "/session", fmt.Sprintf(`{"username":%q,"password":%q}`, user, password))
	if out.StatusCode != http.StatusOK || len(out.Cookies()) != 1 {
		w.t.Fatalf("sign in %s: %s", user, out)
	}
	return out.Cookies()[0]
}

// browse sends a request with a cookie.
func (w *world) browse(cookie *http.Cookie, method, path, body string, headers ...string) answer {
	w.t.Helper()
	r := w.request("", method, "/api/v1"+path, body)
	if cookie != nil {
		r.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return w.send(r)
}

// user makes somebody with a password of their own, and gives their token.
func (w *world) user(name string, bindings ...string) string {
	w.t.Helper()
	w.must(w.admin, "POST", "/users", fmt.Sprintf(`{"name":%q,"password":%q}`, name, password+" one"))
	for i, binding := range bindings {
		role, scope, _ := strings.Cut(binding, "@")
		w.must(w.admin, "POST", "/bindings", fmt.Sprintf(`{"name":"%s-%d","scope":%q,"principal":{"type":"user","id":%q},"role":%q}`, name, i, scope, name, role))
	}
	first := w.session(name, password+" one")
	if out := w.browse(first, "POST", "/session/password", fmt.Sprintf(`{"current":%q,"new":%q}`, password+" one", password)); out.StatusCode != http.StatusNoContent {
		w.t.Fatalf("change password of %s: %s", name, out)
	}
	return w.signIn(name, password)
}

// role makes a role at the account, with these permissions.
func (w *world) role(name string, permissions ...string) string {
	w.t.Helper()
	list, err := json.Marshal(permissions)
	if err != nil {
		w.t.Fatal(err)
	}
	w.must(w.admin, "POST", "/roles", fmt.Sprintf(`{"name":%q,"permissions":%s}`, name, list))
	return "account." + name
}
