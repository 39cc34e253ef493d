package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// setFinalizers replaces the finalizers of an Application, unless another client has changed them in the meantime. The next turn
// builds on the answer: it may come before the watch reports it.
func (a *turner) setFinalizers(ctx context.Context, app *v1alpha1.Application, finalizers []string) error {
	var have any // null stands for none
	if len(app.Finalizers) > 0 {
		have = app.Finalizers
	}
	raw, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/finalizers", "value": have}, {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
	})
	if err != nil {
		return fmt.Errorf("encode patch: %w", err)
	}
	obj, err := a.apps.In(app.Namespace).Patch(ctx, app.Name, types.JSONPatchType, raw, metav1.PatchOptions{FieldManager: "slipway-agent"})
	if err != nil {
		return fmt.Errorf("set finalizers of %s/%s: %w", app.Namespace, app.Name, err)
	}
	if app.DeletionTimestamp != nil && len(finalizers) == 0 {
		return nil // it is gone, and the watch says so
	}
	if raw, err = obj.MarshalJSON(); err != nil {
		return fmt.Errorf("encode application: %w", err)
	}
	if fresh, unknown, err := registry.Decode(raw); err == nil { // the watch says what cannot be read
		a.registry.Answered(fresh, unknown)
	}
	return nil
}

// dropFinalizers takes finalizers off an Application.
func (a *turner) dropFinalizers(ctx context.Context, app *v1alpha1.Application, gone ...string) error {
	rest := make([]string, 0, len(app.Finalizers))
	for _, f := range app.Finalizers {
		if !slices.Contains(gone, f) {
			rest = append(rest, f)
		}
	}
	return a.setFinalizers(ctx, app, rest)
}

// hookFinalizers are the finalizers that keep an Application until the hooks of its deletion have run.
func hookFinalizers(phase v1alpha1.HookType) []string {
	if phase == v1alpha1.HookPreDelete {
		return []string{v1alpha1.FinalizerPreDelete, v1alpha1.FinalizerPreDeleteCleanup}
	}
	return []string{v1alpha1.FinalizerPostDelete, v1alpha1.FinalizerPostDeleteCleanup}
}

// keepForHooks sees to it that an Application with hooks for its deletion is not gone before they have run, and is not
// kept when it has none any more.
func (a *turner) keepForHooks(ctx context.Context, log *slog.Logger, app *v1alpha1.Application, res engine.Result) {
	if res.Err != nil {
		return
	}
	want := slices.Clone(app.Finalizers)
	for _, phase := range []v1alpha1.HookType{v1alpha1.HookPreDelete, v1alpha1.HookPostDelete} {
		for _, f := range hookFinalizers(phase) {
			has, needs := slices.Contains(want, f), slices.Contains(res.DeleteHooks, phase)
			if needs && !has {
				want = append(want, f)
			} else if !needs && has {
				want = slices.DeleteFunc(want, func(have string) bool { return have == f })
			}
		}
	}
	if slices.Equal(want, app.Finalizers) {
		return
	}
	if err := a.setFinalizers(ctx, app, want); err != nil {
		log.Warn("finalizers of deletion hooks not set", "err", err)
		a.queue.AddAfter(registry.NameOf(app), writePause)
	}
}

// deletionHooks runs the hooks of one phase of a deletion, if the Application waits for them.
func (a *turner) deletionHooks(ctx context.Context, e registry.Entry, req engine.Request, phase v1alpha1.HookType) (done bool, err error) {
	finalizers := hookFinalizers(phase)
	if !slices.ContainsFunc(e.App.Finalizers, func(f string) bool { return slices.Contains(finalizers, f) }) {
		return true, nil
	}
	if done, err = a.engine.DeleteHooks(ctx, req, phase); err != nil || !done {
		return false, err
	}
	return false, a.dropFinalizers(ctx, e.App, finalizers...) // the write brings the next turn
}

// remove deletes the objects of an Application that is being deleted, and then lets it go.
func (a *turner) remove(ctx context.Context, log *slog.Logger, e registry.Entry) {
	id := registry.NameOf(e.App)
	if err := a.removeStep(ctx, log, e); err != nil {
		log.Warn("deletion is held up", "err", err)
		a.reportDeletion(ctx, log, e.App, err, nil)
		a.queue.AddAfter(id, pauseFor(err, a.registry.Failed(id)))
	}
}

// removeStep does the next thing of a deletion: hooks before it, objects, hooks after it.
func (a *turner) removeStep(ctx context.Context, log *slog.Logger, e registry.Entry) error {
	req := a.request(e, time.Now())
	if done, err := a.deletionHooks(ctx, e, req, v1alpha1.HookPreDelete); err != nil || !done {
		return err
	}
	finalizer, background := status.Cascade(e.App)
	if finalizer != "" {
		out, err := a.engine.Remove(ctx, req, background)
		if err != nil {
			return err
		}
		if len(out.Kept) > 0 { // before the Application is gone
			a.reportDeletion(ctx, log, e.App, nil, out.Kept)
		}
		if out.Left > 0 {
			return nil
		}
		removed := a.engine.Removed(e.App) // with the Application it is forgotten
		if err := a.dropFinalizers(ctx, e.App, finalizer); err != nil {
			return err
		}
		log.Info("deleted with its objects", "kept", len(out.Kept))
		a.ledger.Deleted(e.App, removed, out.Kept)
		return nil
	}
	_, err := a.deletionHooks(ctx, e, req, v1alpha1.HookPostDelete)
	return err
}

// pauseFor is how long a deletion waits after its nth error in a row: not long where the API server was busy.
func pauseFor(err error, n int) time.Duration {
	var status apierrors.APIStatus
	if errors.As(err, &status) && apply.Retriable(err) {
		return writePause
	}
	return pauseAfter(n)
}

// reportDeletion says on the Application why it is still there, and which objects stay when it is gone. What a person is to
// confirm is marked in the list of its objects.
func (a *turner) reportDeletion(ctx context.Context, log *slog.Logger, app *v1alpha1.Application, cause error, kept []guard.Kept) {
	var fresh []v1alpha1.ApplicationCondition
	next := app.Status
	if cause != nil {
		fresh = append(fresh, v1alpha1.ApplicationCondition{
			Type: v1alpha1.ConditionDeletionError, Message: object.Middle(cause.Error(), report.MaxCondition),
		})
		next.Resources = asking(next.Resources, cause)
	}
	if len(kept) > 0 {
		fresh = append(fresh, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionKept, Message: report.KeptText(kept)})
	}
	now := time.Now()
	next.Conditions = status.Conditions(app.Status.Conditions, fresh, metaTime(now))
	patch, err := status.Patch(app, hide(a.veil, next), now)
	if err == nil && patch != nil {
		err = a.write(ctx, app, patch)
	}
	if err != nil {
		log.Warn("status not written", "err", err)
	}
}

// asking marks the objects that a deletion waits for to be confirmed.
func asking(resources []v1alpha1.ResourceStatus, cause error) []v1alpha1.ResourceStatus {
	var held *engine.HeldError
	if !errors.As(cause, &held) {
		return resources
	}
	out := slices.Clone(resources)
	for i := range out {
		r := &out[i]
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		r.RequiresDeletionConfirmation = slices.Contains(held.Objects, key)
	}
	return out
}
