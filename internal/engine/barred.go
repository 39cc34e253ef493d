package engine

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// invalid begins the message of an operation that is refused because of objects that cannot be applied.
const invalid = "one or more synchronization tasks are not valid: "

// permitWanted asks the project for every object that is to be there. One that it does not permit, and one whose kind the
// cluster does not have, is barred: it is listed, and no sync begins that would touch it.
func (r *run) permitWanted(ctx context.Context, m *memory) error {
	if m.granted == r.grant {
		return nil
	}
	judge := func(key object.Key, barred *error) error {
		if !unknownKind(*barred) {
			*barred = r.permits(key)
		}
		return ctx.Err() // a project can have patterns that take long
	}
	for i := range m.wanted {
		if err := judge(m.wanted[i].key, &m.wanted[i].barred); err != nil {
			return err
		}
	}
	for i := range m.hooks {
		if err := judge(m.hooks[i].key, &m.hooks[i].barred); err != nil {
			return err
		}
	}
	m.granted = r.grant
	return nil
}

// bars are the reasons why objects may not be applied: what the project forbids, and kinds that the cluster does not have.
// An operation is concerned by those that it touches; nil stands for all objects.
func (m *memory) bars(op *v1alpha1.SyncOperation) (forbidden, unknown []string) {
	add := func(err error) {
		switch {
		case unknownKind(err):
			unknown = append(unknown, err.Error())
		case err != nil:
			forbidden = append(forbidden, err.Error())
		}
	}
	chosen := selection(op)
	for i := range m.wanted {
		if w := &m.wanted[i]; len(chosen) == 0 || chosen.has(w.key) {
			add(w.barred)
		}
	}
	if len(chosen) == 0 && runsHooks(op) {
		for i := range m.hooks {
			add(m.hooks[i].barred)
		}
	}
	return forbidden, unknown
}

// whole returns an error where some object may not be applied.
func (m *memory) whole() error {
	forbidden, unknown := m.bars(nil)
	switch {
	case len(forbidden) > 0:
		return &StageError{Stage: StagePermit, Err: &ProjectError{errors.New(few(append(forbidden, unknown...)))}}
	case len(unknown) > 0:
		return errors.New(few(unknown))
	}
	return nil
}

// warnBarred says why objects may not be applied.
func (r *run) warnBarred() {
	forbidden, unknown := r.memory.bars(nil)
	r.warn(v1alpha1.ConditionInvalidSpecError, forbidden)
	r.warn(v1alpha1.ConditionComparisonError, unknown)
}

// unbarred lets a decision stand unless its operation would touch an object that may not be applied: half an application is
// no one's wish. What the policy wants is left until nothing bars it; what was asked for fails, and may be retried.
func (r *run) unbarred(d Decision) Decision {
	if !d.Go || d.Terminate {
		return d
	}
	forbidden, unknown := r.memory.bars(d.Operation.Sync)
	switch {
	case len(forbidden)+len(unknown) == 0:
		return d
	case r.operation() == nil:
		return Decision{Operation: d.Operation}
	}
	return Decision{Operation: d.Operation, Refused: invalid + few(append(forbidden, unknown...))}
}

// barredResults are the outcomes of an operation that is refused because of objects that may not be applied.
func (r *run) barredResults(op *v1alpha1.SyncOperation) []v1alpha1.ResourceResult {
	var out []v1alpha1.ResourceResult
	chosen := selection(op)
	for i := range r.memory.wanted {
		w := &r.memory.wanted[i]
		if w.barred == nil || len(chosen) > 0 && !chosen.has(w.key) || len(out) == maxBarred {
			continue
		}
		out = append(out, v1alpha1.ResourceResult{
			Group: w.key.Group, Version: w.version, Kind: w.key.Kind, Namespace: w.key.Namespace, Name: w.key.Name,
			Status: v1alpha1.ResultSyncFailed, HookPhase: v1alpha1.OperationFailed, SyncPhase: v1alpha1.PhaseSync, Message: clip(w.barred.Error()),
		})
	}
	return out
}

// maxBarred is how many objects an operation lists that may not be applied.
const maxBarred = 50

// state is what a comparison says of an object that may not be applied: nothing of it is looked at.
func (w *wanted) state(asked object.Options) state {
	return state{
		key: w.key, version: w.version, wave: w.wave, missing: true, forbidden: !unknownKind(w.barred), confirm: w.options.Asks(asked),
	}
}
