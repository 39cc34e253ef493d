package entity

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Entities keeps the entities of one noun. Each method is one transaction.
type Entities[T any] struct {
	DB   *db.DB
	Kind *Kind[T]
}

// Of keeps the entities of a kind in an open database.
func Of[T any](d *db.DB, kind *Kind[T]) Entities[T] { return Entities[T]{d, kind} }

// List gives what the filter lets through.
func (e Entities[T]) List(ctx context.Context, visible rbac.Filter, options api.ListOptions) (api.Page[T], error) {
	return db.Read(ctx, e.DB, func(t db.Tx) (api.Page[T], error) { return e.Kind.list(ctx, t, options, visible) })
}

// Get reads one; ErrNotFound where there is none.
func (e Entities[T]) Get(ctx context.Context, id string) (T, error) {
	return db.Read(ctx, e.DB, func(t db.Tx) (T, error) { return e.read(ctx, t, id) })
}

func (e Entities[T]) read(ctx context.Context, t db.Tx, id string) (v T, err error) {
	found, err := e.Kind.Get(ctx, t, id)
	if err == nil {
		v = *found
	}
	return v, err
}

// Create makes one and gives it back with id, version and times. ErrExists
// where there is one of that id.
func (e Entities[T]) Create(ctx context.Context, v T) (T, error) {
	return e.write(ctx, v, e.Kind.Insert)
}

// Update replaces what can change. ErrStale where the version is another one
// than that of v; 0 is any.
func (e Entities[T]) Update(ctx context.Context, v T) (T, error) {
	return e.write(ctx, v, e.Kind.update)
}

func (e Entities[T]) write(ctx context.Context, v T, do func(context.Context, db.Tx, *T) error) (T, error) {
	written, err := db.Write(ctx, e.DB, func(t db.Tx) (T, error) {
		made := v // a second try begins with what was handed in
		if err := do(ctx, t, &made); err != nil {
			return v, err
		}
		found, err := e.read(ctx, t, e.Kind.Meta(&made).ID)
		return found, FirstError(err, PolicyChanged(ctx, t, e.Kind.Kind))
	})
	if err != nil {
		return v, err
	}
	return written, nil
}

// Delete deletes one. ErrReferenced where something refers to it; with Force
// what refers to it goes too.
func (e Entities[T]) Delete(ctx context.Context, id string, options api.DeleteOptions) error {
	return e.DB.Write(ctx, func(t db.Tx) error {
		if err := e.Kind.Remove(ctx, t, id, options); err != nil {
			return err
		}
		return PolicyChanged(ctx, t, "")
	})
}

// FirstError returns the first of some errors.
func FirstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// SettingPolicy is the row whose version counts changes of what rights follow from.
const SettingPolicy = "policy"

// PolicyChanged notes that rights may be others from now on.
func PolicyChanged(ctx context.Context, t db.Tx, kind string) error {
	switch kind {
	case "", api.TypeRole, api.TypeResourceGroup, api.TypeBinding:
		return t.Run(ctx, "UPDATE setting SET version = version + 1 WHERE id = ?", SettingPolicy)
	}
	return nil
}

// checkScope checks that a scope exists, and keeps it from being deleted until
// the end of the transaction.
func checkScope(ctx context.Context, t db.Tx, scope api.Scope) error {
	if !scope.Valid() {
		return db.Invalid("scope", "scope %.150q is none: write account, org.<organization> or project.<organization>.<project>", scope)
	}
	org, project := scope.Org(), scope.Project()
	switch {
	case project != "":
		return Hold(ctx, t, "project", "project", api.ProjectID(org, project))
	case org != "":
		return Hold(ctx, t, "organization", "organization", org)
	}
	return nil
}

// Hold checks that a row exists, and keeps it from being deleted until the end
// of the transaction.
func Hold(ctx context.Context, t db.Tx, table, noun, id string) error {
	query := "SELECT 1 FROM " + table + " WHERE id = ?"
	if t.Postgres() {
		query += " FOR SHARE"
	}
	var one int64
	if err := t.One(ctx, query, []any{id}, &one); err != nil {
		return db.Missing(err, noun, id)
	}
	return nil
}

// Refers checks that a row which a field names exists, and keeps it from being
// deleted until the end of the transaction.
func Refers(ctx context.Context, t db.Tx, field, table, noun, id string) error {
	err := Hold(ctx, t, table, noun, id)
	if db.IsNotFound(err) {
		return db.Invalid(field, "%s %q does not exist", noun, id)
	}
	return err
}

// IDOfScope is the id of the organization or project that a scope is of.
func IDOfScope(scope api.Scope) string {
	if scope.Project() != "" {
		return api.ProjectID(scope.Org(), scope.Project())
	}
	return scope.Org()
}

// TypeOf is what rights call a kind of item.
func TypeOf(kind agentapi.ItemKind) string {
	switch kind {
	case agentapi.ItemRepoCreds:
		return api.TypeRepository
	case agentapi.ItemCertificate:
		return api.TypeCert
	}
	return string(kind)
}
