package operate

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
)

// Refresh asks to look at Git and the cluster again. It does not matter which version of the Application it changes.
func Refresh(app *v1alpha1.Application, req api.RefreshRequest, _ Who, now time.Time) (Change, error) {
	kind := v1alpha1.RefreshNormal
	if req.Hard {
		kind = v1alpha1.RefreshHard
	}
	return nothing("%s refresh of application %s requested", kind,
		app.Name).with(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		v1alpha1.AnnotationRefresh:          string(kind),
		v1alpha1.AnnotationRefreshTimestamp: now.UTC().Format(time.RFC3339Nano),
	}}}), nil
}

// Terminate ends the operation under way, or takes back one that has not begun.
func Terminate(app *v1alpha1.Application, req api.TerminateRequest, _ Who, _ time.Time) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	what, patch := ending(app)
	switch {
	case what == "":
		return nothing("no operation is under way"), nil
	case req.DryRun:
		return nothing("would end %s", what), nil
	case patch == nil:
		return nothing("ending %s", what), nil
	}
	patch["metadata"] = map[string]any{"resourceVersion": app.ResourceVersion}
	return nothing("ending %s", what).with(patch), nil
}

// ending says which operation is under way, and returns the change that ends it; nothing if its end was already
// requested.
func ending(app *v1alpha1.Application) (what string, change map[string]any) {
	op := app.Status.OperationState
	switch {
	case op != nil && op.Phase == v1alpha1.OperationTerminating:
		return "the operation that is terminating already", nil
	case op != nil && !op.Phase.Completed():
		began := ""
		if !op.StartedAt.IsZero() {
			began = op.StartedAt.UTC().Format(time.RFC3339)
		}
		what = fmt.Sprintf("the operation that %s began at %s: %s", Initiator(op.Operation.InitiatedBy), began, op.Message)
		return what, map[string]any{"status": map[string]any{"operationState": map[string]any{"phase": v1alpha1.OperationTerminating}}}
	case app.Operation != nil:
		return "the requested operation that has not begun", map[string]any{"operation": nil}
	}
	return "", nil
}

// Initiator is the author of an operation.
func Initiator(by v1alpha1.OperationInitiator) string {
	switch {
	case by.Automated && by.Username != "":
		return by.Username + " (automated sync)"
	case by.Automated:
		return "automated sync"
	}
	return by.Username
}

// Unpin ends a rollback.
func Unpin(app *v1alpha1.Application, req api.UnpinRequest, _ Who, _ time.Time) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	if app.Annotations[v1alpha1.AnnotationRollback] == "" {
		return nothing("it is not pinned"), nil
	}
	what := "its pin, which cannot be read"
	pin, err := mark.ReadPin(app)
	if err == nil {
		what = fmt.Sprintf("its pin to deployment %d, %s", pin.ID, Revisions(pin.Revisions))
	}
	if req.DryRun {
		return nothing("would lose %s", what), nil
	}
	c := nothing("has lost %s; it follows Git again", what)
	c.Pin = pin
	return c.with(map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1alpha1.AnnotationRollback: nil}}}), nil
}

// deletionSlack is how long a deletion may begin before or after it was asked for, by clocks that differ.
const deletionSlack = 5 * time.Minute

// DeletedBy is the author of a running deletion of an Application; false where that is not known: kubectl, a
// controller or the deletion of an owner say nothing.
func DeletedBy(app *v1alpha1.Application) (v1alpha1.Deletion, bool) {
	var d v1alpha1.Deletion
	if app.DeletionTimestamp == nil || app.Annotations[v1alpha1.AnnotationDeletedBy] == "" ||
		mark.Read(app, v1alpha1.AnnotationDeletedBy, &d) != nil {
		return v1alpha1.Deletion{}, false
	}
	if apart := app.DeletionTimestamp.Sub(d.At).Abs(); apart > deletionSlack {
		return v1alpha1.Deletion{}, false // that one came to nothing
	}
	return d, true
}

// Delete says what becomes of the objects of an Application that is deleted, and names the author of the request: the patch sets
// its finalizers and an annotation. Deleting is another request.
func Delete(app *v1alpha1.Application, req api.DeleteApplicationRequest, who Who, now time.Time) (Change, error) {
	c, err := DeleteBeside(app, req)
	if err != nil || req.DryRun || app.DeletionTimestamp != nil {
		return c, err
	}
	by, err := mark.Write(v1alpha1.AnnotationDeletedBy, DeletionBy(who, req.Reason, now))
	if err != nil {
		return Change{}, err
	}
	patch := annotate(app, map[string]any{v1alpha1.AnnotationDeletedBy: by})
	if want := finalizers(app.Finalizers, req.Cascade, req.Propagation); !slices.Equal(want, app.Finalizers) {
		patch["metadata"].(map[string]any)["finalizers"] = want
	}
	return c.with(patch), nil
}

// DeletionBy is the deletion that a user requests at a time.
func DeletionBy(who Who, reason string, now time.Time) v1alpha1.Deletion {
	return v1alpha1.Deletion{By: who.Name, Request: who.ID, Reason: reason, At: stamp(now)}
}

// DeleteBeside is Delete for an Argo CD, where no annotation of ours is written: the patch sets the finalizers, and is nil where
// they are set already.
func DeleteBeside(app *v1alpha1.Application, req api.DeleteApplicationRequest) (Change, error) {
	if req.Propagation != "" && req.Propagation != "foreground" && req.Propagation != "background" {
		return Change{}, faultf(Invalid, "propagation is foreground or background, not %q", req.Propagation)
	}
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	c := nothing("application %s is being deleted", app.Name)
	if req.DryRun {
		c = nothing("would delete application %s", app.Name)
	}
	if req.Cascade {
		for i := range app.Status.Resources {
			c.Answer.Objects = append(c.Answer.Objects, api.OperationObject{ObjectName: nameOf(keyOf(&app.Status.Resources[i]))})
		}
	}
	// An Application that is going already cannot get new finalizers and is left as it is.
	want := finalizers(app.Finalizers, req.Cascade, req.Propagation)
	if req.DryRun || app.DeletionTimestamp != nil {
		return c, nil
	}
	c.Answer.Changed = true
	if slices.Equal(want, app.Finalizers) {
		return c, nil
	}
	return c.with(map[string]any{"metadata": map[string]any{"resourceVersion": app.ResourceVersion, "finalizers": want}}), nil
}

// finalizers returns have with exactly the resources finalizer that is asked for, and every other one kept.
func finalizers(have []string, cascade bool, propagation string) []string {
	ours := []string{
		v1alpha1.FinalizerResources, v1alpha1.FinalizerResourcesForeground, v1alpha1.FinalizerResourcesBackground,
	}
	want := slices.DeleteFunc(slices.Clone(have), func(f string) bool { return slices.Contains(ours, f) })
	switch {
	case cascade && propagation == "background":
		want = append(want, v1alpha1.FinalizerResourcesBackground)
	case cascade:
		want = append(want, v1alpha1.FinalizerResources)
	}
	if want == nil {
		return []string{}
	}
	return want
}
