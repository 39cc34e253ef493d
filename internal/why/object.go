package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// difference explains objects that are not as Git has them.
type difference struct{ *teller }

// ailment explains objects that are not healthy.
type ailment struct{ *teller }

// differs says why objects that are not as Git says are left like that.
func (t difference) differs() {
	if t.settled || t.app.Status.Sync.Status != v1alpha1.SyncStatusOutOfSync {
		return
	}
	changed, gone, extra := t.split()
	if changed = t.shared(changed); len(changed)+len(gone)+len(extra) == 0 &&
		slices.ContainsFunc(t.reasons, func(r Reason) bool { return r.Code == Shared }) {
		return
	}
	differing := slices.Concat(changed, gone)
	policy := t.app.Spec.SyncPolicy
	switch {
	case len(differing) == 0 && len(extra) > 0 && t.atSame() && t.pruned():
		t.add("", t.unprunable(extra))
		return
	case !policy.AutomatedEnabled():
		next := t.command("sync")
		if len(extra) > 0 {
			next = "`slipway app sync " + t.Name + " --prune`"
		}
		t.add("", Reason{
			Code: AutomatedOff, What: "it differs from Git, and automated sync is off", Why: t.compared(slices.Concat(differing, extra)),
			Next:    t.command("diff") + " shows how, " + next + " changes it; or commit spec.syncPolicy.automated: {}",
			Objects: namesOf(slices.Concat(differing, extra)), Actions: syncing(len(extra) > 0),
		})
		return
	case len(differing) > 0 && t.atSame() && !isTrue(policy.Automated.SelfHeal):
		r := Reason{
			Code: SelfHealOff, What: "it was changed in the cluster, and self-heal is off", Why: t.compared(differing),
			Next: t.command("drift") + " shows the managers of the changes, `slipway app drift revert " + t.Name +
				"` puts it back; or commit spec.syncPolicy.automated.selfHeal: true",
			Objects: namesOf(differing), Actions: actions(api.WhyRevert, api.WhyAllow),
		}
		if t.Foreign() {
			r.Next = t.command("sync") + " puts it back; or commit spec.syncPolicy.automated.selfHeal: true"
			r.Actions = actions(api.WhySync)
		}
		t.add("", r)
	case len(differing) > 0:
		t.add("", Reason{
			Code: SyncDue, What: "it differs from Git, and will be synced", Why: t.compared(differing),
			Next: t.command("wait") + " follows it", Objects: namesOf(differing),
		})
	}
	switch {
	case len(extra) == 0:
	case !isTrue(policy.Automated.Prune):
		t.add("", Reason{
			Code: PruneOff, What: "objects are there that Git does not have any more, and pruning is off", Why: t.compared(extra),
			Next:    "`slipway app sync " + t.Name + " --prune` deletes them; or commit spec.syncPolicy.automated.prune: true, or the objects",
			Objects: namesOf(extra), Actions: syncing(true),
		})
	case len(differing) == 0:
		t.add("", t.unprunable(extra))
	}
}

// unprunable is the reason for objects that a sync leaves.
func (t difference) unprunable(extra []v1alpha1.ResourceStatus) Reason {
	return Reason{
		Code: PruneForbidden, What: "objects are there that Git does not have any more, and must not be pruned", Why: t.compared(extra) +
			"; sync option Prune=false, or the agent has not come to it",
		Next: "delete them with kubectl, or put them back into Git", Objects: namesOf(extra),
	}
}

// pruned reports whether the last sync deleted what it might.
func (t difference) pruned() bool {
	op := t.app.Status.OperationState
	return op != nil && op.Operation.Sync != nil && op.Operation.Sync.Prune && len(op.Operation.Sync.Resources) == 0
}

// shared reports objects that another Application has as well, and gives the others.
func (t difference) shared(changed []v1alpha1.ResourceStatus) []v1alpha1.ResourceStatus {
	for _, c := range t.conditions(v1alpha1.ConditionSharedResourceWarning) {
		t.add("", Reason{
			Code: Shared, What: "an object of it is another application's, too", Why: c.Message, Since: timeOf(c.LastTransitionTime),
			Next: "leave the object out of the source of one of the two, and push",
		})
		changed = slices.DeleteFunc(changed, func(r v1alpha1.ResourceStatus) bool { return strings.Contains(c.Message, r.Name) })
	}
	return changed
}

// compared names objects, and when they were looked at. The time since when they differ is not recorded.
func (t difference) compared(resources []v1alpha1.ResourceStatus) string {
	out := list(resources)
	if at := timeOf(t.app.Status.ReconciledAt); !at.IsZero() {
		out = strings.TrimPrefix(out+"; last compared at "+at.UTC().Format(time.RFC3339), "; ")
	}
	return out
}

// split sorts the objects that differ, those left out whose drift is allowed.
func (t difference) split() (changed, gone, extra []v1alpha1.ResourceStatus) {
	allowances, _ := t.allowances()
	for _, r := range t.app.Status.Resources {
		left := slices.ContainsFunc(allowances, func(a v1alpha1.Allowance) bool {
			return a.Until.After(t.Now) && a.Group == r.Group && a.Kind == r.Kind && a.Namespace == r.Namespace && a.Name == r.Name
		})
		switch {
		case r.Hook || left || r.Status != v1alpha1.SyncStatusOutOfSync:
		case r.Leftover():
			extra = append(extra, r)
		case r.Health != nil && r.Health.Status == v1alpha1.HealthMissing:
			gone = append(gone, r)
		default:
			changed = append(changed, r)
		}
	}
	return changed, gone, extra
}

// atSame reports whether the last sync was to what Git says now, and went well.
func (t difference) atSame() bool {
	op := t.app.Status.OperationState
	if op == nil || op.Phase != v1alpha1.OperationSucceeded || op.SyncResult == nil {
		return false
	}
	now := revisions(t.app.Status.Sync.Revision, t.app.Status.Sync.Revisions)
	return slices.Equal(now, revisions(op.SyncResult.Revision, op.SyncResult.Revisions))
}

func isTrue(b *bool) bool { return b != nil && *b }

// list names some objects of many.
func list(resources []v1alpha1.ResourceStatus) string {
	const most = 5
	if len(resources) == 0 {
		return ""
	}
	names := make([]string, 0, most)
	for _, r := range resources[:min(len(resources), most)] {
		names = append(names, objectText(r.Group, r.Kind, r.Namespace, r.Name))
	}
	out := strings.Join(names, ", ")
	if n := len(resources) - most; n > 0 {
		out += fmt.Sprintf(" and %d more", n)
	}
	return out
}

// health says which objects are not healthy.
func (t ailment) health() {
	for _, kind := range []struct {
		status v1alpha1.HealthStatusCode
		code   Code
		what   string
		next   func(v1alpha1.ResourceStatus) string
		offer  []api.WhyAction
	}{
		{v1alpha1.HealthDegraded, Degraded, "is degraded", t.repair, t.back()},
		{v1alpha1.HealthMissing, Missing, "is missing", t.bring, t.bringing()},
		{v1alpha1.HealthProgressing, Progressing, "is progressing", t.follow, nil},
		{v1alpha1.HealthSuspended, Suspended, "is suspended", t.resume, actions(api.WhyResourceAction)},
		{v1alpha1.HealthUnknown, Unjudged, "has an unknown health", t.repair, t.back()},
	} {
		var bad []v1alpha1.ResourceStatus
		for _, r := range t.app.Status.Resources {
			if !r.Hook && !r.Leftover() && r.Health != nil && r.Health.Status == kind.status {
				bad = append(bad, r)
			}
		}
		t.unhealthy(bad, Reason{Code: kind.code, What: kind.what, Actions: kind.offer}, kind.next)
	}
	known := slices.ContainsFunc(t.reasons, func(r Reason) bool {
		return slices.Contains([]Code{Degraded, Missing, Progressing, Suspended, Unjudged}, r.Code)
	})
	if h := t.app.Status.Health; !known && len(t.reasons) == 0 && h.Status != v1alpha1.HealthHealthy {
		t.add("", Reason{
			Code: Unjudged, What: "it is not healthy, and no object shows why", Why: h.Message, Since: timeOf(h.LastTransitionTime),
			Next:    t.command("tree") + " shows what its objects own; `slipway app refresh " + t.Name + " --hard` looks again",
			Actions: []api.WhyAction{{Action: api.WhyRefresh, Hard: true}},
		})
	}
}

// unhealthy reports each object, or all in one if there are many. What of the reason is what they all are.
func (t ailment) unhealthy(bad []v1alpha1.ResourceStatus, like Reason, next func(v1alpha1.ResourceStatus) string) {
	const single = 2
	for i, r := range bad {
		since := timeOf(r.Health.LastTransitionTime)
		if since.IsZero() {
			since = timeOf(t.app.Status.Health.LastTransitionTime)
		}
		out := Reason{
			Code: like.Code, What: objectText(r.Group, r.Kind, r.Namespace, r.Name) + " " + like.What, Why: r.Health.Message,
			Since: since, Next: next(r),
		}
		out.Objects, out.Actions = namesOf(bad[i:i+1]), slices.Clone(like.Actions)
		if isApplication(r) {
			out.Actions = nil // the child says itself what helps
		}
		for j := range out.Actions {
			if out.Actions[j].Action == api.WhyResourceAction {
				out.Actions[j].Objects = out.Objects
			}
		}
		if rest := bad[i:]; i == single && len(rest) > 1 {
			out.What = fmt.Sprintf("%d more: each %s", len(rest), like.What)
			out.Objects, out.Actions = namesOf(rest), nil // the first ones say what helps
			out.Why, out.Next = list(rest), t.command("get")+" lists all of them"
			t.add("", out)
			return
		}
		t.add("", t.blame(out))
	}
}

func describe(r v1alpha1.ResourceStatus) string {
	kind := strings.ToLower(r.Kind)
	if r.Group != "" {
		kind += "." + r.Group
	}
	if r.Namespace == "" {
		return fmt.Sprintf("`kubectl describe %s %s`", safe(kind), safe(r.Name))
	}
	return fmt.Sprintf("`kubectl -n %s describe %s %s`", safe(r.Namespace), safe(kind), safe(r.Name))
}

func (t ailment) repair(r v1alpha1.ResourceStatus) string {
	if isApplication(r) {
		return fmt.Sprintf("`slipway app why %s -n %s`", safe(r.Name), safe(r.Namespace))
	}
	out := describe(r) + " and " + t.command("tree") + " show more; push a fix"
	if t.canRollBack() {
		out += ", or " + t.command("rollback")
	}
	return out
}

func (t ailment) bring(v1alpha1.ResourceStatus) string {
	if len(t.bringing()) == 0 {
		return "it comes with the next sync; " + t.command("wait") + " follows it"
	}
	return t.command("sync")
}

// bringing is what brings what is missing, if it does not come automatically.
func (t ailment) bringing() []api.WhyAction {
	op := t.app.Status.OperationState
	if t.app.Operation != nil || op != nil && !op.Phase.Completed() || t.app.Spec.SyncPolicy.AutomatedEnabled() {
		return nil
	}
	return actions(api.WhySync)
}

func isApplication(r v1alpha1.ResourceStatus) bool {
	return r.Group == v1alpha1.Group && r.Kind == v1alpha1.KindApplication
}

func (t ailment) follow(r v1alpha1.ResourceStatus) string {
	if isApplication(r) {
		return fmt.Sprintf("`slipway app why %s -n %s`", safe(r.Name), safe(r.Namespace))
	}
	return "wait: `slipway app wait " + t.Name + " --healthy`; if it takes too long, " + describe(r)
}

func (t ailment) resume(r v1alpha1.ResourceStatus) string {
	return t.instead("resource.actions",
		fmt.Sprintf("`slipway action list --app %s --resource %s` shows what resumes it", t.Name, word(r.Group, r.Kind, r.Namespace, r.Name)))
}

// warnings adds the agent's other warnings.
func (t *teller) warnings() {
	told := []v1alpha1.ConditionType{
		v1alpha1.ConditionDeletionError, v1alpha1.ConditionInvalidSpecError, v1alpha1.ConditionComparisonError, v1alpha1.ConditionSyncError,
		v1alpha1.ConditionHeld, v1alpha1.ConditionPinned, v1alpha1.ConditionDriftAllowed,
		v1alpha1.ConditionVerified,
	}
	for _, c := range t.app.Status.Conditions {
		if c.Type == v1alpha1.ConditionSharedResourceWarning &&
			slices.ContainsFunc(t.reasons, func(r Reason) bool { return r.Code == Shared && r.Why == c.Message }) {
			continue
		}
		r := Reason{
			Code: Warned, What: "warning: " + string(c.Type), Why: c.Message, Since: timeOf(c.LastTransitionTime),
			Next: "act on the message; nothing waits for it",
		}
		switch {
		case slices.Contains(told, c.Type):
			continue
		case c.Type == v1alpha1.ConditionUnsupported:
			r.Code, r.What, r.Next = Unsupported, "it asks for what is not done", "commit it without that, or leave it: everything else is done"
		case strings.HasSuffix(string(c.Type), "Error"):
			r.What, r.Next = "error: "+string(c.Type), t.command("get")+" shows more"
		}
		t.add("", r)
	}
}
