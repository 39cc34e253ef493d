package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/history"
)

// ledger keeps what operations were, and notifies watchers.
type ledger struct {
	*store.Store
	events core.Events
	// kept is called for entries that are new, or whose applications became healthy, after they were stored; nil for none. It
	// must not block.
	kept func([]api.LedgerEntry)
}

// KeepRecords implements gateway.Ledger.
func (l *ledger) KeepRecords(ctx context.Context, uid string, epoch int64, b gateway.RecordBatch,
	now time.Time,
) (gateway.RecordAnswer, error) {
	answer, err := l.Store.KeepRecords(ctx, uid, epoch, b, now)
	if err != nil {
		return answer, err
	}
	for _, e := range answer.Added {
		id := api.ItemID(e.Agent, e.Namespace, e.Name)
		data, _ := json.Marshal(e) // it was read from JSON
		l.events.Publish(ctx, api.Event{
			Type: eventLedger, At: now.UTC(), Object: api.Ref{Type: api.TypeApplication, ID: id, Scope: e.Scope}, Data: data,
		})
	}
	if l.kept != nil && len(answer.Added) > 0 {
		l.kept(answer.Added)
	}
	return answer, nil
}

// eventLedger says that the ledger has an entry of an application, or knows when it was healthy after one. Its data is the
// entry.
const eventLedger = api.TypeApplication + ".recorded"

// pruneLedger removes what is older, or more, than the settings say.
func (s *Server) pruneLedger(ctx context.Context, settings api.Settings) error {
	limits := history.LedgerLimits{Bytes: int64(settings.LedgerRetentionGiB) << 30}
	if days := settings.LedgerRetentionDays; days > 0 {
		limits.Before = s.cfg.Now().Add(-time.Duration(days) * 24 * time.Hour)
	}
	_, err := s.store.PruneLedger(ctx, limits)
	return err
}
