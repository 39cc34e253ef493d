package access

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Roles describes how roles are kept.
func Roles() *entity.Kind[api.Role] {
	return &entity.Kind[api.Role]{
		Table: "role", Noun: "role", Kind: api.TypeRole,
		Columns: func(r *api.Role) []entity.Column {
			return []entity.Column{{Name: "permissions", Value: db.Encode(r.Permissions), Into: db.Decode(&r.Permissions)}}
		},
		Fixed: func(r *api.Role) []entity.Column {
			return []entity.Column{{Name: "built_in", Value: r.BuiltIn, Into: &r.BuiltIn}}
		},
		Prepare: func(ctx context.Context, _ db.Tx, r, before *api.Role) error {
			if before != nil && before.BuiltIn {
				return builtIn("role", r.ID)
			}
			return nil
		},
		References: func(ctx context.Context, t db.Tx, r *api.Role) ([]api.Ref, error) {
			return Bindings().Refs(ctx, t, "role = ?", r.ID)
		},
		Release: func(ctx context.Context, t db.Tx, r *api.Role) error {
			if r.BuiltIn {
				return builtIn("role", r.ID)
			}
			return Bindings().DestroyAll(ctx, t, "role = ?", r.ID)
		},
	}
}

func builtIn(noun, id string) error {
	return db.Invalid("", "%s %s comes with the server and cannot be changed or deleted: make one of your own", noun, id)
}

// writeBuiltins makes the rows of what comes with the server say what this
// program means by them.
func (s *Rights) writeBuiltins(ctx context.Context) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		// Of several servers that start, one does it and the others wait.
		if err := t.Run(ctx, "UPDATE setting SET version = version WHERE id = ?", entity.SettingPolicy); err != nil {
			return err
		}
		for _, r := range rbac.BuiltinRoles() {
			err := writeBuiltin(ctx, t, Roles(), r, func(found *api.Role) bool {
				return slices.Equal(found.Permissions, r.Permissions) && found.DisplayName == r.DisplayName && found.Description == r.Description
			})
			if err != nil {
				return err
			}
		}
		for _, g := range rbac.BuiltinResourceGroups() {
			err := writeBuiltin(ctx, t, ResourceGroups(), g, func(found *api.ResourceGroup) bool { return found.All })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func writeBuiltin[T any](ctx context.Context, t db.Tx, e *entity.Kind[T], v T, same func(*T) bool) error {
	id := e.Meta(&v).ID
	found, err := e.Get(ctx, t, id)
	if err == nil && same(found) || err != nil && !db.IsNotFound(err) {
		return err
	}
	if err == nil {
		if err := e.Drop(ctx, t, id); err != nil {
			return err
		}
	}
	if err := e.Insert(ctx, t, &v); err != nil {
		return err
	}
	return entity.PolicyChanged(ctx, t, e.Kind)
}
