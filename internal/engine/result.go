package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Result is what a reconciliation found and did. It is a value: the agent makes status, events and metrics of it, once.
type Result struct {
	Sources     []v1alpha1.ApplicationSource // what was compared with, operation overrides included
	Revisions   []string                     // resolved, one per source; empty when the sources could not be read
	Tools       []string                     // what rendered each source
	Sync        v1alpha1.SyncStatusCode
	Health      health.Result
	Resources   []v1alpha1.ResourceStatus
	Images      []string                        // of containers, sorted
	Links       []string                        // addresses at which people reach its objects, sorted
	Conditions  []v1alpha1.ApplicationCondition // without times
	Operation   *v1alpha1.OperationState        // what an operation did, when one ran
	Err         *StageError                     // the stage that failed, if one did
	Retry       time.Duration                   // when to try again although nothing changes; 0 for never
	DeleteHooks []v1alpha1.HookType             // which hooks its deletion has
	Changes     []source.Change                 // authors of the deployed commits, one per source, as far as the sources know
	Unpinned    *v1alpha1.Pin                   // a rollback that is over: Git has moved past it
	Wake        time.Duration                   // when to look again at an operation that waits, at the latest; 0 for never
	Forecast    forecast.Forecast               // where the engine only looks on
	TakenOver   int                             // how many objects changed hands, without another change
	Times       map[Stage]time.Duration
	Account     *Account // of an operation that is over, where a ledger wants it
}

// result is the outcome of a comparison that was not followed by a sync.
func (c *comparison) result(d decide.Decision) Result {
	res := Result{
		Sources: c.Sources, Revisions: c.Revisions, Tools: c.want.tools, Times: c.laps,
		Sync: v1alpha1.SyncStatusSynced, Retry: d.Retry, Conditions: slices.Clone(c.conditions), Unpinned: c.Released, Wake: c.wake,
		DeleteHooks: c.deleteHooks(), TakenOver: c.takenOver,
	}
	if d.Condition != nil {
		res.Conditions = append(res.Conditions, *d.Condition)
	}
	worst := health.Result{Status: health.Healthy}
	images, links := map[string]bool{}, map[string]bool{}
	gone, there := false, false
	for _, s := range c.states {
		gone, there = gone || s.missing, there || !s.missing && !s.hook
		res.Resources = append(res.Resources, s.status())
		if !s.synced && !s.ignored {
			res.Sync = v1alpha1.SyncStatusOutOfSync
		}
		if c.counts(s) && health.Worse(s.health.Sum(), worst.Status) {
			worst = health.Result{Status: s.health.Sum()}
		}
		if s.shown != nil {
			gather(images, s.shown.Images)
			gather(links, s.shown.Links)
		}
	}
	slices.SortFunc(res.Resources, func(a, b v1alpha1.ResourceStatus) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	res.Images, res.Links = fit.Texts(images), fit.Texts(links)
	if gone && !there && health.Worse(health.Missing, worst.Status) { // also where none of them has a health
		worst = health.Result{Status: health.Missing}
	}
	res.Health = worst
	all := len(res.Resources)
	if res.Resources = fit.Resources(res.Resources); len(res.Resources) < all {
		res.Conditions = append(res.Conditions, v1alpha1.ApplicationCondition{
			Type: v1alpha1.ConditionUnsupported, Message: fmt.Sprintf("status.resources lists %d of %d objects, "+
				"since an API server stores no more: "+
				"split the application to see all of them; every object is still compared and synced", len(res.Resources), all),
		})
	}
	return res
}

// counts reports whether the health of an object counts for its Application, as in Argo CD: that of live objects does, also
// where they are to be pruned. OutOfSync says that one is missing. An Application does not judge itself, nor by one that
// deploys nothing or is not judged yet.
func (t *turn) counts(s state) bool {
	if s.missing || s.unjudged || !s.assessed {
		return false
	}
	if s.key.Group != v1alpha1.Group || s.key.Kind != v1alpha1.KindApplication {
		return true
	}
	itself := s.key.Name == t.app.Name && s.key.Namespace == t.app.Namespace
	return !itself && s.health.Status != health.Missing && s.health.Status != health.Unknown
}

// healthOf returns an object's health, and whether it has one.
func (s state) healthOf() (health.Result, bool) {
	if s.missing {
		return health.Result{Status: health.Missing}, s.assessed
	}
	return s.health, s.assessed
}

func (s state) status() v1alpha1.ResourceStatus {
	out := v1alpha1.ResourceStatus{
		Group: s.key.Group, Version: s.version, Kind: s.key.Kind, Namespace: s.key.Namespace, Name: s.key.Name,
		Status: v1alpha1.SyncStatusOutOfSync, RequiresPruning: s.prune, SyncWave: int64(s.wave), Hook: s.hook,
		RequiresDeletionConfirmation: s.confirm,
	}
	if s.hook {
		out.Status = ""
	} else if s.synced {
		out.Status = v1alpha1.SyncStatusSynced
	} else if s.forbidden {
		out.Status = v1alpha1.SyncStatusUnknown
	}
	if h, ok := s.healthOf(); ok || s.missing {
		out.Health = &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusCode(h.Status), Message: h.Message}
	}
	return out
}

// String prints a result as one line for the log.
func (r Result) String() string {
	if r.Err != nil {
		return fmt.Sprintf("%s failed: %v", r.Err.Stage, r.Err.Err)
	}
	return fmt.Sprintf("%s, %s, %d objects", r.Sync, r.Health.Status, len(r.Resources))
}

func gather(into map[string]bool, texts []string) {
	for _, text := range texts {
		into[text] = true
	}
}

// results are the outcomes as a status lists them, object by object, those of earlier parts of the operation included:
// what went well comes last. What stayed as it was is left out.
func results(op *plan.Operation, u *underway, room int) []v1alpha1.ResourceResult {
	var notable, plain []v1alpha1.ResourceResult
	op.Each(func(t plan.Task, s plan.State) {
		failed := s.Phase.Completed() && s.Phase != v1alpha1.OperationSucceeded
		_, written := u.written[t.ID()]
		if s == (plan.State{}) && t.Hook && u.intended[t.ID()] {
			s = plan.State{Phase: v1alpha1.OperationRunning, Message: messageIntended}
		}
		if s == (plan.State{}) || t.Verb == diff.Keep && !written && !failed {
			return
		}
		out := v1alpha1.ResourceResult{
			Group: t.Key.Group, Version: t.Version, Kind: t.Key.Kind, Namespace: t.Key.Namespace, Name: t.Key.Name,
			Status: s.Code, Message: s.Message, HookPhase: s.Phase, SyncPhase: t.Phase,
		}
		if t.Hook {
			out.HookType = v1alpha1.HookType(t.Phase)
		}
		if t.Hook || s.Code != v1alpha1.ResultSynced || failed {
			notable = append(notable, out)
		} else {
			plain = append(plain, out)
		}
	})
	return fit.Results(notable, plain, room)
}
