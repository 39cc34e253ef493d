// Package entity says how things are kept that have an api.Meta: by a description of each kind, its columns and what goes with it.
package entity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Kind describes how one type of thing with an api.Meta is kept.
type Kind[T any] struct {
	Table string
	Noun  string // for people
	Kind  string // api.Type…; what the table label calls it
	// ID makes the id from what is in the value. Nil: from scope and name.
	ID func(*T) string
	// Home sets Meta.Scope where it is not what was asked for, and returns the
	// scope that a value is made in. Nil: they are the same.
	Home func(*T) (api.Scope, error)
	// Columns are those beyond Meta, which an update may change.
	Columns func(*T) []Column
	// Fixed are those that an update leaves alone.
	Fixed func(*T) []Column
	// Fill adds what is in other tables, when all rows are read.
	Fill func(context.Context, db.Tx, []*T) error
	// Prepare checks a value and puts it in shape before it is written; before
	// is what it replaces, or nil.
	Prepare func(ctx context.Context, t db.Tx, v, before *T) error
	// Written does what is to be done in other tables after it.
	Written func(ctx context.Context, t db.Tx, v, before *T) error
	// References finds what refers to a value that is to be deleted.
	References func(context.Context, db.Tx, *T) ([]api.Ref, error)
	// Release deletes what goes with a value, its references too.
	Release func(context.Context, db.Tx, *T) error
	// Sorts are the columns that a list can be sorted by beside those of Meta, by their names in the API.
	Sorts map[string]string
}

// Meta is that of a value.
func (e *Kind[T]) Meta(v *T) *api.Meta {
	of, _ := any(v).(interface{ Base() *api.Meta }) // T has it embedded
	return of.Base()
}

// Sorting is what lists can be sorted by.
func (e *Kind[T]) Sorting() map[string]string {
	all := map[string]string{
		"name": e.Table + ".name", "displayName": e.Table + ".display_name", "createdAt": e.Table + ".created_at",
		"updatedAt": e.Table + ".updated_at",
	}
	maps.Copy(all, e.Sorts)
	return all
}

// Guarded is the table, for rights.
func (e *Kind[T]) Guarded() db.Guarded {
	return db.Guarded{Name: e.Table, Of: e.Kind, Kind: e.Kind}
}

// all are the columns of a row, those of Meta first.
func (e *Kind[T]) all(v *T) []Column {
	m := e.Meta(v)
	columns := []Column{
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
	if e.Fixed != nil {
		columns = append(columns, e.Fixed(v)...)
	}
	if e.Columns != nil {
		columns = append(columns, e.Columns(v)...)
	}
	return columns
}

// Insert makes a row and sets what the store decides: id, version and times.
func (e *Kind[T]) Insert(ctx context.Context, t db.Tx, v *T) error {
	m := e.Meta(v)
	if m.Scope == "" {
		m.Scope = api.ScopeAccount
	}
	in := m.Scope
	if e.Home != nil {
		var err error
		if in, err = e.Home(v); err != nil {
			return err
		}
	}
	if m.ID, m.Version = m.Scope.ID(m.Name), 1; e.ID != nil {
		m.ID = e.ID(v)
	}
	if err := checkScope(ctx, t, in); err != nil {
		return err
	}
	if e.Prepare != nil {
		if err := e.Prepare(ctx, t, v, nil); err != nil {
			return err
		}
	}
	m.CreatedAt, m.UpdatedAt = db.Moment(t.Now), db.Moment(t.Now)
	columns := e.all(v)
	names, args := make([]string, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		names[i], args[i] = c.Name, c.Value
	}
	_, err := t.Exec(ctx, "INSERT INTO "+e.Table+" ("+strings.Join(names, ", ")+") VALUES ("+db.Marks(len(names))+")", args...)
	if errors.Is(err, db.ErrExists) {
		return db.Exists(e.Noun, m.ID)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", e.Noun, err)
	}
	if err := setLabels(ctx, t, e.Kind, m.ID, nil, m.Labels); err != nil || e.Written == nil {
		return err
	}
	return e.Written(ctx, t, v, nil)
}

// update writes what may change of a row whose version is the one of v, or any
// if that is 0, and reads all of it into v.
func (e *Kind[T]) update(ctx context.Context, t db.Tx, v *T) error {
	m := e.Meta(v)
	before, err := e.Lock(ctx, t, m.ID)
	if err != nil {
		return err
	}
	was := e.Meta(before)
	if m.Version != 0 && m.Version != was.Version {
		return db.Stale(e.Noun, m.ID, m.Version, was.Version)
	}
	m.Name, m.Scope, m.CreatedAt = was.Name, was.Scope, was.CreatedAt
	m.Version, m.UpdatedAt = was.Version+1, db.Moment(t.Now)
	if e.Prepare != nil {
		if err := e.Prepare(ctx, t, v, before); err != nil {
			return err
		}
	}
	columns := []Column{
		{Name: "display_name", Value: m.DisplayName},
		{Name: "description", Value: m.Description},
		{Name: "labels", Value: db.Encode(m.Labels)},
		{Name: "version", Value: m.Version},
		{Name: "updated_at", Value: m.UpdatedAt},
	}
	if e.Columns != nil {
		columns = append(columns, e.Columns(v)...)
	}
	sets, args := make([]string, len(columns)), make([]any, len(columns), len(columns)+1)
	for i, c := range columns {
		sets[i], args[i] = c.Name+" = ?", c.Value
	}
	if err := t.Run(ctx, "UPDATE "+e.Table+" SET "+strings.Join(sets, ", ")+" WHERE id = ?", append(args, m.ID)...); err != nil {
		return fmt.Errorf("change %s: %w", e.Noun, err)
	}
	if err := setLabels(ctx, t, e.Kind, m.ID, was.Labels, m.Labels); err != nil || e.Written == nil {
		return err
	}
	return e.Written(ctx, t, v, before)
}

// Lock reads a row that this transaction goes on to change.
func (e *Kind[T]) Lock(ctx context.Context, t db.Tx, id string) (*T, error) {
	if t.Postgres() { // SQLite has one writer, and this is it
		if err := t.Run(ctx, "SELECT 1 FROM "+e.Table+" WHERE id = ? FOR UPDATE", id); err != nil {
			return nil, err
		}
	}
	return e.Get(ctx, t, id)
}

// Get reads one row.
func (e *Kind[T]) Get(ctx context.Context, t db.Tx, id string) (*T, error) {
	return e.getBy(ctx, t, "id", id)
}

// getBy reads the one row that has a value in a column.
func (e *Kind[T]) getBy(ctx context.Context, t db.Tx, column, value string) (*T, error) {
	found, err := e.Query(ctx, t, " WHERE "+column+" = ?", value)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, db.NotFound(e.Noun, value)
	}
	return found[0], nil
}

// Query reads rows.
func (e *Kind[T]) Query(ctx context.Context, t db.Tx, rest string, args ...any) ([]*T, error) {
	var names []string
	for _, c := range e.all(new(T)) {
		names = append(names, e.Table+"."+c.Name)
	}
	found, err := db.Collect(ctx, t, "SELECT "+strings.Join(names, ", ")+" FROM "+e.Table+rest, args, func(row db.Row, v **T) error {
		*v = new(T)
		var into []any
		for _, c := range e.all(*v) {
			into = append(into, c.Into)
		}
		return row.Scan(into...)
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", e.Noun, err)
	}
	if e.Fill != nil && len(found) > 0 {
		if err := e.Fill(ctx, t, found); err != nil {
			return nil, fmt.Errorf("read %s: %w", e.Noun, err)
		}
	}
	return found, nil
}

// list reads a page of what a filter lets through.
func (e *Kind[T]) list(ctx context.Context, t db.Tx, options api.ListOptions, visible rbac.Filter) (api.Page[T], error) {
	w := &db.Where{}
	w.Permitted(e.Guarded(), visible)
	w.Options(e.Guarded(), options, e.Table+".name", e.Table+".display_name", e.Table+".description")
	order, err := db.NewOrder(options, e.Table+".id", e.Sorting())
	if err != nil {
		return api.Page[T]{}, err
	}
	page := api.Page[T]{Items: []T{}}
	if err := t.One(ctx, "SELECT COUNT(*) FROM "+e.Table+w.String(), append([]any(nil), w.Args...), &page.Total); err != nil {
		return page, fmt.Errorf("count %s: %w", e.Noun, err)
	}
	if page.Total == 0 {
		return page, nil
	}
	order.After(w)
	found, err := e.Query(ctx, t, w.String()+order.Clause(), append(w.Args, order.Args()...)...)
	if err != nil {
		return page, err
	}
	if len(found) > order.Limit {
		found = found[:order.Limit]
		last := found[len(found)-1]
		page.NextCursor = order.Cursor(e.cell(last, order.Column), e.Meta(last).ID)
	}
	for _, v := range found {
		page.Items = append(page.Items, *v)
	}
	return page, nil
}

// cell is the value of a column as the database has it.
func (e *Kind[T]) cell(v *T, name string) any {
	for _, c := range e.all(v) {
		if e.Table+"."+c.Name == name {
			return db.Values([]any{c.Value})[0]
		}
	}
	return nil
}

// Remove deletes a row whose version is the one given, or any if that is 0,
// unless something refers to it and force is not set.
func (e *Kind[T]) Remove(ctx context.Context, t db.Tx, id string, options api.DeleteOptions) error {
	v, err := e.Lock(ctx, t, id)
	if err != nil {
		return err
	}
	if present := e.Meta(v).Version; options.Version != 0 && options.Version != present {
		return db.Stale(e.Noun, id, options.Version, present)
	}
	if e.References != nil && !options.Force {
		by, err := e.References(ctx, t, v)
		if err != nil {
			return err
		}
		if len(by) > 0 {
			return db.Referenced(e.Noun, id, by)
		}
	}
	return e.destroy(ctx, t, v)
}

// destroy deletes a row with its labels and all that goes with it.
func (e *Kind[T]) destroy(ctx context.Context, t db.Tx, v *T) error {
	if e.Release != nil {
		if err := e.Release(ctx, t, v); err != nil {
			return err
		}
	}
	return e.Drop(ctx, t, e.Meta(v).ID)
}

// DestroyAll deletes the rows that a query finds.
func (e *Kind[T]) DestroyAll(ctx context.Context, t db.Tx, condition string, args ...any) error {
	found, err := e.Query(ctx, t, " WHERE "+condition, args...)
	for _, v := range found {
		err = errors.Join(err, e.destroy(ctx, t, v))
	}
	return err
}

// Refs names the rows that a query finds, as many as an error needs.
func (e *Kind[T]) Refs(ctx context.Context, t db.Tx, condition string, args ...any) ([]api.Ref, error) {
	return Refs(ctx, t, e.Table, e.Kind, condition, args...)
}

// Refs names the rows of a table that a condition is true of, as many as are ever asked for; kind is api.Type….
func Refs(ctx context.Context, t db.Tx, table, kind, condition string, args ...any) ([]api.Ref, error) {
	query := "SELECT id, scope FROM " + table + " WHERE " + condition + " ORDER BY id LIMIT 100"
	return db.Collect(ctx, t, query, args, func(row db.Row, ref *api.Ref) error {
		ref.Type = kind
		return row.Scan(&ref.ID, (*string)(&ref.Scope))
	})
}

// Drop deletes a row and its labels, without a look at what refers to it.
func (e *Kind[T]) Drop(ctx context.Context, t db.Tx, id string) error {
	if err := t.Run(ctx, "DELETE FROM label WHERE type = ? AND id = ?", e.Kind, id); err != nil {
		return err
	}
	if err := t.Run(ctx, "DELETE FROM "+e.Table+" WHERE id = ?", id); err != nil {
		return fmt.Errorf("delete %s: %w", e.Noun, err)
	}
	return nil
}

// setLabels makes the rows that selectors are asked with say what labels are now.
func setLabels(ctx context.Context, t db.Tx, kind, id string, was, now map[string]string) error {
	for name, value := range was {
		if now[name] == value && hasKey(now, name) {
			continue
		}
		if err := t.Run(ctx, "DELETE FROM label WHERE type = ? AND id = ? AND name = ?", kind, id, name); err != nil {
			return err
		}
	}
	for name, value := range now {
		if was[name] == value && hasKey(was, name) {
			continue
		}
		if err := t.Run(ctx, "INSERT INTO label (type, id, name, value) VALUES (?, ?, ?, ?)", kind, id, name, value); err != nil {
			return err
		}
	}
	return nil
}

// ByID are things by their ids, and these.
func ByID[T interface{ Base() *api.Meta }](list []T) (byID map[string]T, ids []string) {
	byID = make(map[string]T, len(list))
	for _, v := range list {
		byID[v.Base().ID], ids = v, append(ids, v.Base().ID)
	}
	return byID, ids
}

func hasKey(labels map[string]string, name string) bool {
	_, ok := labels[name]
	return ok
}

// Column is one column of a row: what to write, and where to read it into.
type Column struct {
	Name  string
	Value any
	Into  any
}
