package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// HeldError says that nothing of an Application is deleted before a person confirms it.
type HeldError struct {
	Message string
	Objects []object.Key // what is to be confirmed
}

// Error returns the message.
func (e *HeldError) Error() string { return e.Message }

// Removal is how far the deletion of an Application's objects is.
type Removal struct {
	Left int          // objects that are still there and go
	Kept []guard.Kept // objects that stay
}

// Remove deletes what an Application owns in its destination, as far as the deletion guard permits, in the reverse order of
// kinds. The watch reports when an object that is left is gone; Remove need only be called again then.
func (e *Engine) Remove(ctx context.Context, req Request, background bool) (Removal, error) {
	t := e.begin(req)
	defer t.keep()
	r, err := t.specify().remove(ctx)
	if err != nil {
		return Removal{}, err
	}
	var how metav1.DeletionPropagation
	if background {
		how = metav1.DeletePropagationBackground
	}
	return r.deleteOwned(ctx, how)
}

// Foresee returns what the deletion of an Application would keep, and what a person would have to confirm. It deletes nothing.
func (e *Engine) Foresee(ctx context.Context, app *v1alpha1.Application) (guard.Parting, error) {
	in := e.look(Request{App: app}).specify()
	in.kept.wanted = &wanted{} // it is not rendered for this
	r, err := in.remove(ctx)
	if err != nil {
		return guard.Parting{}, err
	}
	p, _ := r.judgeOwned(ctx)
	return p, nil
}

// Loss counts what the deletion of one object of an Application's destination would take with it.
func (e *Engine) Loss(ctx context.Context, app *v1alpha1.Application, k object.Key) (guard.Loss, error) {
	in := e.look(Request{App: app}).specify()
	if err := in.locate(ctx); err != nil {
		return guard.Loss{}, err
	}
	return in.loss(ctx, k), nil
}

// removal is the deletion of what an Application owns, live state of which is complete.
type removal struct{ *rendering }

// remove finds what an Application owns.
func (in *inputs) remove(ctx context.Context) (*removal, error) {
	err := in.engine.distinct(ctx, in.app)
	if err != nil {
		return nil, fmt.Errorf("%w; or delete it and leave its objects (slipway app delete %s --cascade=false)", err, in.app.Name)
	}
	if err := in.locate(ctx); err != nil {
		return nil, err
	}
	_ = in.consult() // without a project its objects can still be deleted
	if in.kept.wanted == nil && len(in.app.Status.Resources) == 0 && in.resolve(ctx) == nil {
		// Deleted before its status listed its objects: the sources have the kinds to look at.
		_, _ = in.render(ctx) // what cannot be rendered was never applied
	}
	if in.kept.wanted == nil {
		in.kept.wanted = &wanted{}
	}
	r := &removal{&rendering{inputs: in, want: in.kept.wanted}}
	return r, r.observe(ctx)
}

// judgeOwned asks the deletion guard about everything that an Application owns, and returns its records in the order in which
// they are deleted.
func (r *removal) judgeOwned(ctx context.Context) (guard.Parting, []live.Record) {
	owned := slices.DeleteFunc(r.target.Live.Owned(r.instance), func(rec live.Record) bool { return rec.Owned || r.isItself(rec.Key) })
	slices.SortStableFunc(owned, func(a, b live.Record) int {
		return plan.Rank(b.Key.GroupKind()) - plan.Rank(a.Key.GroupKind())
	})
	own := object.AppOptions(decide.OptionsOf(r.app, nil))
	c := guard.Cascade{
		App: r.app.Name, Delete: own.Delete, Prune: own.Prune, Confirmed: r.app.Annotations[v1alpha1.AnnotationDeletionConfirmed],
	}
	if at := r.app.DeletionTimestamp; at != nil {
		c.Approved, _ = r.approved(at.Time)
	}
	for _, rec := range owned {
		m := guard.Member{
			Key: rec.Key, Delete: rec.Delete, Prune: rec.Prune, Passed: rec.Deleting || r.kept.passed[rec.Key], Outside: r.beyond(rec.Key),
		}
		if !m.Passed {
			if !c.Keeps(m) { // for one that stays, a count of the last minute is enough
				delete(r.kept.losses, rec.Key)
			}
			m.Loss = r.loss(ctx, rec.Key)
		}
		c.Members = append(c.Members, m)
	}
	return guard.JudgeCascade(c), owned
}

// isItself reports whether an object is the Application, which can be one of its own objects.
func (t *turn) isItself(k object.Key) bool {
	return k.Group == v1alpha1.Group && k.Kind == v1alpha1.KindApplication && k.Namespace == t.app.Namespace && k.Name == t.app.Name
}

func (r *removal) deleteOwned(ctx context.Context, how metav1.DeletionPropagation) (Removal, error) {
	p, owned := r.judgeOwned(ctx)
	out := Removal{Kept: p.Kept}
	if p.Held != "" {
		out.Left = len(owned) - len(p.Kept)
		return out, &HeldError{Message: p.Held, Objects: p.Asked}
	}
	if r.kept.passed == nil {
		r.kept.passed = map[object.Key]bool{}
	}
	var errs []error
	for _, rec := range owned {
		if !p.Leave.Covers(rec.Key) {
			continue
		}
		r.kept.passed[rec.Key] = true
		if rec.Hook && rec.Finalizer { // nothing waits for its result any more
			if out := r.target.ReleaseHook(ctx, rec.Key); out.Err != nil {
				errs = append(errs, errors.New(out.Message))
			}
		}
		out.Left++
		if rec.Deleting {
			continue
		}
		done := r.target.Remove(ctx, p.Leave, diff.Change{Key: rec.Key, Verb: diff.Delete}, how)
		if done.Err != nil {
			errs = append(errs, errors.New(done.Message))
		} else if r.accounts() {
			r.kept.removed = append(r.kept.removed, rec.Key)
		}
	}
	return out, errors.Join(errs[:min(len(errs), 5)]...)
}

// loss is what was counted of an object that holds others, and when.
type loss struct {
	guard.Loss
	at time.Time
}

// lossAge is how long what was counted stands: an Application that waits for a person has turns for other reasons.
const lossAge = time.Minute

// loss counts what the deletion of an object would take with it.
func (in *inputs) loss(ctx context.Context, k object.Key) guard.Loss {
	if !guard.Holds(k.GroupKind()) {
		return guard.Loss{}
	}
	now := in.engine.Now()
	if had, ok := in.kept.losses[k]; ok && now.Sub(had.at) < lossAge {
		return had.Loss
	}
	var h live.Holding
	if k.GroupKind() == guard.Definition {
		h = in.target.Live.HeldByDefinition(ctx, k.Name, in.instance)
	} else {
		h = in.target.Live.HeldByNamespace(ctx, k.Name, in.instance)
	}
	l := guard.Loss{Count: h.Count, Examples: h.Examples, Err: h.Err}
	if in.kept.losses == nil {
		in.kept.losses = map[object.Key]loss{}
	}
	in.kept.losses[k] = loss{l, now}
	return l
}
