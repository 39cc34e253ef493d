package delivery

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Revise begins a new edition of the items of an agent: that of the rows that
// are written next. dropped says that some of them are deleted. It comes after
// all other locks, so that no transactions wait in a circle.
func Revise(ctx context.Context, t db.Tx, uid string, dropped bool) (edition int64, err error) {
	gone := int64(0)
	if dropped {
		gone = 1
	}
	err = t.One(ctx, `INSERT INTO item_edition (agent, edition, dropped) VALUES (?, 1, ?)
		ON CONFLICT (agent) DO UPDATE SET edition = item_edition.edition + 1,
			dropped = CASE WHEN excluded.dropped = 0 THEN item_edition.dropped ELSE item_edition.edition + 1 END
		RETURNING edition`, []any{uid, gone}, &edition)
	if err != nil {
		return 0, fmt.Errorf("begin edition of items: %w", err)
	}
	return edition, nil
}

// moveItems has the items of an Argo project belong to a scope.
func moveItems(ctx context.Context, t db.Tx, uid, argoProject string, scope api.Scope) error {
	if err := LockLinks(ctx, t, false); err != nil { // as a transaction that changes links does it
		return err
	}
	edition, err := Revise(ctx, t, uid, false)
	if err != nil {
		return err
	}
	return t.Run(ctx, "UPDATE item SET scope = ?, edition = ? WHERE agent = ? AND argo_project = ?", string(scope), edition, uid, argoProject)
}
