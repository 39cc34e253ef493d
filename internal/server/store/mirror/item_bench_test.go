package mirror_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// BenchmarkABatchIsStored stores batches of 200 applications that all have changed.
func BenchmarkABatchIsStored(b *testing.B) {
	for name, url := range map[string]func() string{
		"SQLite":     func() string { return filepath.Join(b.TempDir(), "slipway.db") },
		"PostgreSQL": func() string { return testenv.Postgres(b) },
	} {
		b.Run(name, func(b *testing.B) {
			kept := storetest.Open(b, url(), true)
			agent, epoch := kept.Agent(b, "prod", api.ScopeAccount)
			seq := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				seq++
				batch := make([]agentapi.Item, 200)
				for i := range batch {
					batch[i] = storetest.App(fmt.Sprintf("app-%d", i), "default")
					batch[i].Hash = fmt.Sprint(seq)
				}
				if _, err := kept.ApplyItems(b.Context(), agent.UID, epoch, seq, batch, kept.Clock.Now()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
