package store_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// clock is a clock that moves when it is told to.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a store under test.
type bench struct {
	*store.Store
	clock *clock
	url   string
}

// onBoth runs a test on an empty store of either database.
func onBoth(t *testing.T, test func(*testing.T, *bench)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, filepath.Join(t.TempDir(), "slipway.db"), true))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, testenv.Postgres(t), true))
	})
}

func open(t testing.TB, url string, migrate bool) *bench {
	t.Helper()
	c := &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	s, err := store.Open(t.Context(), store.Config{URL: url, Now: c.Now})
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
	return &bench{s, c, url}
}

// all is a filter that lets everything through.
func all(kind string) rbac.Filter {
	return rbac.Filter{Type: kind, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
}

// must fails the test on an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// tree makes organizations acme and other, with projects acme.shop and acme.web.
func (b *bench) tree(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	for _, name := range []string{"acme", "other"} {
		must[api.Organization](t)(b.Organizations().Create(ctx, api.Organization{Meta: api.Meta{Name: name}}))
	}
	for _, name := range []string{"shop", "web"} {
		must[api.Project](t)(b.Projects().Create(ctx, api.Project{Meta: api.Meta{Name: name}, Organization: "acme"}))
	}
}

func ids[T any](page api.Page[T], id func(T) string) []string {
	list := []string{}
	for _, v := range page.Items {
		list = append(list, id(v))
	}
	return list
}

func code(t *testing.T, err error, want api.Code) {
	t.Helper()
	if got := api.CodeOf(err); err == nil || got != want {
		t.Errorf("got %v (%s), want %s", err, got, want)
	}
}
