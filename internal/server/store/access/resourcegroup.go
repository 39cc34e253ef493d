package access

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// ResourceGroups describes how resource groups are kept.
func ResourceGroups() *entity.Kind[api.ResourceGroup] {
	return &entity.Kind[api.ResourceGroup]{
		Table: "resource_group", Noun: "resource group", Kind: api.TypeResourceGroup,
		Columns: func(g *api.ResourceGroup) []entity.Column {
			return []entity.Column{
				{Name: "types", Value: db.Encode(g.Types), Into: db.Decode(&g.Types)},
				{Name: "everything", Value: g.All, Into: &g.All},
				{Name: "ids", Value: db.Encode(g.IDs), Into: db.Decode(&g.IDs)},
				{Name: "selectors", Value: db.Encode(g.Selectors), Into: db.Decode(&g.Selectors)},
			}
		},
		Fixed: func(g *api.ResourceGroup) []entity.Column {
			return []entity.Column{{Name: "built_in", Value: g.BuiltIn, Into: &g.BuiltIn}}
		},
		Prepare: func(ctx context.Context, _ db.Tx, g, before *api.ResourceGroup) error {
			if before != nil && before.BuiltIn {
				return builtIn("resource group", g.ID)
			}
			return nil
		},
		References: func(ctx context.Context, t db.Tx, g *api.ResourceGroup) ([]api.Ref, error) {
			return Bindings().Refs(ctx, t, "resource_group = ?", g.ID)
		},
		Release: func(ctx context.Context, t db.Tx, g *api.ResourceGroup) error {
			if g.BuiltIn {
				return builtIn("resource group", g.ID)
			}
			return Bindings().DestroyAll(ctx, t, "resource_group = ?", g.ID)
		},
	}
}
