package report

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/damp"
	"github.com/slipway-gitops/slipway/internal/agent/record"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const (
	// maxDetected is how many revisions are remembered with the time at which they were learned of.
	maxDetected = 4096
	// ledgerMemory is how long ago an operation may have ended for the server to be asked about it after a start.
	ledgerMemory = 24 * time.Hour
)

// Ledger reports operations to the server. A nil ledger reports nothing.
type Ledger struct {
	LedgerConfig
	Book *record.Book
	// repairs holds back entries of Applications that are put back again and again.
	repairs *damp.Damper[registry.Name]
	// recall makes the entry of an operation that was over before this process began.
	recall func(ctx context.Context, entry string, app *v1alpha1.Application)

	mu       sync.Mutex
	waiting  map[registry.Name]string   // entries whose applications are not healthy yet
	last     map[registry.Name]numbered // the entry of each application's last operation
	detected map[string]time.Time       // revisions
	order    []string                   // of detected, oldest first
	others   chan struct{}              // has one in it for each operation of another replica that an entry is made of
}

// numbered is the id of an entry, and how often it was given.
type numbered struct {
	id    string
	times int
}

// LedgerConfig is what a ledger needs of an agent.
type LedgerConfig struct {
	Registry *registry.Registry
	Engine   *engine.Engine
	Shards   *shard.Shards
	Deleters *verb.Deleters
	// Do begins what goes on while the agent runs, beside everything else.
	Do func(func(ctx context.Context))
}

// OpenLedger keeps what operations were in a book.
func OpenLedger(c LedgerConfig, book record.Config) (*Ledger, error) {
	opened, err := record.Open(book)
	if err != nil {
		return nil, err
	}
	l := &Ledger{
		LedgerConfig: c, Book: opened, repairs: damp.New[registry.Name](dampWindow),
		waiting: map[registry.Name]string{}, last: map[registry.Name]numbered{}, detected: map[string]time.Time{},
		others: make(chan struct{}, recoverWide),
	}
	l.recall = l.recover
	return l, nil
}

// Learned notes when a revision was heard of first.
func (l *Ledger) Learned(revision string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.detected[revision]; known {
		return
	}
	if len(l.order) == maxDetected {
		delete(l.detected, l.order[0])
		l.order = append(l.order[:0:0], l.order[1:]...)
	}
	l.detected[revision] = time.Now()
	l.order = append(l.order, revision)
}

// Turned reports the result of a turn: an operation that is over, or that an Application became healthy after one.
func (l *Ledger) Turned(id registry.Name, app *v1alpha1.Application, res engine.Result) {
	if l == nil {
		return
	}
	if res.Account != nil {
		l.ended(id, app, res)
		return
	}
	if res.Err != nil || res.Health.Status != health.Healthy {
		return
	}
	l.mu.Lock()
	entry, ok := l.waiting[id]
	delete(l.waiting, id)
	l.mu.Unlock()
	if ok {
		l.Book.Healthy(entry, time.Now())
	}
}

// ended reports an operation.
func (l *Ledger) ended(id registry.Name, app *v1alpha1.Application, res engine.Result) {
	d := entryOf(app, res)
	healthy := time.Time{}
	if res.Health.Status == health.Healthy {
		healthy = d.FinishedAt
	}
	entry := recordID(app, res.Operation)
	l.keep(id, d, func() { l.add(id, entry, d, healthy) })
}

// keep adds the entry of an operation. Automatic repairs that repeat are added together: the last of them has their count.
func (l *Ledger) keep(id registry.Name, d *api.LedgerDetail, add func()) {
	if !d.Automatic || d.Options == nil || !d.Options.Repair || d.Phase != string(v1alpha1.OperationSucceeded) {
		l.repairs.Flush(id)
		add()
		return
	}
	l.repairs.Offer(id, func(more int, _ time.Time) {
		d.Repeats = more
		add()
	})
}

// add keeps the entry of an operation that is over. healthy is since when its application is, the zero time where it is not.
func (l *Ledger) add(id registry.Name, entry string, d *api.LedgerDetail, healthy time.Time) {
	l.mu.Lock()
	t := l.last[id]
	if t.id == entry { // another one in the same second
		t.times++
		entry += fmt.Sprintf("%04x", t.times)
	} else {
		t = numbered{id: entry}
	}
	l.last[id] = t
	delete(l.waiting, id)
	if at, ok := l.detected[d.Revision]; ok && !at.After(d.StartedAt.Add(time.Second)) {
		d.DetectedAt = at
	}
	if d.Phase == string(v1alpha1.OperationSucceeded) && d.Action != api.LedgerDryRun {
		if !healthy.IsZero() {
			d.HealthyAt = healthy
		} else {
			l.waiting[id] = entry
		}
	}
	l.mu.Unlock()
	l.Book.Add(entry, d)
}

// Forget drops what is kept of an Application that is gone.
func (l *Ledger) Forget(id registry.Name) {
	if l == nil {
		return
	}
	l.repairs.Flush(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
	delete(l.last, id)
}

// Deleted reports that an Application was deleted with its objects.
func (l *Ledger) Deleted(app *v1alpha1.Application, removed []object.Key, kept []guard.Kept) {
	if l == nil || !l.Book.Open() || app.DeletionTimestamp == nil {
		return
	}
	l.repairs.Flush(registry.NameOf(app))
	l.bury(app, deletionOf(app, l.Deleters.By, removed, kept))
}

// deletionOf is the entry of the deletion of an Application with its objects, of which some stay.
func deletionOf(
	app *v1alpha1.Application, deletedBy func(*v1alpha1.Application) (v1alpha1.Deletion, bool), removed []object.Key, kept []guard.Kept,
) *api.LedgerDetail {
	now := time.Now()
	by, _ := deletedBy(app)
	d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{
		Namespace: app.Namespace, Name: app.Name, ApplicationUID: string(app.UID), ArgoProject: app.Spec.ProjectName(),
		Destination: destinationOf(app), Action: api.LedgerDelete, Phase: string(v1alpha1.OperationSucceeded),
		Message:   "deleted with its objects",
		StartedAt: app.DeletionTimestamp.Time, FinishedAt: now, AppliedAt: now, Sources: sourcesOf(app.Spec.EffectiveSources(), nil, nil, nil),
	}}
	d.Actor, d.Command, d.Reason = by.By, by.Request, by.Reason
	for _, k := range removed {
		d.Changes = append(d.Changes, api.LedgerChange{
			LedgerKey: ledgerKey(k), Verb: api.LedgerDeleted, Outcome: string(v1alpha1.OperationSucceeded),
		})
	}
	d.Counts.Deleted = len(d.Changes)
	for _, k := range kept {
		d.Changes = append(d.Changes, api.LedgerChange{
			LedgerKey: ledgerKey(k.Key), Verb: api.LedgerDeleted, Outcome: ledgerSkipped, Message: k.Why,
		})
	}
	if len(kept) > 0 {
		d.Message += "; " + KeptText(kept)
	}
	return d
}

// bury keeps the entry of a deletion.
func (l *Ledger) bury(app *v1alpha1.Application, d *api.LedgerDetail) {
	shorten(d)
	l.Book.Add(hexID(string(app.UID), "deletion", app.DeletionTimestamp.UTC().Format(time.RFC3339)), d)
}

// Run stores reports of operations until ctx ends.
func (l *Ledger) Run(ctx context.Context) error {
	<-ctx.Done()
	l.repairs.FlushAll()
	return l.Book.Close()
}

// Survey asks the server about operations that were over before this process began: the one before may have been ended
// between the last apply, or the write of the status, and the entry.
func (l *Ledger) Survey(ctx context.Context) {
	if l == nil {
		return
	}
	var checks []record.Check
	l.Registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		op := app.Status.OperationState
		if op == nil || !op.Phase.Completed() || op.FinishedAt == nil || time.Since(op.FinishedAt.Time) > ledgerMemory {
			return
		}
		c := record.Check{ID: recordID(app, op)}
		c.Missing = func() { l.recall(ctx, c.ID, app) }
		dry := op.Operation.Sync != nil && op.Operation.Sync.DryRun
		if op.Phase == v1alpha1.OperationSucceeded && !dry {
			if app.Status.Health.Status == v1alpha1.HealthHealthy {
				c.Healthy = op.FinishedAt.Time
				if since := app.Status.Health.LastTransitionTime; since != nil && since.After(c.Healthy) {
					c.Healthy = since.Time
				}
			} else {
				l.mu.Lock()
				l.waiting[id] = c.ID
				l.mu.Unlock()
			}
		}
		checks = append(checks, c)
	})
	l.Book.Ask(checks)
}

// EndedByAnother reports an operation that another replica has ended, from the status that it left.
func (l *Ledger) EndedByAnother(old, fresh *v1alpha1.Application) {
	id := registry.NameOf(fresh)
	if l == nil || l.Shards.Holds(id) || !l.Book.Open() {
		return
	}
	op := fresh.Status.OperationState
	if op == nil || !op.Phase.Completed() || op.FinishedAt == nil {
		return
	}
	healthy := fresh.Status.Health.Status == v1alpha1.HealthHealthy
	if old != nil && old.Status.OperationState != nil && old.Status.OperationState.Phase.Completed() &&
		recordID(old, old.Status.OperationState) == recordID(fresh, op) {
		l.mu.Lock()
		entry, waits := l.waiting[id]
		if healthy {
			delete(l.waiting, id)
		}
		l.mu.Unlock()
		if healthy && waits {
			l.Book.Healthy(entry, time.Now())
		}
		return
	}
	l.mu.Lock()
	delete(l.waiting, id)
	if !healthy && op.Phase == v1alpha1.OperationSucceeded {
		l.waiting[id] = recordID(fresh, op)
	}
	l.mu.Unlock()
	l.Do(func(ctx context.Context) {
		l.others <- struct{}{}
		defer func() { <-l.others }()
		if ctx.Err() == nil {
			d := l.recovered(ctx, fresh)
			l.keep(id, d, func() { l.Book.Add(recordID(fresh, op), d) })
		}
	})
}

// recoverWide is how many operations of other replicas are made entries of at a time.
const recoverWide = 2

// recover keeps the entry of an operation, made from the status that it left.
func (l *Ledger) recover(ctx context.Context, entry string, app *v1alpha1.Application) {
	l.Book.Add(entry, l.recovered(ctx, app))
}

// recovered makes the entry of the last operation of an Application from the status that it left.
func (l *Ledger) recovered(ctx context.Context, app *v1alpha1.Application) *api.LedgerDetail {
	op := app.Status.OperationState
	res := engine.Result{
		Operation: op, Health: health.Result{Status: health.Status(app.Status.Health.Status)}, Account: &engine.Account{Recovered: true},
	}
	for _, t := range app.Status.SourceTypes {
		res.Tools = append(res.Tools, string(t))
	}
	d := entryOf(app, res)
	d.Changes, d.Counts = changesOfStatus(op)
	ctx, cancel := context.WithTimeout(ctx, recoverLimit)
	defer cancel()
	if wish, err := l.Engine.Manifests(ctx, app); err == nil && strings.Join(wish.Revisions, " ") == strings.Join(revisionsIn(op), " ") {
		for _, m := range wish.Objects {
			c := l.Book.Keep(wish.Target.Live.Server, m, false)
			d.Objects = append(d.Objects, api.LedgerObject{LedgerKey: ledgerKey(m.Key), Hash: hex.EncodeToString(c[:])})
		}
	} else {
		d.Notes = append(d.Notes, "what was rendered is not known any more")
	}
	shorten(d)
	return d
}

// recoverLimit is how long rendering once more may take, for one entry.
const recoverLimit = 20 * time.Second

// recordID names an operation of an Application. Two of them can begin in the same second, which is all that a status says
// of the time.
func recordID(app *v1alpha1.Application, op *v1alpha1.OperationState) string {
	heals := ""
	if op.Operation.Sync != nil && op.Operation.Sync.AutoHealAttemptsCount > 0 {
		heals = "heals"
	}
	started := *op
	started.StartedAt.Time = op.StartedAt.Truncate(time.Second)
	return hexID(string(app.UID), operationID(&started), strings.Join(revisionsIn(op), " "), heals)
}

func hexID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:16])
}

// revisionsIn are what an operation was about.
func revisionsIn(op *v1alpha1.OperationState) []string {
	if op.SyncResult == nil {
		return nil
	}
	if op.SyncResult.Revision != "" {
		return []string{op.SyncResult.Revision}
	}
	return op.SyncResult.Revisions
}

func ledgerKey(k object.Key) api.LedgerKey {
	return api.LedgerKey{Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
}

func destinationOf(app *v1alpha1.Application) string {
	if app.Spec.Destination.Server != "" {
		return app.Spec.Destination.Server
	}
	return app.Spec.Destination.Name
}

// MaxCondition bounds a message about a deletion, in bytes: API servers and webhooks repeat what they refuse.
const MaxCondition = 8 << 10

// KeptText names the objects that stay when their Application is gone.
func KeptText(kept []guard.Kept) string {
	const shown = 10
	lines := make([]string, 0, shown)
	for _, k := range kept[:min(len(kept), shown)] {
		lines = append(lines, k.String())
	}
	text := fmt.Sprintf("%d objects stay in the cluster: ", len(kept))
	if len(kept) == 1 {
		text = "1 object stays in the cluster: "
	}
	text += strings.Join(lines, "; ")
	if n := len(kept) - shown; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return object.Middle(text, MaxCondition)
}
