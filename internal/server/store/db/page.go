package db

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// maxPage bounds how far a list may be skipped.
const maxPage = 1_000_000

// Order is in which order a list is read, and from where on.
type Order struct {
	id      string // the column that makes the order one
	sort    string // as it was asked for
	Column  string
	Down    bool
	Limit   int
	Offset  int
	Start   bool // there is a cursor
	Value   any
	StartID string
}

// mark is what a cursor says.
type mark struct {
	Sort  string `json:"s"`
	Value any    `json:"v"`
	ID    string `json:"i"`
}

// NewOrder reads the options of a list.
func NewOrder(options api.ListOptions, id string, sorts map[string]string) (*Order, error) {
	o := &Order{id: id, sort: options.Sort, Limit: options.Limit}
	if o.Limit <= 0 {
		o.Limit = api.DefaultLimit
	}
	o.Limit = min(o.Limit, api.MaxLimit)
	name, down := strings.CutPrefix(options.Sort, "-")
	o.Down = down
	switch {
	case name == "" || name == "id":
		o.Column = id
	case sorts[name] != "":
		o.Column = sorts[name]
	default:
		known := append(slices.Collect(maps.Keys(sorts)), "id")
		slices.Sort(known)
		return nil, Invalid("sort", "sort by %.80q: it can be %s", name, strings.Join(known, ", "))
	}
	if options.Cursor != "" {
		return o, o.read(options.Cursor)
	}
	if options.Page > maxPage {
		return nil, Invalid("page", "page %d: the last that can be asked for is %d; use cursor", options.Page, maxPage)
	}
	if options.Page > 1 {
		o.Offset = (options.Page - 1) * o.Limit
	}
	return o, nil
}

// read reads a cursor.
func (o *Order) read(cursor string) error {
	bad := Invalid("cursor", "the cursor is none of this list: take nextCursor of the page before, with the same sort")
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return bad
	}
	var m mark
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil || m.Sort != o.sort {
		return bad
	}
	text, isText := m.Value.(string)
	number, isNumber := m.Value.(json.Number)
	switch {
	case isText && !Numeric(o.Column):
		o.Value = text
	case isNumber && Numeric(o.Column):
		if o.Value, err = number.Int64(); err != nil {
			return bad
		}
	default:
		return bad
	}
	o.Start, o.StartID = true, m.ID
	return nil
}

// Attention stands where a list is sorted by why applications need attention, the worst first: no column holds that.
const Attention = "attention"

// Numeric reports whether a column that lists are sorted by holds numbers: times,
// the number of an entry of the audit, and why an application needs attention.
func Numeric(column string) bool {
	return strings.HasSuffix(column, "_at") || strings.HasSuffix(column, "_since") || column == "audit.id" || column == Attention
}

// After adds that rows come after the cursor.
func (o *Order) After(w *Where) {
	if !o.Start {
		return
	}
	than := ">"
	if o.Down {
		than = "<"
	}
	if o.Column == o.id {
		w.And(fmt.Sprintf("%s %s ?", o.id, than), o.StartID)
		return
	}
	w.And(fmt.Sprintf("(%s %s ? OR %s = ? AND %s %s ?)", o.Column, than, o.Column, o.id, than), o.Value, o.Value, o.StartID)
}

// Clause is how the query ends. One row more than wanted says whether there are more.
func (o *Order) Clause() string {
	way := ""
	if o.Down {
		way = " DESC"
	}
	by := o.Column + way
	if o.Column != o.id {
		by += ", " + o.id + way
	}
	return " ORDER BY " + by + " LIMIT ? OFFSET ?"
}

// Args are the arguments of the clause.
func (o *Order) Args() []any { return []any{o.Limit + 1, o.Offset} }

// Cursor points behind a row.
func (o *Order) Cursor(value any, id string) string {
	text, err := json.Marshal(mark{o.sort, value, id})
	if err != nil { // of a text or a number
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// List is how a page of a table's rows is read.
type List[T any] struct {
	Table, Columns string
	// ID is the column that makes the order one.
	ID string
	// Sorts are the columns that can be sorted by, by their names in the API.
	Sorts map[string]string
	// Usual is the order where none is asked for; the one by ID if it is empty.
	Usual string
	Scan  func(Row, *T) error
	// Key is the value of the column ID.
	Key func(*T) string
}

// Page reads a page in a transaction of its own.
func (l List[T]) Page(ctx context.Context, s *DB, w *Where, options api.ListOptions) (api.Page[T], error) {
	o, err := l.order(options) // what is wrong with a request shows without the database
	if err != nil {
		return api.Page[T]{}, err
	}
	return Read(ctx, s, func(t Tx) (api.Page[T], error) { return l.read(ctx, t, w, o) })
}

// In reads a page in a transaction.
func (l List[T]) In(ctx context.Context, t Tx, w *Where, options api.ListOptions) (api.Page[T], error) {
	o, err := l.order(options)
	if err != nil {
		return api.Page[T]{}, err
	}
	return l.read(ctx, t, w, o)
}

func (l List[T]) order(options api.ListOptions) (*Order, error) {
	options.Sort = cmp.Or(options.Sort, l.Usual)
	return NewOrder(options, l.ID, l.Sorts)
}

func (l List[T]) read(ctx context.Context, t Tx, w *Where, o *Order) (api.Page[T], error) {
	page := api.Page[T]{Items: []T{}}
	if err := t.One(ctx, "SELECT COUNT(*) FROM "+l.Table+w.String(), slices.Clone(w.Args), &page.Total); err != nil {
		return page, fmt.Errorf("count rows of %s: %w", l.Table, err)
	}
	if page.Total == 0 {
		return page, nil
	}
	from := Where{slices.Clone(w.conditions), slices.Clone(w.Args)}
	o.After(&from)
	var last any
	query := "SELECT " + l.Columns + ", " + o.Column + " FROM " + l.Table + from.String() + o.Clause()
	err := t.Each(ctx, query, append(from.Args, o.Args()...), func(row Row) error {
		var v T
		var value any
		if err := l.Scan(row.With(&value), &v); err != nil {
			return err
		}
		if len(page.Items) == o.Limit {
			page.NextCursor = o.Cursor(last, l.Key(&page.Items[o.Limit-1]))
			return nil
		}
		last = value
		page.Items = append(page.Items, v)
		return nil
	})
	if err != nil {
		return page, fmt.Errorf("read rows of %s: %w", l.Table, err)
	}
	return page, nil
}

// Options adds what every list can be narrowed by.
func (w *Where) Options(t Guarded, options api.ListOptions, texts ...string) {
	if options.Scope != "" && options.Scope != api.ScopeAccount {
		w.Within(t.Name+".scope", ScopeOf(options.Scope))
	}
	w.Contains(options.Search, texts...)
	for _, name := range slices.Sorted(maps.Keys(options.Labels)) {
		condition := t.idColumn() + " IN (SELECT l.id FROM label l WHERE l.type = ? AND l.name = ?"
		if value := options.Labels[name]; value != "" {
			w.And(condition+" AND l.value = ?)", t.Kind, name, value)
		} else {
			w.And(condition+")", t.Kind, name)
		}
	}
}
