// Package db opens the database of the control plane, SQLite by default and PostgreSQL by URL, brings its schema to what this
// program needs, and runs transactions. The SQL is written by hand and runs on both. What is kept in it is the business of the
// packages beside this one.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

const (
	// busyLimit is how long SQLite waits for another process's lock.
	busyLimit = 10 * time.Second
	// readers and connections bound how many queries run at a time.
	readers     = 4
	connections = 20
	// connectionLife closes connections to PostgreSQL now and then, so that
	// load spreads after a fail-over.
	connectionLife = 30 * time.Minute
)

// Config is what Open needs.
type Config struct {
	// URL is a path or "sqlite:PATH", or "postgres://…" as libpq writes it.
	URL string
	// Program is the version of this program, for an older program that opens the database; empty for none.
	Program string
	// Existing refuses to make a database where there is no file of SQLite.
	Existing bool
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// ProviderGroups is how long after a sign-in at an identity provider the
	// groups count that followed from it; ProviderGroupsLast when 0.
	ProviderGroups time.Duration
	// Observe is called for every transaction with how long it took, and whether the
	// database could not begin or end it. It must not block; nil: it is not called.
	Observe func(write bool, took time.Duration, fault bool)
}

// ProviderGroupsLast is how long groups of an identity provider are valid
// by default.
const ProviderGroupsLast = 24 * time.Hour

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect dialect
	writer  *sql.DB // of SQLite one connection, since it has one writer
	reader  *sql.DB // the same as writer on PostgreSQL
	now     func() time.Time
	path    string    // of SQLite's file
	held    io.Closer // the lock of Hold; nil for none
	// providerGroups is as in Config.
	providerGroups time.Duration
	program        string // as in Config
	observe        func(write bool, took time.Duration, fault bool)
	settling       []func(context.Context) error // what Settle was given
}

// Open opens the database, and makes the file of SQLite if it is missing. It
// does not migrate: the caller does, or refuses to go on.
func Open(ctx context.Context, config Config) (*DB, error) {
	s := &DB{
		now: config.Now, providerGroups: cmp.Or(config.ProviderGroups, ProviderGroupsLast), program: config.Program,
		observe: config.Observe,
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.observe == nil {
		s.observe = func(bool, time.Duration, bool) {}
	}
	var err error
	if isPostgres(config.URL) {
		err = s.openPostgres(config.URL)
	} else {
		err = s.openSQLite(config.URL, config.Existing)
	}
	if err != nil {
		return nil, err
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Settle has Migrate do something once the schema is that of this program: it puts rows right that an earlier one wrote, and
// writes those that come with this one.
func (s *DB) Settle(do ...func(context.Context) error) { s.settling = append(s.settling, do...) }

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

func (s *DB) openPostgres(address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		// The message of the parser may hold the password.
		return errors.New("open PostgreSQL: the URL cannot be read: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	db.SetConnMaxLifetime(connectionLife)
	s.dialect, s.writer, s.reader = postgres, db, db
	return nil
}

func (s *DB) openSQLite(address string, existing bool) error {
	path := strings.TrimPrefix(strings.TrimPrefix(address, "sqlite:"), "//")
	if path == "" {
		return errors.New("open SQLite: no path: expected sqlite:PATH or a path")
	}
	if strings.Contains(path, "://") {
		return fmt.Errorf("open database: %q is neither a path nor postgres://…", schemeOf(path))
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("open SQLite: %w", err)
	}
	if err := prepareFile(path, existing); err != nil {
		return fmt.Errorf("open SQLite: %w", err)
	}
	// What was deleted is overwritten, so that it is not in a copy of the file. LIKE distinguishes letters as that of
	// PostgreSQL does.
	common := fmt.Sprintf("_busy_timeout=%d&_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_pragma=secure_delete(on)&_pragma=case_sensitive_like(on)", busyLimit.Milliseconds())
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + common
	if s.writer, err = sql.Open("sqlite", name+"&_txlock=immediate"); err != nil {
		return fmt.Errorf("open SQLite: %w", err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite", name+"&_query_only=on"); err != nil {
		return errors.Join(fmt.Errorf("open SQLite: %w", err), s.writer.Close())
	}
	s.reader.SetMaxOpenConns(readers)
	s.reader.SetMaxIdleConns(readers)
	s.dialect, s.path = sqlite, path
	return nil
}

// schemeOf returns the scheme of an address, without what may be secret in it.
func schemeOf(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	return scheme + "://…"
}

// Ping asks the database whether it is there.
func (s *DB) Ping(ctx context.Context) error {
	if err := s.writer.PingContext(ctx); err != nil {
		return fmt.Errorf("reach database: %w", s.explain(err))
	}
	if err := s.reader.PingContext(ctx); err != nil {
		return fmt.Errorf("reach database: %w", s.explain(err))
	}
	return nil
}

// Close closes the connections.
func (s *DB) Close() error {
	err := s.writer.Close()
	if s.reader != s.writer {
		err = errors.Join(err, s.reader.Close())
	}
	if s.held != nil {
		err = errors.Join(err, s.held.Close())
		s.held = nil
	}
	return err
}

// IsPostgres reports whether the database is PostgreSQL, which several servers
// may share.
func (s *DB) IsPostgres() bool { return s.dialect == postgres }
