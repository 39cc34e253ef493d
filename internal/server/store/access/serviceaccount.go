package access

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// ServiceAccounts keeps service accounts.
type ServiceAccounts struct {
	entity.Entities[api.ServiceAccount]
	db *db.DB
}

func newServiceAccounts(d *db.DB) *ServiceAccounts {
	return &ServiceAccounts{entity.Of(d, AccountKind()), d}
}

// AccountKind describes how service accounts are kept.
func AccountKind() *entity.Kind[api.ServiceAccount] {
	return &entity.Kind[api.ServiceAccount]{
		Table: "service_account", Noun: "service account", Kind: api.TypeServiceAccount,
		Columns: func(a *api.ServiceAccount) []entity.Column {
			return []entity.Column{{Name: "disabled", Value: a.Disabled, Into: &a.Disabled}}
		},
		References: func(ctx context.Context, t db.Tx, a *api.ServiceAccount) ([]api.Ref, error) {
			return bindingsOf(ctx, t, api.PrincipalServiceAccount, a.ID)
		},
		Release: func(ctx context.Context, t db.Tx, a *api.ServiceAccount) error {
			return releasePrincipal(ctx, t, api.PrincipalServiceAccount, a.ID)
		},
	}
}

// AuthServiceAccount reads a service account. It is in no group: those have
// users.
func (s *ServiceAccounts) AuthServiceAccount(ctx context.Context, id string) (api.ServiceAccount, []string, error) {
	account, err := s.Get(ctx, id)
	return account, nil, err
}
