package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
)

// StageError is an error with the stage that it stopped.
type StageError struct {
	Stage Stage
	Err   error
}

// Error prints the cause; the stage is for logs and metrics.
func (e *StageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StageError) Unwrap() error { return e.Err }

// at marks an error with the stage that it stopped, unless that stage asked another one for something.
func at(s Stage, err error) error {
	var within *StageError
	if err == nil || errors.As(err, &within) {
		return err
	}
	return &StageError{Stage: s, Err: err}
}

// failed is the result when the sources could not be rendered: nothing was changed, what was known stands, a condition says why,
// or the operation where the fault is only its own.
func (in *inputs) failed(ctx context.Context, failure error) Result {
	res := in.failure(failure)
	in.judgeFailed(ctx, &res)
	in.account(nil, nil, &res)
	return res
}

// failed is the result when the objects could not be compared with what the sources give.
func (r *rendering) failed(ctx context.Context, failure error) Result {
	res := r.failure(failure)
	if a := r.account(nil, nil, &res); a != nil {
		r.accountObjects(ctx, a)
	}
	return res
}

func (in *inputs) failure(failure error) Result {
	stopped := &StageError{Stage: StageApply, Err: failure}
	errors.As(failure, &stopped)
	s, err := stopped.Stage, stopped.Err
	if s == StageLive || s == StageCompare {
		err = aboutCluster(err)
	}
	res := in.standing()
	res.Sync, res.Err = v1alpha1.SyncStatusUnknown, &StageError{Stage: s, Err: err}
	kind := v1alpha1.ConditionComparisonError
	var forbidden *ProjectError
	if errors.As(err, &forbidden) || errors.Is(err, trust.ErrPolicy) {
		kind = v1alpha1.ConditionInvalidSpecError
	}
	conditions := append(notes{{Type: kind, Message: err.Error()}}, in.noted()...)
	conditions.warn(v1alpha1.ConditionUnsupported, in.unsupported(in.kept.wanted)) // it can be why
	res.Conditions = conditions
	op := in.operation()
	if op != nil {
		in.operationFailed(*op, err, &res)
	}
	if op != nil && decide.Overrides(op.Sync) && (s == StagePermit || s == StageFetch || s == StageVerify || s == StageRender) {
		// It asked for something else than the specification does, which says nothing of the Application.
		res.Sources, res.Revisions, res.Conditions = in.app.Spec.EffectiveSources(), nil, in.app.Status.Conditions
		res.Sync = cmp.Or(in.app.Status.Sync.Status, v1alpha1.SyncStatusUnknown)
	}
	return res
}

// judgeFailed sets the health of an Application that could not be rendered, as Argo CD does: Unknown where its specification is
// refused, else that of its live objects, of which it may have none. Where the cluster does not answer either, what was known
// stands.
func (in *inputs) judgeFailed(ctx context.Context, res *Result) {
	switch {
	case res.Err.Stage == StagePermit:
		res.Health = health.Result{Status: health.Unknown}
		return
	case in.target.Live == nil, ctx.Err() != nil:
		return
	}
	kinds := map[object.Kind]bool{}
	in.known(kinds)
	if in.watch(ctx, kinds) != nil {
		return
	}
	res.Health = health.Result{Status: health.Healthy}
	for _, rec := range in.target.Live.Owned(in.instance) {
		of := state{
			key: rec.Key, assessed: rec.Assessed, health: rec.Health, unjudged: rec.IgnoreHealth || rec.Hook || rec.Owned || in.outside(rec.Key),
		}
		if in.counts(of) && health.Worse(rec.Health.Sum(), res.Health.Status) {
			res.Health = health.Result{Status: rec.Health.Sum()}
		}
	}
}

// aboutCluster marks an error as one of the destination cluster: the advice of package why depends on it. An unknown kind is not
// marked, since the manifest may be wrong as well.
func aboutCluster(err error) error {
	if err == nil || prepare.Unknown(err) || strings.HasPrefix(err.Error(), v1alpha1.MessageDestination) {
		return err
	}
	return fmt.Errorf(v1alpha1.MessageDestination+"%w", err)
}

// standing is the present status of the Application, as a Result.
func (in *inputs) standing() Result {
	res := Result{
		Sources: in.Sources, Sync: in.app.Status.Sync.Status, Times: in.laps,
		Resources: in.app.Status.Resources, Images: in.app.Status.Summary.Images, Links: in.app.Status.Summary.ExternalURLs,
		Health: health.Result{Status: health.Status(in.app.Status.Health.Status), Message: in.app.Status.Health.Message},
	}
	if len(in.Revisions) == len(in.Sources) {
		res.Revisions = in.Revisions
	}
	for _, t := range in.app.Status.SourceTypes {
		res.Tools = append(res.Tools, string(t))
	}
	for phase, finalizer := range map[v1alpha1.HookType]string{
		v1alpha1.HookPreDelete: v1alpha1.FinalizerPreDelete, v1alpha1.HookPostDelete: v1alpha1.FinalizerPostDelete,
	} {
		if slices.Contains(in.app.Finalizers, finalizer) {
			res.DeleteHooks = append(res.DeleteHooks, phase)
		}
	}
	if in.app.Status.SourceType != "" {
		res.Tools = []string{string(in.app.Status.SourceType)}
	}
	if res.Health.Status == "" {
		res.Health.Status = health.Unknown
	}
	return res
}

// operationFailed ends, or puts off, an operation whose sources could not be compared.
func (in *inputs) operationFailed(op v1alpha1.Operation, err error, res *Result) {
	attempts := in.req.Retries
	if last := in.app.Status.OperationState; last == nil || !decide.SameOperation(last.Operation, op) {
		attempts = 0 // those were attempts at something else
	} else if decide.Begun(last) && away(err) {
		return // it goes on when the cluster answers
	} else if wait := in.attempts().Wait(op.Retry, last, in.engine.Now()); wait > 0 && !last.Phase.Completed() {
		res.Retry = wait // this was not its next attempt
		return
	}
	o := in.operationState(decide.Decision{Operation: op, Attempts: attempts}, nil)
	o.Message = err.Error()
	in.conclude(o, v1alpha1.OperationError, op.Retry, attempts, res)
	res.Operation = o
}
