package store

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// owner is what a batch must know of its agent.
type owner struct {
	id    string
	scope api.Scope
	seq   int64
	links bool // its new applications are linked
}

// lockEpoch reads an agent that this transaction goes on to change, if the
// epoch is its present one.
func lockEpoch(ctx context.Context, t db.Tx, uid string, epoch int64) (owner, error) {
	var o owner
	var present, revoked, links int64
	query := "SELECT id, scope, epoch, seq, revoked, auto_create FROM agent WHERE uid = ?"
	if t.Postgres() {
		query += " FOR UPDATE"
	}
	err := t.One(ctx, query, []any{uid}, &o.id, (*string)(&o.scope), &present, &o.seq, &revoked, &links)
	o.links = links != 0
	switch {
	case db.IsNotFound(err):
		return o, gateway.ErrUnknown
	case err != nil:
		return o, fmt.Errorf("read agent: %w", err)
	case present != epoch || revoked != 0:
		return o, gateway.ErrFenced
	}
	return o, nil
}
