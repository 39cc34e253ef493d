package store

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// ResourceGroups keeps resource groups, the built-in one too.
func (s *Store) ResourceGroups() Entities[api.ResourceGroup] {
	return Entities[api.ResourceGroup]{s.DB, resourceGroups()}
}

func resourceGroups() *entity[api.ResourceGroup] {
	return &entity[api.ResourceGroup]{
		table: "resource_group", noun: "resource group", kind: api.TypeResourceGroup,
		meta: func(g *api.ResourceGroup) *api.Meta { return &g.Meta },
		id:   func(g *api.ResourceGroup) string { return g.Scope.ID(g.Name) },
		columns: func(g *api.ResourceGroup) []column {
			return []column{
				{"types", db.Encode(g.Types), db.Decode(&g.Types)},
				{"everything", g.All, &g.All},
				{"ids", db.Encode(g.IDs), db.Decode(&g.IDs)},
				{"selectors", db.Encode(g.Selectors), db.Decode(&g.Selectors)},
			}
		},
		fixed: func(g *api.ResourceGroup) []column { return []column{{"built_in", g.BuiltIn, &g.BuiltIn}} },
		sorts: entitySorts("resource_group"),
		prepare: func(ctx context.Context, _ db.Tx, g, before *api.ResourceGroup) error {
			if before != nil && before.BuiltIn {
				return builtIn("resource group", g.ID)
			}
			return nil
		},
		references: func(ctx context.Context, t db.Tx, g *api.ResourceGroup) ([]api.Ref, error) {
			return bindings().refs(ctx, t, "resource_group = ?", g.ID)
		},
		release: func(ctx context.Context, t db.Tx, g *api.ResourceGroup) error {
			if g.BuiltIn {
				return builtIn("resource group", g.ID)
			}
			return bindings().destroyAll(ctx, t, "resource_group = ?", g.ID)
		},
	}
}
