package report

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// notesBeside says what an entry lacks that is made of what Argo CD writes into the status.
func notesBeside() []string {
	return []string{
		"Argo CD carried it out, and the entry is made of the status that it wrote: what was rendered, what the objects were before, " +
			"and what windows or rules decided is not known",
		"every object that was applied counts as changed, those that were made by it or were as wanted already among them",
	}
}

// Observed reports an operation whose end Argo CD has written, and of the first time that its Application is healthy after
// it. An operation that was over when the Application was first seen is what survey asks about.
func (l *Ledger) Observed(old, fresh *v1alpha1.Application) {
	if l == nil || old == nil || old.UID != fresh.UID {
		return
	}
	id := registry.NameOf(fresh)
	op := fresh.Status.OperationState
	if slices.ContainsFunc(syncEvents(old, fresh), func(e agentapi.Event) bool { return e.Type == agentapi.EventSyncFinished }) {
		healthy, _ := healthySince(fresh)
		d := besideOf(fresh, false)
		l.keep(id, d, func() { l.add(id, recordID(fresh, op), d, healthy) })
		return
	}
	at, healthy := healthySince(fresh)
	if !healthy {
		return
	}
	l.mu.Lock()
	entry, ok := l.waiting[id]
	delete(l.waiting, id)
	l.mu.Unlock()
	if ok {
		l.Book.Healthy(entry, at)
	}
}

// DeletedBeside reports an Application that Argo CD has deleted with its objects, app being how it was when that began.
func (l *Ledger) DeletedBeside(app *v1alpha1.Application) {
	if l == nil || !l.Book.Open() {
		return
	}
	var had []object.Key
	var kept []guard.Kept
	for _, r := range app.Status.Resources {
		k := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		if k.GroupKind() == guard.Definition {
			kept = append(kept, guard.Kept{Key: k, Why: verb.KeptByArgoCD})
			continue
		}
		had = append(had, k)
	}
	d := deletionOf(app, l.Deleters.By, had, kept)
	d.Engine = string(agentapi.EngineArgoCD)
	d.Notes = append(d.Notes, "Argo CD deleted it, and the entry is made of its last status: every object in it counts as deleted, "+
		"those that were to be kept already among them")
	l.bury(app, d)
}

// MakeBeside has entries that are missing made of what Argo CD wrote.
func (l *Ledger) MakeBeside() {
	if l != nil {
		l.recall = l.recallBeside
	}
}

// recallBeside makes the entry of an operation that Argo CD ended while no agent looked on.
func (l *Ledger) recallBeside(_ context.Context, entry string, app *v1alpha1.Application) {
	l.Book.Add(entry, besideOf(app, true))
}

// besideOf makes the entry of the last operation of an Application from its status.
func besideOf(app *v1alpha1.Application, recovered bool) *api.LedgerDetail {
	op := app.Status.OperationState
	before := app.DeepCopy()
	before.Status.History = slices.DeleteFunc(before.Status.History,
		func(h v1alpha1.RevisionHistory) bool { return !deployedBy(h).Before(op.StartedAt.Time) })
	res := engine.Result{
		Operation: op, Health: health.Result{Status: health.Status(app.Status.Health.Status)}, Account: &engine.Account{Recovered: recovered},
	}
	for _, t := range app.Status.SourceTypes {
		res.Tools = append(res.Tools, string(t))
	}
	if len(res.Tools) == 0 && app.Status.SourceType != "" {
		res.Tools = []string{string(app.Status.SourceType)}
	}
	d := entryOf(before, res)
	d.Engine = string(agentapi.EngineArgoCD)
	d.Changes, d.Counts = changesOfStatus(op)
	d.Notes = append(d.Notes, notesBeside()...)
	shorten(d)
	return d
}

// deployedBy is when a deployment began, where that is reported; else when it ended.
func deployedBy(h v1alpha1.RevisionHistory) time.Time {
	if h.DeployStartedAt != nil {
		return h.DeployStartedAt.Time
	}
	return h.DeployedAt.Time
}

// healthySince says since when an Application is healthy, as far as it was looked at after its last operation.
func healthySince(app *v1alpha1.Application) (time.Time, bool) {
	op := app.Status.OperationState
	if op == nil || op.FinishedAt == nil || app.Status.Health.Status != v1alpha1.HealthHealthy ||
		app.Status.ReconciledAt == nil || app.Status.ReconciledAt.Before(op.FinishedAt) {
		return time.Time{}, false
	}
	at := op.FinishedAt.Time
	if since := app.Status.Health.LastTransitionTime; since != nil && since.After(at) {
		at = since.Time
	}
	return at, true
}
