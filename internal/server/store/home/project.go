package home

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

func projects() *entity.Kind[api.Project] {
	return &entity.Kind[api.Project]{
		Table: "project", Noun: "project", Kind: api.TypeProject,
		ID: func(p *api.Project) string { return api.ProjectID(p.Organization, p.Name) },
		Fixed: func(p *api.Project) []entity.Column {
			return []entity.Column{{Name: "organization", Value: p.Organization, Into: &p.Organization}}
		},
		Home: func(p *api.Project) (api.Scope, error) {
			if p.Organization == "" {
				p.Organization = p.Scope.Org()
			}
			if p.Organization == "" {
				return "", db.Invalid("organization", "a project belongs to an organization: name it")
			}
			above, own := api.OrgScope(p.Organization), api.ProjectScope(p.Organization, p.Name)
			if p.Scope != api.ScopeAccount && p.Scope != above && p.Scope != own {
				return "", db.Invalid("scope", "project %s of organization %s is at its own scope, %s: leave the scope out", p.Name,
					p.Organization, own)
			}
			p.Scope = own
			return above, nil
		},
		Prepare: func(_ context.Context, _ db.Tx, p, before *api.Project) error {
			if before != nil {
				p.Organization = before.Organization
			}
			return nil
		},
		References: func(ctx context.Context, t db.Tx, p *api.Project) ([]api.Ref, error) {
			all, err := belowScope(ctx, t, api.ProjectScope(p.Organization, p.Name))
			if err != nil {
				return nil, err
			}
			mappings, err := fleet.MappingRefs(ctx, t, "project = ?", p.ID)
			return append(all, mappings...), err
		},
		Release: func(ctx context.Context, t db.Tx, p *api.Project) error {
			if err := clearScope(ctx, t, api.ProjectScope(p.Organization, p.Name)); err != nil {
				return err
			}
			return delivery.Unmap(ctx, t, "project = ?", p.ID)
		},
	}
}
