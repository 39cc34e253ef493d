package engine

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Remove deletes what an Application owns in its destination, in the reverse order of kinds, and returns how many
// objects are still there. Each of them tells when it is gone, so that Remove need only be called again then.
func (e *Engine) Remove(ctx context.Context, req Request, background bool) (left int, err error) {
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
	var errs []error
	for _, rec := range owned {
		if rec.KeepDelete || rec.Owned || r.outside(rec.Key) {
			continue
		}
		left++
		if rec.Deleting {
			continue
		}
		out := r.target.Remove(ctx, diff.Change{Key: rec.Key, Verb: diff.Delete}, how)
		if out.Err != nil {
			errs = append(errs, errors.New(out.Message))
		}
	}
	return left, errors.Join(errs[:min(len(errs), 5)]...)
}
