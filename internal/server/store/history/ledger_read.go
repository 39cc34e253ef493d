package history

import (
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// ledger is the table of entries: who may view an application may view what was
// done with it.
func ledger() db.Guarded {
	return db.Guarded{Name: "ledger_entry", Of: api.TypeApplication, Kind: api.KindApplication}
}

// LedgerColumns are what ScanLedger reads.
const LedgerColumns = `ledger_entry.body, ledger_entry.entry, ledger_entry.agent_id, ledger_entry.scope, ledger_entry.service, ledger_entry.environment,
	ledger_entry.healthy_at`

// LedgerBody is what the column body holds.
type LedgerBody struct {
	api.LedgerEntry
	Changes []api.LedgerChange `json:"changes,omitempty"`
}

// ScanLedger reads an entry without its objects.
func ScanLedger(rows interface{ Scan(...any) error }, b *LedgerBody, more ...any) error {
	var id, agent, service, environment string
	var scope api.Scope
	var healthy time.Time
	into := []any{db.Decode(b), &id, &agent, (*string)(&scope), &service, &environment, db.Instant(&healthy)}
	err := rows.Scan(append(into, more...)...)
	// The columns count: what they say may have changed since.
	b.ID, b.Agent, b.Scope, b.Service, b.Environment, b.HealthyAt = id, agent, scope, service, environment, healthy
	return err
}

func ledgerSorts() map[string]string {
	return map[string]string{
		"finishedAt": "ledger_entry.finished_at", "startedAt": "ledger_entry.started_at", "application": "ledger_entry.id",
	}
}

// ledgerWhere adds what entries are filtered by.
func narrowLedger(w *db.Where, visible rbac.Filter, f api.LedgerFilter) {
	w.Permitted(ledger(), visible)
	w.Options(ledger(), f.ListOptions, "ledger_entry.name", "ledger_entry.namespace", "ledger_entry.revision", "ledger_entry.actor", "ledger_entry.commit_author")
	for _, c := range []struct{ column, value string }{
		{"agent_id", f.Agent},
		{"namespace", f.Namespace},
		{"name", f.Name},
		{"argo_project", f.ArgoProject},
		{"service", f.Service},
		{"environment", f.Environment},
		{"phase", f.Phase},
		{"action", f.Action},
		{"command", f.Command},
		{"destination", f.Destination},
	} {
		if c.value != "" {
			w.And("ledger_entry."+c.column+" = ?", c.value)
		}
	}
	if f.Agent != "" && f.Namespace != "" && f.Name != "" { // one application: there is an index for it
		w.And("ledger_entry.id = ?", api.ItemID(f.Agent, f.Namespace, f.Name))
	}
	if len(f.Actions) > 0 {
		w.Among("ledger_entry.action", f.Actions)
	}
	if f.Actor != "" { // people write the name, the cluster has the type as well
		w.Among("ledger_entry.actor", []string{f.Actor, api.PrincipalUser + ":" + f.Actor, api.PrincipalServiceAccount + ":" + f.Actor})
	}
	if f.Revision != "" {
		w.Like("ledger_entry.revision", "", f.Revision, "%")
	}
	if f.Automatic != nil {
		w.And("ledger_entry.automatic = ?", *f.Automatic)
	}
	if f.Changed {
		w.And("ledger_entry.created + ledger_entry.changed + ledger_entry.deleted > 0")
	}
	if !f.From.IsZero() {
		w.And("ledger_entry.finished_at >= ?", f.From)
	}
	if !f.To.IsZero() {
		w.And("ledger_entry.finished_at < ?", f.To)
	}
}

// ListLedger gives the entries that the filter lets through.
func (s *Ledger) ListLedger(ctx context.Context, visible rbac.Filter, filter api.LedgerFilter) (page api.Page[api.LedgerEntry], err error) {
	w := &db.Where{}
	narrowLedger(w, visible, filter)
	if filter.Sort == "" {
		filter.Sort = "-finishedAt"
	}
	order, err := db.NewOrder(filter.ListOptions, "ledger_entry.entry", ledgerSorts())
	if err != nil {
		return page, err
	}
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, "ledger_entry", LedgerColumns, w, order,
			func(rows *sql.Rows, e *api.LedgerEntry, more ...any) error {
				var b LedgerBody
				err := ScanLedger(rows, &b, more...)
				*e = b.LedgerEntry
				return err
			}, func(e *api.LedgerEntry) string { return e.ID })
		return err
	})
	return page, err
}

// GetLedger reads an entry with its changes and objects.
func (s *Ledger) GetLedger(ctx context.Context, id string) (d api.LedgerDetail, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		if d, err = ledgerEntry(ctx, t, id); err != nil {
			return err
		}
		d.Objects, err = ledgerObjects(ctx, t, "e.entry = ?", id)
		return err
	})
	return d, err
}

// ledgerEntry reads an entry without its objects.
func ledgerEntry(ctx context.Context, t db.Tx, id string) (d api.LedgerDetail, err error) {
	var b LedgerBody
	query := "SELECT " + LedgerColumns + " FROM ledger_entry WHERE entry = ?"
	err = t.Row(ctx, query, []any{id}, func(rows *sql.Rows) error { return ScanLedger(rows, &b) })
	if db.IsNotFound(err) {
		return d, db.NotFound("entry of the ledger", id)
	}
	d.LedgerEntry, d.Changes = b.LedgerEntry, b.Changes
	return d, err
}

// ledgerObjects reads what an entry rendered, by name.
func ledgerObjects(ctx context.Context, t db.Tx, condition string, args ...any) (list []api.LedgerObject, err error) {
	query := `SELECT n.api_group, n.kind, n.namespace, n.name, o.hook, b.hash, b.images, CASE WHEN b.content = '' THEN 1 ELSE 0 END
		FROM ledger_entry e JOIN ledger_object o ON o.entry = e.number JOIN ledger_name n ON n.number = o.object JOIN ledger_blob b ON b.number = o.blob
		WHERE ` + condition + " ORDER BY n.kind, n.namespace, n.name, n.api_group"
	err = t.Each(ctx, query, args, func(rows *sql.Rows) error {
		var o api.LedgerObject
		var hook, lacking int64
		err := rows.Scan(&o.Group, &o.Kind, &o.Namespace, &o.Name, &hook, &o.Hash, db.Decode(&o.Images), &lacking)
		o.Hook, o.Lacking = hook != 0, lacking != 0
		list = append(list, o)
		return err
	})
	return list, err
}

// LedgerContents reads the manifests behind hashes of an agent, given by its id:
// those that are there, up to a size in bytes.
func (s *Ledger) LedgerContents(ctx context.Context, entry string, hashes []string, limit int) (found map[string][]byte, err error) {
	err = s.db.Read(ctx, func(t db.Tx) error {
		found = map[string][]byte{}
		var uid string
		if err := t.One(ctx, "SELECT agent FROM ledger_entry WHERE entry = ?", []any{entry}, &uid); err != nil {
			if db.IsNotFound(err) {
				return db.NotFound("entry of the ledger", entry)
			}
			return err
		}
		left := limit
		for part := range slices.Chunk(hashes, db.Chunk) {
			query := "SELECT hash, content, size FROM ledger_blob WHERE agent = ? AND content <> '' AND hash IN (" + db.Marks(len(part)) + ")"
			err := t.Each(ctx, query, append([]any{uid}, db.Anys(part)...), func(rows *sql.Rows) error {
				var hash, content string
				var size int
				if err := rows.Scan(&hash, &content, &size); err != nil {
					return err
				}
				if left -= size; left < 0 {
					return nil
				}
				raw, err := unpackContent(content)
				found[hash] = raw
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// unpackContent reverses what KeepRecords was given.
func unpackContent(text string) ([]byte, error) {
	packed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(api.MaxLedgerManifest))
	if err != nil {
		return nil, fmt.Errorf("make a decoder: %w", err)
	}
	defer d.Close()
	raw, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return raw, nil
}

// LedgerObjectChanges gives the changes to an object, the newest first.
func (s *Ledger) LedgerObjectChanges(ctx context.Context, visible rbac.Filter, f api.LedgerFilter) (page api.Page[api.LedgerObjectChange], err error) {
	w := &db.Where{}
	narrowLedger(w, visible, f)
	w.And("o.verb <> ''")
	w.And("n.kind = ?", f.Kind)
	w.And("n.name = ?", f.Object)
	if f.ObjectNS != "" {
		w.And("n.namespace = ?", f.ObjectNS)
	}
	if f.ObjectGroup != "" {
		w.And("n.api_group = ?", f.ObjectGroup)
	}
	options := f.ListOptions
	if options.Sort == "" {
		options.Sort = "-finishedAt"
	}
	// An operation may change several objects of a name.
	order, err := db.NewOrder(options, "(ledger_entry.entry || n.key)", ledgerSorts())
	if err != nil {
		return page, err
	}
	tables := `ledger_name n JOIN ledger_object o ON o.object = n.number JOIN ledger_entry ON ledger_entry.number = o.entry
		LEFT JOIN ledger_blob b ON b.number = o.blob`
	columns := LedgerColumns + ", n.api_group, n.kind, n.namespace, n.name, o.verb, o.outcome, COALESCE(b.hash, '')"
	err = s.db.Read(ctx, func(t db.Tx) error {
		page, err = db.ReadPage(ctx, t, tables, columns, w, order,
			func(rows *sql.Rows, c *api.LedgerObjectChange, more ...any) error {
				var b LedgerBody
				k := &c.Change
				err := ScanLedger(rows, &b, append([]any{&k.Group, &k.Kind, &k.Namespace, &k.Name, &k.Verb, &k.Outcome, &c.Hash}, more...)...)
				c.Entry = b.LedgerEntry
				if i := slices.IndexFunc(b.Changes, func(x api.LedgerChange) bool { return x.LedgerKey == k.LedgerKey }); i >= 0 {
					k.Hook, k.Message = b.Changes[i].Hook, b.Changes[i].Message
				}
				return err
			}, func(c *api.LedgerObjectChange) string { return c.Entry.ID + c.Change.String() })
		return err
	})
	return page, err
}
