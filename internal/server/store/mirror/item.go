package mirror

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/delivery"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

// kept is what a batch needs to know of a row that is there.
type kept struct {
	hash   string
	scope  string
	labels map[string]string
	stale  bool
	// title and destination are the name and the address of a cluster.
	title, destination string
	// argoProject, deployed and driftSince are those of an application.
	argoProject string
	deployed    deployed
	driftSince  int64
}

// ApplyItems stores the items of a batch in one transaction that compares epoch
// and sequence first.
func (s *Copies) ApplyItems(ctx context.Context, uid string, epoch, seq int64, items []agentapi.Item,
	now time.Time,
) (changes []gateway.Changed, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		changes = make([]gateway.Changed, 0, len(items))
		owner, err := fleet.LockEpoch(ctx, t, uid, epoch)
		if err != nil {
			return err
		}
		if seq < owner.Seq {
			return gateway.ErrStale
		}
		if err := t.Run(ctx, "UPDATE agent SET seq = ? WHERE uid = ?", seq, uid); err != nil {
			return fmt.Errorf("note sequence of batch: %w", err)
		}
		where, err := delivery.ReadPlaces(ctx, t, owner.ID, owner.Scope)
		if err != nil {
			return fmt.Errorf("read mappings: %w", err)
		}
		keys := make([]agentapi.Key, 0, len(items))
		for _, item := range items {
			keys = append(keys, item.Key)
			if item.Kind == agentapi.ItemInstances {
				keys = append(keys, applicationOf(item.Key))
			}
		}
		before, err := keptItems(ctx, t, uid, keys)
		if err != nil {
			return fmt.Errorf("read items: %w", err)
		}
		b := batch{
			Tx: t, uid: uid, id: owner.ID, now: db.Micros(now), stored: before, before: maps.Clone(before), last: map[string]row{},
			links: owner.Links, fresh: map[string]agentapi.Key{},
		}
		for _, item := range items {
			changes = append(changes, b.apply(item, where))
		}
		if err := b.link(ctx); err != nil {
			return fmt.Errorf("link applications: %w", err)
		}
		return b.write(ctx)
	})
	return changes, err
}

// keptItems reads those of some items that are there, by entry.
func keptItems(ctx context.Context, t db.Tx, uid string, keys []agentapi.Key) (map[string]kept, error) {
	found := make(map[string]kept, len(keys))
	entries := make([]string, len(keys))
	for i, key := range keys {
		entries[i] = key.String()
	}
	const query = "SELECT entry, hash, scope, labels, stale_since, argo_project, title, destination, " +
		"deployed_image, deployed_tag, deployed_chart, deployed_commit, deployed_at, drift_since" +
		" FROM item WHERE agent = ? AND entry IN (LIST)"
	err := t.EachOf(ctx, query, []any{uid}, entries, func(row db.Row) error {
		var entry string
		var k kept
		var since int64
		d := &k.deployed
		err := row.Scan(&entry, &k.hash, &k.scope, db.Decode(&k.labels), &since, &k.argoProject, &k.title, &k.destination,
			&d.image, &d.tag, &d.chart, &d.commit, &d.at, &k.driftSince)
		k.stale = since != 0
		found[entry] = k
		return err
	})
	return found, err
}

// applicationOf is the application that instances are of.
func applicationOf(key agentapi.Key) agentapi.Key {
	key.Kind = agentapi.ItemApplication
	return key
}

// batch gathers what a batch writes: of each item the last state only.
type batch struct {
	db.Tx
	uid, id string
	now     int64
	stored  map[string]kept // as the database has it
	before  map[string]kept // as the batch has got so far
	last    map[string]row  // to be written
	gone    []string        // entries to be removed
	renamed bool            // a cluster may have another name or address
	// links says that new applications are linked, and fresh are these, by entry.
	links bool
	fresh map[string]agentapi.Key
	// edition is that of what is written.
	edition int64
}

// row is an item to be written.
type row struct {
	key    agentapi.Key
	scope  api.Scope
	hash   string
	body   string
	fields fields
	linked delivery.Linked
}

// apply takes in one item and says what it changes.
func (b *batch) apply(item agentapi.Item, where delivery.Places) gateway.Changed {
	entry := db.Clean(item.Key.String())
	was, there := b.before[entry]
	change := gateway.Changed{Key: item.Key}
	if there && !was.stale {
		change.Before = was.hash
	}
	if item.Deleted {
		change.Scope, change.Labels, change.Removed = was.scope, was.labels, there
		if there {
			b.gone = append(b.gone, entry)
			delete(b.before, entry)
			delete(b.last, entry)
			delete(b.fresh, entry)
		}
		return change
	}
	if there && !was.stale && was.hash == item.Hash && item.Hash != "" {
		change.After, change.Scope, change.Labels = was.hash, was.scope, was.labels
		return change
	}
	r := row{key: item.Key, hash: item.Hash, body: string(item.Body), fields: readFields(item.Kind, item.Name, item.Body)}
	labels := r.fields.labels
	switch item.Kind {
	case agentapi.ItemApplication:
		r.fields.deployed = r.fields.deployed.after(was.deployed, there, r.fields.firstDeployed, b.now)
		r.fields.driftSince = driftSince(r.fields.sync, was.driftSince, b.now)
		if change.Before == "" {
			b.fresh[entry] = item.Key
		}
	case agentapi.ItemInstances: // they are where their application is, and seen by every user who sees that
		of := b.before[db.Clean(applicationOf(item.Key).String())]
		r.fields.argoProject, labels = of.argoProject, of.labels
	}
	r.scope = where.Of(r.fields.argoProject)
	b.last[entry] = r
	b.gone = slices.DeleteFunc(b.gone, func(g string) bool { return g == entry })
	b.before[entry] = kept{
		hash: item.Hash, scope: string(r.scope), labels: r.fields.labels, argoProject: r.fields.argoProject, deployed: r.fields.deployed,
		driftSince: r.fields.driftSince, title: r.fields.title, destination: r.fields.destination,
	}
	change.After, change.Scope, change.Labels = item.Hash, string(r.scope), labels
	return change
}

// write writes what was gathered.
func (b *batch) write(ctx context.Context) error {
	var err error
	if b.edition, err = delivery.Revise(ctx, b.Tx, b.uid, len(b.gone) > 0); err != nil {
		return err
	}
	if err := removeItems(ctx, b.Tx, b.uid, b.id, b.gone); err != nil {
		return fmt.Errorf("remove items: %w", err)
	}
	entries := make([]string, 0, len(b.last))
	for entry := range b.last {
		entries = append(entries, entry)
	}
	slices.Sort(entries) // the same order for all, so that no transactions wait in a circle
	for part := range slices.Chunk(entries, db.RowsAtOnce) {
		if err := b.upsert(ctx, part); err != nil {
			return fmt.Errorf("write items: %w", err)
		}
		if err := b.relabel(ctx, part); err != nil {
			return fmt.Errorf("write labels of items: %w", err)
		}
	}
	if err := b.await(ctx); err != nil {
		return err
	}
	if b.renamed {
		return delivery.Relink(ctx, b.Tx, "agent = ? AND EXISTS (SELECT 1 FROM environment_cluster e WHERE e.agent = item.agent_id)", b.uid)
	}
	return nil
}

// stored is a row of the table item, every column of it.
type stored struct {
	Agent                string `db:"agent"`
	Entry                string `db:"entry"`
	Kind                 string `db:"kind"`
	Namespace            string `db:"namespace"`
	Name                 string `db:"name"`
	ID                   string `db:"id"`
	AgentID              string `db:"agent_id"`
	Scope                string `db:"scope"`
	ArgoProject          string `db:"argo_project"`
	Hash                 string `db:"hash"`
	Body                 string `db:"body"`
	Labels               string `db:"labels"` // JSON
	ChangedAt            int64  `db:"changed_at"`
	StaleSince           int64  `db:"stale_since"`
	Sync                 string `db:"sync"`
	Health               string `db:"health"`
	Phase                string `db:"phase"`
	Message              string `db:"message"`
	Revision             string `db:"revision"`
	RepoURL              string `db:"repo_url"`
	Repos                string `db:"repos"`
	Path                 string `db:"path"`
	Destination          string `db:"destination"`
	DestinationNamespace string `db:"destination_namespace"`
	AutoSync             bool   `db:"auto_sync"`
	Conditions           string `db:"conditions"` // JSON
	FinishedAt           int64  `db:"finished_at"`
	Service              string `db:"service"`
	Environment          string `db:"environment"`
	Title                string `db:"title"`
	DeployedImage        string `db:"deployed_image"`
	DeployedTag          string `db:"deployed_tag"`
	DeployedChart        string `db:"deployed_chart"`
	DeployedCommit       string `db:"deployed_commit"`
	DeployedAt           int64  `db:"deployed_at"`
	Ready                int    `db:"ready"`
	Total                int    `db:"total"`
	Held                 bool   `db:"held"`
	DriftSince           int64  `db:"drift_since"`
	Edition              int64  `db:"edition"`
	Words                string `db:"words"`
}

var itemTable = db.NewTable[stored]("item", "agent", "entry") //nolint:gochecknoglobals // what its tags say

func (b *batch) upsert(ctx context.Context, entries []string) error {
	rows := make([]stored, 0, len(entries))
	for _, entry := range entries {
		r := b.last[entry]
		f, d := r.fields, r.fields.deployed
		rows = append(rows, stored{
			Agent: b.uid, Entry: entry, Kind: string(r.key.Kind), Namespace: r.key.Namespace, Name: r.key.Name,
			ID: api.ItemID(b.id, r.key.Namespace, r.key.Name), AgentID: b.id, Scope: string(r.scope), ArgoProject: f.argoProject,
			Hash: r.hash, Body: r.body, Labels: db.Encode(f.labels), ChangedAt: b.now,
			Sync: f.sync, Health: f.health, Phase: f.phase, Message: f.message, Revision: f.revision, RepoURL: f.repoURL, Repos: f.repos,
			Path: f.path, Destination: f.destination, DestinationNamespace: f.destinationNamespace, AutoSync: f.autoSync,
			Conditions: db.Encode(f.conditions), FinishedAt: f.finishedAt, Service: r.linked.Service, Environment: r.linked.Environment,
			Title: f.title, DeployedImage: d.image, DeployedTag: d.tag, DeployedChart: d.chart, DeployedCommit: d.commit, DeployedAt: d.at,
			Ready: f.ready, Total: f.total, Held: f.held, DriftSince: f.driftSince, Edition: b.edition, Words: f.words(r.key),
		})
	}
	return itemTable.Upsert(ctx, b.Tx, rows)
}

// relabel writes the labels of items whose labels are others than before.
func (b *batch) relabel(ctx context.Context, entries []string) error {
	var rows [][]any
	for _, entry := range entries {
		r := b.last[entry]
		was := b.stored[entry].labels
		if maps.Equal(was, r.fields.labels) {
			continue
		}
		id := api.ItemID(b.id, r.key.Namespace, r.key.Name)
		if len(was) > 0 {
			if err := b.Run(ctx, "DELETE FROM label WHERE type = ? AND id = ?", string(r.key.Kind), id); err != nil {
				return err
			}
		}
		for name, value := range r.fields.labels {
			rows = append(rows, []any{string(r.key.Kind), id, name, value})
		}
	}
	return b.Insert(ctx, "label (type, id, name, value)", rows, "")
}

// removeItems deletes items with their labels.
func removeItems(ctx context.Context, t db.Tx, uid, agent string, entries []string) error {
	for part := range slices.Chunk(entries, db.Chunk) {
		args := append([]any{uid}, db.Anys(part)...)
		condition := "item.agent = ? AND item.entry IN (" + db.Marks(len(part)) + ")"
		if err := dropItems(ctx, t, condition, args...); err != nil {
			return fmt.Errorf("of agent %s: %w", agent, err)
		}
	}
	return nil
}

// dropItems deletes the items of a condition with their labels.
func dropItems(ctx context.Context, t db.Tx, condition string, args ...any) error {
	var found [][2]string
	err := t.Each(ctx, "SELECT kind, id FROM item WHERE labels <> '' AND "+condition, slices.Clone(args), db.Pair(func(kind, id string) {
		found = append(found, [2]string{kind, id})
	}))
	if err != nil {
		return err
	}
	for _, of := range found {
		if err := t.Run(ctx, "DELETE FROM label WHERE type = ? AND id = ?", of[0], of[1]); err != nil {
			return err
		}
	}
	return t.Run(ctx, "DELETE FROM item WHERE "+condition, args...)
}

// Entries returns all that is kept of an agent.
func (s *Copies) Entries(ctx context.Context, uid string) ([]gateway.Entry, error) {
	query := "SELECT kind, namespace, name, hash, stale_since FROM item WHERE agent = ? ORDER BY entry"
	return db.All(ctx, s.db, query, []any{uid}, func(row db.Row, e *gateway.Entry) error {
		var since int64
		err := row.Scan((*string)(&e.Kind), &e.Namespace, &e.Name, &e.Hash, &since)
		e.Stale = since != 0
		return err
	})
}

// Reconcile does what follows from an inventory, in one transaction that
// compares the epoch first.
func (s *Copies) Reconcile(ctx context.Context, uid string, epoch int64, r gateway.Reconciliation,
	now time.Time,
) (changes []gateway.Changed, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		changes = nil
		owner, err := fleet.LockEpoch(ctx, t, uid, epoch)
		if err != nil {
			return err
		}
		before, err := keptItems(ctx, t, uid, slices.Concat(r.Remove, r.MarkStale, r.Unmark))
		if err != nil {
			return fmt.Errorf("read items: %w", err)
		}
		edition, err := delivery.Revise(ctx, t, uid, len(r.Remove) > 0)
		if err != nil {
			return err
		}
		// concern notes those of some items that are there and to be changed.
		concern := func(keys []agentapi.Key, removed bool, when func(kept) bool) []string {
			var entries []string
			for _, key := range keys {
				entry := db.Clean(key.String())
				was, there := before[entry]
				if !there || !when(was) {
					continue
				}
				delete(before, entry)
				change := gateway.Changed{Key: key, Scope: was.scope, Labels: was.labels, Removed: removed}
				if was.stale && !removed {
					change.After = was.hash
				} else if !was.stale {
					change.Before = was.hash
				}
				entries, changes = append(entries, entry), append(changes, change)
			}
			return entries
		}
		gone := concern(r.Remove, true, func(kept) bool { return true })
		if err := removeItems(ctx, t, uid, owner.ID, gone); err != nil {
			return fmt.Errorf("remove items: %w", err)
		}
		lost := concern(r.MarkStale, false, func(k kept) bool { return !k.stale })
		if err := markItems(ctx, t, uid, lost, db.Micros(now), edition); err != nil {
			return err
		}
		back := concern(r.Unmark, false, func(k kept) bool { return k.stale })
		return markItems(ctx, t, uid, back, 0, edition)
	})
	return changes, err
}

// markItems stores since when an agent no longer reports items.
func markItems(ctx context.Context, t db.Tx, uid string, entries []string, since, edition int64) error {
	err := t.ExecOf(ctx, "UPDATE item SET stale_since = ?, edition = ? WHERE agent = ? AND entry IN (LIST)",
		[]any{since, edition, uid}, entries)
	if err != nil {
		return fmt.Errorf("mark items: %w", err)
	}
	return nil
}
