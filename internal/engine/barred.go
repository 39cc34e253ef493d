package engine

import (
	"context"
	"errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// permitWanted asks the project for every object that is to be there. One that it does not permit, and one whose kind the
// cluster does not have, is barred: it is listed, and no sync begins that would touch it.
func (in *inputs) permitWanted(ctx context.Context, m *wanted) error {
	if m.granted == in.grant {
		return nil
	}
	judge := func(key object.Key, barred *error) error {
		if !prepare.Unknown(*barred) {
			*barred = in.permits(key)
		}
		return ctx.Err() // a project can have patterns that take long
	}
	for i := range m.objects {
		if err := judge(m.objects[i].key, &m.objects[i].barred); err != nil {
			return err
		}
	}
	for i := range m.hooks {
		if err := judge(m.hooks[i].key, &m.hooks[i].barred); err != nil {
			return err
		}
	}
	m.granted = in.grant
	return nil
}

// barred are the objects that may not be applied, hooks last.
func (m *wanted) barred() []decide.Barred {
	var out []decide.Barred
	add := func(key object.Key, hook bool, err error) {
		if err != nil {
			out = append(out, decide.Barred{Key: key, Hook: hook, Unknown: prepare.Unknown(err), Why: err.Error()})
		}
	}
	for i := range m.objects {
		add(m.objects[i].key, false, m.objects[i].barred)
	}
	for i := range m.hooks {
		add(m.hooks[i].key, true, m.hooks[i].barred)
	}
	return out
}

// whole returns an error where some object may not be applied.
func (m *wanted) whole() error {
	forbidden, unknown := decide.Bars(m.barred(), nil)
	switch {
	case len(forbidden) > 0:
		return &StageError{Stage: StagePermit, Err: &ProjectError{errors.New(decide.Few(append(forbidden, unknown...)))}}
	case len(unknown) > 0:
		return errors.New(decide.Few(unknown))
	}
	return nil
}

// barredResults are the outcomes of an operation that is refused because of objects that may not be applied.
func (r *rendering) barredResults(op *v1alpha1.SyncOperation) []v1alpha1.ResourceResult {
	var out []v1alpha1.ResourceResult
	chosen := decide.Selection(op)
	for i := range r.want.objects {
		w := &r.want.objects[i]
		if w.barred == nil || len(chosen) > 0 && !chosen.Has(w.key) || len(out) == maxBarred {
			continue
		}
		out = append(out, v1alpha1.ResourceResult{
			Group: w.key.Group, Version: w.version, Kind: w.key.Kind, Namespace: w.key.Namespace, Name: w.key.Name,
			Status: v1alpha1.ResultSyncFailed, HookPhase: v1alpha1.OperationFailed, SyncPhase: v1alpha1.PhaseSync,
			Message: fit.Message(w.barred.Error()),
		})
	}
	return out
}

// maxBarred is how many objects an operation lists that may not be applied.
const maxBarred = 50

// state is what a comparison says of an object that may not be applied: nothing of it is looked at.
func (w *wantedObject) state(asked object.Options) state {
	return state{
		key: w.key, version: w.version, wave: w.wave, missing: true, forbidden: !prepare.Unknown(w.barred), confirm: w.options.Asks(asked),
	}
}
