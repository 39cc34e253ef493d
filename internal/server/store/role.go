package store

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Roles keeps roles, the built-in ones too.
func (s *Store) Roles() Entities[api.Role] { return Entities[api.Role]{s.DB, roles()} }

func roles() *entity[api.Role] {
	return &entity[api.Role]{
		table: "role", noun: "role", kind: api.TypeRole,
		meta: func(r *api.Role) *api.Meta { return &r.Meta },
		id:   func(r *api.Role) string { return r.Scope.ID(r.Name) },
		columns: func(r *api.Role) []column {
			return []column{{"permissions", db.Encode(r.Permissions), db.Decode(&r.Permissions)}}
		},
		fixed: func(r *api.Role) []column { return []column{{"built_in", r.BuiltIn, &r.BuiltIn}} },
		sorts: entitySorts("role"),
		prepare: func(ctx context.Context, _ db.Tx, r, before *api.Role) error {
			if before != nil && before.BuiltIn {
				return builtIn("role", r.ID)
			}
			return nil
		},
		references: func(ctx context.Context, t db.Tx, r *api.Role) ([]api.Ref, error) {
			return bindings().refs(ctx, t, "role = ?", r.ID)
		},
		release: func(ctx context.Context, t db.Tx, r *api.Role) error {
			if r.BuiltIn {
				return builtIn("role", r.ID)
			}
			return bindings().destroyAll(ctx, t, "role = ?", r.ID)
		},
	}
}

func builtIn(noun, id string) error {
	return db.Invalid("", "%s %s comes with the server and cannot be changed or deleted: make one of your own", noun, id)
}

// writeBuiltins makes the rows of what comes with the server say what this
// program means by them.
func (s *Store) writeBuiltins(ctx context.Context) error {
	return s.Write(ctx, func(t db.Tx) error {
		// Of several servers that start, one does it and the others wait.
		if _, err := t.Exec(ctx, "UPDATE setting SET version = version WHERE id = ?", settingPolicy); err != nil {
			return err
		}
		for _, r := range rbac.BuiltinRoles() {
			err := writeBuiltin(ctx, t, roles(), r, func(found *api.Role) bool {
				return slices.Equal(found.Permissions, r.Permissions) && found.DisplayName == r.DisplayName && found.Description == r.Description
			})
			if err != nil {
				return err
			}
		}
		for _, g := range rbac.BuiltinResourceGroups() {
			err := writeBuiltin(ctx, t, resourceGroups(), g, func(found *api.ResourceGroup) bool { return found.All })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func writeBuiltin[T any](ctx context.Context, t db.Tx, e *entity[T], v T, same func(*T) bool) error {
	id := e.meta(&v).ID
	found, err := e.get(ctx, t, id)
	if err == nil && same(found) || err != nil && !db.IsNotFound(err) {
		return err
	}
	if err == nil {
		if err := e.drop(ctx, t, id); err != nil {
			return err
		}
	}
	if err := e.insert(ctx, t, &v); err != nil {
		return err
	}
	return policyChanged(ctx, t, e.kind)
}
