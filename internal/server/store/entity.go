package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// entity says how one type of thing with an api.Meta is kept.
type entity[T any] struct {
	table string
	noun  string // for people
	kind  string // api.Type…; what the table label calls it
	meta  func(*T) *api.Meta
	// id makes the id from what is in the value.
	id func(*T) string
	// home sets Meta.Scope where it is not what was asked for, and returns the
	// scope that a value is made in. Nil: they are the same.
	home func(*T) (api.Scope, error)
	// columns are those beyond Meta, which an update may change.
	columns func(*T) []column
	// fixed are those that an update leaves alone.
	fixed func(*T) []column
	// fill adds what is in other tables, when all rows are read.
	fill func(context.Context, db.Tx, []*T) error
	// prepare checks a value and puts it in shape before it is written; before
	// is what it replaces, or nil.
	prepare func(ctx context.Context, t db.Tx, v, before *T) error
	// written does what is to be done in other tables after it.
	written func(ctx context.Context, t db.Tx, v, before *T) error
	// references finds what refers to a value that is to be deleted.
	references func(context.Context, db.Tx, *T) ([]api.Ref, error)
	// release deletes what goes with a value, its references too.
	release func(context.Context, db.Tx, *T) error
	// sorts are the columns that a list can be sorted by, by their names in the API.
	sorts map[string]string
}

func (e *entity[T]) guarded() db.Guarded {
	return db.Guarded{Name: e.table, Of: e.kind, Kind: e.kind}
}

// all are the columns of a row, those of Meta first.
func (e *entity[T]) all(v *T) []column {
	m := e.meta(v)
	columns := []column{
		{"id", m.ID, &m.ID},
		{"name", m.Name, &m.Name},
		{"scope", string(m.Scope), (*string)(&m.Scope)},
		{"display_name", m.DisplayName, &m.DisplayName},
		{"description", m.Description, &m.Description},
		{"labels", db.Encode(m.Labels), db.Decode(&m.Labels)},
		{"version", m.Version, &m.Version},
		{"created_at", m.CreatedAt, db.Instant(&m.CreatedAt)},
		{"updated_at", m.UpdatedAt, db.Instant(&m.UpdatedAt)},
	}
	if e.fixed != nil {
		columns = append(columns, e.fixed(v)...)
	}
	if e.columns != nil {
		columns = append(columns, e.columns(v)...)
	}
	return columns
}

// insert makes a row and sets what the store decides: id, version and times.
func (e *entity[T]) insert(ctx context.Context, t db.Tx, v *T) error {
	m := e.meta(v)
	if m.Scope == "" {
		m.Scope = api.ScopeAccount
	}
	in := m.Scope
	if e.home != nil {
		var err error
		if in, err = e.home(v); err != nil {
			return err
		}
	}
	m.ID, m.Version = e.id(v), 1
	if err := checkScope(ctx, t, in); err != nil {
		return err
	}
	if e.prepare != nil {
		if err := e.prepare(ctx, t, v, nil); err != nil {
			return err
		}
	}
	m.CreatedAt, m.UpdatedAt = db.Moment(t.Now), db.Moment(t.Now)
	columns := e.all(v)
	names, args := make([]string, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		names[i], args[i] = c.name, c.value
	}
	_, err := t.Exec(ctx, "INSERT INTO "+e.table+" ("+strings.Join(names, ", ")+") VALUES ("+db.Marks(len(names))+")", args...)
	if errors.Is(err, db.ErrExists) {
		return db.Exists(e.noun, m.ID)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", e.noun, err)
	}
	if err := setLabels(ctx, t, e.kind, m.ID, nil, m.Labels); err != nil || e.written == nil {
		return err
	}
	return e.written(ctx, t, v, nil)
}

// update writes what may change of a row whose version is the one of v, or any
// if that is 0, and reads all of it into v.
func (e *entity[T]) update(ctx context.Context, t db.Tx, v *T) error {
	m := e.meta(v)
	before, err := e.lock(ctx, t, m.ID)
	if err != nil {
		return err
	}
	was := e.meta(before)
	if m.Version != 0 && m.Version != was.Version {
		return db.Stale(e.noun, m.ID, m.Version, was.Version)
	}
	m.Name, m.Scope, m.CreatedAt = was.Name, was.Scope, was.CreatedAt
	m.Version, m.UpdatedAt = was.Version+1, db.Moment(t.Now)
	if e.prepare != nil {
		if err := e.prepare(ctx, t, v, before); err != nil {
			return err
		}
	}
	columns := []column{
		{name: "display_name", value: m.DisplayName},
		{name: "description", value: m.Description},
		{name: "labels", value: db.Encode(m.Labels)},
		{name: "version", value: m.Version},
		{name: "updated_at", value: m.UpdatedAt},
	}
	if e.columns != nil {
		columns = append(columns, e.columns(v)...)
	}
	sets, args := make([]string, len(columns)), make([]any, len(columns), len(columns)+1)
	for i, c := range columns {
		sets[i], args[i] = c.name+" = ?", c.value
	}
	if _, err := t.Exec(ctx, "UPDATE "+e.table+" SET "+strings.Join(sets, ", ")+" WHERE id = ?", append(args, m.ID)...); err != nil {
		return fmt.Errorf("change %s: %w", e.noun, err)
	}
	if err := setLabels(ctx, t, e.kind, m.ID, was.Labels, m.Labels); err != nil || e.written == nil {
		return err
	}
	return e.written(ctx, t, v, before)
}

// lock reads a row that this transaction goes on to change.
func (e *entity[T]) lock(ctx context.Context, t db.Tx, id string) (*T, error) {
	if t.Postgres() { // SQLite has one writer, and this is it
		if _, err := t.Exec(ctx, "SELECT 1 FROM "+e.table+" WHERE id = ? FOR UPDATE", id); err != nil {
			return nil, err
		}
	}
	return e.get(ctx, t, id)
}

// get reads one row.
func (e *entity[T]) get(ctx context.Context, t db.Tx, id string) (*T, error) {
	return e.getBy(ctx, t, "id", id)
}

// getBy reads the one row that has a value in a column.
func (e *entity[T]) getBy(ctx context.Context, t db.Tx, column, value string) (*T, error) {
	found, err := e.query(ctx, t, " WHERE "+column+" = ?", value)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, db.NotFound(e.noun, value)
	}
	return found[0], nil
}

// query reads rows.
func (e *entity[T]) query(ctx context.Context, t db.Tx, rest string, args ...any) ([]*T, error) {
	var names []string
	for _, c := range e.all(new(T)) {
		names = append(names, e.table+"."+c.name)
	}
	var found []*T
	err := t.Each(ctx, "SELECT "+strings.Join(names, ", ")+" FROM "+e.table+rest, args, func(rows *sql.Rows) error {
		v := new(T)
		columns := e.all(v)
		into := make([]any, len(columns))
		for i, c := range columns {
			into[i] = c.into
		}
		found = append(found, v)
		return rows.Scan(into...)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.noun, err)
	}
	if e.fill != nil && len(found) > 0 {
		if err := e.fill(ctx, t, found); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.noun, err)
		}
	}
	return found, nil
}

// list reads a page of what a filter lets through.
func (e *entity[T]) list(ctx context.Context, t db.Tx, options api.ListOptions, visible rbac.Filter) (api.Page[T], error) {
	w := &db.Where{}
	w.Permitted(e.guarded(), visible)
	w.Options(e.guarded(), options, e.table+".name", e.table+".display_name", e.table+".description")
	order, err := db.NewOrder(options, e.table+".id", e.sorts)
	if err != nil {
		return api.Page[T]{}, err
	}
	page := api.Page[T]{Items: []T{}}
	if err := t.One(ctx, "SELECT COUNT(*) FROM "+e.table+w.String(), append([]any(nil), w.Args...), &page.Total); err != nil {
		return page, fmt.Errorf("count %s: %w", e.noun, err)
	}
	if page.Total == 0 {
		return page, nil
	}
	order.After(w)
	found, err := e.query(ctx, t, w.String()+order.Clause(), append(w.Args, order.Args()...)...)
	if err != nil {
		return page, err
	}
	if len(found) > order.Limit {
		found = found[:order.Limit]
		last := found[len(found)-1]
		page.NextCursor = order.Cursor(e.cell(last, order.Column), e.meta(last).ID)
	}
	for _, v := range found {
		page.Items = append(page.Items, *v)
	}
	return page, nil
}

// cell is the value of a column as the database has it.
func (e *entity[T]) cell(v *T, name string) any {
	for _, c := range e.all(v) {
		if e.table+"."+c.name == name {
			return db.Values([]any{c.value})[0]
		}
	}
	return nil
}

// remove deletes a row whose version is the one given, or any if that is 0,
// unless something refers to it and force is not set.
func (e *entity[T]) remove(ctx context.Context, t db.Tx, id string, options api.DeleteOptions) error {
	v, err := e.lock(ctx, t, id)
	if err != nil {
		return err
	}
	if present := e.meta(v).Version; options.Version != 0 && options.Version != present {
		return db.Stale(e.noun, id, options.Version, present)
	}
	if e.references != nil && !options.Force {
		by, err := e.references(ctx, t, v)
		if err != nil {
			return err
		}
		if len(by) > 0 {
			return db.Referenced(e.noun, id, by)
		}
	}
	return e.destroy(ctx, t, v)
}

// destroy deletes a row with its labels and all that goes with it.
func (e *entity[T]) destroy(ctx context.Context, t db.Tx, v *T) error {
	if e.release != nil {
		if err := e.release(ctx, t, v); err != nil {
			return err
		}
	}
	return e.drop(ctx, t, e.meta(v).ID)
}

// destroyAll deletes the rows that a query finds.
func (e *entity[T]) destroyAll(ctx context.Context, t db.Tx, condition string, args ...any) error {
	found, err := e.query(ctx, t, " WHERE "+condition, args...)
	for _, v := range found {
		err = errors.Join(err, e.destroy(ctx, t, v))
	}
	return err
}

// refs names the rows that a query finds, as many as an error needs.
func (e *entity[T]) refs(ctx context.Context, t db.Tx, condition string, args ...any) ([]api.Ref, error) {
	return refs(ctx, t, e.table, e.kind, condition, args...)
}

// refs names the rows of a table that a condition is true of, as many as are ever asked for; kind is api.Type….
func refs(ctx context.Context, t db.Tx, table, kind, condition string, args ...any) ([]api.Ref, error) {
	var found []api.Ref
	query := "SELECT id, scope FROM " + table + " WHERE " + condition + " ORDER BY id LIMIT 100"
	err := t.Each(ctx, query, args, func(rows *sql.Rows) error {
		ref := api.Ref{Type: kind}
		defer func() { found = append(found, ref) }()
		return rows.Scan(&ref.ID, (*string)(&ref.Scope))
	})
	return found, err
}

func (e *entity[T]) drop(ctx context.Context, t db.Tx, id string) error {
	if _, err := t.Exec(ctx, "DELETE FROM label WHERE type = ? AND id = ?", e.kind, id); err != nil {
		return err
	}
	if _, err := t.Exec(ctx, "DELETE FROM "+e.table+" WHERE id = ?", id); err != nil {
		return fmt.Errorf("delete %s: %w", e.noun, err)
	}
	return nil
}

// setLabels makes the rows that selectors are asked with say what labels are now.
func setLabels(ctx context.Context, t db.Tx, kind, id string, was, now map[string]string) error {
	for name, value := range was {
		if now[name] == value && hasKey(now, name) {
			continue
		}
		if _, err := t.Exec(ctx, "DELETE FROM label WHERE type = ? AND id = ? AND name = ?", kind, id, name); err != nil {
			return err
		}
	}
	for name, value := range now {
		if was[name] == value && hasKey(was, name) {
			continue
		}
		if _, err := t.Exec(ctx, "INSERT INTO label (type, id, name, value) VALUES (?, ?, ?, ?)", kind, id, name, value); err != nil {
			return err
		}
	}
	return nil
}

func hasKey(labels map[string]string, name string) bool {
	_, ok := labels[name]
	return ok
}

// column is one column of a row: what to write, and where to read it into.
type column struct {
	name  string
	value any
	into  any
}
