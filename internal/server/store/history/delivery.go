package history

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/dora"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// maxDeliveries is how many operations are measured at a time.
const maxDeliveries = 200_000

// ListDeliveries reads the operations of a time that changed something or
// failed, and those of the lookback before it, in the order of their end.
func (s *Ledger) ListDeliveries(ctx context.Context, visible rbac.Filter, f api.LedgerFilter,
	lookback time.Duration,
) ([]dora.Operation, error) {
	w := &db.Where{}
	f.From = f.From.Add(-lookback)
	narrowLedger(w, visible, f)
	w.And("ledger_entry.action IN (?, ?, ?)", api.LedgerSync, api.LedgerRollback, api.LedgerPartial)
	query := `SELECT ledger_entry.id, ledger_entry.service, ledger_entry.environment, ledger_entry.argo_project, ledger_entry.scope,
		ledger_entry.action, ledger_entry.phase,
		ledger_entry.automatic, ledger_entry.revisions, ledger_entry.created + ledger_entry.changed + ledger_entry.deleted,
		ledger_entry.committed_at,
		ledger_entry.detected_at, ledger_entry.rendered_at, ledger_entry.applied_at, ledger_entry.finished_at, ledger_entry.healthy_at
		FROM ledger_entry` + w.String() + " ORDER BY ledger_entry.finished_at, ledger_entry.number LIMIT ?"
	list, err := db.All(ctx, s.db, query, append(w.Args, maxDeliveries+1), func(row db.Row, o *dora.Operation) error {
		var changed int64
		err := row.Scan(&o.Application, &o.Service, &o.Environment, &o.ArgoProject, &o.Scope, &o.Action, &o.Phase, &o.Automatic,
			&o.Revision, &changed,
			db.Instant(&o.Committed), db.Instant(&o.Detected), db.Instant(&o.Rendered), db.Instant(&o.Applied), db.Instant(&o.Finished),
			db.Instant(&o.Healthy))
		o.Changed = changed > 0
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what was delivered: %w", err)
	}
	if len(list) > maxDeliveries {
		return nil, db.Invalid("from", "there are more than %d operations in that time: ask for less of it, or for fewer applications",
			maxDeliveries)
	}
	return list, nil
}
