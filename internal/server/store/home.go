package store

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// DeleteHome deletes an organization or a project as Delete does, and returns
// the agents that went with it: whoever calls this cuts their connections next.
func (e Entities[T]) DeleteHome(ctx context.Context, id string, options api.DeleteOptions) (gone []*api.Agent, err error) {
	err = e.store.Write(ctx, func(t db.Tx) error {
		// Until the end of the transaction nobody makes an agent in it.
		v, err := e.kept.lock(ctx, t, id)
		if err != nil {
			return err
		}
		condition, args := db.CompileScope("scope", db.ScopeOf(e.kept.meta(v).Scope))
		if gone, err = agents().query(ctx, t, " WHERE "+condition, args...); err != nil {
			return err
		}
		if err := e.kept.remove(ctx, t, id, options); err != nil {
			return err
		}
		return policyChanged(ctx, t, "")
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}
