package gatewaytest_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestTheStoresOfAServerAreStores(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "slipway.db") },
		"PostgreSQL": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		for _, c := range gatewaytest.Cases() {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				c.Run(t, opened(t, open(t)))
			})
		}
	}
}

// opened returns a store in a database that is empty.
func opened(t *testing.T, url string) gatewaytest.Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s, err := store.Open(t.Context(), db.Config{URL: url, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Migrate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	return gatewaytest.Store{
		Agents: s, Copies: s, Commands: s,
		AddAgent: func(ctx context.Context, name string) (string, error) {
			a, err := s.Agents.Create(ctx, api.Agent{Meta: api.Meta{Name: name}})
			ids[a.UID] = a.ID
			return a.UID, err
		},
		AddToken: func(ctx context.Context, uid, hash string, expires time.Time) error {
			return s.SetRegistration(ctx, ids[uid], hash, expires)
		},
		Revoke: func(ctx context.Context, uid string) error {
			_, err := s.RevokeAgent(ctx, ids[uid])
			return err
		},
	}
}
