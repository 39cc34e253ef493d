package db

import (
	"context"
	"reflect"
	"slices"
	"strings"
)

// Table writes rows of one type: each field with a tag `db` is the column of that name.
type Table[T any] struct {
	// Columns are those that are written, in the order of the fields.
	Columns []string
	fields  []int  // their numbers
	begin   string // of the statement, up to the values
	line    string // of one row
	end     string // behind the values
}

// NewTable reads the tags of T. key are the columns of the primary key: a row with the same key is replaced.
func NewTable[T any](name string, key ...string) *Table[T] {
	w, of := &Table[T]{}, reflect.TypeFor[T]()
	var sets []string
	for i := range of.NumField() {
		column, tagged := of.Field(i).Tag.Lookup("db")
		if !tagged {
			continue
		}
		w.Columns, w.fields = append(w.Columns, column), append(w.fields, i)
		if !slices.Contains(key, column) {
			sets = append(sets, column+" = excluded."+column)
		}
	}
	w.begin = "INSERT INTO " + name + " (" + strings.Join(w.Columns, ", ") + ") VALUES "
	w.line = "(" + Marks(len(w.Columns)) + ")"
	w.end = " ON CONFLICT (" + strings.Join(key, ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
	return w
}

// Upsert writes rows in one statement: at most RowsAtOnce, and one at least.
func (w *Table[T]) Upsert(ctx context.Context, t Tx, rows []T) error {
	args := make([]any, 0, len(rows)*len(w.Columns))
	for i := range rows {
		row := reflect.ValueOf(&rows[i]).Elem()
		for _, number := range w.fields {
			switch field := row.Field(number); field.Kind() { // by kind, since Interface copies every field to the heap
			case reflect.String:
				args = append(args, field.String())
			case reflect.Int, reflect.Int64:
				args = append(args, field.Int())
			case reflect.Bool:
				args = append(args, field.Bool())
			default:
				args = append(args, field.Interface())
			}
		}
	}
	_, err := t.Exec(ctx, w.begin+strings.Repeat(w.line+", ", len(rows)-1)+w.line+w.end, args...)
	return err
}
