package access

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Bindings describes how bindings are kept.
func Bindings() *entity.Kind[api.Binding] {
	return &entity.Kind[api.Binding]{
		Table: "binding", Noun: "binding", Kind: api.TypeBinding,
		Columns: func(b *api.Binding) []entity.Column {
			return []entity.Column{
				{Name: "principal_type", Value: b.Principal.Type, Into: &b.Principal.Type},
				{Name: "principal_id", Value: b.Principal.ID, Into: &b.Principal.ID},
				{Name: "role", Value: b.Role, Into: &b.Role},
				{Name: "resource_group", Value: b.ResourceGroup, Into: &b.ResourceGroup},
			}
		},
		Sorts: map[string]string{"role": "binding.role", "principal": "binding.principal_id"},
		// What it refers to must be there, and stay until this is written.
		Prepare: func(ctx context.Context, t db.Tx, b, _ *api.Binding) error {
			if b.ResourceGroup == "" {
				b.ResourceGroup = api.AllResources
			}
			table := map[string]string{
				api.PrincipalUser: "person", api.PrincipalGroup: "team", api.PrincipalServiceAccount: "service_account",
			}[b.Principal.Type]
			if table == "" {
				return db.Invalid("principal.type", "principal %.80q is none: write user, group or serviceaccount", b.Principal.Type)
			}
			return entity.FirstError(
				entity.Refers(ctx, t, "principal.id", table, b.Principal.Type, b.Principal.ID),
				entity.Refers(ctx, t, "role", "role", "role", b.Role),
				entity.Refers(ctx, t, "resourceGroup", "resource_group", "resource group", b.ResourceGroup),
			)
		},
	}
}

// Grants reads what rights follow from, for rbac.NewPolicy; without what comes
// with the server.
func (s *Rights) Grants(ctx context.Context) (roleList []api.Role, groupList []api.ResourceGroup, bindingList []api.Binding, err error) {
	err = s.db.Read(ctx, func(t db.Tx) (err error) {
		if roleList, err = everything(ctx, t, Roles(), "built_in = 0"); err != nil {
			return err
		}
		if groupList, err = everything(ctx, t, ResourceGroups(), "built_in = 0"); err != nil {
			return err
		}
		bindingList, err = everything(ctx, t, Bindings(), "1 = 1")
		return err
	})
	return roleList, groupList, bindingList, err
}

func everything[T any](ctx context.Context, t db.Tx, e *entity.Kind[T], condition string) ([]T, error) {
	found, err := e.Query(ctx, t, " WHERE "+condition+" ORDER BY id")
	list := make([]T, 0, len(found))
	for _, v := range found {
		list = append(list, *v)
	}
	return list, err
}

// GrantsVersion counts the changes of what Grants reads: a policy made of an
// older one is out of date.
func (s *Rights) GrantsVersion(ctx context.Context) (version int64, err error) {
	err = s.db.One(ctx, "SELECT version FROM setting WHERE id = ?", []any{entity.SettingPolicy}, &version)
	return version, err
}
