package db

import (
	"context"
	"slices"
	"strings"
)

const (
	// Chunk is how many values go into one statement.
	Chunk = 500
	// RowsAtOnce is how many rows one statement writes.
	RowsAtOnce = 200
)

// EachOf calls scan for every row of a query that names a list, as (LIST), which comes behind all other arguments.
func (t Tx) EachOf(ctx context.Context, query string, args []any, list []string, scan func(Row) error) error {
	return inParts(query, args, list, func(query string, args []any) error { return t.Each(ctx, query, args, scan) })
}

// ExecOf runs a statement that names a list, as (LIST), which comes behind all other arguments.
func (t Tx) ExecOf(ctx context.Context, query string, args []any, list []string) error {
	return inParts(query, args, list, func(query string, args []any) error { return t.Run(ctx, query, args...) })
}

// inParts runs a query for parts of a list that are not too long for one.
func inParts(query string, args []any, list []string, run func(string, []any) error) error {
	for part := range slices.Chunk(list, Chunk) {
		if err := run(strings.Replace(query, "(LIST)", "("+Marks(len(part))+")", 1), slices.Concat(args, Anys(part))); err != nil {
			return err
		}
	}
	return nil
}

// Insert writes rows, many at a time. into names the table and its columns, and end is how each statement ends.
func (t Tx) Insert(ctx context.Context, into string, rows [][]any, end string) error {
	for part := range slices.Chunk(rows, RowsAtOnce) {
		line := "(" + Marks(len(part[0])) + ")"
		query := "INSERT INTO " + into + " VALUES " + strings.Repeat(line+", ", len(part)-1) + line + end
		if _, err := t.Exec(ctx, query, slices.Concat(part...)...); err != nil {
			return err
		}
	}
	return nil
}

// Change runs a statement that changes the row of a thing; ErrNotFound where there is none.
func (t Tx) Change(ctx context.Context, noun, id, statement string, args ...any) error {
	n, err := t.Exec(ctx, statement, args...)
	if err == nil && n == 0 {
		return NotFound(noun, id)
	}
	return err
}

// Change is Tx.Change in a transaction of its own.
func (s *DB) Change(ctx context.Context, noun, id, statement string, args ...any) error {
	return s.Write(ctx, func(t Tx) error { return t.Change(ctx, noun, id, statement, slices.Clone(args)...) })
}

// Timed is DB.Write with the time that the database has.
func (s *DB) Timed(ctx context.Context, do func(t Tx, now int64) error) error {
	return s.Write(ctx, func(t Tx) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		return do(t, now)
	})
}

// One is Tx.One in a transaction of its own.
func (s *DB) One(ctx context.Context, query string, args []any, into ...any) error {
	return s.Read(ctx, func(t Tx) error { return t.One(ctx, query, args, into...) })
}

// Only reads the only row of a query; ErrNotFound when there is none.
func Only[T any](ctx context.Context, t Tx, query string, args []any, scan func(Row, *T) error) (v T, err error) {
	found, err := Collect(ctx, t, query, args, scan)
	if err == nil && len(found) == 0 {
		return v, ErrNotFound
	}
	if err == nil {
		v = found[0]
	}
	return v, err
}

// Collect reads all rows of a query.
func Collect[T any](ctx context.Context, t Tx, query string, args []any, scan func(Row, *T) error) (list []T, err error) {
	err = t.Each(ctx, query, args, func(row Row) error {
		var v T
		err := scan(row, &v)
		list = append(list, v)
		return err
	})
	return list, err
}

// Get reads the row of one thing in a transaction of its own; ErrNotFound where there is none.
func Get[T any](ctx context.Context, s *DB, noun, id, query string, args []any, scan func(Row, *T) error) (T, error) {
	v, err := Read(ctx, s, func(t Tx) (T, error) { return Only(ctx, t, query, args, scan) })
	return v, Missing(err, noun, id)
}

// All reads all rows of a query in a transaction of its own.
func All[T any](ctx context.Context, s *DB, query string, args []any, scan func(Row, *T) error) ([]T, error) {
	return Read(ctx, s, func(t Tx) ([]T, error) { return Collect(ctx, t, query, args, scan) })
}

// Column reads the only column of a query.
func Column[T any](ctx context.Context, t Tx, query string, args ...any) ([]T, error) {
	return Collect(ctx, t, query, args, func(row Row, v *T) error { return row.Scan(v) })
}

// Texts makes a function for Each that gathers the only column.
func Texts(into *[]string) func(Row) error {
	return func(row Row) error {
		var text string
		err := row.Scan(&text)
		*into = append(*into, text)
		return err
	}
}

// IDs are those of some ids that a table has.
func IDs(ctx context.Context, t Tx, table string, ids []string) (map[string]bool, error) {
	var found []string
	err := t.EachOf(ctx, "SELECT id FROM "+table+" WHERE id IN (LIST)", nil, ids, Texts(&found))
	return Set(found), err
}

// Set has the texts of a list.
func Set(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, s := range list {
		set[s] = true
	}
	return set
}

// Pair makes a function for Each of one that takes the two columns of a row.
func Pair[A, B any](take func(A, B)) func(Row) error {
	return func(row Row) error {
		var a A
		var b B
		err := row.Scan(&a, &b)
		if err == nil {
			take(a, b)
		}
		return err
	}
}

// Read returns what do finds in a transaction that sees one state of the database.
func Read[T any](ctx context.Context, s *DB, do func(Tx) (T, error)) (T, error) {
	return result(ctx, s.Read, do)
}

// Write returns what do returns of a transaction that may change things.
func Write[T any](ctx context.Context, s *DB, do func(Tx) (T, error)) (T, error) {
	return result(ctx, s.Write, do)
}

func result[T any](ctx context.Context, run func(context.Context, func(Tx) error) error, do func(Tx) (T, error)) (v T, err error) {
	err = run(ctx, func(t Tx) error {
		v, err = do(t)
		return err
	})
	return v, err
}
