package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations are named VERSION_what_it_does.sql. What is there never changes:
// a change of the schema is a new file.
//
//go:embed migration/*.sql
var migrations embed.FS

// versionTable is where goose notes what ran.
const versionTable = "goose_db_version"

// errUnsettled says that the schema is not the one of this program.
var errUnsettled = errors.New("the database is not migrated: run slipway-server migrate")

// migration is one file.
type migration struct {
	version    int64
	name       string
	statements []string
}

// Migrate brings the schema to what this program needs, and returns the names
// of the migrations that ran; with dryRun, of those that would, and changes
// nothing. There is no way back but a backup. Several servers may call it at a
// time.
func (s *Store) Migrate(ctx context.Context, dryRun bool) ([]string, error) {
	all, err := readMigrations(s.dialect)
	if err != nil {
		return nil, err
	}
	current, err := s.schemaVersion(ctx)
	if err != nil {
		return nil, err
	}
	newest := all[len(all)-1].version
	if current > newest {
		return nil, fmt.Errorf("migrate: the database has schema %d and this program knows %d: start a newer slipway-server, or restore a backup", current, newest)
	}
	var pending []string
	for _, m := range all {
		if m.version > current {
			pending = append(pending, m.name)
		}
	}
	if dryRun {
		return pending, nil
	}
	if len(pending) == 0 {
		return nil, s.writeBuiltins(ctx)
	}
	provider, err := s.provider(all)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	results, err := provider.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	names := map[int64]string{}
	for _, m := range all {
		names[m.version] = m.name
	}
	var ran []string // another server may have been faster
	for _, result := range results {
		ran = append(ran, names[result.Source.Version])
	}
	return ran, s.writeBuiltins(ctx)
}

// provider is goose with these migrations.
func (s *Store) provider(all []migration) (*goose.Provider, error) {
	var moves []*goose.Migration
	for _, m := range all {
		run := func(ctx context.Context, tx *sql.Tx) error {
			for _, statement := range m.statements {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			return nil
		}
		moves = append(moves, goose.NewGoMigration(m.version, &goose.GoFunc{RunTx: run}, nil))
	}
	options := []goose.ProviderOption{goose.WithGoMigrations(moves...), goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable)}
	dialect := goose.DialectSQLite3
	if s.dialect == postgres {
		locker, err := lock.NewPostgresSessionLocker()
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
		dialect = goose.DialectPostgres
	}
	return goose.NewProvider(dialect, s.writer, nil, options...)
}

// schemaVersion returns the newest migration that ran; zero for none.
func (s *Store) schemaVersion(ctx context.Context) (int64, error) {
	var version int64
	err := s.read(ctx, func(t tx) error {
		there, err := t.hasTable(ctx, versionTable)
		if err != nil || !there {
			return err
		}
		return t.one(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable, nil, &version)
	})
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}

// hasTable reports whether there is a table.
func (t tx) hasTable(ctx context.Context, name string) (bool, error) {
	query := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if t.dialect == postgres {
		query = "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass(?)"
	}
	var tables int64
	err := t.one(ctx, query, []any{name}, &tables)
	return tables > 0, err
}

// readMigrations reads the embedded files, in order.
func readMigrations(d dialect) ([]migration, error) {
	entries, err := migrations.ReadDir("migration")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	var all []migration
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: its name begins with no number", entry.Name())
		}
		text, err := migrations.ReadFile(path.Join("migration", entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", entry.Name(), err)
		}
		all = append(all, migration{version, strings.TrimSuffix(entry.Name(), ".sql"), d.statements(string(text))})
	}
	return all, nil
}

// statements takes a file of SQL apart. Text sorts by its bytes everywhere, so
// that lists have the same order and prefixes are ranges.
func (d dialect) statements(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, "")
	if d == postgres {
		text = strings.ReplaceAll(text, " TEXT", ` TEXT COLLATE "C"`)
	}
	var out []string
	for statement := range strings.SplitSeq(text, ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			out = append(out, strings.TrimSuffix(statement, ";"))
		}
	}
	return out
}
