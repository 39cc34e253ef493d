package store

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

// tx is a transaction: what all queries go through.
type tx struct {
	*sql.Tx
	dialect dialect
	now     int64 // microseconds
	// providerGroups is as in Config.
	providerGroups time.Duration
}

// write runs do in a transaction that may change things.
func (s *Store) write(ctx context.Context, do func(tx) error) error {
	var err error
	for range conflictTries {
		if err = s.transact(ctx, s.writer, nil, do); !isConflict(err) {
			break
		}
	}
	return reached(ctx, s.explain(err))
}

// read runs do in a transaction that sees one state of the database.
func (s *Store) read(ctx context.Context, do func(tx) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.dialect == postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	return reached(ctx, s.explain(s.transact(ctx, s.reader, options, do)))
}

func (s *Store) transact(ctx context.Context, db *sql.DB, options *sql.TxOptions, do func(tx) error) error {
	start, fault := time.Now(), false // not s.now, which may stand still
	defer func() { s.observe(options == nil, time.Since(start), fault && ctx.Err() == nil) }()
	begun, err := db.BeginTx(ctx, options)
	if err != nil {
		fault = true
		return fmt.Errorf("begin transaction: %w", err)
	}
	if err := do(tx{Tx: begun, dialect: s.dialect, now: micros(s.now()), providerGroups: s.providerGroups}); err != nil {
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

// exec runs a statement and returns how many rows it changed.
func (t tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.ExecContext(ctx, t.dialect.rebind(query), values(args)...)
	if err != nil {
		return 0, translate(err)
	}
	return result.RowsAffected()
}

// one reads the only row of a query; ErrNotFound when there is none.
func (t tx) one(ctx context.Context, query string, args []any, into ...any) error {
	err := t.QueryRowContext(ctx, t.dialect.rebind(query), values(args)...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// each calls scan for every row of a query.
func (t tx) each(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := t.QueryContext(ctx, t.dialect.rebind(query), values(args)...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
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

// values makes arguments that both databases take: text is valid and without
// zero bytes, which PostgreSQL refuses, and times and truths are numbers.
func values(args []any) []any {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = clean(arg)
		case bool:
			args[i] = number(arg)
		case time.Time:
			args[i] = micros(arg)
		default:
			if v := reflect.ValueOf(arg); v.Kind() == reflect.String { // a text with a type of its own
				args[i] = clean(v.String())
			}
		}
	}
	return args
}

func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// micros is how times are kept: microseconds since 1970, zero for none.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// moment is the opposite of micros.
func moment(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// marks returns "?, ?, …" for n values.
func marks(n int) string {
	if n == 0 {
		return ""
	}
	return strings.Repeat("?, ", n-1) + "?"
}

// anys returns strings as arguments.
func anys(list []string) []any {
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

// run is a transaction of one statement.
func (s *Store) run(ctx context.Context, statement string, args ...any) error {
	return s.write(ctx, func(t tx) error {
		_, err := t.exec(ctx, statement, append([]any(nil), args...)...)
		return err
	})
}

// chunk is how many values go into one statement.
const chunk = 500

// collect gathers the text of a query's only column.
func collect(into *[]string) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		*into = append(*into, text)
		return err
	}
}

// rowsAtOnce is how many rows one statement writes.
const rowsAtOnce = 200
