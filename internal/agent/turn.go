package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/beside"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/agent/succession"
	"github.com/slipway-gitops/slipway/internal/agent/veil"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
)

// turner gives Applications their turns, and writes what came of them.
type turner struct {
	namespace  string // of the agent
	log        *slog.Logger
	apps       *registry.Client
	registry   *registry.Registry
	queue      *registry.Queue
	turns      *registry.Turns
	engine     *engine.Engine
	sources    *place.Sources
	metrics    *metrics
	traces     *traces            // nil if they were not requested
	shards     *shard.Shards      // nil where one replica works on all
	shadow     *beside.Shadow     // nil unless nothing is to be written
	ledger     *report.Ledger     // nil without a server
	veil       *veil.Veil         // what was decrypted
	succession *succession.Keeper // nil without a standby
	heard      atomic.Uint64      // grows when something changed that Applications may have failed without
}

// work gives Applications their turns until the queue closes.
func (a *turner) work(ctx context.Context) {
	var turns sync.WaitGroup
	defer turns.Wait()
	for {
		id, ok := a.queue.Next()
		if !ok {
			return
		}
		a.turns.Take()
		a.metrics.waited(a.queue.Begun(id))
		turns.Go(func() {
			defer a.turns.Give()
			a.gated(ctx, id)
			a.queue.Done(id)
		})
	}
}

// gated gives an Application its turn if its destination has a place for it.
func (a *turner) gated(ctx context.Context, id registry.Name) {
	ctx, s, leave, ok := a.admit(ctx, id)
	if !ok {
		return
	}
	defer leave()
	defer s.Free()
	a.turn(registry.WithSeat(ctx, s), id)
}

// admit finds out whether an Application may have its turn now: it is there, of this replica's shards, and its destination
// has a place for it, which the caller gives back. leave ends the turn, also in its shard.
func (a *turner) admit(ctx context.Context, id registry.Name) (_ context.Context, s *registry.Seat, leave func(), ok bool) {
	defer a.turns.Pass(id)
	app, ok := a.registry.Get(id)
	if !ok {
		return nil, nil, nil, false
	}
	ctx, left, mine := a.shards.Enter(ctx, id)
	if !mine {
		return nil, nil, nil, false // the replica that takes its shard looks at it
	}
	ctx, end := context.WithCancel(ctx)
	leave = func() { end(); left() }
	if s = a.turns.Admit(app, end); s == nil {
		leave()
		return nil, nil, nil, false
	}
	return ctx, s, leave, true
}

// turn reconciles one Application and writes what came of it. A crash in it is an error of that Application alone.
func (a *turner) turn(ctx context.Context, id registry.Name) {
	e, ok := a.registry.Take(id)
	if !ok || ctx.Err() != nil || e.App.Annotations[v1alpha1.AnnotationSkipReconcile] == "true" {
		return
	}
	log := a.log.With("app", id.String())
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			log.Error("reconciliation crashed", "err", fmt.Sprint(p), "stack", stack())
			a.metrics.crashed()
			a.queue.AddAfter(id, crashPause)
		}
	}()
	if a.shadow != nil {
		a.lookOn(ctx, log, e, start)
		return
	}
	if e.App.DeletionTimestamp != nil {
		a.remove(ctx, log, e)
		return
	}
	if rest := e.ReportedAt.Add(e.Rhythm()).Sub(start); rest > 0 && e.Asked == (registry.Ask{}) &&
		a.engine.Waits(registry.View(e.App, e.Unreported)) {
		a.queue.AddAfter(id, rest) // nothing to do yet, and what to report can wait
		return
	}
	app := e.App
	a.sources.Follow(id, app) // before anything is read: what is pushed from here on brings another turn
	req := a.request(e, start)
	req.Operating, req.Confirm = a.progress(ctx, log, &app, start, e.ReportedAt), a.confirm(&app)
	ctx, span := a.traces.turn(ctx, id, e.Asked.Trace)
	defer span.Done()
	heard := a.heard.Load()
	res := a.hidden(a.engine.Reconcile(ctx, req))
	if ctx.Err() != nil || a.fell(ctx, id) {
		return // stopped: nothing is written or reported in part, the next start goes on
	}
	a.succession.Turned(ctx, id.String(), compared(res), a.registry.Size())
	a.metrics.reconciled(res)
	a.traces.reconciled(ctx, span, start, res)
	defer a.ledger.Turned(id, req.App, res) // when it is written, so that a status never shows less
	e.App = app                             // as it was written in this turn
	if a.settles(id, e, res, time.Now()) {
		logTurn(log, res, time.Since(start))
		return
	}
	if e.Unreported != nil && res.Operation == nil {
		res.Changes = e.Unreported.Changes
	}
	if err := a.report(ctx, app, registry.View(app, e.Unreported), res); err != nil {
		log.Warn("status not written", "err", err)
		if res.Operation != nil && (res.Operation.Phase.Completed() || status.UnderWay(res.Operation)) {
			a.registry.Hold(id, &registry.Unreported{Operation: res.Operation, Changes: res.Changes, Until: start})
		}
		a.queue.AddAfter(id, writePause)
		return
	}
	if a.fell(ctx, id) {
		return // this process was stopped while the answer was in transit: what follows is for the present holder of the shard
	}
	a.registry.Reported(id, time.Now())
	a.keepForHooks(ctx, log, app, res)
	a.dropPin(ctx, log, app, res)
	a.followUp(id, app, res, heard)
	logHeld(log, app, res)
	logTurn(log, res, time.Since(start))
}

// Pauses before an Application is looked at again after a fault of ours or of the API server's.
const (
	crashPause = 30 * time.Second
	writePause = 2 * time.Second
	errorPause = 5 * time.Second

	longestPause = 3 * time.Minute
)

func (a *turner) request(e registry.Entry, now time.Time) engine.Request {
	refresh := e.App.Annotations[v1alpha1.AnnotationRefresh]
	req := engine.Request{
		App: registry.View(e.App, e.Unreported), Unknown: e.Unknown, Since: e.Asked.Since, Hard: refresh == string(v1alpha1.RefreshHard),
		Due: !e.Due.After(now), Rest: max(0, e.Due.Sub(now)),
	}
	if refresh != "" && req.Since.IsZero() {
		req.Since = now // the turn before answered this request, but its answer was not written
	}
	if last := req.App.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning {
		req.Retries = last.RetryCount
	}
	return req
}

// compared reports whether a turn compared its Application.
func compared(res engine.Result) bool {
	return res.Sync != "" && res.Sync != v1alpha1.SyncStatusUnknown
}

// followUp sees to it that what can change by time alone is looked at in time. Repositories report revisions, live
// objects changes, definitions kinds; the pause after an error is for everything that reports nothing. heard is the
// count of turner.heard when the turn began.
func (a *turner) followUp(id registry.Name, app *v1alpha1.Application, res engine.Result, heard uint64) {
	a.registry.Timed(id, res.Wake > 0 || res.Retry > 0 || status.UnderWay(res.Operation))
	if res.Wake > 0 {
		a.queue.AddAfter(id, res.Wake)
	}
	switch {
	case res.Retry > 0:
		a.registry.Postpone(id, time.Now().Add(res.Retry))
		a.queue.AddAfter(id, res.Retry)
	case res.Err != nil && a.heard.Load() != heard:
		a.queue.Add(id) // what it failed without may have come while it was under way
		return
	case res.Err != nil:
		a.queue.AddAfter(id, pauseAfter(a.registry.Failed(id)))
		return
	case app.Operation != nil && decide.Overrides(app.Operation.Sync) && res.Operation != nil && res.Operation.Phase.Completed():
		a.queue.Add(id) // compare with what the specification says again
	case status.PolicyWaits(app, res):
		a.queue.Add(id)
	}
	a.registry.Recovered(id)
}

// clockSet looks again at all that waits for a time, since the clock was set: what was decided by the clock as it was then may
// be wrong, and so is how long it waits.
func (a *turner) clockSet(ahead time.Duration) {
	waiting := a.registry.Waiting()
	a.log.Warn("the clock of this machine was set", "ahead_by", ahead.Round(time.Millisecond).String(), "applications_that_wait", len(waiting))
	for _, id := range waiting {
		a.queue.Add(id)
	}
}

// pauseAfter is how long to leave an Application alone after its nth failure in a row.
func pauseAfter(n int) time.Duration {
	d := errorPause
	for ; n > 1 && d < longestPause; n-- {
		d *= 2
	}
	return min(d, longestPause)
}

// An operation that takes longer than progressAfter says how far it is, every progressEvery.
const (
	progressAfter = time.Second
	progressEvery = 2 * time.Second
)

// progress writes how far a long operation is. app is what the status was last written to, at the time reported: the report
// at the end builds on it.
func (a *turner) progress(
	ctx context.Context, log *slog.Logger, app **v1alpha1.Application, start, reported time.Time,
) func(func() v1alpha1.OperationState) {
	id := registry.NameOf(*app)
	_, pace := a.registry.Rhythm(id)
	next := start.Add(progressAfter)
	if due := reported.Add(pace); due.After(next) {
		next = due
	}
	return func(state func() v1alpha1.OperationState) {
		if time.Now().Before(next) {
			return
		}
		now := hide(a.veil, state())
		patch, err := status.Progress(*app, &now)
		if err == nil && patch != nil {
			err = a.write(ctx, *app, patch)
		}
		_, pace := a.registry.Rhythm(id)
		next = time.Now().Add(max(progressEvery, pace))
		if err != nil {
			log.Debug("progress not written", "err", err)
			return
		}
		if fresh, ok := a.registry.Get(id); ok {
			*app = fresh
		}
	}
}

// report writes the status, once, and only when something visible changed. seen is app with what is not reported of it.
func (a *turner) report(ctx context.Context, app, seen *v1alpha1.Application, res engine.Result) error {
	now := time.Now()
	next := hide(a.veil, status.Next(seen, res, now, a.namespace))
	// A revision that changed nothing for this Application is not worth a write of its own: in a repository of 2,000
	// applications each commit would cost 2,000. It is part of the next write, or written on request.
	if next.Sync.Revision != app.Status.Sync.Revision || !slices.Equal(next.Sync.Revisions, app.Status.Sync.Revisions) {
		quiet := next
		quiet.Sync.Revision, quiet.Sync.Revisions = app.Status.Sync.Revision, app.Status.Sync.Revisions
		if patch, err := status.Patch(app, quiet, now); err != nil || patch == nil {
			return err
		}
	}
	patch, err := status.Patch(app, next, now)
	if err != nil || patch == nil {
		return err
	}
	if op := res.Operation; op != nil && op.Phase == v1alpha1.OperationSucceeded &&
		app.Annotations[v1alpha1.AnnotationDeletionConfirmed] != "" {
		if patch, err = annotated(patch, v1alpha1.AnnotationDeletionConfirmed, nil); err != nil {
			return err // what was confirmed is done; the same deletions ask again another time
		}
	}
	if notes := status.Notes(app, next.History, next.OperationState, res.Changes); notes != "" {
		if patch, err = annotated(patch, v1alpha1.AnnotationHistoryNotes, notes); err != nil {
			return err
		}
	}
	return a.write(ctx, app, patch)
}

// annotated adds an annotation to a merge patch; a nil value takes it off.
func annotated(patch []byte, name string, value any) ([]byte, error) {
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: value}}})
	if err != nil {
		return nil, fmt.Errorf("encode annotation: %w", err)
	}
	return jsonpatch.MergeMergePatches(patch, raw)
}

// write patches an Application and takes the answer in, so that the next turn builds on it and the watch's echo of
// it is no news.
func (a *turner) write(ctx context.Context, app *v1alpha1.Application, patch []byte) error {
	start := time.Now()
	id := registry.NameOf(app)
	a.traces.writes(ctx, id) // first: the watch can be quicker than the answer
	fresh, unknown, err := a.apps.Patch(ctx, app, patch)
	if err != nil {
		a.traces.unwritten(id)
	}
	if apierrors.IsNotFound(err) || remade(err) {
		return nil // deleted in the meantime: the watch says so
	}
	if err != nil {
		return fmt.Errorf("write status of %s/%s: %w", app.Namespace, app.Name, err)
	}
	a.metrics.wrote()
	a.registry.Answered(fresh, unknown)
	now := time.Now()
	a.registry.Wrote(id, now, now.Sub(start))
	return nil
}

// remade reports whether a write was refused because the Application was deleted and made again by the same name (onlyThis).
func remade(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// logHeld says once that a sync is held, and why.
func logHeld(log *slog.Logger, app *v1alpha1.Application, res engine.Result) {
	for _, c := range res.Conditions {
		known := slices.ContainsFunc(app.Status.Conditions, func(old v1alpha1.ApplicationCondition) bool {
			return old.Type == c.Type && old.Message == c.Message
		})
		if c.Type == v1alpha1.ConditionHeld && !known {
			log.Warn("sync is held", "message", c.Message)
		}
	}
}

func logTurn(log *slog.Logger, res engine.Result, took time.Duration) {
	attrs := []any{"took", took.Round(time.Microsecond).String(), "sync", res.Sync, "health", res.Health.Status}
	if len(res.Revisions) > 0 {
		attrs = append(attrs, "revision", res.Revisions[0])
	}
	if res.TakenOver > 0 {
		log.Info("took over objects: the owners of their fields, and nothing else, changed", "objects", res.TakenOver)
	}
	switch {
	case res.Err != nil:
		log.Warn("reconciliation failed", append(attrs, "stage", res.Err.Stage, "err", res.Err.Err)...)
	case res.Operation != nil:
		log.Info("synced", append(attrs, "phase", res.Operation.Phase, "objects", len(res.Operation.SyncResult.Resources),
			"by", initiator(res.Operation), "message", res.Operation.Message)...)
	default:
		log.Debug("compared", attrs...)
	}
}

func initiator(op *v1alpha1.OperationState) string {
	if op.Operation.InitiatedBy.Automated {
		return "automated"
	}
	return op.Operation.InitiatedBy.Username
}

// dropPin ends a rollback that Git has moved past.
func (a *turner) dropPin(ctx context.Context, log *slog.Logger, app *v1alpha1.Application, res engine.Result) {
	if res.Unpinned == nil {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRollback: nil}}})
	if err == nil {
		err = a.write(ctx, app, patch)
	}
	if err != nil {
		log.Warn("pin not removed", "err", err)
		a.queue.AddAfter(registry.NameOf(app), writePause)
		return
	}
	log.Info("rollback is over: Git has moved past it", "pin", decide.PinText(res.Unpinned))
}

// fell reports whether the Lease that a turn goes by may be another's. If it still is this agent's, as after the clock on the
// wall was set, the Application has another turn.
func (a *turner) fell(turn context.Context, id registry.Name) bool {
	if !shard.Lost(turn) {
		return false
	}
	a.queue.AddAfter(id, writePause)
	return true
}

// lookOn is the turn of an Application in shadow mode.
func (a *turner) lookOn(ctx context.Context, log *slog.Logger, e registry.Entry, start time.Time) {
	app := *e.App
	app.Operation = nil // it is for the replica that works on the Application
	e.App = &app
	id := registry.NameOf(&app)
	if app.DeletionTimestamp != nil {
		a.shadow.Drop(id)
		return
	}
	a.sources.Follow(id, e.App)
	res := a.hidden(a.engine.Reconcile(ctx, a.request(e, start)))
	if ctx.Err() != nil {
		return
	}
	a.metrics.reconciled(res)
	a.shadow.Compared(log, e.App, res, time.Since(start))
	a.followUp(id, e.App, res, a.heard.Load())
}
