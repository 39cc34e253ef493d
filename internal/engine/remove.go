package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Remove deletes what an Application owns in its destination, in the reverse order of kinds, and returns how many
// objects are still there. Each of them tells when it is gone, so that Remove need only be called again then.
func (e *Engine) Remove(ctx context.Context, req Request, background bool) (left int, err error) {
	if err := e.unmistakable(ctx, req.App); err != nil {
		return 0, fmt.Errorf("%w; or delete it and leave its objects (slipway app delete %s --cascade=false)", err, req.App.Name)
	}
	r := e.begin(req)
	defer r.finish()
	if r.target, err = e.Clusters.Target(ctx, r.app.Spec.ProjectName(), r.app.Spec.Destination); err != nil {
		return 0, err
	}
	_ = r.consult() // without a project its objects can still be deleted
	if r.memory == nil && len(r.app.Status.Resources) == 0 {
		// Deleted before its status said what it made: the sources tell the kinds to look at.
		if r.permit() == nil && r.fetch(ctx) == nil {
			_ = r.render(ctx) // what cannot be rendered was never applied
		}
	}
	if r.memory == nil {
		r.memory = &memory{}
	}
	if err := r.observe(ctx); err != nil {
		return 0, err
	}
	var how metav1.DeletionPropagation
	if background {
		how = metav1.DeletePropagationBackground
	}
	return r.deleteOwned(ctx, how)
}

func (r *run) deleteOwned(ctx context.Context, how metav1.DeletionPropagation) (left int, err error) {
	owned := r.target.Live.Owned(r.instance)
	slices.SortStableFunc(owned, func(a, b live.Record) int {
		return plan.Rank(b.Key.GroupKind()) - plan.Rank(a.Key.GroupKind())
	})
	own := object.AppOptions(r.optionsOf(nil)).Delete
	var unconfirmed []object.Key
	var errs []error
	for _, rec := range owned {
		if rec.Delete.Or(own) == object.ConsentDenied || rec.Owned || r.outside(rec.Key) {
			continue
		}
		if rec.Hook && rec.Finalizer { // nothing waits for its result any more
			if out := r.target.ReleaseHook(ctx, rec.Key); out.Err != nil {
				errs = append(errs, errors.New(out.Message))
			}
		}
		left++
		if rec.Deleting {
			continue
		}
		if rec.Delete.Or(own) == object.ConsentAsked && !r.approved(r.app.DeletionTimestamp.Time) {
			unconfirmed = append(unconfirmed, rec.Key)
			continue
		}
		out := r.target.Remove(ctx, diff.Change{Key: rec.Key, Verb: diff.Delete}, how)
		if out.Err != nil {
			errs = append(errs, errors.New(out.Message))
		} else if r.accounts() {
			r.memory.removed = append(r.memory.removed, rec.Key)
		}
	}
	if len(unconfirmed) > 0 {
		errs = append([]error{fmt.Errorf("held: %s must be confirmed before it is deleted (sync option Delete=confirm): confirm with `slipway app confirm %s`",
			some(unconfirmed), r.app.Name)}, errs...)
	}
	return left, errors.Join(errs[:min(len(errs), 5)]...)
}
