package history

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// mostLater is how many operations after a deployment are looked at for what
// they changed in parts of it.
const mostLater = 1000

// later are entries of an application that come after another one.
const later = "l.id = ledger_entry.id AND (l.finished_at > ledger_entry.finished_at OR l.finished_at = ledger_entry.finished_at AND " +
	"l.number > ledger_entry.number)"

// LedgerAt gives what ran at filter.To, for each application that the filter
// lets through: what its last whole deployment before that rendered, and what
// later operations changed in parts of it. From is of no account.
func (s *Ledger) LedgerAt(ctx context.Context, visible rbac.Filter, filter api.LedgerFilter) (api.Page[api.LedgerState], error) {
	at := db.Micros(filter.To)
	filter.To, filter.From = db.Moment(at+1), db.Moment(0)
	w := &db.Where{}
	narrowLedger(w, visible, filter)
	w.And("ledger_entry.whole = 1 AND ledger_entry.phase = 'Succeeded' AND ledger_entry.action <> ?", api.LedgerDelete)
	w.And("NOT EXISTS (SELECT 1 FROM ledger_entry l WHERE "+later+" AND l.whole = 1 AND l.phase = 'Succeeded' AND l.finished_at <= ?)", at)
	return db.Read(ctx, s.db, func(t db.Tx) (api.Page[api.LedgerState], error) {
		page, err := db.List[api.LedgerState]{
			Table: "ledger_entry", Columns: LedgerColumns, ID: "ledger_entry.id", Sorts: map[string]string{"application": "ledger_entry.id"},
			Scan: func(row db.Row, state *api.LedgerState) error {
				var b LedgerBody
				err := ScanLedger(row, &b)
				state.Entry = b.LedgerEntry
				return err
			},
			Key: func(state *api.LedgerState) string {
				return api.ItemID(state.Entry.Agent, state.Entry.Namespace, state.Entry.Name)
			},
		}.In(ctx, t, w, filter.ListOptions)
		for i := range page.Items {
			if err == nil {
				err = stateAt(ctx, t, &page.Items[i], at)
			}
		}
		return page, err
	})
}

// LedgerAfter is the cursor of a page of LedgerAt, by id, that begins behind an
// application.
func (s *Ledger) LedgerAfter(application string) string {
	return (&db.Order{}).Cursor(application, application)
}

// stateAt fills in the objects of a state.
func stateAt(ctx context.Context, t db.Tx, state *api.LedgerState, at int64) error {
	objects, err := ledgerObjects(ctx, t, "e.entry = ?", state.Entry.ID)
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o api.LedgerObject) bool { return o.Hook })
	query := `SELECT l.entry FROM ledger_entry JOIN ledger_entry l ON ` + later + ` WHERE ledger_entry.entry = ? AND l.finished_at <= ?
		AND l.action <> ? AND (l.whole = 0 OR l.phase <> 'Succeeded') ORDER BY l.finished_at, l.number LIMIT ?`
	if state.Later, err = db.Column[string](ctx, t, query, state.Entry.ID, at, api.LedgerDryRun, mostLater); err != nil {
		return err
	}
	touched := state.Later[:0]
	for _, id := range state.Later {
		n, err := overlay(ctx, t, id, &objects)
		if err != nil {
			return err
		}
		if n > 0 {
			touched = append(touched, id)
		}
	}
	state.Objects, state.Later = objects, touched
	return nil
}

// overlay puts into a list of objects what a later operation made of some, and
// returns how many these were.
func overlay(ctx context.Context, t db.Tx, id string, objects *[]api.LedgerObject) (n int, err error) {
	query := `SELECT n.api_group, n.kind, n.namespace, n.name, o.verb, COALESCE(b.hash, ''), COALESCE(b.images, ''),
		CASE WHEN b.content = '' THEN 1 ELSE 0 END
		FROM ledger_entry e JOIN ledger_object o ON o.entry = e.number JOIN ledger_name n ON n.number = o.object
		LEFT JOIN ledger_blob b ON b.number = o.blob
		WHERE e.entry = ? AND o.verb <> '' AND o.hook = 0 AND o.outcome = 'Succeeded'`
	err = t.Each(ctx, query, []any{id}, func(row db.Row) error {
		var o api.LedgerObject
		var verb string
		var lacking int64
		if err := row.Scan(&o.Group, &o.Kind, &o.Namespace, &o.Name, &verb, &o.Hash, db.Decode(&o.Images), &lacking); err != nil {
			return err
		}
		o.Lacking = lacking != 0
		n++
		at := slices.IndexFunc(*objects, func(have api.LedgerObject) bool { return have.LedgerKey == o.LedgerKey })
		switch {
		case verb == api.LedgerDeleted && at >= 0:
			*objects = slices.Delete(*objects, at, at+1)
		case verb == api.LedgerDeleted || o.Hash == "":
		case at >= 0:
			(*objects)[at] = o
		default:
			*objects = append(*objects, o)
		}
		return nil
	})
	return n, err
}
