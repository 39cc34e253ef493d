// Package storetest has what tests of what is kept have in common: an empty store of either database, and what to put into it.
package storetest

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// Clock is a clock that moves on request.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// ClockAt is a clock that stands at a time.
func ClockAt(at time.Time) *Clock { return &Clock{now: at} }

// Now is where the clock stands.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Move puts it forward.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Bench is a store under test.
type Bench struct {
	*store.Store
	Clock *Clock
	URL   string
}

// OnBoth runs a test on an empty store of either database.
func OnBoth(t *testing.T, test func(*testing.T, *Bench)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Open(t, filepath.Join(t.TempDir(), "slipway.db"), true))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Open(t, testenv.Postgres(t), true))
	})
}

// Open opens a database, and migrates it if asked to.
func Open(t testing.TB, url string, migrate bool) *Bench {
	t.Helper()
	c := &Clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s, err := store.Open(t.Context(), db.Config{URL: url, Now: c.Now})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	if migrate {
		if _, err := s.Migrate(t.Context(), false); err != nil {
			t.Fatalf("migrate: %v", err)
		}
	}
	return &Bench{s, c, url}
}

// All is a filter that lets everything through.
func All(kind string) rbac.Filter {
	return rbac.Filter{Type: kind, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
}

// Must fails the test on an error.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Tree makes organizations acme and other, with projects acme.shop and acme.web.
func (b *Bench) Tree(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for _, name := range []string{"acme", "other"} {
		Must[api.Organization](t)(b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{Name: name}}))
	}
	for _, name := range []string{"shop", "web"} {
		Must[api.Project](t)(b.Projects.Create(ctx, api.Project{Meta: api.Meta{Name: name}, Organization: "acme"}))
	}
}

// IDs are the ids of a page.
func IDs[T any](page api.Page[T], id func(T) string) []string {
	list := []string{}
	for _, v := range page.Items {
		list = append(list, id(v))
	}
	return list
}

// Code checks the code of an error.
func Code(t *testing.T, err error, want api.Code) {
	t.Helper()
	if got := api.CodeOf(err); err == nil || got != want {
		t.Errorf("got %v (%s), want %s", err, got, want)
	}
}

// Agent makes an agent with a session and returns it.
func (b *Bench) Agent(t testing.TB, name string, scope api.Scope) (api.Agent, int64) {
	t.Helper()
	a := Must[api.Agent](t)(b.Agents.Create(t.Context(), api.Agent{Meta: api.Meta{Name: name, Scope: scope}}))
	session := Must[gateway.Agent](t)(b.BeginSession(t.Context(), a.UID,
		gateway.Session{ClusterUID: "c-" + name, Namespace: "slipway"}, b.Clock.Now()))
	return a, session.Epoch
}

// App is an Application as an agent sends it.
func App(name, project string, edit ...func(map[string]any)) agentapi.Item {
	resource := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": "argocd", "labels": map[string]any{"team": name}},
		"spec": map[string]any{
			"project":     project,
			"source":      map[string]any{"repoURL": "https://git.example.org/" + name + ".git", "path": "deploy"},
			"destination": map[string]any{"name": "in-cluster", "namespace": name},
			"syncPolicy":  map[string]any{"automated": map[string]any{}},
		},
		"status": map[string]any{
			"sync": map[string]any{"status": "Synced", "revision": "abc"}, "health": map[string]any{"status": "Healthy"},
			"operationState": map[string]any{"phase": "Succeeded", "message": "done", "finishedAt": "2026-03-01T11:00:00Z"},
			"conditions":     []any{map[string]any{"type": "Held"}},
		},
	}
	for _, e := range edit {
		e(resource)
	}
	body, _ := json.Marshal(resource)
	return agentapi.Item{
		Key:  agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name},
		Hash: agentapi.Hash(body), Body: body,
	}
}

// Labelled gives an Application labels.
func Labelled(labels map[string]any) func(map[string]any) {
	return func(r map[string]any) { r["metadata"].(map[string]any)["labels"] = labels }
}

// Gone is the deletion of an item.
func Gone(item agentapi.Item) agentapi.Item { return agentapi.Item{Key: item.Key, Deleted: true} }

// Direct opens the database beside the store.
func (b *Bench) Direct(t *testing.T) *sql.DB {
	t.Helper()
	driver, url := "sqlite", b.URL
	if b.IsPostgres() {
		driver = "pgx"
	}
	db, err := sql.Open(driver, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Life is how long a server of these tests counts as alive. PostgreSQL has a clock of its own, which no test moves.
const Life = time.Hour
