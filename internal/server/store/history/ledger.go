package history

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

// The rows of ledger_place.
const (
	placeNumber = "number"
	placeBytes  = "bytes"
)

// rowSize is about what a row of the ledger takes beside its texts, in bytes.
const rowSize = 64

// KeepRecords stores what an agent reports of operations, in one transaction.
func (s *Ledger) KeepRecords(ctx context.Context, uid string, epoch int64, b gateway.RecordBatch,
	now time.Time,
) (answer gateway.RecordAnswer, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		answer = gateway.RecordAnswer{}
		owner, err := fleet.LockEpoch(ctx, t, uid, epoch)
		if err != nil {
			return err
		}
		w := recording{Tx: t, uid: uid, owner: owner}
		if w.places, err = delivery.ReadPlaces(ctx, t, owner.ID, owner.Scope); err != nil {
			return fmt.Errorf("read mappings: %w", err)
		}
		if err := w.contents(ctx, b.Contents); err != nil {
			return fmt.Errorf("keep manifests: %w", err)
		}
		for _, r := range b.Records {
			if err := w.record(ctx, r); err != nil {
				return fmt.Errorf("keep record: %w", err)
			}
		}
		if err := w.healthy(ctx, b.Healthy); err != nil {
			return fmt.Errorf("note health: %w", err)
		}
		if err := w.known(ctx, b.Known); err != nil {
			return fmt.Errorf("look for records: %w", err)
		}
		if w.bytes != 0 {
			if err := t.Run(ctx, "UPDATE ledger_place SET number = number + ? WHERE id = ?", w.bytes, placeBytes); err != nil {
				return err
			}
		}
		answer = w.answer
		return nil
	})
	return answer, err
}

// recording is a batch that is being stored.
type recording struct {
	db.Tx
	uid    string
	owner  fleet.Owner
	places delivery.Places
	bytes  int64
	answer gateway.RecordAnswer
}

// entryID is what the ledger calls a record of an agent: no other agent can
// have one of that name.
func entryID(uid, id string) string {
	sum := sha256.Sum256([]byte(uid + "\n" + id))
	return hex.EncodeToString(sum[:16])
}

// numbers takes n numbers and returns the first. Others wait until the
// transaction is over.
func takeNumbers(ctx context.Context, t db.Tx, n int) (first int64, err error) {
	var last int64
	err = t.One(ctx, "UPDATE ledger_place SET number = number + ? WHERE id = ? RETURNING number", []any{n, placeNumber}, &last)
	return last - int64(n) + 1, err
}

// contents stores manifests that entries are there for already.
func (w *recording) contents(ctx context.Context, list []gateway.Content) error {
	for _, c := range list {
		text := base64.RawStdEncoding.EncodeToString(c.Packed)
		n, err := w.Exec(ctx, "UPDATE ledger_blob SET content = ?, size = ?, images = ? WHERE agent = ? AND hash = ? AND content = ''",
			text, c.Size, db.Encode(c.Images), w.uid, c.Hash)
		if err != nil {
			return err
		}
		w.bytes += n * int64(len(text)) // what was not requested is not kept
	}
	return nil
}

// record stores one entry, unless it is there.
func (w *recording) record(ctx context.Context, r gateway.Record) error {
	r.LedgerDetail.ID = entryID(w.uid, r.ID)
	e := &r.LedgerEntry
	e.Agent, e.Scope = w.owner.ID, w.places.Of(e.ArgoProject)
	there, err := w.twice(ctx, e)
	if err != nil {
		return err
	}
	set, err := w.objects(ctx, &r.LedgerDetail)
	if err != nil || there {
		return err
	}
	if e.Service, e.Environment, err = linksOf(ctx, w.Tx, w.uid, e.Namespace, e.Name); err != nil {
		return err
	}
	number, err := takeNumbers(ctx, w.Tx, 1)
	if err != nil {
		return err
	}
	if err := w.entry(ctx, number, &r.LedgerDetail); err != nil {
		return err
	}
	rows := make([][]any, 0, len(set))
	for _, o := range set {
		rows = append(rows, []any{number, o.name, o.blob, o.hook, o.verb, o.outcome})
	}
	if err := w.Insert(ctx, "ledger_object (entry, object, blob, hook, verb, outcome)", rows, ""); err != nil {
		return err
	}
	w.bytes += int64(len(rows)) * rowSize
	w.answer.Added = append(w.answer.Added, *e)
	return nil
}

// twice reports whether an entry is there already: under its id, or as what an
// agent found in a cluster after it had reported it.
func (w *recording) twice(ctx context.Context, e *api.LedgerEntry) (bool, error) {
	var n int64
	if err := w.One(ctx, "SELECT COUNT(*) FROM ledger_entry WHERE entry = ?", []any{e.ID}, &n); err != nil || n > 0 || !e.Recovered {
		return n > 0, err
	}
	// A status has only the second of the start; two operations in it are distinguished by their authors.
	from := e.StartedAt.Truncate(time.Second)
	err := w.One(ctx, "SELECT COUNT(*) FROM ledger_entry WHERE agent = ? AND application_uid = ? AND started_at >= ? "+
		"AND started_at < ? AND command = ?",
		[]any{w.uid, e.ApplicationUID, from, from.Add(time.Second), e.Command}, &n)
	if err != nil || n > 0 {
		return n > 0, err
	}
	var revisions, phase string
	err = w.One(ctx, `SELECT revisions, phase FROM ledger_entry WHERE agent = ? AND application_uid = ? AND whole = 1
		ORDER BY finished_at DESC, number DESC LIMIT 1`, []any{w.uid, e.ApplicationUID}, &revisions, &phase)
	if db.IsNotFound(err) {
		return false, nil
	}
	return phase == e.Phase && revisions == revisionsOf(e), err
}

// revisionsOf are the revisions of all sources as one text.
func revisionsOf(e *api.LedgerEntry) string {
	list := make([]string, 0, len(e.Sources))
	for _, s := range e.Sources {
		list = append(list, s.Revision)
	}
	return strings.Join(list, " ")
}

// wholeOf reports whether an entry brought an application to all that it
// rendered, as far as it succeeded.
func wholeOf(e *api.LedgerEntry) bool {
	return e.Action == api.LedgerSync || e.Action == api.LedgerRollback || e.Action == api.LedgerDelete
}

// links are the service and the environment that an application is linked to
// now; none if it was never reported.
func linksOf(ctx context.Context, t db.Tx, uid, namespace, name string) (service, environment string, err error) {
	key := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: namespace, Name: name}
	err = t.One(ctx, "SELECT service, environment FROM item WHERE agent = ? AND entry = ?", []any{uid, key.String()}, &service, &environment)
	if db.IsNotFound(err) {
		err = nil
	}
	return service, environment, err
}

// entry writes the row of an entry.
func (w *recording) entry(ctx context.Context, number int64, d *api.LedgerDetail) error {
	e := &d.LedgerEntry
	body := db.Encode(struct {
		api.LedgerEntry
		Changes []api.LedgerChange `json:"changes,omitempty"`
	}{*e, d.Changes})
	w.bytes += int64(len(body)) + rowSize
	var committed time.Time
	author := ""
	if e.Commit != nil {
		committed, author = e.Commit.CommittedAt, e.Commit.Author
	}
	return w.Run(ctx,
		`INSERT INTO ledger_entry (number, entry, agent, agent_id, id, namespace, name, application_uid, scope, argo_project, service,
		environment, destination, actor, command, action, phase, health, automatic, recovered, whole, revision, revisions, commit_author,
		created, changed, deleted, committed_at, detected_at, rendered_at, started_at, applied_at, finished_at, healthy_at, body, size)
		VALUES (`+db.Marks(36)+")",
		number, e.ID, w.uid, w.owner.ID, api.ItemID(w.owner.ID, e.Namespace, e.Name), e.Namespace, e.Name, e.ApplicationUID, string(e.Scope),
		e.ArgoProject, e.Service, e.Environment, e.Destination, e.Actor, e.Command, e.Action, e.Phase, e.Health, e.Automatic, e.Recovered,
		wholeOf(e), e.Revision, revisionsOf(e), author, e.Counts.Created, e.Counts.Changed, e.Counts.Deleted, committed,
		e.DetectedAt, e.RenderedAt, e.StartedAt, e.AppliedAt, e.FinishedAt, e.HealthyAt, body, int64(len(body)))
}

// placed is a row of ledger_object.
type placed struct {
	name, blob    int64
	hook          bool
	verb, outcome string
}

// objects finds or makes the numbers of the objects and manifests of an entry,
// and asks for manifests that are not there.
func (w *recording) objects(ctx context.Context, d *api.LedgerDetail) ([]placed, error) {
	keys := map[string]api.LedgerKey{}
	hashes := map[string]bool{}
	for _, o := range d.Objects {
		keys[db.Clean(o.String())], hashes[o.Hash] = o.LedgerKey, true
	}
	for _, c := range d.Changes {
		keys[db.Clean(c.String())] = c.LedgerKey
	}
	names, err := w.names(ctx, keys)
	if err != nil {
		return nil, err
	}
	blobs, err := w.blobs(ctx, hashes)
	if err != nil {
		return nil, err
	}
	set := make(map[int64]*placed, len(keys))
	for _, o := range d.Objects {
		n := names[db.Clean(o.String())]
		set[n] = &placed{name: n, blob: blobs[o.Hash], hook: o.Hook}
	}
	for _, c := range d.Changes {
		n := names[db.Clean(c.String())]
		if set[n] == nil {
			set[n] = &placed{name: n, hook: c.Hook != ""}
		}
		set[n].verb, set[n].outcome = c.Verb, c.Outcome
	}
	out := make([]placed, 0, len(set))
	for _, p := range set {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b placed) int { return int(a.name - b.name) })
	return out, nil
}

// names finds or makes the numbers of objects.
func (w *recording) names(ctx context.Context, keys map[string]api.LedgerKey) (map[string]int64, error) {
	found := make(map[string]int64, len(keys))
	all := sortedKeys(keys)
	query := "SELECT key, number FROM ledger_name WHERE agent = ? AND key IN (LIST)"
	err := w.EachOf(ctx, query, []any{w.uid}, all, db.Pair(func(key string, n int64) { found[key] = n }))
	if err != nil {
		return nil, err
	}
	fresh, err := w.number(ctx, all, found)
	if err != nil || len(fresh) == 0 {
		return found, err
	}
	rows := make([][]any, 0, len(fresh))
	for _, key := range fresh {
		k := keys[key]
		rows = append(rows, []any{found[key], w.uid, key, k.Group, k.Kind, k.Namespace, k.Name})
		w.bytes += int64(2*len(key)) + rowSize
	}
	return found, w.Insert(ctx, "ledger_name (number, agent, key, api_group, kind, namespace, name)", rows, "")
}

// number gives a number to each of all that has none in found, and says which these are.
func (w *recording) number(ctx context.Context, all []string, found map[string]int64) ([]string, error) {
	fresh := slices.DeleteFunc(all, func(key string) bool { return found[key] != 0 })
	if len(fresh) == 0 {
		return nil, nil
	}
	next, err := takeNumbers(ctx, w.Tx, len(fresh))
	for i, key := range fresh {
		found[key] = next + int64(i)
	}
	return fresh, err
}

// blobs finds or makes the numbers of manifests.
func (w *recording) blobs(ctx context.Context, hashes map[string]bool) (map[string]int64, error) {
	found := make(map[string]int64, len(hashes))
	all := sortedKeys(hashes)
	query := "SELECT hash, number, CASE WHEN content = '' THEN 1 ELSE 0 END FROM ledger_blob WHERE agent = ? AND hash IN (LIST)"
	err := w.EachOf(ctx, query, []any{w.uid}, all, func(row db.Row) error {
		var hash string
		var n, lacking int64
		err := row.Scan(&hash, &n, &lacking)
		found[hash] = n
		if lacking != 0 {
			w.lack(hash)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	fresh, err := w.number(ctx, all, found)
	if err != nil || len(fresh) == 0 {
		return found, err
	}
	rows := make([][]any, 0, len(fresh))
	for _, hash := range fresh {
		rows = append(rows, []any{found[hash], w.uid, hash, "", 0, ""})
		w.lack(hash)
		w.bytes += int64(len(hash)) + rowSize
	}
	return found, w.Insert(ctx, "ledger_blob (number, agent, hash, content, size, images)", rows, "")
}

func (w *recording) lack(hash string) {
	if !slices.Contains(w.answer.Lacks, hash) {
		w.answer.Lacks = append(w.answer.Lacks, hash)
	}
}

// healthy notes when applications became healthy.
func (w *recording) healthy(ctx context.Context, list []agentapi.Healthy) error {
	for _, h := range list {
		id := entryID(w.uid, h.ID)
		n, err := w.Exec(ctx, "UPDATE ledger_entry SET healthy_at = ? WHERE entry = ? AND healthy_at = 0", h.At, id)
		if err != nil {
			return err
		}
		if n == 0 {
			if err := w.known(ctx, []string{h.ID}); err != nil {
				return err
			}
			continue
		}
		d, err := ledgerEntry(ctx, w.Tx, id)
		if err != nil {
			return err
		}
		w.answer.Added = append(w.answer.Added, d.LedgerEntry)
	}
	return nil
}

// known says which records are not there.
func (w *recording) known(ctx context.Context, ids []string) error {
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = entryID(w.uid, id)
	}
	var found []string
	if err := w.EachOf(ctx, "SELECT entry FROM ledger_entry WHERE agent = ? AND entry IN (LIST)", []any{w.uid}, named,
		db.Texts(&found)); err != nil {
		return err
	}
	there := db.Set(found)
	for i, id := range ids {
		if !there[named[i]] {
			w.answer.Unknown = append(w.answer.Unknown, id)
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
