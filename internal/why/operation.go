package why

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// operation says what the operation under way waits for.
func (t *teller) operation() {
	op := t.app.Status.OperationState
	if op == nil || op.Phase.Completed() {
		if t.app.Operation != nil {
			t.settle("sync requested", Reason{
				Code: Asked, What: "a sync is asked for and has not begun", Why: "by " + starter(t.app.Operation.InitiatedBy),
				Actions: actions(api.WhyTerminate),
				Next:    t.command("wait") + " follows it, " + t.command("terminate-op") + " takes it back",
			})
		}
		return
	}
	r := Reason{
		Why: op.Message, Since: op.StartedAt.Time, Next: t.command("wait") + " follows it, " + t.command("terminate-op") + " ends it",
		Actions: actions(api.WhyTerminate),
	}
	word := "sync under way"
	switch {
	case op.Phase == v1alpha1.OperationTerminating:
		r.Code, r.What, r.Next = Terminating, "its operation is ending, on request", t.command("wait")+" follows it"
		r.Actions = nil
		word = "terminating"
	case strings.Contains(op.Message, confirming):
		return // held says it
	case op.FinishedAt != nil:
		r.Code, r.What = WaitingForRetry, "its last sync failed, and is tried again"+at(retryAt(op))
		r.Since, r.Why, r.Objects = op.FinishedAt.Time, because(op), resultsOf(op, failedResult)
		r.Next = "push a fix, which is tried immediately; " + t.command("terminate-op") + " ends the attempts"
		r = t.refused(t.blame(r), op)
		word = "waiting for a retry"
	case strings.HasPrefix(op.Message, "waiting for pruning confirmation of "):
		r.Code, r.What = WaitingForConfirm, "its sync waits for a confirmation of its deletions"
		r.Actions, r.Objects = actions(api.WhyConfirm, api.WhyTerminate), t.leftover()
		r.Next = t.instead("application."+api.WhyConfirm, t.command("confirm")+" lets it go on") + "; " + t.command("terminate-op") + " ends it"
		word = "held"
	case strings.Contains(op.Message, "waiting for completion of hook "), strings.Contains(op.Message, "waiting for deletion of hook "):
		r.Code, r.What, r.Objects = WaitingForHook, "its sync waits for a hook", resultsOf(op, runningHook)
		r.Next = t.lookAt(hookRunning(op)) + t.command("terminate-op") + " ends the sync"
		r = t.blame(r)
	case strings.Contains(op.Message, "waiting for "):
		r.Code, r.What = WaitingForHealth, "its sync waits for the objects of a wave, before it does the next one"
		r.Objects = resultsOf(op, runningResult)
		r.Next = t.command("tree") + " shows them; push a fix if they cannot become healthy, or " + t.command("terminate-op")
		r = t.blame(r)
	default:
		r.Code, r.What = Operating, "a sync is under way, started by "+starter(op.Operation.InitiatedBy)
	}
	t.settle(word, r)
}

// hookRunning returns the hook that an operation waits for; nil where none shows.
func hookRunning(op *v1alpha1.OperationState) *v1alpha1.ResourceResult {
	if op.SyncResult == nil {
		return nil
	}
	for i, r := range op.SyncResult.Resources {
		if r.HookType != "" && r.HookPhase == v1alpha1.OperationRunning {
			return &op.SyncResult.Resources[i]
		}
	}
	return nil
}

// lookAt is the command that shows what a hook is doing.
func (t *teller) lookAt(hook *v1alpha1.ResourceResult) string {
	if hook == nil {
		return ""
	}
	verb := "describe"
	if hook.Kind == "Job" || hook.Kind == "Pod" {
		verb = "logs"
	}
	return fmt.Sprintf("`kubectl -n %s %s %s/%s` shows what it does; ", safe(hook.Namespace), verb,
		safe(strings.ToLower(hook.Kind)), safe(hook.Name))
}

var retryPattern = regexp.MustCompile(`Retrying attempt #\d+ at (\d\d:\d\d:\d\d)\.`)

// retryAt reads from its message when an operation is tried again; zero where it does not say.
func retryAt(op *v1alpha1.OperationState) time.Time {
	m := retryPattern.FindStringSubmatch(op.Message)
	if m == nil {
		return time.Time{}
	}
	clock, err := time.Parse(time.TimeOnly, m[1])
	if err != nil {
		return time.Time{}
	}
	ended := op.FinishedAt.UTC()
	out := time.Date(ended.Year(), ended.Month(), ended.Day(), clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	if out.Before(ended.Truncate(time.Second)) {
		out = out.AddDate(0, 0, 1)
	}
	return out
}

func at(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return " at " + when.UTC().Format(time.RFC3339)
}

func starter(by v1alpha1.OperationInitiator) string {
	switch {
	case by.Automated && by.Username != "":
		return by.Username + " (automated sync)"
	case by.Automated:
		return "automated sync"
	case by.Username == "":
		return "an unknown user"
	}
	return by.Username
}

// held says what a sync waits for that could run.
func (t *teller) held() {
	told := false
	for _, c := range t.conditions(v1alpha1.ConditionHeld) {
		if strings.Contains(c.Message, confirming) {
			t.guarded(c.Message, timeOf(c.LastTransitionTime))
			told = true
		}
	}
	if op := t.app.Status.OperationState; !told && op != nil && op.Phase == v1alpha1.OperationRunning &&
		strings.Contains(op.Message, confirming) {
		t.guarded(op.Message, op.StartedAt.Time)
	}
	t.windows()
}

func (t *teller) guarded(message string, since time.Time) {
	t.settle("held", Reason{
		Code: HeldByGuard, What: "its sync is held, because it would delete too much", Why: message, Since: since,
		Next: t.instead("application."+api.WhyConfirm, t.command("confirm")+" lists what goes and lets it go on") +
			"; or put the objects back into Git and push",
		Objects: t.leftover(), Actions: confirmation(message),
	})
}

// windows says which sync window holds a sync, now and not when the agent looked last.
func (t *teller) windows() {
	var said *v1alpha1.ApplicationCondition
	for _, c := range t.conditions(v1alpha1.ConditionHeld) {
		if !strings.Contains(c.Message, confirming) {
			said = &c
		}
	}
	if t.Project == nil {
		if said != nil {
			t.settle("held", Reason{
				Code: Held, What: "its sync is held", Why: said.Message, Since: timeOf(said.LastTransitionTime),
				Next: t.command("sync") + " syncs it now, where the windows permit a manual sync", Actions: actions(api.WhySync),
			})
		}
		return
	}
	list := windowsOf(t.Project, t.app)
	v := list.CanSync(false, t.Now)
	due := t.app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync && t.app.Spec.SyncPolicy.AutomatedEnabled()
	r := Reason{Code: HeldByWindow, What: "its sync is held by a sync window", Why: v.Reason}
	switch {
	case said != nil:
		r.Since = timeOf(said.LastTransitionTime)
	case v.Allowed || !due:
		return
	}
	next := fmt.Sprintf("change the sync windows of project %q", t.app.Spec.ProjectName())
	switch {
	case v.Allowed:
		r.Code, r.What, r.Why, r.Next = Held, "its sync was held", said.Message,
			"nothing: no window holds it now, so the agent goes on; "+t.command("wait")+" follows it"
	case list.CanSync(true, t.Now).Allowed:
		r.Next, r.Actions = t.command("sync")+" syncs it now: a manual sync is allowed; or "+next, actions(api.WhySync)
	default:
		r.Next = next + "; a manual sync is not allowed either"
	}
	if !v.Allowed && !v.Until.IsZero() {
		r.What += " until " + v.Until.UTC().Format(time.RFC3339)
		r.Next = "wait, it continues automatically; or " + r.Next
	}
	t.settle("held", r)
}

// Window is what keeps an Application from syncing on its own now, by the windows of its project; nil for nothing, and where the
// project is not known.
func Window(f Facts) *api.WhyWindow {
	if f.App == nil || f.Project == nil {
		return nil
	}
	list := windowsOf(f.Project, f.App)
	v := list.CanSync(false, f.Now)
	if v.Allowed {
		return nil
	}
	return &api.WhyWindow{Reason: v.Reason, Manual: list.CanSync(true, f.Now).Allowed, Until: v.Until}
}

func windowsOf(rules *project.Rules, app *v1alpha1.Application) project.Windows {
	dest := app.Spec.Destination
	return rules.Windows(project.AppFacts{
		Name: app.Name, Namespace: dest.Namespace, Cluster: project.Cluster{Server: server(dest), Name: clusterName(dest)},
	})
}

func server(d v1alpha1.ApplicationDestination) string {
	if d.Server == "" && d.Name == v1alpha1.InClusterName {
		return v1alpha1.InClusterServer
	}
	return d.Server
}

func clusterName(d v1alpha1.ApplicationDestination) string {
	if d.Name == "" && d.Server == v1alpha1.InClusterServer {
		return v1alpha1.InClusterName
	}
	return d.Name
}

// failed says why the last operation failed and what else keeps a sync from being tried.
func (t *teller) failed() {
	op := t.app.Status.OperationState
	var told string
	if op != nil && (op.Phase == v1alpha1.OperationFailed || op.Phase == v1alpha1.OperationError) {
		told = op.Message
		r := Reason{
			Code: Failed, What: "its last sync failed, and is not tried again", Why: because(op), Since: timeOf(op.FinishedAt),
			Objects: resultsOf(op, failedResult), Actions: actions(api.WhySync),
		}
		r.Next = "push a fix, and " + t.command("sync")
		if t.app.Spec.SyncPolicy.AutomatedEnabled() {
			r.Next = "push a fix, which is synced automatically; " + t.command("sync") + " tries the same again"
		}
		if t.canRollBack() && op.SyncResult != nil {
			r.Next += "; " + t.command("rollback") + " goes back to what was there before"
			r.Actions = append(r.Actions, act(api.WhyRollback))
		}
		switch {
		case strings.HasPrefix(op.Message, "Operation terminated"):
			r.What, r.Next = "its last sync was ended before it was done", t.command("sync")+" starts another one"
			r.Actions = actions(api.WhySync)
		case slices.ContainsFunc(t.reasons, func(r Reason) bool { return r.Code == HeldByWindow }):
			r.Next, r.Actions = "the sync window first, as above", nil
		case op.Operation.Sync != nil && op.Operation.Sync.DryRun:
			r.What, r.Next, r.Actions = "its last dry run failed", "push a fix; nothing was changed", nil
		}
		r = t.refused(t.blame(r), op)
		if t.app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync {
			t.settle("failed", r)
		} else {
			t.add("", r)
		}
	}
	for _, c := range t.conditions(v1alpha1.ConditionSyncError) {
		retrying := op != nil && !op.Phase.Completed()
		if retrying || told != "" && (strings.Contains(c.Message, told) || strings.Contains(told, c.Message)) {
			continue
		}
		t.settle("failed", Reason{
			Code: Failed, What: "it is not synced", Why: c.Message, Since: timeOf(c.LastTransitionTime),
			Next: "push a fix, or " + t.command("sync"), Actions: actions(api.WhySync),
		})
	}
}

// because is the message of an operation with the objects that failed.
func because(op *v1alpha1.OperationState) string {
	const most = 3
	var lines []string
	more := 0
	if op.SyncResult != nil {
		for _, r := range op.SyncResult.Resources {
			bad := failedResult(r)
			switch {
			case !bad || strings.Contains(op.Message, r.Message) && r.Message != "":
			case len(lines) == most:
				more++
			default:
				lines = append(lines, objectText(r.Group, r.Kind, r.Namespace, r.Name)+": "+r.Message)
			}
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if len(lines) == 0 {
		return op.Message
	}
	return strings.TrimSuffix(op.Message, ".") + "; " + strings.Join(lines, "; ")
}
