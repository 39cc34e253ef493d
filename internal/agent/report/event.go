package report

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// eventMemory is how old the end of a sync may be to be reported for an Application that is seen for the first time: the agent
// may have been restarted before it reported. The server keeps each event once.
const eventMemory = time.Hour

// syncEvents returns what happened between two versions of an Application; old is nil for one that was not known.
func syncEvents(old, fresh *v1alpha1.Application) []agentapi.Event {
	op := fresh.Status.OperationState
	if op == nil || op.StartedAt.IsZero() {
		return nil
	}
	var before *v1alpha1.OperationState
	switch {
	case old != nil && old.UID == fresh.UID:
		before = old.Status.OperationState
	case op.FinishedAt != nil && time.Since(op.FinishedAt.Time) > eventMemory:
		return nil
	}
	same := before != nil && operationID(before) == operationID(op)
	var out []agentapi.Event
	if !same {
		out = append(out, syncEvent(old, fresh, op, agentapi.EventSyncStarted))
	}
	if op.Phase.Completed() && (!same || !before.Phase.Completed()) {
		out = append(out, syncEvent(old, fresh, op, agentapi.EventSyncFinished))
	}
	return out
}

func syncEvent(old, fresh *v1alpha1.Application, op *v1alpha1.OperationState, what agentapi.EventType) agentapi.Event {
	e := agentapi.Event{
		At: op.StartedAt.Time, Type: what, Target: itemKey(agentapi.ItemApplication, fresh.Namespace, fresh.Name),
		Project: fresh.Spec.ProjectName(), User: op.Operation.InitiatedBy.Username, Automatic: automatic(op),
		Revision: revisionOf(op), Before: deployed(old),
	}
	e.Command = infoOf(op, operate.RequestInfo)
	e.Reason = infoOf(op, operate.ReasonInfo)
	phase := "started"
	if what == agentapi.EventSyncFinished {
		phase = string(op.Phase)
		e.Message = op.Message
		e.Outcome = "Failed"
		if op.Phase == v1alpha1.OperationSucceeded {
			e.Outcome = "Succeeded"
		}
		if op.FinishedAt != nil {
			e.At = op.FinishedAt.Time
		}
	}
	sum := sha256.Sum256([]byte(string(fresh.UID) + "\n" + operationID(op) + "\n" + phase))
	e.ID = hex.EncodeToString(sum[:16])
	return e
}

// automatic reports whether an operation has no person behind it. A rollback has one, although automated sync carries it out.
func automatic(op *v1alpha1.OperationState) bool {
	return op.Operation.InitiatedBy.Automated && infoOf(op, operate.RollbackInfo) != v1alpha1.OptionTrue
}

// repairs reports whether an operation restores objects that were changed in the cluster, automatically or on request.
func repairs(op *v1alpha1.OperationState) bool {
	heals := op.Operation.Sync != nil && op.Operation.Sync.AutoHealAttemptsCount > 0
	return heals || infoOf(op, v1alpha1.InfoRevert) == v1alpha1.OptionTrue
}

// operationID distinguishes the operations of an Application. Two of them can begin in the same second, which is all that a
// resource says of the time: then they differ in the author of the request.
func operationID(op *v1alpha1.OperationState) string {
	return op.StartedAt.UTC().Format(time.RFC3339Nano) + " " + infoOf(op, operate.RequestInfo)
}

// infoOf returns an entry of an operation's info.
func infoOf(op *v1alpha1.OperationState, name string) string {
	for _, i := range op.Operation.Info {
		if i.Name == name {
			return i.Value
		}
	}
	return ""
}

// revisionOf returns what an operation deploys.
func revisionOf(op *v1alpha1.OperationState) string {
	if r := op.SyncResult; r != nil {
		if r.Revision != "" {
			return r.Revision
		}
		if len(r.Revisions) > 0 {
			return r.Revisions[0]
		}
	}
	if s := op.Operation.Sync; s != nil {
		return s.Revision
	}
	return ""
}

// deployed returns the revision that was deployed last.
func deployed(app *v1alpha1.Application) string {
	if app == nil || len(app.Status.History) == 0 {
		return ""
	}
	last := app.Status.History[len(app.Status.History)-1]
	if last.Revision == "" && len(last.Revisions) > 0 {
		return last.Revisions[0]
	}
	return last.Revision
}
