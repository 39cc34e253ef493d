package db

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A backup is JSON, a value on each line, in gzip: a backupHead, for each table
// a backupTable and its rows as lists, and a backupEnd. It is the same whatever
// the database, so it also moves a server from one to the other.
const (
	backupFormat  = "slipway-backup"
	backupVersion = 1
)

type backupHead struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Schema  int64     `json:"schema"`
	Program string    `json:"program,omitempty"` // that wrote the schema
	At      time.Time `json:"at"`
}

type backupTable struct {
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
}

type backupEnd struct {
	Rows *int64 `json:"rows"`
}

// tables are all that a backup holds, in an order in which what is referred to
// comes first.
//
//nolint:gochecknoglobals // a table
var tables = []string{
	"setting", "organization", "project", "person", "team", "team_member", "service_account", "token", "role", "resource_group", "binding",
	"agent", "mapping", "service", "environment", "environment_cluster", "application_link", "item", "item_edition", "unlinked", "label",
	"command_id", "command", "audit", "audit_place",
	"ledger_name", "ledger_blob", "ledger_entry", "ledger_object", "ledger_place", "saved_view", "bulk_job", "bulk_target",
	"agent_release", "agent_upgrade", "agent_upgrade_target",
	"notification_channel", "notification_rule", "hosted_agent",
}

// passing are tables whose rows do not outlive a restore: users who signed out
// before it stay signed out.
//
//nolint:gochecknoglobals // a table
var passing = []string{
	"session", "attempt", "pending", "idempotency", "server", "job", "event", "event_place",
	"notification_delivery", "notification_place", "notification_seen",
}

// epochLeap keeps epochs that were given after a backup from being given again.
const epochLeap = 1_000_000

// Backup writes all that is kept, as it is at one moment. The store
// continues in the meantime. The result holds hashes of passwords and tokens: keep it safe.
func (s *DB) Backup(ctx context.Context, w io.Writer) error {
	schema, err := s.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if schema == 0 {
		return errUnsettled
	}
	all, err := readMigrations(s.dialect)
	if err != nil {
		return err
	}
	if newest := all[len(all)-1].version; schema > newest { // it may have tables that this program does not know
		return s.errNewer(ctx, "back up", schema, newest)
	}
	zipped := gzip.NewWriter(w)
	buffered := bufio.NewWriter(zipped)
	out := json.NewEncoder(buffered)
	out.SetEscapeHTML(false)
	if err := out.Encode(backupHead{backupFormat, backupVersion, schema, s.writtenBy(ctx), s.now().UTC()}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	var rows int64
	err = s.Read(ctx, func(t Tx) error {
		for _, table := range tables {
			if there, err := t.hasTable(ctx, table); err != nil {
				return err
			} else if !there {
				continue // the schema is older
			}
			n, err := t.dump(ctx, table, out)
			if err != nil {
				return fmt.Errorf("back up table %s: %w", table, err)
			}
			rows += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := errors.Join(out.Encode(backupEnd{&rows}), buffered.Flush(), zipped.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// dump writes a table and its rows.
func (t Tx) dump(ctx context.Context, table string, out *json.Encoder) (n int64, err error) {
	columns, err := t.columns(ctx, table)
	if err != nil {
		return 0, err
	}
	if err := out.Encode(backupTable{table, columns}); err != nil {
		return 0, err
	}
	err = t.Each(ctx, "SELECT * FROM "+table, nil, func(row Row) error {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		for i, value := range values {
			switch value := value.(type) {
			case nil, string, int64:
			case []byte:
				values[i] = string(value)
			default:
				return fmt.Errorf("column %s is a %T", columns[i], value)
			}
		}
		n++
		return out.Encode(values)
	})
	return n, err
}

// columns are those of a table, in their order.
func (t Tx) columns(ctx context.Context, table string) (names []string, err error) {
	rows, err := t.sql.QueryContext(ctx, "SELECT * FROM "+table+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	if names, err = rows.Columns(); err != nil {
		return nil, err
	}
	return names, rows.Err()
}

// RestoreOptions say what a restore brings back.
type RestoreOptions struct {
	// KeepTokens keeps API tokens, and the one-time tokens of agents. A token that was deleted after the backup counts again
	// then: nothing in a backup says which.
	KeepTokens bool
}

// Restored is what a restore did.
type Restored struct {
	// At is when the backup was made: permissions are as they were then.
	At time.Time
	// Tokens is how many API tokens were not kept.
	Tokens int64
}

// Restore fills an empty database from a backup, of this program's schema or an
// older one, and migrates it.
func (s *DB) Restore(ctx context.Context, r io.Reader, options RestoreOptions) (Restored, error) {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return Restored{}, fmt.Errorf("read backup: it is no file of slipway-server backup: %w", err)
	}
	in := json.NewDecoder(bufio.NewReader(zipped))
	in.UseNumber()
	var head backupHead
	if err := in.Decode(&head); err != nil || head.Format != backupFormat {
		return Restored{}, errors.New("read backup: it is no file of slipway-server backup")
	}
	if head.Version != backupVersion {
		return Restored{}, fmt.Errorf("read backup: its format is %d and this program reads %d: use the slipway-server that it was made with, "+
			"or a newer one", head.Version, backupVersion)
	}
	if err := s.makeEmpty(ctx, head); err != nil {
		return Restored{}, err
	}
	out := Restored{At: head.At}
	err = s.Write(ctx, func(t Tx) error {
		if err := t.load(ctx, in); err != nil || options.KeepTokens {
			return err
		}
		return t.endTokens(ctx, &out.Tokens)
	})
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	_, err = s.Migrate(ctx, false)
	return out, err
}

// endTokens ends all API tokens, and counts them, and the one-time tokens of agents: some of them were ended, or used, after
// the backup.
func (t Tx) endTokens(ctx context.Context, tokens *int64) error {
	if err := t.One(ctx, "SELECT COUNT(*) FROM token", nil, tokens); err != nil {
		return err
	}
	if _, err := t.Exec(ctx, "DELETE FROM token"); err != nil {
		return err
	}
	_, err := t.Exec(ctx, "UPDATE agent SET registration_hash = '', registration_expires = 0")
	return err
}

// makeEmpty brings a database without anything in it to a schema.
func (s *DB) makeEmpty(ctx context.Context, head backupHead) error {
	schema := head.Schema
	all, err := readMigrations(s.dialect)
	if err != nil {
		return err
	}
	newest := all[len(all)-1].version
	if schema > newest && head.Program != "" {
		return fmt.Errorf("restore: the backup has schema %d, written by slipway-server %.80s, and this program knows %d: "+
			"use that slipway-server or a newer one", schema, head.Program, newest)
	}
	if schema > newest || schema < 1 {
		return fmt.Errorf("restore: the backup has schema %d and this program knows %d: use a newer slipway-server", schema, newest)
	}
	current, err := s.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if current == 0 {
		provider, err := s.provider(all)
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		if _, err := provider.UpTo(ctx, schema); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		return nil
	}
	if current != schema {
		return fmt.Errorf("restore: the database has schema %d and the backup %d: name a database that is new", current, schema)
	}
	return s.Read(ctx, func(t Tx) error {
		for _, table := range []string{"organization", "person", "agent", "audit"} {
			var n int64
			if err := t.One(ctx, "SELECT COUNT(*) FROM "+table, nil, &n); err != nil {
				return err
			}
			if n > 0 {
				return fmt.Errorf("restore: the database is not empty, it has %d rows in %s: name a database that is new", n, table)
			}
		}
		return nil
	})
}

// load replaces the rows of all tables.
func (t Tx) load(ctx context.Context, in *json.Decoder) error {
	known := slices.Clone(tables)
	slices.Reverse(known)
	for _, table := range slices.Concat(passing, known) {
		if there, err := t.hasTable(ctx, table); err != nil {
			return err
		} else if !there {
			continue // the backup is of a schema before it
		}
		if _, err := t.Exec(ctx, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	l := loader{Tx: t}
	for {
		var line json.RawMessage
		if err := in.Decode(&line); err != nil {
			return fmt.Errorf("the backup ends before its end: it is not whole (%s)", err.Error()) // its end is not that of a connection
		}
		if len(line) > 0 && line[0] == '[' {
			if err := l.row(ctx, line); err != nil {
				return err
			}
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
		var end backupEnd
		if err := json.Unmarshal(line, &end); err == nil && end.Rows != nil {
			if *end.Rows != l.rows {
				return fmt.Errorf("the backup has %d rows and should have %d: it is incomplete", l.rows, *end.Rows)
			}
			_, err := t.Exec(ctx, "UPDATE agent SET epoch = epoch + ?", epochLeap)
			return err
		}
		if err := l.begin(line); err != nil {
			return err
		}
	}
}

// loader writes rows, many at a time.
type loader struct {
	Tx
	table   string
	columns []string
	args    []any
	pending int
	rows    int64
}

func (l *loader) begin(line []byte) error {
	var table backupTable
	if err := json.Unmarshal(line, &table); err != nil {
		return fmt.Errorf("read table: %w", err)
	}
	if !slices.Contains(tables, table.Table) {
		return fmt.Errorf("the backup has a table %.80q, which this program does not know", table.Table)
	}
	for _, column := range table.Columns {
		if column == "" || strings.Trim(column, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return fmt.Errorf("the backup has a column %.80q, which is none", column)
		}
	}
	l.table, l.columns = table.Table, table.Columns
	return nil
}

func (l *loader) row(ctx context.Context, line []byte) error {
	var row []any
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.UseNumber()
	if err := decoder.Decode(&row); err != nil {
		return fmt.Errorf("read row of %s: %w", l.table, err)
	}
	if l.table == "" || len(row) != len(l.columns) || len(row) == 0 {
		return fmt.Errorf("a row of table %q has %d values for %d columns", l.table, len(row), len(l.columns))
	}
	for i, value := range row {
		switch value := value.(type) {
		case nil, string:
		case json.Number:
			n, err := value.Int64()
			if err != nil {
				return fmt.Errorf("read row of %s: %w", l.table, err)
			}
			row[i] = n
		default:
			return fmt.Errorf("a row of table %s has a %T", l.table, value)
		}
	}
	l.args = append(l.args, row...)
	l.pending++
	l.rows++
	if l.pending == RowsAtOnce {
		return l.flush(ctx)
	}
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	if l.pending == 0 {
		return nil
	}
	line := "(" + Marks(len(l.columns)) + ")"
	_, err := l.Exec(ctx, "INSERT INTO "+l.table+" ("+strings.Join(l.columns, ", ")+") VALUES "+strings.Repeat(line+", ", l.pending-1)+line,
		l.args...)
	if err != nil {
		return fmt.Errorf("write rows of %s: %w", l.table, err)
	}
	l.args, l.pending = nil, 0
	return nil
}
