package operate

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Question is what an Application waits to be confirmed.
type Question struct {
	Message string
	Plan    string       // digest of the deletions; "" where the agent waits for any word
	Objects []object.Key // what would be deleted, as far as the status shows
}

// Confirm lets a sync or a deletion go on that waits for a confirmation. What is confirmed is what the request says that
// was seen; if the Application waits for something else by now, nothing is.
func Confirm(app *v1alpha1.Application, req api.ConfirmRequest, _ Who, now time.Time) (Change, error) {
	if err := checkReason(req.Reason); err != nil {
		return Change{}, err
	}
	q := Asks(app)
	if q == nil && !req.DryRun && (req.Plan != "" || req.Message != "") {
		return Change{}, faultf(Conflict, "nothing of application %s waits for a confirmation any more", app.Name)
	}
	if q == nil {
		return nothing("nothing waits for a confirmation"), nil
	}
	c := nothing("%s", q.Message)
	c.Answer.Plan, c.Answer.Objects = q.Plan, objectsOf(q.Objects)
	if req.DryRun {
		return c, nil
	}
	if q.Plan != "" && req.Plan == "" {
		return Change{}, faultf(Invalid, "name the confirmed deletions of application %s by their plan; a dry run lists them and prints it",
			app.Name)
	}
	if req.Plan != q.Plan || q.Plan == "" && req.Message != "" && req.Message != q.Message {
		return Change{}, faultf(Conflict, "what application %s waits for has changed in the meantime: nothing was confirmed; "+
			"look again with `slipway app confirm %s`",
			app.Name, app.Name)
	}
	annotations := map[string]any{v1alpha1.AnnotationDeletionApproved: now.UTC().Format(time.RFC3339)}
	if q.Plan != "" {
		annotations[v1alpha1.AnnotationDeletionConfirmed] = q.Plan
	}
	c.Answer.Message = "confirmed"
	return c.with(annotate(app, annotations)), nil
}

// planPattern finds the digest that the deletion guard names.
var planPattern = regexp.MustCompile(`\(plan ([0-9a-f]{16})\)`)

// Asks returns what an Application waits to be confirmed; nil for nothing.
func Asks(app *v1alpha1.Application) *Question {
	q := Question{Message: heldMessage(app)}
	if q.Message == "" {
		return nil
	}
	if m := planPattern.FindStringSubmatch(q.Message); m != nil {
		q.Plan = m[1]
	}
	chosen := chosenResources(app)
	asks := func(r v1alpha1.ResourceStatus) bool { return r.RequiresDeletionConfirmation }
	marked := q.Plan == "" && slices.ContainsFunc(app.Status.Resources,
		func(r v1alpha1.ResourceStatus) bool { return r.Leftover() && asks(r) })
	for i := range app.Status.Resources {
		r := &app.Status.Resources[i]
		goes := r.Leftover() && (!marked || asks(*r))
		if app.DeletionTimestamp != nil {
			goes = asks(*r)
		}
		k := keyOf(r)
		if goes && (len(chosen) == 0 || slices.ContainsFunc(chosen, func(c v1alpha1.SyncOperationResource) bool { return names(c, k) })) {
			q.Objects = append(q.Objects, k)
		}
	}
	return &q
}

// heldMessage finds the words of the agent that ask for a confirmation.
func heldMessage(app *v1alpha1.Application) string {
	command := "slipway app confirm "
	for _, c := range app.Status.Conditions {
		if (c.Type == v1alpha1.ConditionHeld || c.Type == v1alpha1.ConditionDeletionError) && strings.Contains(c.Message, command) {
			return c.Message
		}
	}
	if op := app.Status.OperationState; op != nil && !op.Phase.Completed() &&
		(strings.Contains(op.Message, command) || strings.HasPrefix(op.Message, "waiting for pruning confirmation of ")) {
		return op.Message
	}
	return ""
}

// chosenResources are the objects that the operation at hand is limited to; none for all.
func chosenResources(app *v1alpha1.Application) []v1alpha1.SyncOperationResource {
	if op := app.Operation; op != nil && op.Sync != nil {
		return op.Sync.Resources
	}
	return nil
}

func names(r v1alpha1.SyncOperationResource, k object.Key) bool {
	return named(api.ObjectName{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}, k)
}
