package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/damp"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// happenings finds what happens to Applications, from what their resources say before and after a change.
type happenings struct {
	send func(agentapi.Event)
	by   func(*v1alpha1.Application) (v1alpha1.Deletion, bool) // the author of the deletion
	damp *damp.Damper[repeated]

	mu      sync.Mutex
	settled map[registry.Name]restingHealth
}

// repeated is what happens to one Application again and again.
type repeated struct {
	app  agentapi.Key
	what agentapi.EventType
	how  string // distinguishes events that never hold back each other: the outcome, the health
}

// dampWindow is how often an event that repeats is reported.
const dampWindow = 5 * time.Minute

func newHappenings(send func(agentapi.Event), by func(*v1alpha1.Application) (v1alpha1.Deletion, bool)) *happenings {
	return &happenings{send: send, by: by, damp: damp.New[repeated](dampWindow)}
}

// moved reports what happened between two versions of an Application. Events that can follow each other for as long as another
// program causes them are reported once in a while, with their number.
func (h *happenings) moved(old, fresh *v1alpha1.Application) {
	repair := fresh != nil && fresh.Status.OperationState != nil && repairs(fresh.Status.OperationState)
	for _, e := range h.between(old, fresh) {
		key := repeated{app: e.Target, what: e.Type, how: e.Outcome}
		switch e.Type {
		case agentapi.EventHealth:
			key.how = string(fresh.Status.Health.Status)
		case agentapi.EventDrift, agentapi.EventDriftReverted, agentapi.EventHeld:
		case agentapi.EventSyncStarted, agentapi.EventSyncFinished:
			if !repair {
				h.send(e)
				continue
			}
		default:
			h.send(e)
			continue
		}
		if !e.Automatic { // a person asked for each of them
			h.send(e)
			continue
		}
		h.damp.Offer(key, func(more int, since time.Time) {
			if more > 0 {
				e.Message += fmt.Sprintf(" (and %d more since %s)", more, since.UTC().Format(time.RFC3339))
			}
			h.send(e)
		})
	}
}

// restingHealth is the last health of an Application that was not in transition to another one.
type restingHealth struct {
	uid  string
	code v1alpha1.HealthStatusCode
}

// between returns the events of a change: old is nil for an Application that was not known, fresh for one that is gone.
func (h *happenings) between(old, fresh *v1alpha1.Application) []agentapi.Event {
	if fresh == nil {
		h.forget(old)
		return []agentapi.Event{h.gone(old)}
	}
	out := syncEvents(old, fresh)
	out = append(out, driftEvents(old, fresh)...)
	out = append(out, heldEvents(old, fresh)...)
	return append(out, h.health(fresh)...)
}

// occurrence is an event of an Application. What distinguishes it from others of its type makes its id.
func occurrence(app *v1alpha1.Application, what agentapi.EventType, at time.Time, distinct ...string) agentapi.Event {
	sum := sha256.Sum256([]byte(string(app.UID) + "\n" + string(what) + "\n" + strings.Join(distinct, "\n")))
	return agentapi.Event{
		ID: hex.EncodeToString(sum[:16]), At: at, Type: what, Target: itemKey(agentapi.ItemApplication, app.Namespace, app.Name),
		Project: app.Spec.ProjectName(), Automatic: true, Revision: status.ComparedRevision(app, 0),
	}
}

// driftEvents are about objects that were changed in the cluster, and about their repair.
func driftEvents(old, fresh *v1alpha1.Application) []agentapi.Event {
	if old == nil || old.UID != fresh.UID {
		return nil
	}
	var out []agentapi.Event
	op, before := fresh.Status.OperationState, old.Status.OperationState
	begins := op != nil && !op.StartedAt.IsZero() && (before == nil || operationID(before) != operationID(op))
	was, is := old.Status.Sync.Status, fresh.Status.Sync.Status
	switch {
	case begins && was == v1alpha1.SyncStatusSynced && repairs(op):
		e := occurrence(fresh, agentapi.EventDrift, op.StartedAt.Time, operationID(op))
		e.Message = differing(fresh, op)
		out = append(out, e)
	case !begins && was == v1alpha1.SyncStatusSynced && is == v1alpha1.SyncStatusOutOfSync && changedInCluster(old, fresh):
		e := occurrence(fresh, agentapi.EventDrift, comparedAt(fresh), fresh.ResourceVersion)
		e.Message = differing(fresh, nil)
		out = append(out, e)
	case !begins && was == v1alpha1.SyncStatusOutOfSync && is == v1alpha1.SyncStatusSynced &&
		status.ComparedRevision(old, 0) == status.ComparedRevision(fresh, 0) &&
		sameSpec(old, fresh) && before != nil && before.Phase.Completed():
		e := occurrence(fresh, agentapi.EventDriftReverted, comparedAt(fresh), fresh.ResourceVersion)
		e.Outcome, e.Message = "Succeeded", "the cluster matches Git again, without a sync"
		out = append(out, e)
	}
	ends := op != nil && op.Phase.Completed() && (begins || !before.Phase.Completed())
	if ends && repairs(op) && op.FinishedAt != nil {
		e := occurrence(fresh, agentapi.EventDriftReverted, op.FinishedAt.Time, operationID(op))
		e.Outcome, e.Message = "Failed", op.Message
		if op.Phase == v1alpha1.OperationSucceeded {
			e.Outcome, e.Message = "Succeeded", differing(nil, op)
		}
		e.User, e.Automatic = op.Operation.InitiatedBy.Username, automatic(op)
		e.Command, e.Reason = infoOf(op, operate.RequestInfo), infoOf(op, operate.ReasonInfo)
		out = append(out, e)
	}
	return out
}

// changedInCluster reports whether an Application that is out of sync differs because of the cluster: what Git says was deployed
// and is the same. A commit that changes nothing of an Application need not be in its status, so that another revision says
// nothing where automated sync would have begun to deploy it.
func changedInCluster(old, fresh *v1alpha1.Application) bool {
	op := fresh.Status.OperationState
	if op == nil || op.Phase != v1alpha1.OperationSucceeded || !sameSpec(old, fresh) {
		return false
	}
	if status.ComparedRevision(old, 0) == status.ComparedRevision(fresh, 0) {
		return true
	}
	waits := slices.ContainsFunc(fresh.Status.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ConditionHeld || strings.HasSuffix(string(c.Type), "Error")
	})
	return fresh.Spec.SyncPolicy.AutomatedEnabled() && !waits
}

// sameSpec reports whether two versions of an Application ask for the same.
func sameSpec(old, fresh *v1alpha1.Application) bool {
	return old.Generation == fresh.Generation && status.SameJSON(old.Spec, fresh.Spec)
}

// comparedAt is when an Application was compared last.
func comparedAt(app *v1alpha1.Application) time.Time {
	if at := app.Status.ReconciledAt; at != nil {
		return at.Time
	}
	return time.Now()
}

// differing names the objects that a repair is about, or that differ.
func differing(app *v1alpha1.Application, op *v1alpha1.OperationState) string {
	var keys []object.Key
	if op != nil && op.SyncResult != nil {
		for _, r := range op.SyncResult.Resources {
			if r.HookType == "" {
				keys = append(keys, object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
			}
		}
	}
	if app != nil && len(keys) == 0 {
		for i := range app.Status.Resources {
			if r := &app.Status.Resources[i]; r.Status == v1alpha1.SyncStatusOutOfSync && !r.RequiresPruning {
				keys = append(keys, object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
			}
		}
	}
	return guard.Names(keys, len(keys))
}

// heldEvents are about what an Application begins to wait for.
func heldEvents(old, fresh *v1alpha1.Application) []agentapi.Event {
	c := heldBy(fresh)
	if c == nil {
		return nil
	}
	if old != nil && old.UID == fresh.UID {
		if had := heldBy(old); had != nil && had.Type == c.Type {
			return nil // the words change with what is counted
		}
	}
	at := time.Now()
	if c.LastTransitionTime != nil {
		at = c.LastTransitionTime.Time
	}
	e := occurrence(fresh, agentapi.EventHeld, at, string(c.Type), at.UTC().Format(time.RFC3339))
	e.Message = c.Message
	return []agentapi.Event{e}
}

// heldBy is the condition by which a sync or a deletion waits for a user, a window or a date; nil for none.
func heldBy(app *v1alpha1.Application) *v1alpha1.ApplicationCondition {
	for i := range app.Status.Conditions {
		c := &app.Status.Conditions[i]
		if c.Type == v1alpha1.ConditionHeld || c.Type == v1alpha1.ConditionDeletionError && strings.HasPrefix(c.Message, "held: ") {
			return c
		}
	}
	return nil
}

// health is about an Application whose health is another one than the last one that was not in transition.
func (h *happenings) health(fresh *v1alpha1.Application) []agentapi.Event {
	now := restingHealth{uid: string(fresh.UID), code: fresh.Status.Health.Status}
	switch now.code {
	case v1alpha1.HealthHealthy, v1alpha1.HealthDegraded, v1alpha1.HealthMissing, v1alpha1.HealthSuspended:
	default:
		return nil
	}
	id := registry.NameOf(fresh)
	h.mu.Lock()
	defer h.mu.Unlock()
	had := h.settled[id]
	if had == now {
		return nil
	}
	if h.settled == nil {
		h.settled = map[registry.Name]restingHealth{}
	}
	h.settled[id] = now
	if had.uid != now.uid {
		return nil // how it is when it is first seen is no news
	}
	at := time.Now()
	if since := fresh.Status.Health.LastTransitionTime; since != nil {
		at = since.Time
	}
	e := occurrence(fresh, agentapi.EventHealth, at, string(had.code), string(now.code), at.UTC().Format(time.RFC3339))
	e.Message = fmt.Sprintf("%s, was %s", now.code, had.code)
	for i := range fresh.Status.Resources {
		r := &fresh.Status.Resources[i]
		if r.Health != nil && r.Health.Status == now.code && r.Health.Message != "" && now.code != v1alpha1.HealthHealthy {
			e.Message += fmt.Sprintf(": %s %s/%s: %s", r.Kind, r.Namespace, r.Name, r.Health.Message)
			break
		}
	}
	return []agentapi.Event{e}
}

func (h *happenings) forget(app *v1alpha1.Application) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.settled, registry.NameOf(app))
}

// gone is about an Application that is gone.
func (h *happenings) gone(app *v1alpha1.Application) agentapi.Event {
	e := occurrence(app, agentapi.EventDeleted, time.Now())
	e.Outcome, e.Message, e.Before, e.Revision = "Succeeded", "the application is gone", deployed(app), ""
	for _, c := range app.Status.Conditions {
		if c.Type == v1alpha1.ConditionKept {
			e.Message += "; " + c.Message
		}
	}
	by, known := h.by(app)
	e.User, e.Command, e.Reason, e.Automatic = by.By, by.Request, by.Reason, !known
	return e
}
