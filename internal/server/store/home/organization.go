package home

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/access"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
	"github.com/slipway-gitops/slipway/internal/server/store/notice"
)

func organizations() *entity.Kind[api.Organization] {
	return &entity.Kind[api.Organization]{
		Table: "organization", Noun: "organization", Kind: api.TypeOrganization,
		ID: func(o *api.Organization) string { return o.Name },
		Home: func(o *api.Organization) (api.Scope, error) {
			own := api.OrgScope(o.Name)
			if o.Scope != api.ScopeAccount && o.Scope != own {
				return "", db.Invalid("scope", "an organization is at its own scope, %s: leave the scope out", own)
			}
			o.Scope = own
			return api.ScopeAccount, nil
		},
		References: func(ctx context.Context, t db.Tx, o *api.Organization) ([]api.Ref, error) {
			return belowScope(ctx, t, api.OrgScope(o.Name))
		},
		Release: func(ctx context.Context, t db.Tx, o *api.Organization) error {
			return clearScope(ctx, t, api.OrgScope(o.Name))
		},
	}
}

// below names what is at a scope and below it, but for the scope itself.
func belowScope(ctx context.Context, t db.Tx, scope api.Scope) ([]api.Ref, error) {
	var all []api.Ref
	for _, find := range []func(context.Context, db.Tx, string, ...any) ([]api.Ref, error){
		projects().Refs, fleet.AgentKind().Refs, access.Groups().Refs, access.AccountKind().Refs, access.Roles().Refs,
		access.ResourceGroups().Refs, access.Bindings().Refs,
		delivery.Services().Refs, delivery.Environments().Refs, notice.NotificationRules().Refs, notice.Channels().Refs,
	} {
		condition, args := db.CompileScope("scope", db.ScopeOf(scope))
		found, err := find(ctx, t, condition+" AND id <> ?", append(args, entity.IDOfScope(scope))...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// clear deletes what is at a scope and below it, but for the scope itself.
func clearScope(ctx context.Context, t db.Tx, scope api.Scope) error {
	var all []error
	for _, destroy := range []func(context.Context, db.Tx, string, ...any) error{
		notice.NotificationRules().DestroyAll, notice.Channels().DestroyAll, access.Bindings().DestroyAll, access.ResourceGroups().DestroyAll,
		access.Roles().DestroyAll, access.AccountKind().DestroyAll,
		access.Groups().DestroyAll, delivery.Environments().DestroyAll, delivery.Services().DestroyAll, fleet.AgentKind().DestroyAll,
		projects().DestroyAll,
	} {
		condition, args := db.CompileScope("scope", db.ScopeOf(scope))
		all = append(all, destroy(ctx, t, condition+" AND id <> ?", append(args, entity.IDOfScope(scope))...))
	}
	return errors.Join(all...)
}
