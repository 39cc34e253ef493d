// Package why says in what state an Application is, for what reason, since when, and which command or commit would change
// that. It reads what the cluster reports and requests nothing, so that the same facts give the same answer.
package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Facts are what an answer is made of.
type Facts struct {
	Name, Namespace string
	App             *v1alpha1.Application // nil: there is none
	Project         *project.Rules        // nil: not known
	ProjectError    error                 // why not, where that is the project's fault
	Findings        []api.Finding         // what fails in the cluster, the worst first; none if nothing looked
	Away            *Away                 // nil: its agent is there, or is not known
	Lacks           []api.AgentLack       // commands that its agent does not carry out, and what to do instead; none with Slipway's engine
	Now             time.Time
}

// Away is an agent that a server does not hear: what is known of its Applications is old.
type Away struct {
	Agent string
	Heard time.Time // the last time
}

// Answer says how an Application stands and why, the most important reason first. There is always one.
type Answer struct {
	Name    string    `json:"name"`
	State   string    `json:"state"` // for example "OutOfSync, Healthy, held"
	Since   time.Time `json:"since,omitzero"`
	Reasons []Reason  `json:"reasons"`
}

// Reason is one thing that makes the state what it is.
type Reason struct {
	Code  Code      `json:"code"`
	What  string    `json:"what"`
	Why   string    `json:"why,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Next  string    `json:"next"` // what would change it: a command, or what to commit
	// Finding is what fails in the cluster, where that is the reason. What is its sentence then.
	Finding *api.Finding `json:"finding,omitempty"`

	// For programs that offer what Next says: the objects that it is about, and what can be asked for. They are not printed.
	Objects []api.ObjectName `json:"-"`
	Actions []api.WhyAction  `json:"-"`
}

// Code names a kind of reason, for programs.
type Code string

// The codes.
const (
	NotFound          Code = "NotFound"
	AgentAway         Code = "AgentAway" // so that all else is as it was
	Deleting          Code = "Deleting"
	Skipped           Code = "Skipped"           // it is to be skipped (annotation skip-reconcile)
	Unseen            Code = "Unseen"            // no agent has looked at it
	Denied            Code = "Denied"            // by the project, or the specification is wrong
	CannotFetch       Code = "CannotFetch"       // the repository
	Unverified        Code = "Unverified"        // its signatures
	CannotRender      Code = "CannotRender"      // what is in it
	CannotCompare     Code = "CannotCompare"     // with the destination cluster
	Terminating       Code = "Terminating"       //
	WaitingForRetry   Code = "WaitingForRetry"   //
	WaitingForHook    Code = "WaitingForHook"    //
	WaitingForHealth  Code = "WaitingForHealth"  // of a wave
	WaitingForConfirm Code = "WaitingForConfirm" // sync options Prune=confirm, Delete=confirm
	Operating         Code = "Operating"         //
	Asked             Code = "Asked"             // an operation has not begun
	HeldByGuard       Code = "HeldByGuard"       //
	HeldByWindow      Code = "HeldByWindow"      //
	Held              Code = "Held"              // by something else
	Pinned            Code = "Pinned"            //
	Failed            Code = "Failed"            // and is not tried again
	AutomatedOff      Code = "AutomatedOff"      //
	SelfHealOff       Code = "SelfHealOff"       //
	PruneOff          Code = "PruneOff"          //
	PruneForbidden    Code = "PruneForbidden"    // by a sync option of the object
	SyncDue           Code = "SyncDue"           //
	Shared            Code = "Shared"            // another Application has an object of it
	DriftAllowed      Code = "DriftAllowed"      //
	Failing           Code = "Failing"           // something in the cluster that no health reports
	Degraded          Code = "Degraded"          //
	Progressing       Code = "Progressing"       //
	Missing           Code = "Missing"           //
	Suspended         Code = "Suspended"         //
	Unjudged          Code = "Unjudged"          // health is not known
	Unsupported       Code = "Unsupported"       //
	Warned            Code = "Warned"            //
	Done              Code = "Done"              // synced and healthy
)

// teller collects reasons.
type teller struct {
	Facts
	app     *v1alpha1.Application
	reasons []Reason
	words   []string                // of the state, besides sync and health
	settled bool                    // something above says why it is not synced
	used    map[api.ObjectName]bool // objects whose finding is reported
}

// Explain answers why an Application is as it is.
func Explain(f Facts) Answer {
	if f.App == nil {
		return Answer{Name: f.Name, State: "not there", Reasons: []Reason{{
			Code: NotFound, What: "there is no such application", Why: fmt.Sprintf("namespace %s has no Application called %s", f.Namespace, f.Name),
			Next: fmt.Sprintf("`slipway app list -n %s` shows those that it has; `slipway app create %s` makes one", f.Namespace, f.Name),
		}}}
	}
	t := &teller{Facts: f, app: f.App, used: map[api.ObjectName]bool{}}
	t.Name, t.Namespace = safe(f.App.Name), safe(f.App.Namespace)
	for _, tell := range []func(){
		t.away, t.deletion, t.skipped, t.denied, t.broken, t.operation, t.held, t.pinned, t.failed, t.unseen, t.allowed, difference{t}.differs,
		ailment{t}.health, t.failing, t.warnings,
	} {
		tell()
	}
	t.order()
	t.offer()
	if len(t.reasons) == 0 {
		t.done()
	}
	out := Answer{Name: f.App.Name, State: t.state(), Reasons: t.reasons}
	for _, r := range t.reasons {
		if !r.Since.IsZero() {
			out.Since = r.Since
			break
		}
	}
	return out
}

func (t *teller) state() string {
	s := t.app.Status
	words := []string{string(cmp.Or(s.Sync.Status, v1alpha1.SyncStatusUnknown)), string(cmp.Or(s.Health.Status, v1alpha1.HealthUnknown))}
	for _, w := range t.words {
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}

// add appends a reason, and a word to the state.
func (t *teller) add(word string, r Reason) {
	if word != "" {
		t.words = append(t.words, word)
	}
	t.reasons = append(t.reasons, r)
}

// settle is add for a reason that keeps the Application from being synced.
func (t *teller) settle(word string, r Reason) {
	t.settled = true
	t.add(word, r)
}

func (t *teller) conditions(kind v1alpha1.ConditionType) []v1alpha1.ApplicationCondition {
	var out []v1alpha1.ApplicationCondition
	if kind == v1alpha1.ConditionHeld && t.Foreign() {
		return nil // the engine before left it there
	}
	for _, c := range t.app.Status.Conditions {
		if c.Type == kind {
			out = append(out, c)
		}
	}
	return out
}

func (t *teller) command(verb string) string { return "`slipway app " + verb + " " + t.Name + "`" }

// away says that all else is as the agent reported it last.
func (t *teller) away() {
	if t.Away == nil {
		return
	}
	t.add("agent away", Reason{
		Code: AgentAway, What: fmt.Sprintf("agent %s is away, and this is the state of its last report", t.Away.Agent), Since: t.Away.Heard,
		Why: "the server has received no heartbeat from the agent since then; the cluster itself may go on as before",
		Next: fmt.Sprintf("check that the agent runs and reaches the server: "+
			"`kubectl get pods -A -l app.kubernetes.io/name=slipway-agent` in its cluster, "+
			"and `slipway agent get %s`; the state is live again when the agent is back", safe(t.Away.Agent)),
	})
}

// deletion says what an Application waits for that is being deleted.
func (t *teller) deletion() {
	if t.app.DeletionTimestamp == nil {
		return
	}
	r := Reason{Code: Deleting, What: "it is being deleted", Since: t.app.DeletionTimestamp.Time}
	ours := []string{v1alpha1.FinalizerResources, v1alpha1.FinalizerResourcesForeground, v1alpha1.FinalizerResourcesBackground}
	wrong := t.conditions(v1alpha1.ConditionDeletionError)
	switch {
	case len(wrong) > 0:
		r.Why, r.Next = wrong[0].Message, "act on the message; "+t.command("get")+" shows what is left"
		if strings.Contains(wrong[0].Message, confirming) {
			r.Next = t.instead("application."+api.WhyConfirm, t.command("confirm")+" lets it go on")
			r.Actions = confirmation(wrong[0].Message)
		}
	case slices.ContainsFunc(t.app.Finalizers, func(f string) bool { return slices.Contains(ours, f) }):
		r.Why = fmt.Sprintf("it waits until its objects are gone: at most %d are left", len(t.app.Status.Resources))
		r.Next = t.command("tree") + " shows what is left; an object that stays has a finalizer of another program: " +
			"`kubectl get KIND NAME -o yaml` shows which"
	default:
		r.Why = "it waits for its finalizers: " + strings.Join(t.app.Finalizers, ", ")
		r.Next = "hooks of the deletion show in " + t.command("tree") + "; a finalizer of another program is removed by its owner"
	}
	t.settle("being deleted", r)
}

// confirming is in every message of the agent that asks for a confirmation.
const confirming = "slipway app confirm "

func (t *teller) skipped() {
	if t.app.Annotations[v1alpha1.AnnotationSkipReconcile] == v1alpha1.OptionTrue {
		t.settle("left alone", Reason{
			Code: Skipped, What: "no agent looks at it", Why: "it has the annotation " + v1alpha1.AnnotationSkipReconcile +
				": \"true\", so what is shown may be old",
			Since: timeOf(t.app.Status.ReconciledAt),
			Next:  fmt.Sprintf("`kubectl -n %s annotate application %s %s-`", t.Namespace, t.Name, v1alpha1.AnnotationSkipReconcile),
		})
	}
}

// unseen says that no agent has taken notice.
func (t *teller) unseen() {
	next := fmt.Sprintf("look whether an agent runs, and whether it looks at namespace %s: "+
		"`kubectl get pods -A -l app.kubernetes.io/name=slipway-agent`, flag --application-namespaces", t.Namespace)
	if t.Foreign() {
		next = "look whether Argo CD's application controller runs, and whether it looks at namespace " + t.Namespace
	}
	switch {
	case t.app.Status.Sync.Status == "" && len(t.app.Status.Conditions) == 0 && !t.settled:
		t.settle("", Reason{Code: Unseen, What: "no agent has looked at it yet", Since: t.app.CreationTimestamp.Time, Next: next})
	case t.app.Annotations[v1alpha1.AnnotationRefresh] != "":
		asked, err := time.Parse(time.RFC3339Nano, t.app.Annotations[v1alpha1.AnnotationRefreshTimestamp])
		const patience = time.Minute
		if err == nil && t.Now.Sub(asked) > patience {
			t.add("", Reason{Code: Unseen, What: "a refresh is asked for, and no agent has done it", Since: asked, Next: next})
		}
	}
}

// denied says what is wrong with the specification, or forbidden by the project.
func (t *teller) denied() {
	list := t.conditions(v1alpha1.ConditionInvalidSpecError)
	next := fmt.Sprintf("commit what project %q permits, or have the project changed: `kubectl -n %s edit appproject %s`",
		t.app.Spec.ProjectName(), t.Namespace, t.app.Spec.ProjectName())
	if slices.ContainsFunc(list, func(c v1alpha1.ApplicationCondition) bool {
		return strings.HasPrefix(c.Message, "project ") && strings.Contains(c.Message, " does not exist")
	}) {
		next = fmt.Sprintf("`slipway proj create %s -n %s` makes the project; or commit another one in spec.project",
			safe(t.app.Spec.ProjectName()), t.Namespace)
	}
	for _, c := range list {
		t.settle("", Reason{
			Code: Denied, What: "its project does not permit it, or its specification is wrong", Why: c.Message,
			Since: timeOf(c.LastTransitionTime), Next: next,
		})
	}
	if len(list) == 0 && t.ProjectError != nil {
		t.settle("", Reason{
			Code: Denied, What: "its project cannot be used", Why: t.ProjectError.Error(),
			Next: "correct the project, or commit another one in spec.project",
		})
	}
}

// signing says what to do about a signature that was not verified.
func (t *teller) signing(message string) string {
	name, project := t.app.Spec.ProjectName(), safe(t.app.Spec.ProjectName())
	what, keys := "sign with a key that project %q allows, and push", "the keys of the agent changed: `slipway gpg list`"
	edit := func(name string) string {
		return fmt.Sprintf("changed: `kubectl -n %s edit configmap %s`", t.Namespace, name)
	}
	switch check, _, _ := strings.Cut(message, ":"); check {
	case "GIT/SSH":
		keys = "the keys of the agent " + edit("slipway-allowed-signers")
	case "OCI/COSIGN":
		what, keys = "sign the artifact as project %q asks for it", "the keys and trust roots of the agent "+edit("slipway-artifact-keys")
	case "OCI/NOTATION":
		what, keys = "sign the artifact with a certificate that project %q trusts", "the trust stores of the agent "+edit("slipway-trust-stores")
	case "HELM/GPG":
		what = "package and publish the chart again, signed with a key that project %q allows"
	}
	return fmt.Sprintf(what+"; or have the project or %s, `kubectl -n %s edit appproject %s`", name, keys, t.Namespace, project)
}

// broken says why what Git says could not be compared with the cluster.
func (t *teller) broken() {
	for _, c := range t.conditions(v1alpha1.ConditionComparisonError) {
		r := Reason{Why: c.Message, Since: timeOf(c.LastTransitionTime), Actions: actions(api.WhyRefresh)}
		switch {
		case v1alpha1.Unverified(c.Message):
			r.Actions = nil
			r.Code, r.What = Unverified, "the signature of its source is not verified, so nothing of it is synced and nothing is deleted"
			r.Next = t.signing(c.Message)
		case t.namesRepository(c.Message):
			r.Code, r.What = CannotFetch, "its source cannot be fetched"
			r.Next = "correct spec.source (repoURL, targetRevision), or the credentials of the repository; then " + t.command("refresh")
		case strings.Contains(c.Message, v1alpha1.MessageUnknownKind), strings.Contains(c.Message, v1alpha1.MessageUnservedVersion):
			r.Code, r.What = CannotCompare, "its destination cluster does not serve a kind of one of its objects"
			r.Actions = nil
			r.Next = "install the definition of the kind, which the agent notices; or correct apiVersion and kind, and push"
		case strings.HasPrefix(c.Message, v1alpha1.MessageDestination):
			r.Code, r.What = CannotCompare, "its destination cluster cannot be used"
			r.Next = "have the cluster answer the agent, with the credentials and rights that it needs; then " + t.command("refresh")
			if namesDestination(c.Message) {
				r.Next = "correct spec.destination, or the Secret of the cluster; then " + t.command("refresh")
			}
		default:
			r.Code, r.What = CannotRender, "its source cannot be rendered or compared"
			r.Actions = nil
			r.Next = "correct the source and push; " + t.command("manifests") + " renders it here, and with --repo DIR what is not pushed yet"
		}
		t.settle("", r)
	}
}

// namesDestination reports whether a message of the destination cluster is about how the cluster is found.
func namesDestination(message string) bool {
	return slices.ContainsFunc([]string{"no cluster is ", "cluster Secret ", "spec.destination"}, func(words string) bool {
		return strings.HasPrefix(strings.TrimPrefix(message, v1alpha1.MessageDestination), words)
	})
}

// namesRepository reports whether a message is about a repository: those of fetching begin with its address.
func (t *teller) namesRepository(message string) bool {
	return slices.ContainsFunc(t.app.Spec.EffectiveSources(), func(s v1alpha1.ApplicationSource) bool {
		address := redact.URLs(s.RepoURL)
		if _, rest, ok := strings.Cut(address, "://"); ok {
			address = rest
		}
		return address != "" && strings.Contains(message, address)
	})
}

func (t *teller) done() {
	since := timeOf(t.app.Status.Health.LastTransitionTime)
	if op := t.app.Status.OperationState; op != nil && op.FinishedAt != nil && op.FinishedAt.After(since) {
		since = op.FinishedAt.Time
	}
	at := shown(revisions(t.app.Status.Sync.Revision, t.app.Status.Sync.Revisions))
	signed := ""
	for _, c := range t.conditions(v1alpha1.ConditionVerified) {
		signed = "; " + c.Message
	}
	t.add("", Reason{
		Code: Done, What: "nothing to do", Why: "the cluster is as Git wanted it when the agent compared them last" + at +
			", and what is there is healthy" + signed, Since: since,
		Next: "push a commit to change it",
	})
}

// revisions are those of one or several sources.
func revisions(one string, several []string) []string {
	if len(several) == 0 && one != "" {
		return []string{one}
	}
	return several
}

func shown(revisions []string) string {
	if len(revisions) == 0 {
		return ""
	}
	return " (" + short(revisions) + ")"
}

func short(revisions []string) string {
	out := make([]string, len(revisions))
	for i, r := range revisions {
		out[i] = legible.Revision(r, 10)
	}
	return strings.Join(out, ", ")
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// pinned says that an Application stays at an earlier deployment.
func (t *teller) pinned() {
	if t.Foreign() {
		return
	}
	pin, err := mark.ReadPin(t.app)
	switch {
	case err != nil:
		t.add("", Reason{
			Code: Pinned, What: "it should be pinned to an earlier deployment, but the annotation cannot be read", Why: err.Error(),
			Next: t.command("unpin"), Actions: actions(api.WhyUnpin),
		})
	case pin == nil:
	case !t.app.Spec.SyncPolicy.AutomatedEnabled():
		t.add("pinned", Reason{
			Code: Pinned, What: fmt.Sprintf("it was rolled back to deployment %d%s", pin.ID, shown(pin.Revisions)), Since: pin.At,
			Why:     byAndWhy(pin.By, pin.Reason) + "; automated sync is off, so nothing else is deployed without a request",
			Next:    "commit a fix and " + t.command("sync") + "; " + t.command("unpin") + " forgets the rollback",
			Actions: actions(api.WhySync, api.WhyUnpin),
		})
	default:
		t.add("pinned", Reason{
			Code: Pinned, What: fmt.Sprintf("it is pinned to deployment %d%s by a rollback", pin.ID, shown(pin.Revisions)), Since: pin.At,
			Why:     byAndWhy(pin.By, pin.Reason) + "; the revision in Git" + shown(pin.Quarantine.Revisions) + " is in quarantine",
			Next:    "push a fix: the first commit that changes what the application renders ends it; or " + t.command("unpin"),
			Actions: actions(api.WhyUnpin),
		})
	}
}

func byAndWhy(by, reason string) string {
	return "by " + cmp.Or(by, "an unknown user") + ": " + cmp.Or(reason, "no reason given")
}

// allowed reports objects with allowed drift.
func (t *teller) allowed() {
	list, err := t.allowances()
	if err != nil {
		t.add("", Reason{
			Code: DriftAllowed, What: "allowed drift cannot be read", Why: err.Error(),
			Next: "`slipway app drift allow " + t.Name + " ...` replaces it",
		})
	}
	for _, a := range list {
		if !a.Until.After(t.Now) {
			continue
		}
		object := objectText(a.Group, a.Kind, a.Namespace, a.Name)
		about := []api.ObjectName{{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}}
		t.add("drift allowed", Reason{
			Code: DriftAllowed, What: fmt.Sprintf("%s is left as it is until %s", object,
				a.Until.UTC().Format(time.RFC3339)), Why: byAndWhy(a.By, a.Reason),
			Next:    fmt.Sprintf("`slipway app drift revert %s %s` puts it back now", t.Name, word(a.Group, a.Kind, a.Namespace, a.Name)),
			Objects: about, Actions: []api.WhyAction{{Action: api.WhyRevert, Objects: about}},
		})
	}
}

// objectText names an object for people.
func objectText(group, kind, namespace, name string) string {
	if group != "" {
		kind += "." + group
	}
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// word names an object for a command.
func word(group, kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	if group != "" {
		kind = group + "/" + kind
	}
	return safe(kind + ":" + name)
}

// safe quotes what comes from outside for a shell, so that a command that is shown can be pasted.
func safe(text string) string { return cause.Quote(text) }
