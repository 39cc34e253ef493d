package home

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

// DeleteHome deletes an organization or a project as Delete does, and returns
// the agents that went with it: the caller cuts their connections next.
func DeleteHome[T any](ctx context.Context, e entity.Entities[T], id string, options api.DeleteOptions) ([]*api.Agent, error) {
	return db.Write(ctx, e.DB, func(t db.Tx) ([]*api.Agent, error) {
		// Until the end of the transaction no agent is made in it.
		v, err := e.Kind.Lock(ctx, t, id)
		if err != nil {
			return nil, err
		}
		condition, args := db.CompileScope("scope", db.ScopeOf(e.Kind.Meta(v).Scope))
		gone, err := fleet.AgentKind().Query(ctx, t, " WHERE "+condition, args...)
		if err != nil {
			return nil, err
		}
		if err := e.Kind.Remove(ctx, t, id, options); err != nil {
			return nil, err
		}
		return gone, entity.PolicyChanged(ctx, t, "")
	})
}
