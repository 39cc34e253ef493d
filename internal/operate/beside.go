package operate

import (
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// SyncBeside is Sync for an Argo CD, whose controller goes by what the operation says: what it leaves out of the
// Application's sync options and retries would not count.
func SyncBeside(app *v1alpha1.Application, req api.SyncRequest, who Who, now time.Time) (Change, error) {
	c, err := Sync(app, req, who, now)
	if err == nil && c.Operation != nil {
		completeBeside(c.Operation, app, req.Retry != nil)
		completeObjects(c.Operation.Sync.Resources, app)
	}
	return c, err
}

// completeBeside gives an operation what Argo CD's server would take from the Application, and its command line would send.
func completeBeside(op *v1alpha1.Operation, app *v1alpha1.Application, retried bool) {
	if op.Sync.Source == nil && len(op.Sync.Sources) == 0 {
		if app.Spec.MultipleSources() {
			op.Sync.Sources = slices.Clone(app.Spec.Sources)
		} else if sources := app.Spec.EffectiveSources(); len(sources) == 1 {
			op.Sync.Source = sources[0].DeepCopy()
		}
	}
	if op.Sync.SyncStrategy == nil {
		op.Sync.SyncStrategy = &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{}}
	}
	policy := app.Spec.SyncPolicy
	if policy == nil {
		return
	}
	if !retried && policy.Retry != nil {
		op.Retry = *policy.Retry.DeepCopy()
	}
}

// completeObjects gives objects the namespace that they have, where there is just one of their name.
func completeObjects(objects []v1alpha1.SyncOperationResource, app *v1alpha1.Application) {
	for i := range objects {
		o := &objects[i]
		if o.Namespace != "" {
			continue
		}
		if key, err := OwnObject(app, api.ObjectName{Group: o.Group, Kind: o.Kind, Name: o.Name}); err == nil {
			o.Namespace = key.Namespace
		}
	}
}

// RefreshBeside is Refresh for an Argo CD, which knows one annotation for it.
func RefreshBeside(app *v1alpha1.Application, req api.RefreshRequest, _ Who, _ time.Time) (Change, error) {
	kind := v1alpha1.RefreshNormal
	if req.Hard {
		kind = v1alpha1.RefreshHard
	}
	return nothing("%s refresh of application %s requested", kind, app.Name).with(map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRefresh: string(kind)}},
	}), nil
}

// RollbackBeside is Rollback for an Argo CD: an operation that deploys an earlier deployment of the history again, once.
// Argo CD has no pin, so it is refused where automated sync would go forward again immediately.
func RollbackBeside(app *v1alpha1.Application, req api.RollbackRequest, who Who, _ time.Time) (Change, error) {
	if err := CheckRollback(req); err != nil {
		return Change{}, err
	}
	if app.Spec.SyncPolicy.AutomatedEnabled() {
		return Change{}, faultf(Conflict, "automated sync of application %s is on, and Argo CD, which has no pin, would revert it immediately: "+
			"turn it off first (spec.syncPolicy.automated.enabled: false), or revert the commit in Git", app.Name)
	}
	entry, err := choose(app, &req, nil)
	if err != nil {
		return Change{}, err
	}
	sources, revisions := Deployed(entry)
	if len(revisions) == 0 || len(revisions) != len(sources) || slices.Contains(revisions, "") {
		return Change{}, faultf(Conflict, "deployment %d of application %s does not record its revisions; "+
			"choose another one of `slipway app history %s`",
			entry.ID, app.Name, app.Name)
	}
	verb := "going back to"
	if req.DryRun {
		verb = "would go back to"
	}
	c := nothing("%s deployment %d, %s, until the next sync: Argo CD has no pin", verb, entry.ID, Revisions(revisions))
	c.Answer.Deployment, c.Answer.Revisions = new(entry.ID), revisions
	if req.DryRun {
		return c, nil
	}
	if err := mayOperate(app); err != nil {
		return Change{}, err
	}
	sync := &v1alpha1.SyncOperation{Prune: true}
	if app.Spec.MultipleSources() {
		sync.Sources, sync.Revisions = sources, revisions
	} else {
		sync.Source, sync.Revision = &sources[0], revisions[0]
	}
	c.Operation = newOperation(app, sync, who, req.Reason)
	c.Operation.Info = append(c.Operation.Info, v1alpha1.Info{Name: RollbackInfo, Value: v1alpha1.OptionTrue})
	// without hooks and further attempts, as Argo CD's server does
	sync.SyncStrategy = &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{}}
	return c.with(held(app)), nil
}
