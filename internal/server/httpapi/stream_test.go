package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// door lets in who says a name that is known, and stands for what is not looked at here.
type door struct {
	core.Authn
	core.Policies
	item.Items
	item.Commands
	core.Audits

	policy *rbac.Policy
	far    *far
	refuse error // what is said in place of opening a stream

	mu      sync.Mutex
	opened  []item.Order
	entries []api.AuditEntry
}

func (d *door) Identify(r *http.Request) (authn.Identity, error) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return authn.Identity{}, api.Errorf(api.CodeUnauthenticated, "who?")
	}
	return authn.Identity{Principal: api.Principal{Type: api.PrincipalUser, ID: user}, Subject: rbac.Subject{UserID: user}}, nil
}

func (d *door) Policy(context.Context) (*rbac.Policy, error) { return d.policy, nil }

func (d *door) GetApplication(_ context.Context, agent, namespace, name string) (api.ApplicationDetail, error) {
	if name == "panic" {
		panic("a secret in a panic")
	}
	if name == "broken" {
		return api.ApplicationDetail{}, errors.New("postgres://user:secret@host is away")
	}
	return api.ApplicationDetail{Application: api.Application{ID: api.ItemID(agent, namespace, name), Scope: api.ScopeAccount}}, nil
}

func (d *door) Open(_ context.Context, o item.Order) (item.Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, o)
	if d.refuse != nil {
		return nil, d.refuse
	}
	return d.far, nil
}

func (d *door) Record(_ context.Context, e api.AuditEntry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, e)
	return nil
}

// far is the other end of a stream: it says what it was given to say, then echoes what is typed.
type far struct {
	say    chan []byte
	fail   error
	sizes  chan [2]int
	closed chan struct{}
	once   sync.Once
}

func newFar(lines ...string) *far {
	f := &far{say: make(chan []byte, 100), sizes: make(chan [2]int, 10), closed: make(chan struct{})}
	for _, line := range lines {
		f.say <- []byte(line)
	}
	return f
}

func (f *far) Recv(ctx context.Context) ([]byte, error) {
	select {
	case data, open := <-f.say:
		if open {
			return data, nil
		}
		if f.fail != nil {
			return nil, f.fail
		}
		return nil, io.EOF
	case <-f.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *far) Send(_ context.Context, data []byte) error {
	f.say <- append([]byte("echo "), data...)
	return nil
}

func (f *far) EndInput(context.Context) error {
	f.say <- []byte("no more")
	return nil
}

func (f *far) Resize(_ context.Context, columns, rows int) error {
	f.sizes <- [2]int{columns, rows}
	return nil
}

func (f *far) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// serve starts the interface with that other end. Ada may do everything, bob sees everything.
func serve(t *testing.T, end *far) (*door, *httptest.Server) {
	t.Helper()
	bind := func(user, role string) api.Binding {
		return api.Binding{Meta: api.Meta{ID: "account." + user, Name: user, Scope: api.ScopeAccount}, Role: role, Principal: api.Principal{Type: api.PrincipalUser, ID: user}}
	}
	d := &door{far: end, policy: rbac.NewPolicy(nil, nil, []api.Binding{bind("ada", api.RoleAdmin), bind("bob", api.RoleViewer)})}
	h, err := httpapi.New(httpapi.Config{Items: d, Commands: d, Base: core.Base{
		Authn: d, Policies: d, Audits: d, PublicURL: "http://slipway.test", AllowedOrigins: []string{"https://tool.example"},
		FingerprintKey: make([]byte, 32),
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return d, server
}

func get(t *testing.T, server *httptest.Server, user, path, accept string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+user)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text), answer.Header
}

const app = "/api/v1/agents/account.prod/applications/argocd/web"

func TestLogsComeAsTextOrAsEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, accept, want string }{
		{"text", "", "one\ntwo\nthree\n"},
		{"events", "text/event-stream", "data: one\n\ndata: two\n\ndata: three\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			end := newFar("one\ntwo\n", "three\n")
			close(end.say)
			d, server := serve(t, end)
			code, text, _ := get(t, server, "ada", app+"/logs?kind=Pod&resourceName=web-0&resourceNamespace=web&tail=5&follow=true&search=t", c.accept)
			if code != http.StatusOK || text != c.want {
				t.Errorf("%d %q", code, text)
			}
			if <-end.closed; len(d.opened) != 1 {
				t.Fatalf("%d streams", len(d.opened))
			}
			asked, _ := json.Marshal(d.opened[0].Body)
			var logs api.Logs
			if err := json.Unmarshal(asked, &logs); err != nil || logs.Resource.Name != "web-0" || logs.Tail != 5 || !logs.Follow || logs.Search != "t" {
				t.Errorf("asked for %s", asked)
			}
		})
	}
}

func TestWhyLogsEndedIsSaid(t *testing.T) {
	t.Parallel()
	end := newFar("one\n")
	end.fail = api.Errorf(api.CodeUnavailable, "the agent went away\n") // an API server can say it so
	close(end.say)
	_, server := serve(t, end)
	if _, text, _ := get(t, server, "ada", app+"/logs?kind=Pod&resourceName=web-0", ""); text != "one\nslipway: the agent went away\n" {
		t.Errorf("%q", text)
	}
}

func TestNobodyReadsLogsOrTypesWithoutTheRight(t *testing.T) {
	t.Parallel()
	d, server := serve(t, newFar())
	for _, path := range []string{"/logs?kind=Pod&resourceName=web-0", "/terminal?podNamespace=web&pod=web-0"} {
		if code, text, _ := get(t, server, "bob", app+path, ""); code != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if len(d.opened) != 0 {
		t.Error("a stream was opened")
	}
}

func TestWhatBreaksInsideIsNotTold(t *testing.T) {
	t.Parallel()
	_, server := serve(t, newFar())
	for _, name := range []string{"broken", "panic"} {
		code, text, header := get(t, server, "ada", "/api/v1/agents/account.prod/applications/argocd/"+name, "")
		if code != http.StatusInternalServerError || strings.Contains(text, "secret") || strings.Contains(text, ".go:") {
			t.Errorf("%s: %d %s", name, code, text)
		}
		if !strings.Contains(text, header.Get("X-Request-Id")) {
			t.Errorf("%s: %s does not name the request", name, text)
		}
	}
}

func dial(t *testing.T, server *httptest.Server, user, origin string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + user}}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	url := "ws" + strings.TrimPrefix(server.URL, "http") + app + "/terminal?podNamespace=web&pod=web-0&columns=100&rows=30"
	return websocket.DefaultDialer.DialContext(ctx, url, header)
}

func TestATerminalCarriesWhatIsTypedAndShownAndIsInTheAudit(t *testing.T) {
	t.Parallel()
	end := newFar("$ ")
	end.fail = &item.Exited{Code: 7}
	d, server := serve(t, end)
	conn, _, err := dial(t, server, "ada", "")
	if err != nil {
		t.Fatal(err)
	}
	read := func() string {
		t.Helper()
		kind, data, err := conn.ReadMessage()
		if err != nil || kind != websocket.BinaryMessage {
			t.Fatalf("%d %q %v", kind, data, err)
		}
		return string(data)
	}
	if prompt := read(); prompt != "$ " {
		t.Errorf("prompt %q", prompt)
	}
	if err := conn.WriteMessage(websocket.BinaryMessage, []byte("topsecret")); err != nil {
		t.Fatal(err)
	}
	if echo := read(); echo != "echo topsecret" {
		t.Errorf("echo %q", echo)
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"columns":120,"rows":40}`)); err != nil {
		t.Fatal(err)
	}
	if size := <-end.sizes; size != [2]int{120, 40} {
		t.Errorf("size %v", size)
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte(`{"end":true}`)); err != nil {
		t.Fatal(err)
	}
	if over := read(); over != "no more" {
		t.Errorf("the end of the input is %q", over)
	}
	close(end.say)
	if kind, data, err := conn.ReadMessage(); err != nil || kind != websocket.TextMessage || strings.TrimSpace(string(data)) != `{"exit":7}` {
		t.Errorf("the exit code: %d %s %v", kind, data, err)
	}
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("the end: %v", err)
	}
	conn.Close()
	<-end.closed
	server.Close() // what was begun has ended
	d.mu.Lock()
	defer d.mu.Unlock()
	var actions []string
	for _, e := range d.entries {
		actions = append(actions, fmt.Sprint(e.Actor.ID, " ", e.Action, " ", e.Object.ID, " ", e.Message))
		if raw, _ := json.Marshal(e); bytes.Contains(raw, []byte("topsecret")) {
			t.Errorf("the audit holds what was typed: %s", raw)
		}
	}
	want := "ada application.terminal account.prod/argocd/web "
	if len(actions) != 2 || actions[0] != want || !strings.HasPrefix(actions[1], want+"ended: open for ") || !strings.HasSuffix(actions[1], ", exit code 7") {
		t.Errorf("the audit says %q", actions)
	}
}

func TestAPageOfAnotherOriginOpensNoTerminal(t *testing.T) {
	t.Parallel()
	d, server := serve(t, newFar())
	conn, answer, err := dial(t, server, "ada", "https://evil.example")
	if err == nil {
		conn.Close()
		t.Fatal("it did")
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden || len(d.opened) != 0 {
		t.Errorf("%s, %d streams", answer.Status, len(d.opened))
	}
}

func TestAPageIsToldWhyItGetsNoTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, user string
		refuse     error
		status     int
		want       string
	}{
		{"the policy of the agent", "ada", api.Errorf(api.CodeForbidden, "the policy of the agent allows no terminal"), http.StatusForbidden, "the policy of the agent allows no terminal"},
		{"the agent is away", "ada", api.Errorf(api.CodeUnavailable, "agent account.prod is not connected"), http.StatusServiceUnavailable, "agent account.prod is not connected"},
		{"no permission", "bob", nil, http.StatusForbidden, "application_exec"},
		{"a fault of ours", "ada", errors.New("postgres://user:secret@host is away"), http.StatusInternalServerError, "internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, server := serve(t, newFar())
			d.refuse = c.refuse
			conn, _, err := dial(t, server, c.user, "https://tool.example")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var told struct{ Error, RequestID string }
			if err := conn.ReadJSON(&told); err != nil || !strings.Contains(told.Error, c.want) || strings.Contains(told.Error, "secret") || told.RequestID == "" {
				t.Errorf("it is told %+v, %v", told, err)
			}
			if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				t.Errorf("the end: %v", err)
			}
			conn, answer, err := dial(t, server, c.user, "")
			if err == nil {
				conn.Close()
				t.Fatal("a program got a WebSocket")
			}
			answer.Body.Close()
			if answer.StatusCode != c.status {
				t.Errorf("a program got %s", answer.Status)
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(d.entries) != 2 || d.entries[0].Outcome == api.OutcomeSucceeded || d.entries[0].Outcome != d.entries[1].Outcome {
				t.Errorf("the audit has %+v", d.entries)
			}
		})
	}
}
