package db

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

// migrations are named VERSION_what_it_does.sql. What is there never changes,
// but for one that fails on some database: then it leads to the same schema. A
// change of the schema is a new file.
//
//go:embed migration/*.sql
var migrations embed.FS

// versionTable is where goose notes what ran.
const versionTable = "goose_db_version"

// errUnsettled says that the schema is not the one of this program.
var errUnsettled = errors.New("the database is not migrated: run slipway-server migrate")

// errOvertaken says that another server ran a migration first.
var errOvertaken = errors.New("another server has run this migration")

const (
	// settingProgram is the row whose value is the version of the program that wrote the schema.
	settingProgram = "program"
	// lockEvery (seconds) and lockTries are how often, and how many times, a server asks whether another one has migrated.
	lockEvery, lockTries = 1, 300
)

// migration is one file.
type migration struct {
	version    int64
	name       string
	statements []string
}

// Migrate brings the schema to what this program needs, and returns the names
// of the migrations that ran; with dryRun, of those that would, and changes
// nothing. There is no way back but a backup. Several servers may call it at a
// time: each migration runs once, and the others wait.
func (s *DB) Migrate(ctx context.Context, dryRun bool) ([]string, error) {
	all, err := readMigrations(s.dialect)
	if err != nil {
		return nil, err
	}
	var ran []string
	for {
		pending, current, err := s.pending(ctx, all)
		if dryRun || err != nil {
			return pending, err
		}
		if len(pending) == 0 {
			return ran, s.settle(ctx, len(ran) > 0)
		}
		if err := s.checkWhole(ctx, current); err != nil {
			return nil, err
		}
		names, err := s.up(ctx, all)
		ran = append(ran, names...)
		if err != nil && !errors.Is(err, errOvertaken) {
			return nil, fmt.Errorf("migrate: %w", s.explain(err))
		}
	}
}

// pending returns the names of the migrations that have not run, and the version before them.
func (s *DB) pending(ctx context.Context, all []migration) (names []string, current int64, err error) {
	if current, err = s.schemaVersion(ctx); err != nil {
		return nil, 0, err
	}
	if newest := all[len(all)-1].version; current > newest {
		return nil, current, s.errNewer(ctx, "migrate", current, newest)
	}
	for _, m := range all {
		if m.version > current {
			names = append(names, m.name)
		}
	}
	return names, current, nil
}

// errNewer says that a schema is newer than this program, whose newest is known, and which program wrote it.
func (s *DB) errNewer(ctx context.Context, what string, current, known int64) error {
	program := s.writtenBy(ctx)
	if program == "" {
		return fmt.Errorf("%s: the database has schema %d and this program knows %d: start a newer slipway-server, or restore a backup",
			what, current, known)
	}
	return fmt.Errorf("%s: the database has schema %d, written by slipway-server %s, and this program knows %d: "+
		"start slipway-server %s or a newer one, or restore a backup", what, current, program, known, program)
}

// writtenBy is the version of the program that wrote the schema; empty where nothing says it.
func (s *DB) writtenBy(ctx context.Context) (program string) {
	err := s.Read(ctx, func(t Tx) error {
		return t.One(ctx, "SELECT value FROM setting WHERE id = ?", []any{settingProgram}, &program)
	})
	if err != nil {
		return "" // it is for an error message
	}
	return program
}

// settle writes what this program wants in its schema: what comes with it, and its version if it has migrated, or if none
// was set.
func (s *DB) settle(ctx context.Context, migrated bool) error {
	for _, settle := range s.settling {
		if err := settle(ctx); err != nil {
			return err
		}
	}
	if s.program == "" {
		return nil
	}
	if !migrated && s.writtenBy(ctx) != "" {
		return nil
	}
	return s.Write(ctx, func(t Tx) error {
		const statement = "INSERT INTO setting (id, value, version) VALUES (?, ?, 0) ON CONFLICT (id) DO UPDATE SET value = excluded.value"
		_, err := t.Exec(ctx, statement, settingProgram, s.program)
		return err
	})
}

// Settled returns an error unless the schema is that of this program, for callers that work on a database without Migrate.
func (s *DB) Settled(ctx context.Context) error {
	all, err := readMigrations(s.dialect)
	if err != nil {
		return err
	}
	pending, _, err := s.pending(ctx, all)
	if err == nil && len(pending) > 0 {
		err = errUnsettled
	}
	return err
}

// up runs what is to run, and returns the names of what this program ran, also where it ends with an error.
func (s *DB) up(ctx context.Context, all []migration) (names []string, err error) {
	provider, err := s.provider(all)
	if err != nil {
		return nil, err
	}
	results, err := provider.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
	}
	for _, result := range results {
		for _, m := range all {
			if m.version == result.Source.Version {
				names = append(names, m.name)
			}
		}
	}
	return names, err
}

// provider is goose with these migrations.
func (s *DB) provider(all []migration) (*goose.Provider, error) {
	var moves []*goose.Migration
	for _, m := range all {
		moves = append(moves, goose.NewGoMigration(m.version, &goose.GoFunc{RunTx: m.run}, nil))
	}
	options := []goose.ProviderOption{
		goose.WithGoMigrations(moves...), goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable),
	}
	dialect := goose.DialectSQLite3
	if s.dialect == postgres {
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(lockEvery, lockTries))
		if err != nil {
			return nil, err
		}
		options = append(options, goose.WithSessionLocker(locker))
		dialect = goose.DialectPostgres
	}
	return goose.NewProvider(dialect, s.writer, nil, options...)
}

// run does a migration. Its transaction has SQLite for itself, so another server has run it before or will not.
func (m migration) run(ctx context.Context, tx *sql.Tx) error {
	var ran int64
	err := tx.QueryRowContext(ctx, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE version_id = %d", versionTable, m.version)).Scan(&ran)
	if err != nil {
		return fmt.Errorf("%s: %w", m.name, err)
	}
	if ran > 0 {
		return errOvertaken
	}
	for _, statement := range m.statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// schemaVersion returns the newest migration that ran; zero for none.
func (s *DB) schemaVersion(ctx context.Context) (int64, error) {
	var version int64
	err := s.Read(ctx, func(t Tx) error {
		there, err := t.hasTable(ctx, versionTable)
		if err != nil || !there {
			return err
		}
		return t.One(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+versionTable, nil, &version)
	})
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}

// hasTable reports whether there is a table.
func (t Tx) hasTable(ctx context.Context, name string) (bool, error) {
	query := "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?"
	if t.dialect == postgres {
		query = "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass(?)"
	}
	var tables int64
	err := t.One(ctx, query, []any{name}, &tables)
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
