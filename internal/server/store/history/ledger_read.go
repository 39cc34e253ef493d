package history

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// ledger is the table of entries: users who may view an application may view
// its operations.
func ledger() db.Guarded {
	return db.Guarded{Name: "ledger_entry", Of: api.TypeApplication, Kind: api.KindApplication}
}

// LedgerColumns are what ScanLedger reads.
const LedgerColumns = `ledger_entry.body, ledger_entry.entry, ledger_entry.agent_id, ledger_entry.scope, ledger_entry.service,
	ledger_entry.environment,
	ledger_entry.healthy_at`

// LedgerBody is what the column body holds.
type LedgerBody struct {
	api.LedgerEntry
	Changes []api.LedgerChange `json:"changes,omitempty"`
}

// ScanLedger reads an entry without its objects.
func ScanLedger(row db.Row, b *LedgerBody) error {
	var id, agent, service, environment string
	var scope api.Scope
	var healthy time.Time
	err := row.Scan(db.Decode(b), &id, &agent, (*string)(&scope), &service, &environment, db.Instant(&healthy))
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
	w.Options(ledger(), f.ListOptions, "ledger_entry.name", "ledger_entry.namespace", "ledger_entry.revision", "ledger_entry.actor",
		"ledger_entry.commit_author")
	w.Is("ledger_entry.agent_id", f.Agent)
	w.Is("ledger_entry.namespace", f.Namespace)
	w.Is("ledger_entry.name", f.Name)
	w.Is("ledger_entry.argo_project", f.ArgoProject)
	w.Is("ledger_entry.service", f.Service)
	w.Is("ledger_entry.environment", f.Environment)
	w.Is("ledger_entry.phase", f.Phase)
	w.Is("ledger_entry.action", f.Action)
	w.Is("ledger_entry.command", f.Command)
	w.Is("ledger_entry.destination", f.Destination)
	if f.Agent != "" && f.Namespace != "" && f.Name != "" { // one application: there is an index for it
		w.And("ledger_entry.id = ?", api.ItemID(f.Agent, f.Namespace, f.Name))
	}
	w.Among("ledger_entry.action", f.Actions)
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
	w.Between("ledger_entry.finished_at", f.From, f.To)
}

// ListLedger gives the entries that the filter lets through.
func (s *Ledger) ListLedger(ctx context.Context, visible rbac.Filter, filter api.LedgerFilter) (api.Page[api.LedgerEntry], error) {
	w := &db.Where{}
	narrowLedger(w, visible, filter)
	return db.List[api.LedgerEntry]{
		Table: "ledger_entry", Columns: LedgerColumns, ID: "ledger_entry.entry", Sorts: ledgerSorts(), Usual: "-finishedAt",
		Scan: func(row db.Row, e *api.LedgerEntry) error {
			var b LedgerBody
			err := ScanLedger(row, &b)
			*e = b.LedgerEntry
			return err
		},
		Key: func(e *api.LedgerEntry) string { return e.ID },
	}.Page(ctx, s.db, w, filter.ListOptions)
}

// GetLedger reads an entry with its changes and objects.
func (s *Ledger) GetLedger(ctx context.Context, id string) (api.LedgerDetail, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.LedgerDetail, error) {
		d, err := ledgerEntry(ctx, t, id)
		if err == nil {
			d.Objects, err = ledgerObjects(ctx, t, "e.entry = ?", id)
		}
		return d, err
	})
}

// ledgerEntry reads an entry without its objects.
func ledgerEntry(ctx context.Context, t db.Tx, id string) (d api.LedgerDetail, err error) {
	b, err := db.Only(ctx, t, "SELECT "+LedgerColumns+" FROM ledger_entry WHERE entry = ?", []any{id}, ScanLedger)
	d.LedgerEntry, d.Changes = b.LedgerEntry, b.Changes
	return d, db.Missing(err, "entry of the ledger", id)
}

// ledgerObjects reads what an entry rendered, by name.
func ledgerObjects(ctx context.Context, t db.Tx, condition string, args ...any) ([]api.LedgerObject, error) {
	query := `SELECT n.api_group, n.kind, n.namespace, n.name, o.hook, b.hash, b.images, CASE WHEN b.content = '' THEN 1 ELSE 0 END
		FROM ledger_entry e JOIN ledger_object o ON o.entry = e.number JOIN ledger_name n ON n.number = o.object
		JOIN ledger_blob b ON b.number = o.blob
		WHERE ` + condition + " ORDER BY n.kind, n.namespace, n.name, n.api_group"
	return db.Collect(ctx, t, query, args, func(row db.Row, o *api.LedgerObject) error {
		var hook, lacking int64
		err := row.Scan(&o.Group, &o.Kind, &o.Namespace, &o.Name, &hook, &o.Hash, db.Decode(&o.Images), &lacking)
		o.Hook, o.Lacking = hook != 0, lacking != 0
		return err
	})
}

// LedgerContents reads the manifests behind hashes of an agent, given by its id:
// those that are there, up to a size in bytes.
func (s *Ledger) LedgerContents(ctx context.Context, entry string, hashes []string, limit int) (map[string][]byte, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (map[string][]byte, error) {
		found := map[string][]byte{}
		var uid string
		if err := t.One(ctx, "SELECT agent FROM ledger_entry WHERE entry = ?", []any{entry}, &uid); err != nil {
			return nil, db.Missing(err, "entry of the ledger", entry)
		}
		left := limit
		query := "SELECT hash, content, size FROM ledger_blob WHERE agent = ? AND content <> '' AND hash IN (LIST)"
		err := t.EachOf(ctx, query, []any{uid}, hashes, func(row db.Row) error {
			var hash, content string
			var size int
			if err := row.Scan(&hash, &content, &size); err != nil {
				return err
			}
			if left -= size; left < 0 {
				return nil
			}
			raw, err := unpackContent(content)
			found[hash] = raw
			return err
		})
		return found, err
	})
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
func (s *Ledger) LedgerObjectChanges(ctx context.Context, visible rbac.Filter,
	f api.LedgerFilter,
) (api.Page[api.LedgerObjectChange], error) {
	w := &db.Where{}
	narrowLedger(w, visible, f)
	w.And("o.verb <> ''")
	w.And("n.kind = ?", f.Kind)
	w.And("n.name = ?", f.Object)
	w.Is("n.namespace", f.ObjectNS)
	w.Is("n.api_group", f.ObjectGroup)
	tables := `ledger_name n JOIN ledger_object o ON o.object = n.number JOIN ledger_entry ON ledger_entry.number = o.entry
		LEFT JOIN ledger_blob b ON b.number = o.blob`
	return db.List[api.LedgerObjectChange]{
		Table: tables, Columns: LedgerColumns + ", n.api_group, n.kind, n.namespace, n.name, o.verb, o.outcome, COALESCE(b.hash, '')",
		ID:    "(ledger_entry.entry || n.key)", // an operation may change several objects of a name
		Sorts: ledgerSorts(), Usual: "-finishedAt",
		Scan: func(row db.Row, c *api.LedgerObjectChange) error {
			var b LedgerBody
			k := &c.Change
			err := ScanLedger(row.With(&k.Group, &k.Kind, &k.Namespace, &k.Name, &k.Verb, &k.Outcome, &c.Hash), &b)
			c.Entry = b.LedgerEntry
			if i := slices.IndexFunc(b.Changes, func(x api.LedgerChange) bool { return x.LedgerKey == k.LedgerKey }); i >= 0 {
				k.Hook, k.Message = b.Changes[i].Hook, b.Changes[i].Message
			}
			return err
		},
		Key: func(c *api.LedgerObjectChange) string { return c.Entry.ID + c.Change.String() },
	}.Page(ctx, s.db, w, f.ListOptions)
}
