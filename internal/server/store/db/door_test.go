package db

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestEveryTextColumnTakesEveryText writes what PostgreSQL refuses into each column of each table.
func TestEveryTextColumnTakesEveryText(t *testing.T) {
	t.Parallel()
	type named string // as texts of the API are
	hostile := []any{"a\x00b", "\x00", "a\xffb", "\xed\xa0\x80", "a\xc3", named("a\x00b"), named("\xff"), "a\u202eb\x1b[2J", `{"a":"\u0000"}`, strings.Repeat("\x00", 1<<16)}
	for name, url := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "slipway.db") },
		"PostgreSQL": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Open(t.Context(), Config{URL: url(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			if _, err := s.Migrate(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			columns := map[string][]string{}
			many := 0
			err = s.Read(t.Context(), func(tx Tx) error {
				query := "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND upper(c.type) = 'TEXT'"
				if tx.dialect == postgres {
					query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema() AND data_type = 'text'"
				}
				return tx.Each(t.Context(), query, nil, func(row Row) error {
					var table, column string
					err := row.Scan(&table, &column)
					columns[table] = append(columns[table], column)
					many++
					return err
				})
			})
			if err != nil || many < 100 {
				t.Fatalf("there are %d columns of text: %v", many, err)
			}
			for table, names := range columns {
				for _, column := range names {
					for _, text := range hostile {
						if err := takes(t.Context(), s, table, column, text); err != nil {
							t.Errorf("%s.%s does not take %.20q: %v", table, column, text, err)
						}
					}
				}
			}
		})
	}
}

// takes writes a text into no row of a column: what a database refuses to read, it refuses then as well.
func takes(ctx context.Context, s *DB, table, column string, text any) error {
	return s.Write(ctx, func(t Tx) error {
		_, err := t.Exec(ctx, `UPDATE "`+table+`" SET "`+column+`" = ? WHERE "`+column+`" = ? AND 1 = 0`, text, text)
		return err
	})
}

// TestEveryStatementGoesThroughOneDoor finds code that hands arguments to the database past values.
func TestEveryStatementGoesThroughOneDoor(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "tx.go" {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(raw), "\n") {
			// With an argument for it; migrations and the list of columns have none.
			for _, call := range []string{".ExecContext(", ".QueryContext(", ".QueryRowContext("} {
				_, args, found := strings.Cut(line, call)
				if found && strings.Contains(args, "rebind(") && !strings.Contains(args, "clean(") {
					t.Errorf("%s:%d hands a text to the database as it is: use exec, one or each", file, i+1)
				}
			}
		}
	}
}
