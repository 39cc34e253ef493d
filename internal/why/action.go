package why

import (
	"regexp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// API is an answer as the REST API gives it, without what is not for people's eyes.
func (a Answer) API() api.Why {
	out := api.Why{Name: a.Name, State: object.Line(a.State), Since: a.Since, Reasons: make([]api.WhyReason, 0, len(a.Reasons))}
	for _, r := range a.Reasons {
		out.Reasons = append(out.Reasons, api.WhyReason{
			Code: string(r.Code), What: object.Line(r.What), Why: object.Lines(r.Why, maxTold), Since: r.Since, Next: object.Line(r.Next),
			Objects: r.Objects[:min(len(r.Objects), api.WhyObjects)], Actions: r.Actions, Finding: r.Finding,
		})
	}
	return out
}

// maxTold bounds the words of others in one reason.
const maxTold = 8 << 10

// Which actions there are.
func act(kind string) api.WhyAction { return api.WhyAction{Action: kind} }

func actions(kinds ...string) []api.WhyAction {
	out := make([]api.WhyAction, 0, len(kinds))
	for _, kind := range kinds {
		out = append(out, act(kind))
	}
	return out
}

func syncing(prune bool) []api.WhyAction {
	return []api.WhyAction{{Action: api.WhySync, Prune: prune}}
}

var planPattern = regexp.MustCompile(`\(plan ([0-9a-f]{16,64})\)`)

// confirming is the action that lets deletions go on which a message of the agent asks about.
func confirmation(message string) []api.WhyAction {
	out := act(api.WhyConfirm)
	if m := planPattern.FindStringSubmatch(message); m != nil {
		out.Plan = m[1]
	}
	return []api.WhyAction{out}
}

func nameOf(r v1alpha1.ResourceStatus) api.ObjectName {
	return api.ObjectName{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

func namesOf(list []v1alpha1.ResourceStatus) []api.ObjectName {
	out := make([]api.ObjectName, 0, len(list))
	for _, r := range list {
		out = append(out, nameOf(r))
	}
	return out
}

// resultsOf are the objects of an operation that f holds for.
func resultsOf(op *v1alpha1.OperationState, f func(v1alpha1.ResourceResult) bool) []api.ObjectName {
	var out []api.ObjectName
	if op == nil || op.SyncResult == nil {
		return nil
	}
	for _, r := range op.SyncResult.Resources {
		if f(r) {
			out = append(out, api.ObjectName{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name})
		}
	}
	return out
}

func failedResult(r v1alpha1.ResourceResult) bool {
	return r.Status == v1alpha1.ResultSyncFailed || r.HookPhase == v1alpha1.OperationFailed || r.HookPhase == v1alpha1.OperationError
}

func runningResult(r v1alpha1.ResourceResult) bool { return r.HookPhase == v1alpha1.OperationRunning }

func runningHook(r v1alpha1.ResourceResult) bool { return r.HookType != "" && runningResult(r) }

// leftover are the objects that Git does not have any more.
func (t *teller) leftover() []api.ObjectName {
	var out []api.ObjectName
	for _, r := range t.app.Status.Resources {
		if r.Leftover() {
			out = append(out, nameOf(r))
		}
	}
	return out
}

// back is going back to an earlier deployment, where there is one.
func (t *teller) back() []api.WhyAction {
	if t.canRollBack() {
		return actions(api.WhyRollback)
	}
	return nil
}
