package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

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
		fresh = append(fresh, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionDeletionError, Message: object.Middle(cause.Error(), report.MaxCondition)})
		next.Resources = asking(next.Resources, cause)
	}
	if len(kept) > 0 {
		fresh = append(fresh, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionKept, Message: report.KeptText(kept)})
	}
	now := time.Now()
	next.Conditions = status.Conditions(app.Status.Conditions, fresh, metaTime(now))
	patch, err := status.Patch(app, next, now)
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
