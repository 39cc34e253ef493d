package store

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
)

// conditionHeld is the condition of an application whose sync waits for
// somebody or something.
const conditionHeld = "Held"

// A deletion that waits for a person has another condition, with a message that
// begins so.
const (
	conditionDeletion = "DeletionError"
	heldPrefix        = "held: "
)

// outOfSync is the sync status of an application that has drifted, or that Git
// has moved on from.
const outOfSync = "OutOfSync"

// driftSince is since when an application is out of sync: what is known of it
// stays for as long as it is.
func driftSince(sync string, was, now int64) int64 {
	switch {
	case sync != outOfSync:
		return 0
	case was != 0:
		return was
	}
	return now
}

// revise begins a new edition of the items of an agent: that of the rows that
// are written next. dropped says that some of them are deleted. It comes after
// all other locks, so that nobody waits in a circle.
func (t tx) revise(ctx context.Context, uid string, dropped bool) (edition int64, err error) {
	gone := int64(0)
	if dropped {
		gone = 1
	}
	err = t.one(ctx, `INSERT INTO item_edition (agent, edition, dropped) VALUES (?, 1, ?)
		ON CONFLICT (agent) DO UPDATE SET edition = item_edition.edition + 1,
			dropped = CASE WHEN excluded.dropped = 0 THEN item_edition.dropped ELSE item_edition.edition + 1 END
		RETURNING edition`, []any{uid, gone}, &edition)
	if err != nil {
		return 0, fmt.Errorf("begin edition of items: %w", err)
	}
	return edition, nil
}

// moveItems has the items of an Argo project belong to a scope.
func (t tx) moveItems(ctx context.Context, uid, argoProject string, scope api.Scope) error {
	if err := t.lockLinks(ctx, false); err != nil { // as whoever changes links does it
		return err
	}
	edition, err := t.revise(ctx, uid, false)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, "UPDATE item SET scope = ?, edition = ? WHERE agent = ? AND argo_project = ?", string(scope), edition, uid, argoProject)
	return err
}
