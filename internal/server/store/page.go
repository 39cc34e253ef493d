package store

import (
	"bytes"
	"context"
	"database/sql"
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

// order is in which order a list is read, and from where on.
type order struct {
	id      string // the column that makes the order one
	sort    string // as it was asked for
	column  string
	down    bool
	limit   int
	offset  int
	start   bool // there is a cursor
	value   any
	startID string
}

// mark is what a cursor says.
type mark struct {
	Sort  string `json:"s"`
	Value any    `json:"v"`
	ID    string `json:"i"`
}

// newOrder reads the options of a list.
func newOrder(options api.ListOptions, id string, sorts map[string]string) (*order, error) {
	o := &order{id: id, sort: options.Sort, limit: options.Limit}
	if o.limit <= 0 {
		o.limit = api.DefaultLimit
	}
	o.limit = min(o.limit, api.MaxLimit)
	name, down := strings.CutPrefix(options.Sort, "-")
	o.down = down
	switch {
	case name == "" || name == "id":
		o.column = id
	case sorts[name] != "":
		o.column = sorts[name]
	default:
		known := append(slices.Collect(maps.Keys(sorts)), "id")
		slices.Sort(known)
		return nil, invalid("sort", "sort by %.80q: it can be %s", name, strings.Join(known, ", "))
	}
	if options.Cursor != "" {
		return o, o.read(options.Cursor)
	}
	if options.Page > maxPage {
		return nil, invalid("page", "page %d: the last that can be asked for is %d; use cursor", options.Page, maxPage)
	}
	if options.Page > 1 {
		o.offset = (options.Page - 1) * o.limit
	}
	return o, nil
}

// read reads a cursor.
func (o *order) read(cursor string) error {
	bad := invalid("cursor", "the cursor is none of this list: take nextCursor of the page before, with the same sort")
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
	case isText && !numeric(o.column):
		o.value = text
	case isNumber && numeric(o.column):
		if o.value, err = number.Int64(); err != nil {
			return bad
		}
	default:
		return bad
	}
	o.start, o.startID = true, m.ID
	return nil
}

// numeric reports whether a column that lists are sorted by holds numbers: times,
// the number of an entry of the audit, and why an application needs attention.
func numeric(column string) bool {
	return strings.HasSuffix(column, "_at") || strings.HasSuffix(column, "_since") || column == "audit.id" || column == byAttention
}

// after adds that rows come after the cursor.
func (o *order) after(w *where) {
	if !o.start {
		return
	}
	than := ">"
	if o.down {
		than = "<"
	}
	if o.column == o.id {
		w.and(fmt.Sprintf("%s %s ?", o.id, than), o.startID)
		return
	}
	w.and(fmt.Sprintf("(%s %s ? OR %s = ? AND %s %s ?)", o.column, than, o.column, o.id, than), o.value, o.value, o.startID)
}

// clause is how the query ends. One row more than wanted says whether there are more.
func (o *order) clause() string {
	way := ""
	if o.down {
		way = " DESC"
	}
	by := o.column + way
	if o.column != o.id {
		by += ", " + o.id + way
	}
	return " ORDER BY " + by + " LIMIT ? OFFSET ?"
}

func (o *order) args() []any { return []any{o.limit + 1, o.offset} }

// cursor points behind a row.
func (o *order) cursor(value any, id string) string {
	text, err := json.Marshal(mark{o.sort, value, id})
	if err != nil { // of a text or a number
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// readPage reads a page of a table's rows. Beside its columns each row has the
// value that it is sorted by, which scan reads into the last place.
func readPage[T any](
	ctx context.Context, t tx, table, columns string, w *where, o *order, scan func(*sql.Rows, *T, ...any) error, id func(*T) string,
) (api.Page[T], error) {
	page := api.Page[T]{Items: []T{}}
	if err := t.one(ctx, "SELECT COUNT(*) FROM "+table+w.String(), slices.Clone(w.args), &page.Total); err != nil {
		return page, fmt.Errorf("count rows of %s: %w", table, err)
	}
	if page.Total == 0 {
		return page, nil
	}
	from := where{slices.Clone(w.conditions), slices.Clone(w.args)}
	o.after(&from)
	var last any
	query := "SELECT " + columns + ", " + o.column + " FROM " + table + from.String() + o.clause()
	err := t.each(ctx, query, append(from.args, o.args()...), func(rows *sql.Rows) error {
		var v T
		var value any
		if err := scan(rows, &v, &value); err != nil {
			return err
		}
		if len(page.Items) == o.limit {
			page.NextCursor = o.cursor(last, id(&page.Items[o.limit-1]))
			return nil
		}
		last = value
		page.Items = append(page.Items, v)
		return nil
	})
	if err != nil {
		return page, fmt.Errorf("read rows of %s: %w", table, err)
	}
	return page, nil
}

// options adds what every list can be narrowed by.
func (w *where) options(t guarded, options api.ListOptions, texts ...string) {
	if options.Scope != "" && options.Scope != api.ScopeAccount {
		condition, args := compileScope(t.name+".scope", scopeOf(options.Scope))
		w.and(condition, args...)
	}
	w.contains(options.Search, texts...)
	for _, name := range slices.Sorted(maps.Keys(options.Labels)) {
		condition := t.id() + " IN (SELECT l.id FROM label l WHERE l.type = ? AND l.name = ?"
		if value := options.Labels[name]; value != "" {
			w.and(condition+" AND l.value = ?)", t.kind, name, value)
		} else {
			w.and(condition+")", t.kind, name)
		}
	}
}
