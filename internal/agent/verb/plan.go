package verb

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/status"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// Bounds of the differences that a plan brings along.
const (
	maxPlanDiff  = 256 << 10 // of one object
	maxPlanDiffs = 4 << 20   // of all
)

// plan says what a sync would do. It writes nothing: objects are tried out by dry runs.
func (v *looks) plan(ctx context.Context, cmd agentapi.Command, req api.SyncRequest) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if len(req.Labels) > 0 {
		if req, err = v.labelled(ctx, app, req); err != nil {
			return nil, err
		}
	}
	as := *app
	if as.Operation, err = operate.Plan(app, req, command.By(cmd)); err != nil {
		return nil, err
	}
	rules, wrong := inspect.NewRules(app, v.Settings.Config(place.ConfigArgoCD), live.Manager)
	rules.Blind = len(req.Revisions) > 0 || len(req.Manifests) > 0
	var changes []inspect.Change
	var notes []string
	out, err := v.Engine.Outlook(ctx, &as, func(wish engine.Wish) ([]diff.Change, error) {
		notes = blindNote(rules, wish.Objects)
		changes, err = v.differing(ctx, app, wish, rules)
		return engineChanges(changes), err
	})
	if err != nil {
		return nil, err
	}
	described, err := inspect.Describe(changes, inspect.Options{Mask: rules.Mask})
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, notes...)
	for _, err := range wrong {
		out.Warnings = append(out.Warnings, "not in force: "+err.Error())
	}
	if status.UnderWay(app.Status.OperationState) || app.Operation != nil {
		out.Warnings = append(out.Warnings, "an operation is under way: what it does still changes this plan")
	}
	return planAnswer(out, described), nil
}

// engineChanges are changes as the engine plans with them.
func engineChanges(changes []inspect.Change) []diff.Change {
	out := make([]diff.Change, 0, len(changes))
	for i := range changes {
		c := &changes[i]
		to := diff.Change{Key: c.Key, Verb: diff.Update, Why: "differs"}
		switch {
		case c.Refused != "":
			to.Why = "the API server does not take it"
		case c.Before == nil:
			to.Verb, to.Why = diff.Create, "missing"
		case c.After == nil:
			to.Verb, to.Why, to.Wave = diff.Delete, "not in Git", object.WaveOf(c.Before)
		}
		out = append(out, to)
	}
	return out
}

func planAnswer(o engine.Outlook, described []api.ObjectDiff) api.SyncPlan {
	out := api.SyncPlan{
		Revisions: o.Revisions, Digest: o.Guard.Digest, Refused: o.Refused, Phases: []api.PlanPhase{},
		Counts: api.PlanCounts{
			Create: o.Plan.Counts.Create, Update: o.Plan.Counts.Update, Delete: o.Plan.Counts.Delete, Unchanged: o.Plan.Counts.Keep,
			Hooks: o.Plan.Counts.Hooks,
		},
		Guard: api.PlanGuard{
			Held: o.Guard.Held != "", Reason: o.Guard.Held, Budget: o.Guard.Budget, Of: o.Guard.Whose,
			Deletions: o.Guard.Deletions, Total: o.Guard.Total, Confirmed: o.Guard.Confirmed,
		},
		Windows:  api.PlanWindows{Allowed: o.Manual.Allowed, Reason: o.Refusal, Until: o.Manual.Until, Automatic: o.Automatic.Allowed},
		Warnings: append([]string{}, o.Warnings...),
	}
	if out.Revisions == nil {
		out.Revisions = []string{}
	}
	if !out.Guard.Held && out.Guard.Deletions > 0 {
		out.Guard.Reason = fmt.Sprintf("it deletes %d of %d objects, which the deletion budget %q of the %s allows", o.Guard.Deletions,
			o.Guard.Total, o.Guard.Budget, o.Guard.Whose)
		if o.Guard.Confirmed {
			out.Guard.Reason = fmt.Sprintf("confirmed: it deletes %d of %d objects", o.Guard.Deletions, o.Guard.Total)
		}
	}
	diffs := make(map[api.ObjectName]*api.ObjectDiff, len(described))
	for i := range described {
		diffs[described[i].ObjectName] = &described[i]
	}
	left, cut := maxPlanDiffs, 0
	for _, t := range o.Plan.Tasks {
		item := planItem(t)
		if item.Verb == string(diff.Keep) && item.Reason == "" {
			continue // it stays as it is
		}
		if d := diffs[item.ObjectName]; d != nil && !t.Hook {
			if item.Error = d.Error; len(d.Diff) <= min(left, maxPlanDiff) {
				item.Diff = d.Diff
				left -= len(d.Diff)
			} else {
				cut++
			}
		}
		out.Phases = planned(out.Phases, t, item)
	}
	if cut > 0 {
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("the differences of %d objects are too large and left out: `slipway app diff` shows them", cut))
	}
	return out
}

func planItem(t plan.Task) api.PlanItem {
	out := api.PlanItem{
		ObjectName: api.ObjectName{Group: t.Key.Group, Kind: t.Key.Kind, Namespace: t.Key.Namespace, Name: t.Key.Name},
		Verb:       string(t.Verb), Reason: t.Why, Confirm: t.Deletes() && t.Prune == v1alpha1.OptionConfirm,
	}
	switch {
	case t.Hook:
		out.Verb, out.Hook, out.Reason = "hook", string(t.Phase), ""
	case t.First:
		out.Reason = "the destination namespace, made or brought to its labels and annotations before all else (sync option CreateNamespace)"
	case t.Deletes() && t.Prune == v1alpha1.OptionFalse:
		out.Verb = string(diff.Keep)
	}
	return out
}

// planned puts an item behind the others of its phase and wave: tasks come in order.
func planned(phases []api.PlanPhase, t plan.Task, item api.PlanItem) []api.PlanPhase {
	if n := len(phases); n == 0 || phases[n-1].Phase != string(t.Phase) {
		phases = append(phases, api.PlanPhase{Phase: string(t.Phase)})
	}
	p := &phases[len(phases)-1]
	if n := len(p.Waves); n == 0 || p.Waves[n-1].Wave != t.Wave {
		p.Waves = append(p.Waves, api.PlanWave{Wave: t.Wave})
	}
	w := &p.Waves[len(p.Waves)-1]
	w.Items = append(w.Items, item)
	return phases
}
