package httpapi_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// fickle is a door whose mind can be changed while somebody is inside.
type fickle struct {
	*door
	out      atomic.Bool // nobody is signed in any more
	settled  atomic.Bool // the password was chosen by somebody else
	gone     atomic.Bool // the application is not there any more
	moved    atomic.Bool // it is of another project
	policies atomic.Pointer[rbac.Policy]
}

func (f *fickle) Identify(r *http.Request) (authn.Identity, error) {
	if f.out.Load() {
		return authn.Identity{}, api.Errorf(api.CodeUnauthenticated, "the session is over")
	}
	who, err := f.door.Identify(r)
	who.MustChangePassword = f.settled.Load()
	return who, err
}

func (f *fickle) Policy(context.Context) (*rbac.Policy, error) { return f.policies.Load(), nil }

func (f *fickle) GetApplication(ctx context.Context, agent, namespace, name string) (api.ApplicationDetail, error) {
	if f.gone.Load() {
		return api.ApplicationDetail{}, api.Errorf(api.CodeNotFound, "there is none")
	}
	app, err := f.door.GetApplication(ctx, agent, namespace, name)
	if app.Scope = "project.acme.shop"; f.moved.Load() {
		app.Scope = "project.acme.other"
	}
	return app, err
}

func binding(scope api.Scope, role string) api.Binding {
	return api.Binding{Meta: api.Meta{ID: string(scope) + ".ada", Name: "ada", Scope: scope}, Role: role, Principal: api.Principal{Type: api.PrincipalUser, ID: "ada"}}
}

// TestWhatIsOpenEndsWithTheRightToIt opens terminals and logs, and takes away in every way what they were opened with. Each
// ends within seconds, without a word of whoever uses it.
func TestWhatIsOpenEndsWithTheRightToIt(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*fickle){
		"the session ended":             func(f *fickle) { f.out.Store(true) },
		"the password is to be changed": func(f *fickle) { f.settled.Store(true) },
		"the binding is gone":           func(f *fickle) { f.policies.Store(rbac.NewPolicy(nil, nil, nil)) },
		"the role is less": func(f *fickle) {
			f.policies.Store(rbac.NewPolicy(nil, nil, []api.Binding{binding("project.acme.shop", api.RoleViewer)}))
		},
		"the application is of another project": func(f *fickle) { f.moved.Store(true) },
		"the application is gone":               func(f *fickle) { f.gone.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, what := range []string{"terminal", "logs"} {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					end := newFar("$ \n")
					f := &fickle{door: &door{far: end}}
					f.policies.Store(rbac.NewPolicy(nil, nil, []api.Binding{binding("project.acme.shop", api.RoleAdmin)}))
					h, err := httpapi.New(httpapi.Config{
						Items: f, Commands: f,
						Base: core.Base{Authn: f, Policies: f, Audits: f, PublicURL: "http://slipway.test", FingerprintKey: make([]byte, 32)},
					})
					if err != nil {
						t.Fatal(err)
					}
					server := httptest.NewServer(h)
					t.Cleanup(server.Close)
					var ended <-chan error
					if what == "terminal" {
						ended = openTerminal(t, server)
					} else {
						ended = openLogs(t, server)
					}
					take(f)
					select {
					case <-end.closed: // the other end hears of it
					case <-time.After(time.Minute):
						t.Fatal("it stays open at the agent")
					}
					select {
					case <-ended:
					case <-time.After(time.Minute):
						t.Fatal("it stays open")
					}
				})
			}
		})
	}
}

func openTerminal(t *testing.T, server *httptest.Server) <-chan error {
	t.Helper()
	conn, _, err := dial(t, server, "ada", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, _, err := conn.ReadMessage(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				ended <- err
				return
			}
		}
	}()
	return ended
}

func openLogs(t *testing.T, server *httptest.Server) <-chan error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+app+"/logs?kind=Pod&resourceName=web-0&follow=true", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer ada")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	ended := make(chan error, 1)
	go func() {
		defer func() { _ = answer.Body.Close() }()
		for lines.Scan() {
		}
		ended <- lines.Err()
	}()
	return ended
}

// TestNobodyHoldsStreamsWithoutEnd bounds how many terminals and logs one person has open, so that others find room.
func TestNobodyHoldsStreamsWithoutEnd(t *testing.T) {
	t.Parallel()
	end := newFar()
	_, server := serve(t, end)
	const most = 100
	for i := range most {
		conn, _, err := dial(t, server, "ada", "")
		if err != nil {
			t.Fatalf("terminal %d: %v", i, err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	conn, answer, err := dial(t, server, "ada", "")
	if err == nil {
		_ = conn.Close()
		t.Fatalf("more than %d terminals of one person", most)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusTooManyRequests {
		t.Error(answer.Status)
	}
	if code, text, _ := get(t, server, "ada", app+"/logs?kind=Pod&resourceName=web-0", ""); code != http.StatusTooManyRequests || !strings.Contains(text, "close one") {
		t.Errorf("logs beside them: %d %s", code, text)
	}
}
