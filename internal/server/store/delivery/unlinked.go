package delivery

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Unlinked returns the uids of the agents that have applications which are to be
// linked.
func (s *Links) Unlinked(ctx context.Context) ([]string, error) {
	uids, err := db.All(ctx, s.db, "SELECT DISTINCT agent FROM unlinked ORDER BY agent", nil,
		func(row db.Row, uid *string) error { return row.Scan(uid) })
	if err != nil {
		return nil, fmt.Errorf("read applications to link: %w", err)
	}
	return uids, nil
}

// LinkUnlinked finds services and environments for the applications of an agent
// that are to be linked, makes and links what is missing, and forgets that they
// were to be linked. It returns the id of the agent, and what it did: nothing for
// an agent that is gone or is not set to that any more.
func (s *Links) LinkUnlinked(ctx context.Context, uid string) (agent string, plan api.LinkPlan, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		agent, plan = "", api.LinkPlan{}
		var on int64
		err := t.One(ctx, "SELECT id, auto_create FROM agent WHERE uid = ?", []any{uid}, &agent, &on)
		if db.IsNotFound(err) {
			return nil // its applications went with it
		}
		if err != nil {
			return fmt.Errorf("read agent: %w", err)
		}
		if err := LockLinks(ctx, t, true); err != nil {
			return err
		}
		only := map[string]bool{}
		err = t.Each(ctx, "SELECT namespace, name FROM unlinked WHERE agent = ?", []any{uid}, db.Pair(func(namespace, name string) {
			only[api.ItemID(agent, namespace, name)] = true
		}))
		if err != nil {
			return fmt.Errorf("read applications to link: %w", err)
		}
		if len(only) == 0 {
			return nil // another server was faster
		}
		if on != 0 {
			if plan, err = propose(ctx, t, agent, only); err != nil {
				return fmt.Errorf("find services of applications: %w", err)
			}
			if err := carryOut(ctx, t, plan); err != nil {
				return err
			}
		}
		return t.Run(ctx, "DELETE FROM unlinked WHERE agent = ?", uid)
	})
	return agent, plan, err
}

// LinkFailed counts an attempt to link the applications of an agent that failed.
// It forgets those that were tried so many times, and returns how many these
// are.
func (s *Links) LinkFailed(ctx context.Context, uid string, most int) (int64, error) {
	return db.Write(ctx, s.db, func(t db.Tx) (int64, error) {
		if err := t.Run(ctx, "UPDATE unlinked SET tries = tries + 1 WHERE agent = ?", uid); err != nil {
			return 0, fmt.Errorf("count an attempt to link applications: %w", err)
		}
		return t.Exec(ctx, "DELETE FROM unlinked WHERE agent = ? AND tries >= ?", uid, most)
	})
}
