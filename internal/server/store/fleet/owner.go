package fleet

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Owner is what a batch must know of its agent.
type Owner struct {
	ID    string
	Scope api.Scope
	Seq   int64
	Links bool // its new applications are linked
}

// LockEpoch reads an agent that this transaction goes on to change, if the
// epoch is its present one.
func LockEpoch(ctx context.Context, t db.Tx, uid string, epoch int64) (Owner, error) {
	var o Owner
	var present, revoked, links int64
	query := "SELECT id, scope, epoch, seq, revoked, auto_create FROM agent WHERE uid = ?"
	if t.Postgres() {
		query += " FOR UPDATE"
	}
	err := t.One(ctx, query, []any{uid}, &o.ID, (*string)(&o.Scope), &present, &o.Seq, &revoked, &links)
	o.Links = links != 0
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
