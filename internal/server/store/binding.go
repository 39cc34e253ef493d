package store

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Bindings keeps bindings.
func (s *Store) Bindings() Entities[api.Binding] { return Entities[api.Binding]{s.DB, bindings()} }

func bindings() *entity[api.Binding] {
	return &entity[api.Binding]{
		table: "binding", noun: "binding", kind: api.TypeBinding,
		meta: func(b *api.Binding) *api.Meta { return &b.Meta },
		id:   func(b *api.Binding) string { return b.Scope.ID(b.Name) },
		columns: func(b *api.Binding) []column {
			return []column{
				{"principal_type", b.Principal.Type, &b.Principal.Type},
				{"principal_id", b.Principal.ID, &b.Principal.ID},
				{"role", b.Role, &b.Role},
				{"resource_group", b.ResourceGroup, &b.ResourceGroup},
			}
		},
		sorts: bindingSorts(),
		// What it refers to must be there, and stay until this is written.
		prepare: func(ctx context.Context, t db.Tx, b, _ *api.Binding) error {
			if b.ResourceGroup == "" {
				b.ResourceGroup = api.AllResources
			}
			table := map[string]string{
				api.PrincipalUser: "person", api.PrincipalGroup: "team", api.PrincipalServiceAccount: "service_account",
			}[b.Principal.Type]
			if table == "" {
				return db.Invalid("principal.type", "principal %.80q is none: write user, group or serviceaccount", b.Principal.Type)
			}
			return firstError(
				refers(ctx, t, "principal.id", table, b.Principal.Type, b.Principal.ID),
				refers(ctx, t, "role", "role", "role", b.Role),
				refers(ctx, t, "resourceGroup", "resource_group", "resource group", b.ResourceGroup),
			)
		},
	}
}

func bindingSorts() map[string]string {
	sorts := entitySorts("binding")
	sorts["role"], sorts["principal"] = "binding.role", "binding.principal_id"
	return sorts
}

// Grants reads what rights follow from, for rbac.NewPolicy; without what comes
// with the server.
func (s *Store) Grants(ctx context.Context) (roleList []api.Role, groupList []api.ResourceGroup, bindingList []api.Binding, err error) {
	err = s.Read(ctx, func(t db.Tx) (err error) {
		if roleList, err = everything(ctx, t, roles(), "built_in = 0"); err != nil {
			return err
		}
		if groupList, err = everything(ctx, t, resourceGroups(), "built_in = 0"); err != nil {
			return err
		}
		bindingList, err = everything(ctx, t, bindings(), "1 = 1")
		return err
	})
	return roleList, groupList, bindingList, err
}

func everything[T any](ctx context.Context, t db.Tx, e *entity[T], condition string) ([]T, error) {
	found, err := e.query(ctx, t, " WHERE "+condition+" ORDER BY id")
	list := make([]T, 0, len(found))
	for _, v := range found {
		list = append(list, *v)
	}
	return list, err
}

// GrantsVersion counts the changes of what Grants reads: a policy made of an
// older one is out of date.
func (s *Store) GrantsVersion(ctx context.Context) (version int64, err error) {
	err = s.Read(ctx, func(t db.Tx) error {
		return t.One(ctx, "SELECT version FROM setting WHERE id = ?", []any{settingPolicy}, &version)
	})
	return version, err
}
