package operate

import (
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Standing returns what was deployed last: the pin's deployment, or the newest of the history.
func Standing(app *v1alpha1.Application) ([]v1alpha1.ApplicationSource, []string, error) {
	pin, err := mark.ReadPin(app)
	if err != nil {
		return nil, nil, err
	}
	if pin != nil {
		return pin.Sources, pin.Revisions, nil
	}
	if len(app.Status.History) == 0 {
		return nil, nil, faultf(Conflict, "application %s was not synced yet, so nothing can have been changed since; "+
			"`slipway app diff %s` compares with Git",
			app.Name, app.Name)
	}
	sources, at := Deployed(&app.Status.History[len(app.Status.History)-1])
	return sources, at, nil
}

// Revert reverts changes in the cluster: the objects that the request names, or else those that are given
// as drifted. Drift of them that was allowed is not allowed any more.
func Revert(app *v1alpha1.Application, req api.RevertRequest, drifted []object.Key, who Who, now time.Time) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	keys := drifted
	if len(req.Objects) > 0 {
		keys = nil
	}
	for _, r := range req.Objects {
		k, err := OwnObject(app, r)
		if err != nil {
			return Change{}, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		c := nothing("nothing was changed in the cluster")
		if req.DryRun || app.Annotations[v1alpha1.AnnotationDriftAllowed] == "" {
			return c, nil
		}
		c.Answer.Message += "; what was allowed to is not allowed any more"
		return c.with(annotate(app, map[string]any{v1alpha1.AnnotationDriftAllowed: nil})), nil
	}
	verb := "putting back"
	if req.DryRun {
		verb = "would put back"
	}
	c := nothing("%s %s", verb, objectsText(keys))
	c.Answer.Objects = objectsOf(keys)
	if req.DryRun {
		return c, nil
	}
	sync, err := revertSync(app, keys)
	if err != nil {
		return Change{}, err
	}
	if err := mayOperate(app); err != nil {
		return Change{}, err
	}
	c.Operation = newOperation(app, sync, who, req.Reason)
	c.Operation.Info = append(c.Operation.Info, v1alpha1.Info{Name: v1alpha1.InfoRevert, Value: v1alpha1.OptionTrue})
	annotations, err := forget(app, keys, now)
	if err != nil {
		return Change{}, err
	}
	if annotations == nil {
		return c.with(held(app)), nil
	}
	return c.with(annotate(app, annotations)), nil
}

// revertSync puts objects back to what was deployed last. Where automated sync is on, that is what Git says, and another
// revision could not be asked for.
func revertSync(app *v1alpha1.Application, keys []object.Key) (*v1alpha1.SyncOperation, error) {
	sync := syncOf(keys)
	pinned := app.Annotations[v1alpha1.AnnotationRollback] != ""
	if len(app.Status.History) > 0 && (pinned || !app.Spec.SyncPolicy.AutomatedEnabled()) {
		sources, at, err := Standing(app)
		if err != nil {
			return nil, err
		}
		deploy(sync, app, slices.Clone(sources), at)
	}
	return sync, nil
}

// forget takes objects that are put back off the list of those that are left alone; nil where none is on it.
func forget(app *v1alpha1.Application, keys []object.Key, now time.Time) (map[string]any, error) {
	allowed, err := mark.ReadAllowances(app)
	if err != nil || !slices.ContainsFunc(keys, func(k object.Key) bool { return AllowanceFor(allowed, k, time.Time{}) >= 0 }) {
		return nil, nil //nolint:nilerr // a list that cannot be read is not used
	}
	var value any
	if rest := without(allowed, keys, now); len(rest) > 0 {
		if value, err = mark.Write(v1alpha1.AnnotationDriftAllowed, rest); err != nil {
			return nil, err
		}
	}
	return map[string]any{v1alpha1.AnnotationDriftAllowed: value}, nil
}

// maxAllowed is how far ahead drift can be allowed: what lasts longer is no exception any more.
const maxAllowed = 366 * 24 * time.Hour

// Allow allows the drift of one object, until a time.
func Allow(app *v1alpha1.Application, req api.AllowRequest, who Who, now time.Time) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	switch {
	case req.Until.IsZero():
		return Change{}, faultf(Invalid, "set an end: drift is allowed for a limited time only")
	case !req.Until.After(now):
		return Change{}, faultf(Invalid, "%s is in the past: set a later time", req.Until.UTC().Format(time.RFC3339))
	case req.Until.After(now.Add(maxAllowed)):
		return Change{}, faultf(Invalid, "%s is more than a year away: drift that is to stay is written to Git, or named in ignoreDifferences",
			req.Until.UTC().Format(time.RFC3339))
	}
	k, err := OwnObject(app, req.Object)
	if err != nil {
		return Change{}, err
	}
	allowed, err := mark.ReadAllowances(app)
	var warnings []string
	if err != nil {
		warnings = append(warnings, err.Error()+"; it is replaced")
	}
	given := v1alpha1.Allowance{
		Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name, Until: stamp(req.Until), By: who.Name, Reason: req.Reason,
	}
	text, err := mark.Write(v1alpha1.AnnotationDriftAllowed, append(without(allowed, []object.Key{k}, now), given))
	if err != nil {
		return Change{}, err
	}
	verb := "is"
	if req.DryRun {
		verb = "would be"
	}
	c := nothing("%s %s left as it is until %s", keyText(k), verb, given.Until.Format(time.RFC3339))
	c.Allowance = &given
	c.Answer.Objects, c.Answer.Warnings = objectsOf([]object.Key{k}), warnings
	if req.DryRun {
		return c, nil
	}
	return c.with(annotate(app, map[string]any{v1alpha1.AnnotationDriftAllowed: text})), nil
}

// AllowanceFor finds the allowance of an object that is not over; -1 for none.
func AllowanceFor(allowed []v1alpha1.Allowance, k object.Key, now time.Time) int {
	return slices.IndexFunc(allowed, func(a v1alpha1.Allowance) bool { return a.Until.After(now) && allows(a) == k })
}

func allows(a v1alpha1.Allowance) object.Key {
	return object.Key{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}
}

// without leaves out allowances of some objects, and those that are over.
func without(allowed []v1alpha1.Allowance, keys []object.Key, now time.Time) []v1alpha1.Allowance {
	return slices.DeleteFunc(slices.Clone(allowed), func(a v1alpha1.Allowance) bool {
		return !a.Until.After(now) || slices.Contains(keys, allows(a))
	})
}

// Effective is an Application as its engine goes by it: while a rollback holds, its sources are those of the pin.
func Effective(app *v1alpha1.Application) *v1alpha1.Application {
	pin, err := mark.ReadPin(app)
	if err != nil || pin == nil || len(pin.Revisions) == 0 || !app.Spec.SyncPolicy.AutomatedEnabled() {
		return app
	}
	return AsDeployed(app, pin.Sources, pin.Revisions)
}
