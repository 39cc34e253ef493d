package history

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// The rows of audit_place.
const (
	placeHead   = "head"
	placeAnchor = "anchor"
)

const auditColumns = `audit.id, audit.at, audit.actor_type, audit.actor_id, audit.ip, audit.user_agent, audit.request_id, audit.action,
	audit.object_type, audit.object_id, audit.scope, audit.reason, audit.before_text, audit.after_text, audit.outcome, audit.message,
	audit.prev_hash, audit.hash`

func scanAudit(row db.Row, e *api.AuditEntry) error {
	var before, after string
	err := row.Scan(
		&e.ID, db.Instant(&e.At), &e.Actor.Type, &e.Actor.ID, &e.IP, &e.UserAgent, &e.RequestID, &e.Action,
		&e.Object.Type, &e.Object.ID, (*string)(&e.Object.Scope), &e.Reason, &before, &after, &e.Outcome, &e.Message,
		&e.PrevHash, &e.Hash,
	)
	e.Before, e.After = db.Raw(before), db.Raw(after)
	return err
}

// AppendAudit writes an entry behind the newest one, in one transaction with
// reading which that is. One with a key that is there already is left out.
func (s *Audit) AppendAudit(ctx context.Context, key string, e audit.Entry) (written audit.Entry, err error) {
	// What is hashed is what can be read again.
	for _, text := range []*string{
		&e.Actor.Type, &e.Actor.ID, &e.IP, &e.UserAgent, &e.RequestID, &e.Action, &e.Object.Type, &e.Object.ID,
		(*string)(&e.Object.Scope), &e.Reason, &e.Outcome, &e.Message,
	} {
		*text = db.Clean(*text)
	}
	e.Before, e.After = db.Raw(db.Clean(string(e.Before))), db.Raw(db.Clean(string(e.After)))
	e.At = db.Moment(db.Micros(e.At))
	err = s.db.Write(ctx, func(t db.Tx) error {
		written = audit.Entry{}
		// Taking the row first makes other transactions wait.
		var head audit.Head
		err := t.One(ctx, "UPDATE audit_place SET entry = entry WHERE id = ? RETURNING entry, hash, at", []any{placeHead}, &head.ID, &head.Hash,
			db.Instant(&head.At))
		if err != nil {
			return fmt.Errorf("find end of audit: %w", err)
		}
		dedupe := any(nil)
		if key != "" {
			var there int64
			if err := t.One(ctx, "SELECT COUNT(*) FROM audit WHERE dedupe = ?", []any{key}, &there); err != nil || there > 0 {
				return err
			}
			dedupe = key
		}
		linked := chain.Link(head, e)
		_, err = t.Exec(ctx,
			`INSERT INTO audit (id, dedupe, at, actor_type, actor_id, ip, user_agent, request_id, action, object_type, object_id, scope,
			reason, before_text, after_text, outcome, message, prev_hash, hash) VALUES (`+db.Marks(19)+")",
			linked.ID, dedupe, linked.At, linked.Actor.Type, linked.Actor.ID, linked.IP, linked.UserAgent, linked.RequestID, linked.Action,
			linked.Object.Type, linked.Object.ID, string(linked.Object.Scope), linked.Reason, string(linked.Before), string(linked.After),
			linked.Outcome, linked.Message, linked.PrevHash, linked.Hash)
		if err != nil {
			return fmt.Errorf("append to audit: %w", err)
		}
		_, err = t.Exec(ctx, "UPDATE audit_place SET entry = ?, hash = ?, at = ? WHERE id = ?", linked.ID, linked.Hash, linked.At, placeHead)
		written = linked
		return err
	})
	if err != nil {
		return audit.Entry{}, err
	}
	return written, nil
}

// AuditEntries gives entries with an ID above after, in order of ID.
func (s *Audit) AuditEntries(ctx context.Context, after int64, limit int) ([]audit.Entry, error) {
	return db.All(ctx, s.db, "SELECT "+auditColumns+" FROM audit WHERE id > ? ORDER BY id LIMIT ?", []any{after, limit}, scanAudit)
}

// AuditHead is the newest entry's place, or that of the anchor where no entry
// is left. It is kept apart from the entries, so that one who removes the newest
// of them is found out.
func (s *Audit) AuditHead(ctx context.Context) (audit.Head, error) { return s.place(ctx, placeHead) }

// AuditAnchor is the place of the last entry that retention removed.
func (s *Audit) AuditAnchor(ctx context.Context) (audit.Head, error) {
	return s.place(ctx, placeAnchor)
}

func (s *Audit) place(ctx context.Context, which string) (audit.Head, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (audit.Head, error) { return readPlace(ctx, t, which) })
}

func readPlace(ctx context.Context, t db.Tx, which string) (h audit.Head, err error) {
	err = t.One(ctx, "SELECT entry, hash, at FROM audit_place WHERE id = ?", []any{which}, &h.ID, &h.Hash, db.Instant(&h.At))
	return h, err
}

// PruneAudit removes the entries up to and with one and makes it the anchor.
func (s *Audit) PruneAudit(ctx context.Context, through audit.Head) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := t.Run(ctx, "UPDATE audit_place SET entry = entry WHERE id = ?", placeHead); err != nil {
			return err
		}
		head, err := readPlace(ctx, t, placeHead)
		if err != nil {
			return err
		}
		anchor, err := readPlace(ctx, t, placeAnchor)
		if err != nil {
			return err
		}
		if through.ID < anchor.ID {
			return fmt.Errorf("prune audit: entry %d was removed already, the last that was is %d", through.ID, anchor.ID)
		}
		if through.ID >= head.ID {
			return fmt.Errorf("prune audit: entry %d is the newest, which is always kept", through.ID)
		}
		if through.ID == anchor.ID {
			return nil
		}
		var hash string
		err = t.One(ctx, "SELECT hash FROM audit WHERE id = ?", []any{through.ID}, &hash)
		if db.IsNotFound(err) || err == nil && hash != through.Hash {
			return fmt.Errorf("prune audit: entry %d is not what it was: verify the audit", through.ID)
		}
		if err != nil {
			return err
		}
		if err := t.Run(ctx, "DELETE FROM audit WHERE id <= ?", through.ID); err != nil {
			return fmt.Errorf("prune audit: %w", err)
		}
		return t.Run(ctx, "UPDATE audit_place SET entry = ?, hash = ?, at = ? WHERE id = ?", through.ID, through.Hash, through.At, placeAnchor)
	})
}

// ListAudit gives the entries that the filter lets through: the newest first,
// unless Sort is "id".
func (s *Audit) ListAudit(ctx context.Context, visible rbac.Filter, filter api.AuditFilter) (api.Page[api.AuditEntry], error) {
	w := &db.Where{}
	entries := db.Guarded{Name: "audit", Of: api.TypeAudit, Kind: api.TypeAudit, Number: true}
	w.Permitted(entries, visible)
	w.Options(entries, api.ListOptions{Scope: filter.Scope, Search: filter.Search},
		"audit.action", "audit.object_id", "audit.actor_id", "audit.message", "audit.reason")
	w.Is("audit.actor_id", filter.Actor)
	w.Is("audit.object_type", filter.ObjectType)
	w.Is("audit.object_id", filter.ObjectID)
	w.Is("audit.outcome", filter.Outcome)
	w.Is("audit.request_id", filter.RequestID)
	if filter.ID != 0 {
		w.And("audit.id = ?", filter.ID)
	}
	if strings.HasSuffix(filter.Action, ".") {
		w.Like("audit.action", "", filter.Action, "%")
	} else {
		w.Is("audit.action", filter.Action)
	}
	w.Between("audit.at", filter.From, filter.To)
	if filter.Sort == "" {
		filter.Sort = "-id"
	}
	if filter.Sort != "id" && filter.Sort != "-id" {
		return api.Page[api.AuditEntry]{}, db.Invalid("sort", "sort by %.80q: it can be id or -id", filter.Sort)
	}
	// The number is sorted by as itself, the text of it never.
	filter.Sort = strings.Replace(filter.Sort, "id", "number", 1)
	return db.List[api.AuditEntry]{
		Table: "audit", Columns: auditColumns, ID: "audit.hash", Sorts: map[string]string{"number": "audit.id"},
		Scan: scanAudit, Key: func(e *api.AuditEntry) string { return e.Hash },
	}.Page(ctx, s.db, w, filter.ListOptions)
}
