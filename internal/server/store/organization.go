package store

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Organizations keeps organizations.
func (s *Store) Organizations() Entities[api.Organization] {
	return Entities[api.Organization]{s.DB, organizations()}
}

func organizations() *entity[api.Organization] {
	return &entity[api.Organization]{
		table: "organization", noun: "organization", kind: api.TypeOrganization,
		meta:  func(o *api.Organization) *api.Meta { return &o.Meta },
		id:    func(o *api.Organization) string { return o.Name },
		sorts: entitySorts("organization"),
		home: func(o *api.Organization) (api.Scope, error) {
			own := api.OrgScope(o.Name)
			if o.Scope != api.ScopeAccount && o.Scope != own {
				return "", db.Invalid("scope", "an organization is at its own scope, %s: leave the scope out", own)
			}
			o.Scope = own
			return api.ScopeAccount, nil
		},
		references: func(ctx context.Context, t db.Tx, o *api.Organization) ([]api.Ref, error) {
			return belowScope(ctx, t, api.OrgScope(o.Name))
		},
		release: func(ctx context.Context, t db.Tx, o *api.Organization) error {
			return clearScope(ctx, t, api.OrgScope(o.Name))
		},
	}
}

// below names what is at a scope and below it, but for the scope itself.
func belowScope(ctx context.Context, t db.Tx, scope api.Scope) ([]api.Ref, error) {
	var all []api.Ref
	for _, find := range []func(context.Context, db.Tx, string, ...any) ([]api.Ref, error){
		projects().refs, agents().refs, groups().refs, serviceAccounts().refs, roles().refs, resourceGroups().refs, bindings().refs,
		services().refs, environments().refs, notificationRules().refs, channels().refs,
	} {
		condition, args := db.CompileScope("scope", db.ScopeOf(scope))
		found, err := find(ctx, t, condition+" AND id <> ?", append(args, idOfScope(scope))...)
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
		notificationRules().destroyAll, channels().destroyAll, bindings().destroyAll, resourceGroups().destroyAll, roles().destroyAll, serviceAccounts().destroyAll,
		groups().destroyAll, environments().destroyAll, services().destroyAll, agents().destroyAll, projects().destroyAll,
	} {
		condition, args := db.CompileScope("scope", db.ScopeOf(scope))
		all = append(all, destroy(ctx, t, condition+" AND id <> ?", append(args, idOfScope(scope))...))
	}
	return errors.Join(all...)
}
