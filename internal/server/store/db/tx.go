package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"
)

// dialect is which database it is.
type dialect int

const (
	sqlite dialect = iota
	postgres
)

// conflictTries is how often PostgreSQL may call a transaction back.
const conflictTries = 5

// Tx is a transaction: what all queries go through.
type Tx struct {
	sql     *sql.Tx // not embedded: every statement goes through Exec, One and Each
	dialect dialect
	Now     int64 // microseconds
	// ProviderGroups is as in Config.
	ProviderGroups time.Duration
}

// Write runs do in a transaction that may change things.
func (s *DB) Write(ctx context.Context, do func(Tx) error) error {
	var err error
	for range conflictTries {
		if err = s.transact(ctx, s.writer, nil, do); !isConflict(err) {
			break
		}
	}
	return reached(ctx, s.explain(err))
}

// Read runs do in a transaction that sees one state of the database.
func (s *DB) Read(ctx context.Context, do func(Tx) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.dialect == postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	return reached(ctx, s.explain(s.transact(ctx, s.reader, options, do)))
}

func (s *DB) transact(ctx context.Context, db *sql.DB, options *sql.TxOptions, do func(Tx) error) error {
	start, fault := time.Now(), false // not s.now, which may stand still
	defer func() { s.observe(options == nil, time.Since(start), fault && ctx.Err() == nil) }()
	begun, err := db.BeginTx(ctx, options)
	if err != nil {
		fault = true
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := do(Tx{sql: begun, dialect: s.dialect, Now: Micros(s.now()), ProviderGroups: s.providerGroups}); err != nil {
		return errors.Join(err, ignoreDone(begun.Rollback()))
	}
	if err := begun.Commit(); err != nil {
		fault = true
		return fmt.Errorf("commit transaction: %w", err)
	}
	return nil
}

// ignoreDone drops the error of a rollback that the end of the context did already.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Exec runs a statement and returns how many rows it changed.
func (t Tx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.sql.ExecContext(ctx, t.dialect.rebind(query), Values(args)...)
	if err != nil {
		return 0, translate(err)
	}
	return result.RowsAffected()
}

// Run is Exec where it does not matter how many rows there were.
func (t Tx) Run(ctx context.Context, statement string, args ...any) error {
	_, err := t.Exec(ctx, statement, args...)
	return err
}

// One reads the only row of a query; ErrNotFound when there is none.
func (t Tx) One(ctx context.Context, query string, args []any, into ...any) error {
	err := t.sql.QueryRowContext(ctx, t.dialect.rebind(query), Values(args)...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// Postgres reports whether the database is PostgreSQL, where others write at the same time.
func (t Tx) Postgres() bool { return t.dialect == postgres }

// Row is a row of a query.
type Row struct {
	rows *sql.Rows
	more []any
}

// Scan reads the columns of the row.
func (r Row) Scan(into ...any) error { return r.rows.Scan(append(into, r.more...)...) }

// With is the row for a function that reads its first columns only: more are those behind them.
func (r Row) With(more ...any) Row { return Row{r.rows, append(more, r.more...)} }

// Each calls scan for every row of a query.
func (t Tx) Each(ctx context.Context, query string, args []any, scan func(Row) error) error {
	rows, err := t.sql.QueryContext(ctx, t.dialect.rebind(query), Values(args)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(Row{rows: rows}); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rebind writes placeholders as the database wants them. No statement of this
// package has a question mark in a literal.
func (d dialect) rebind(query string) string {
	if d == sqlite {
		return query
	}
	var b strings.Builder
	b.Grow(len(query) + 16)
	n := 0
	for {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n++
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}

// Values makes arguments that both databases take: text is valid and without
// zero bytes, which PostgreSQL refuses, and times and truths are numbers.
func Values(args []any) []any {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = Clean(arg)
		case bool:
			args[i] = number(arg)
		case time.Time:
			args[i] = Micros(arg)
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String { // a text with a type of its own
				args[i] = Clean(v.String())
			}
		}
	}
	return args
}

// Clean makes a text one that both databases store.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Micros is how times are kept: microseconds since 1970, zero for none.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Moment is the opposite of micros.
func Moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Marks returns "?, ?, …" for n values.
func Marks(n int) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat("?, ", n-1) + "?"
}

// Anys returns strings as arguments.
func Anys(list []string) []any {
	args := make([]any, len(list))
	for i, s := range list {
		args[i] = s
	}
	return args
}

// translate makes the error of a broken constraint one of ours.
func translate(err error) error {
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		switch lite.Code() {
		case sqlitecode.SQLITE_CONSTRAINT_UNIQUE, sqlitecode.SQLITE_CONSTRAINT_PRIMARYKEY:
			return fmt.Errorf("%w (%w)", ErrExists, err)
		case sqlitecode.SQLITE_CONSTRAINT_FOREIGNKEY:
			return fmt.Errorf("%w (%w)", ErrReferenced, err)
		}
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code {
		case "23505":
			return fmt.Errorf("%w (%w)", ErrExists, err)
		case "23503":
			return fmt.Errorf("%w (%w)", ErrReferenced, err)
		}
	}
	return err
}

// isConflict reports whether PostgreSQL wants the transaction done again: a
// failed serialization or a deadlock.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// Run is a transaction of one statement.
func (s *DB) Run(ctx context.Context, statement string, args ...any) error {
	return s.Write(ctx, func(t Tx) error { return t.Run(ctx, statement, append([]any(nil), args...)...) })
}
