package engine

import (
	"context"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Outlook is what an operation on an Application would do, in order, and what would keep it from that.
type Outlook struct {
	Revisions []string
	Plan      plan.Plan
	Refused   string // why it would not be done at all
	Guard     GuardView
	Manual    project.Verdict // of the sync windows, for an operation that was asked for
	Refusal   string          // in words, where these say no
	Automatic project.Verdict // for an automated sync
	Warnings  []string
}

// GuardView is what the deletion guard says to an operation.
type GuardView struct {
	Held      string // why it would be held; "" where it would not be
	Budget    string
	Whose     string
	Digest    string // of what would be deleted; "" for nothing
	Deletions int
	Total     int
	Confirmed bool
}

// Outlook says what the operation of an Application (spec.operation) would do as things are now. It changes nothing, and
// neither does it wait for an operation under way. differs is asked for what differs from what is wanted: objects that would
// be created, updated or deleted, with their waves where they are to be deleted.
func (e *Engine) Outlook(ctx context.Context, app *v1alpha1.Application, differs func(Wish) ([]diff.Change, error)) (Outlook, error) {
	as := *app
	as.Status.OperationState = nil
	wish, err := e.look(Request{App: &as}).specify().wish(ctx)
	if err != nil {
		return Outlook{}, err
	}
	found, err := differs(wish)
	if err != nil {
		return Outlook{}, err
	}
	c := &comparison{rendering: wish.rendering, conditions: wish.noted()}
	c.differing(found)
	op := *c.operation()
	d := decide.Decision{Go: true, Operation: op, Prune: op.Sync != nil && op.Sync.Prune}
	now, windows := e.Now(), c.windows(app)
	out := Outlook{
		Revisions: c.Revisions, Refused: decide.Refuse(c.decisionCase(ctx)), Guard: c.guardView(ctx, d),
		Manual: windows.CanSync(true, now), Automatic: windows.CanSync(false, now),
	}
	if h := decide.Window(windows, op, now); h != nil {
		out.Refusal = h.Refusal
	}
	x := &execution{comparison: c, d: d, u: &underway{operation: op, revisions: c.Revisions, started: c.started}}
	tasks := x.tasks()
	for i := range tasks {
		t := &tasks[i]
		switch {
		case t.First:
			t.Verb = c.foreseeNamespace(ctx)
		case t.Hook && c.want.hooks[t.Index].key.Name == "":
			t.Key.Name = c.want.hooks[t.Index].prefix // each operation makes another name of it
		case t.Deletes() && !d.Prune:
			t.Verb, t.Why = diff.Keep, "not in Git; only a sync that prunes deletes it"
		case t.Deletes() && t.Prune == v1alpha1.OptionFalse:
			t.Why = "not in Git; sync option Prune=false keeps it"
		}
	}
	// The namespace is none of the Application's objects: as it is, there is nothing to say of it.
	tasks = slices.DeleteFunc(tasks, func(t plan.Task) bool { return t.First && t.Verb == diff.Keep })
	out.Plan = plan.Build(tasks, plan.Options{PruneLast: object.AppOptions(decide.OptionsOf(app, d.Operation.Sync)).PruneLast.Is()})
	c.warn(v1alpha1.ConditionUnsupported, c.unsupported(c.want))
	c.warn(v1alpha1.ConditionUnsupported, c.ignore.faults())
	for _, condition := range c.conditions {
		out.Warnings = append(out.Warnings, condition.Message)
	}
	slices.Sort(out.Warnings)
	out.Warnings = slices.Compact(out.Warnings)
	return out, nil
}

// differing takes what was found to differ for what a comparison would have found.
func (c *comparison) differing(found []diff.Change) {
	own := object.AppOptions(decide.Options(c.app))
	what := make(map[object.Key]diff.Change, len(found))
	for _, change := range found {
		what[change.Key] = change
	}
	for _, w := range c.want.objects {
		change := diff.Change{Key: w.key, Version: w.version, Wave: w.wave, Verb: diff.Keep}
		if rec, tracked, _ := c.target.Live.Get(w.key); tracked && rec.App != c.instance && c.engine.Exists(rec.App) {
			c.shared = append(c.shared, w.key.String()+" belongs to Application "+rec.App+
				", and would be left to it: remove it from one of the two sources")
			continue
		}
		if f, ok := what[w.key]; ok && f.Verb != diff.Delete {
			change.Verb, change.Why = f.Verb, f.Why
		}
		c.changes = append(c.changes, change)
	}
	for _, change := range found {
		if change.Verb != diff.Delete || c.outside(change.Key) {
			continue
		}
		if rec, _, _ := c.target.Live.Get(change.Key); rec.Prune.Or(own.Prune) == object.ConsentDenied {
			c.spared = append(c.spared, change)
			continue
		}
		c.changes = append(c.changes, change)
	}
	c.warn(v1alpha1.ConditionSharedResourceWarning, c.shared)
}

// guardView is guard, with what it goes by.
func (c *comparison) guardView(ctx context.Context, d decide.Decision) GuardView {
	change := c.decisionCase(ctx)
	deletions, total := decide.Deletions(c.changes, d.Operation.Sync)
	if !d.Prune {
		deletions = nil
	}
	judged := decide.Guard(change, d)
	c.warnBudget(judged)
	out := GuardView{
		Held: judged.Held, Budget: change.Gates.Budget.String(), Whose: change.Gates.Whose, Deletions: len(deletions), Total: total,
	}
	if len(deletions) > 0 {
		out.Digest = plan.Digest(deletions)
		out.Confirmed = c.app.Annotations[v1alpha1.AnnotationDeletionConfirmed] == out.Digest
	}
	return out
}
