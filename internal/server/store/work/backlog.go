package work

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Backlog is what is to be done, over all servers.
type Backlog struct {
	// Jobs are those under way, Commands those without a result.
	Jobs, Commands int64
	// Notifications are the messages that wait, and those that were given up
	// within a day, by state.
	Notifications map[string]int64
	// Pending is how many changes connected agents have not reported yet, and Lag
	// how long the oldest has waited.
	Pending int64
	Lag     time.Duration
}

// deadFor is how long a message that was given up counts.
const deadFor = 24 * time.Hour

// Backlog counts what is to be done.
func (s *Servers) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		b = Backlog{Notifications: map[string]int64{}}
		if err := t.One(ctx, "SELECT COUNT(*) FROM bulk_job WHERE finished_at = 0", nil, &b.Jobs); err != nil {
			return err
		}
		if err := t.One(ctx, "SELECT COUNT(*) FROM command WHERE finished_at = 0", nil, &b.Commands); err != nil {
			return err
		}
		for state, since := range map[string]int64{api.DeliveryWaiting: 0, api.DeliveryDead: t.Now - deadFor.Microseconds()} {
			var n int64
			err := t.One(ctx, "SELECT COUNT(*) FROM notification_delivery WHERE state = ? AND finished_at >= ?", []any{state, since}, &n)
			if err != nil {
				return err
			}
			b.Notifications[state] = n
		}
		var lag int64
		err := t.One(ctx, "SELECT COALESCE(SUM(pending), 0), COALESCE(MAX(lag), 0) FROM agent WHERE revoked = 0 AND state IN (?, ?)",
			[]any{api.AgentConnected, api.AgentDegraded}, &b.Pending, &lag)
		b.Lag = time.Duration(lag) * time.Millisecond
		return err
	})
	if err != nil {
		return b, fmt.Errorf("count what is to be done: %w", err)
	}
	return b, nil
}
