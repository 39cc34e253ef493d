package mirror

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestEveryColumnOfAnItemIsWritten compares the fields of a row with the schema: one that is missing would keep what an earlier
// batch wrote.
func TestEveryColumnOfAnItemIsWritten(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "slipway.db") },
		"PostgreSQL": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := db.Open(t.Context(), db.Config{URL: url(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			if _, err := d.Migrate(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			var want []string
			query := "SELECT name FROM pragma_table_info('item')"
			if d.IsPostgres() {
				query = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'item'"
			}
			err = d.Read(t.Context(), func(tx db.Tx) error { return tx.Each(t.Context(), query, nil, db.Texts(&want)) })
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(itemTable.Columns)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("columns of the table and of the row (-table +row):\n%s", diff)
			}
		})
	}
}
