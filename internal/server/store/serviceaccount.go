package store

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// ServiceAccounts keeps service accounts.
func (s *Store) ServiceAccounts() Entities[api.ServiceAccount] {
	return Entities[api.ServiceAccount]{s.DB, serviceAccounts()}
}

func serviceAccounts() *entity[api.ServiceAccount] {
	return &entity[api.ServiceAccount]{
		table: "service_account", noun: "service account", kind: api.TypeServiceAccount,
		meta:    func(a *api.ServiceAccount) *api.Meta { return &a.Meta },
		id:      func(a *api.ServiceAccount) string { return a.Scope.ID(a.Name) },
		columns: func(a *api.ServiceAccount) []column { return []column{{"disabled", a.Disabled, &a.Disabled}} },
		sorts:   entitySorts("service_account"),
		references: func(ctx context.Context, t db.Tx, a *api.ServiceAccount) ([]api.Ref, error) {
			return bindings().refs(ctx, t, "principal_type = ? AND principal_id = ?", api.PrincipalServiceAccount, a.ID)
		},
		release: func(ctx context.Context, t db.Tx, a *api.ServiceAccount) error {
			return releasePrincipal(ctx, t, api.PrincipalServiceAccount, a.ID)
		},
	}
}

// AuthServiceAccount reads a service account. It is in no group: those have
// users.
func (s *Store) AuthServiceAccount(ctx context.Context, id string) (api.ServiceAccount, []string, error) {
	account, err := s.ServiceAccounts().Get(ctx, id)
	return account, nil, err
}
