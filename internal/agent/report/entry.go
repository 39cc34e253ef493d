package report

import (
	"encoding/hex"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// rollbackInfo is the entry of an operation's info that says which deployment it goes back to.
const rollbackInfo = "rollback"

// entryOf makes the entry of an operation that is over. app is the Application as the turn found it.
func entryOf(app *v1alpha1.Application, res engine.Result) *api.LedgerDetail {
	op, acct := res.Operation, res.Account
	d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{
		Namespace: app.Namespace, Name: app.Name, ApplicationUID: string(app.UID), ArgoProject: app.Spec.ProjectName(),
		Destination: destinationOf(app), Automatic: automatic(op), Actor: op.Operation.InitiatedBy.Username,
		Reason: infoOf(op, operate.ReasonInfo), Command: infoOf(op, operate.RequestInfo), Action: actionOf(op, acct.Pinned),
		Recovered: acct.Recovered, Retries: op.RetryCount, Options: optionsOf(op),
		RenderedAt: acct.RenderedAt, StartedAt: op.StartedAt.Time, AppliedAt: acct.AppliedAt,
		Phase: string(op.Phase), Message: object.Middle(op.Message, maxLedgerText), Health: string(res.Health.Status),
	}}
	if d.Reason == "" {
		d.Reason = infoOf(op, rollbackInfo)
	}
	if op.FinishedAt != nil {
		d.FinishedAt = op.FinishedAt.Time
	}
	sources, revisions := app.Spec.EffectiveSources(), revisionsIn(op)
	if r := op.SyncResult; r != nil {
		if len(r.Sources) > 0 {
			sources = r.Sources
		} else if r.Source.RepoURL != "" {
			sources = []v1alpha1.ApplicationSource{r.Source}
		}
	}
	d.Sources = sourcesOf(sources, revisions, deployedBefore(app), res.Tools)
	if len(revisions) > 0 {
		d.Revision = revisions[0]
	}
	if len(acct.Changes) > 0 {
		c := acct.Changes[0]
		d.Commit = &api.LedgerCommit{Author: c.Author, Subject: object.Brief(c.Subject, maxSubject), CommittedAt: c.At}
	}
	for _, v := range acct.Decisions {
		d.Decisions = append(d.Decisions, api.LedgerDecision{Gate: v.Gate, Outcome: v.Outcome, Message: object.Middle(v.Message, maxLedgerText)})
	}
	for _, o := range acct.Objects {
		d.Objects = append(d.Objects, api.LedgerObject{LedgerKey: ledgerKey(o.Key), Hook: o.Hook, Hash: hex.EncodeToString(o.Content[:])})
	}
	d.Counts.Unchanged = acct.Unchanged
	for _, x := range acct.Deeds {
		d.Changes = append(d.Changes, changeOf(x, &d.Counts))
	}
	shorten(d)
	return d
}

// Bounds of texts in an entry: of a message in bytes, of a subject in characters, and of all messages of changes in bytes.
const (
	maxLedgerText = 2 << 10
	maxSubject    = 200
	maxLedgerTold = 128 << 10
)

// shorten leaves out what is too much of an entry, and says so.
func shorten(d *api.LedgerDetail) {
	if n := len(d.Changes); n > api.MaxLedgerChanges {
		d.Changes = d.Changes[:api.MaxLedgerChanges]
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %d changes are named", api.MaxLedgerChanges, n))
	}
	if n := len(d.Objects); n > api.MaxLedgerObjects {
		d.Objects = d.Objects[:api.MaxLedgerObjects]
		d.Notes = append(d.Notes, fmt.Sprintf("%d of %d objects are named", api.MaxLedgerObjects, n))
	}
	told := 0
	for i := range d.Changes {
		if told += len(d.Changes[i].Message); told > maxLedgerTold {
			d.Changes[i].Message = ""
		}
	}
}

func actionOf(op *v1alpha1.OperationState, pinned bool) string {
	sync := op.Operation.Sync
	switch {
	case sync != nil && sync.DryRun:
		return api.LedgerDryRun
	case infoOf(op, v1alpha1.InfoRestore) == v1alpha1.OptionTrue:
		return api.LedgerRestore
	case sync != nil && len(sync.Resources) > 0:
		return api.LedgerPartial
	case pinned || infoOf(op, operate.RollbackInfo) == v1alpha1.OptionTrue || infoOf(op, rollbackInfo) != "":
		return api.LedgerRollback
	}
	return api.LedgerSync
}

func optionsOf(op *v1alpha1.OperationState) *api.LedgerOptions {
	sync := op.Operation.Sync
	if sync == nil {
		return nil
	}
	o := &api.LedgerOptions{
		Prune: sync.Prune, DryRun: sync.DryRun, Repair: repairs(op), Local: len(sync.Manifests) > 0, SyncOptions: sync.SyncOptions,
	}
	for _, r := range sync.Resources {
		if len(o.Resources) == maxLedgerResources {
			break
		}
		o.Resources = append(o.Resources, api.LedgerKey{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}.String())
	}
	return o
}

// maxLedgerResources is how many objects are named that an operation was limited to.
const maxLedgerResources = 100

// sourcesOf describes sources with what they were resolved to and what was deployed before.
func sourcesOf(sources []v1alpha1.ApplicationSource, revisions, before, tools []string) []api.LedgerSource {
	out := make([]api.LedgerSource, 0, len(sources))
	rendered := 0
	for i, s := range sources {
		l := api.LedgerSource{RepoURL: s.RepoURL, Path: s.Path, Chart: s.Chart, TargetRevision: s.TargetRevision}
		if i < len(revisions) {
			l.Revision = revisions[i]
		}
		if len(before) == len(sources) {
			l.Before = before[i]
		}
		if !s.IsRef() && rendered < len(tools) {
			l.Tool = tools[rendered]
			rendered++
		}
		out = append(out, l)
	}
	return out
}

// deployedBefore are the revisions of the last deployment in the history.
func deployedBefore(app *v1alpha1.Application) []string {
	if len(app.Status.History) == 0 {
		return nil
	}
	last := app.Status.History[len(app.Status.History)-1]
	if last.Revision != "" {
		return []string{last.Revision}
	}
	return last.Revisions
}

// changeOf describes what was done with an object, and counts it.
func changeOf(x engine.Deed, n *api.LedgerCounts) api.LedgerChange {
	c := api.LedgerChange{
		LedgerKey: ledgerKey(x.Key), Verb: api.LedgerChanged, Hook: string(x.Hook), Outcome: string(v1alpha1.OperationSucceeded),
		Message: object.Middle(x.Message, maxLedgerText),
	}
	switch x.Verb {
	case diff.Create:
		c.Verb = api.LedgerCreated
	case diff.Delete:
		c.Verb = api.LedgerDeleted
	case diff.Keep, diff.Update:
	}
	switch {
	case x.Failed:
		c.Outcome = string(v1alpha1.OperationFailed)
		n.Failed++
	case x.Skipped:
		c.Outcome = ledgerSkipped
	case c.Verb == api.LedgerCreated:
		n.Created++
	case c.Verb == api.LedgerDeleted:
		n.Deleted++
	default:
		n.Changed++
	}
	return c
}

// ledgerSkipped is the outcome of a deletion that was not allowed.
const ledgerSkipped = "Skipped"

// changesOfStatus reads from a status what an operation did.
func changesOfStatus(op *v1alpha1.OperationState) ([]api.LedgerChange, api.LedgerCounts) {
	var out []api.LedgerChange
	var n api.LedgerCounts
	if op.SyncResult == nil {
		return nil, n
	}
	for _, r := range op.SyncResult.Resources {
		x := engine.Deed{
			Key: object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}, Verb: diff.Update, Message: r.Message,
			Failed: r.Status == v1alpha1.ResultSyncFailed, Skipped: r.Status == v1alpha1.ResultPruneSkipped,
		}
		if r.HookType != "" {
			x.Hook = r.SyncPhase
			x.Failed = x.Failed || r.HookPhase.Completed() && r.HookPhase != v1alpha1.OperationSucceeded
		}
		if r.Status == v1alpha1.ResultPruned || x.Skipped {
			x.Verb = diff.Delete
		}
		out = append(out, changeOf(x, &n))
	}
	return out, n
}
