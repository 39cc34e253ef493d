package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Result is what a reconciliation found and did. It is a value: status, events and metrics are made of it, elsewhere
// and once.
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
	Changes     []source.Change                 // who made what was deployed, one per source, as far as the sources tell
	Unpinned    *v1alpha1.Pin                   // a rollback that is over: Git has moved past it
	Wake        time.Duration                   // when to look again at an operation that waits, at the latest; 0 for never
	Would       []Would                         // what a sync would do, where the engine only looks on
	WouldSync   bool                            // and whether one would begin by itself now
	Owners      []Ownership                     // and what would change hands, without another change
	TakenOver   int                             // how many objects changed hands, without another change
	Times       map[Stage]time.Duration
	Account     *Account // of an operation that is over, where somebody wants to know
}

// StageError is an error with the stage that it stopped.
type StageError struct {
	Stage Stage
	Err   error
}

// Error prints the cause; the stage is for logs and metrics.
func (e *StageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }

// failed is the result when a stage could not finish: nothing was changed, what was known stands, a condition says
// why, or the operation where the fault is only its own.
func (r *run) failed(s Stage, err error) Result {
	var within *StageError
	if errors.As(err, &within) { // the stage asked something of another one
		s, err = within.Stage, within.Err
	}
	if s == StageLive || s == StageCompare {
		err = aboutCluster(err)
	}
	res := r.standing()
	res.Sync, res.Err = v1alpha1.SyncStatusUnknown, &StageError{Stage: s, Err: err}
	kind := v1alpha1.ConditionComparisonError
	var forbidden *ProjectError
	if errors.As(err, &forbidden) {
		kind = v1alpha1.ConditionInvalidSpecError
	}
	r.judgeFailed(s, &res)
	// What is not acted on can be why it failed.
	r.conditions = append([]v1alpha1.ApplicationCondition{{Type: kind, Message: err.Error()}}, r.notices...)
	r.warnUnsupported()
	res.Conditions = r.conditions
	op := r.operation()
	if op != nil {
		r.operationFailed(*op, err, &res)
	}
	if op != nil && decide.Overrides(op.Sync) && (s == StagePermit || s == StageFetch || s == StageRender) {
		// It asked for something else than the specification does, which says nothing of the Application.
		res.Sources, res.Revisions, res.Conditions = r.app.Spec.EffectiveSources(), nil, r.app.Status.Conditions
		res.Sync = cmp.Or(r.app.Status.Sync.Status, v1alpha1.SyncStatusUnknown)
	}
	return res
}

// watchKnown has the live objects judged of an Application that cannot be rendered. Where the cluster does not answer either,
// what was known stands.
func (r *run) watchKnown(ctx context.Context) {
	if r.target.Live == nil || ctx.Err() != nil {
		return
	}
	kinds := map[object.Kind]bool{}
	r.known(kinds)
	r.observed = r.watch(ctx, kinds) == nil
}

// judgeFailed sets the health of an Application that could not be compared, as Argo CD does: Unknown where its specification
// is refused, else that of its live objects, of which it may have none.
func (r *run) judgeFailed(s Stage, res *Result) {
	switch {
	case s == StagePermit:
		res.Health = health.Result{Status: health.Unknown}
	case r.observed:
		res.Health = health.Result{Status: health.Healthy}
		for _, rec := range r.target.Live.Owned(r.instance) {
			of := state{key: rec.Key, assessed: rec.Assessed, health: rec.Health, unjudged: rec.IgnoreHealth || rec.Hook || rec.Owned || r.outside(rec.Key)}
			if r.counts(of) && health.Worse(rec.Health.Sum(), res.Health.Status) {
				res.Health = health.Result{Status: rec.Health.Sum()}
			}
		}
	}
}

// aboutCluster marks an error as one of the destination cluster: the advice of package why depends on it. An unknown kind is not
// marked, since the manifest may be wrong as well.
func aboutCluster(err error) error {
	if err == nil || unknownKind(err) || strings.HasPrefix(err.Error(), v1alpha1.MessageDestination) {
		return err
	}
	return fmt.Errorf(v1alpha1.MessageDestination+"%w", err)
}

// standing is what the Application says of itself, as a Result.
func (r *run) standing() Result {
	res := Result{
		Sources: r.sources, Sync: r.app.Status.Sync.Status, Times: r.times,
		Resources: r.app.Status.Resources, Images: r.app.Status.Summary.Images, Links: r.app.Status.Summary.ExternalURLs,
		Health: health.Result{Status: health.Status(r.app.Status.Health.Status), Message: r.app.Status.Health.Message},
	}
	if len(r.revisions) == len(r.sources) {
		res.Revisions = r.revisions
	}
	for _, t := range r.app.Status.SourceTypes {
		res.Tools = append(res.Tools, string(t))
	}
	for phase, finalizer := range map[v1alpha1.HookType]string{
		v1alpha1.HookPreDelete: v1alpha1.FinalizerPreDelete, v1alpha1.HookPostDelete: v1alpha1.FinalizerPostDelete,
	} {
		if slices.Contains(r.app.Finalizers, finalizer) {
			res.DeleteHooks = append(res.DeleteHooks, phase)
		}
	}
	if r.app.Status.SourceType != "" {
		res.Tools = []string{string(r.app.Status.SourceType)}
	}
	if res.Health.Status == "" {
		res.Health.Status = health.Unknown
	}
	return res
}

// operationFailed ends, or puts off, an operation whose sources could not be compared.
func (r *run) operationFailed(op v1alpha1.Operation, err error, res *Result) {
	if last := r.app.Status.OperationState; last == nil || !decide.SameOperation(last.Operation, op) {
		r.req.Retries = 0 // those were attempts at something else
	} else if decide.Begun(last) && away(err) {
		return // it goes on when the cluster answers
	} else if wait := r.attempts().Wait(op.Retry, last, r.engine.Now()); wait > 0 && !last.Phase.Completed() {
		res.Retry = wait // this was not its next attempt
		return
	}
	o := r.operationState(decide.Decision{Operation: op}, nil)
	o.Message = err.Error()
	r.conclude(o, v1alpha1.OperationError, op.Retry, res)
	res.Operation = o
}

// result is the outcome of a comparison that was not followed by a sync.
func (r *run) result(d decide.Decision) Result {
	res := Result{
		Sources: r.sources, Revisions: r.revisions, Tools: r.want.tools, Times: r.times,
		Sync: v1alpha1.SyncStatusSynced, Retry: d.Retry, Conditions: slices.Clone(r.conditions), Unpinned: r.released, Wake: r.wake,
		DeleteHooks: r.deleteHooks(), TakenOver: r.takenOver,
	}
	if d.Condition != nil {
		res.Conditions = append(res.Conditions, *d.Condition)
	}
	worst := health.Result{Status: health.Healthy}
	images, links := map[string]bool{}, map[string]bool{}
	gone, there := false, false
	for _, s := range r.states {
		gone, there = gone || s.missing, there || !s.missing && !s.hook
		res.Resources = append(res.Resources, s.status())
		if !s.synced && !s.ignored {
			res.Sync = v1alpha1.SyncStatusOutOfSync
		}
		if r.counts(s) && health.Worse(s.health.Sum(), worst.Status) {
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
	told := 0
	for i := range res.Resources {
		if h := res.Resources[i].Health; h != nil {
			h.Message = terse(h.Message, &told)
		}
	}
	res.Images, res.Links = fitting(images), fitting(links)
	if gone && !there && health.Worse(health.Missing, worst.Status) { // also where none of them has a health
		worst = health.Result{Status: health.Missing}
	}
	res.Health = worst
	fit(&res)
	return res
}

// counts reports whether the health of an object counts for its Application, as in Argo CD: that of live objects does, also
// where they are to be pruned. OutOfSync says that one is missing. An Application does not judge itself, nor by one that
// deploys nothing or is not judged yet.
func (r *run) counts(s state) bool {
	if s.missing || s.unjudged || !s.assessed {
		return false
	}
	if s.key.Group != v1alpha1.Group || s.key.Kind != v1alpha1.KindApplication {
		return true
	}
	itself := s.key.Name == r.app.Name && s.key.Namespace == r.app.Namespace
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
