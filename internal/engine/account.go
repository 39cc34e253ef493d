package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Ledger takes in what operations render. It must not block.
type Ledger interface {
	// Keep takes the content of an object of a cluster in, and returns what names it. What is private is not from Git, and
	// may hold anything.
	Keep(cluster string, m object.Manifest, private bool) Content
	// Keeps reports whether a content need not be taken in once more.
	Keeps(c Content) bool
	// Open reports whether a server wants accounts.
	Open() bool
}

// Content names the content of an object: equal contents have equal names.
type Content [32]byte

// Account is what an operation that is over has rendered, decided and done.
type Account struct {
	Objects    []Rendered // all that the sources gave; nil where they could not be rendered
	Deeds      []Deed     // in the order of the operation
	Unchanged  int
	Decisions  []decide.Verdict
	RenderedAt time.Time
	AppliedAt  time.Time       // when the last object was applied or deleted; zero for never
	Changes    []source.Change // the author of the deployed commit
	Pinned     bool            // it went by a rollback
	// Recovered reports that the process before this one did it, or a part of it: what it did was found in the cluster.
	Recovered bool
}

// Rendered is an object that an operation wanted.
type Rendered struct {
	Key     object.Key
	Hook    bool
	Content Content
}

// Deed is what an operation did with one object.
type Deed struct {
	Key     object.Key
	Verb    diff.Verb
	Hook    v1alpha1.SyncPhase // the phase that it is a hook of; "" for none
	Skipped bool               // a deletion that was not allowed
	Failed  bool
	Message string
}

// deed is what was done of a task, beyond its State.
type deed struct {
	verb   diff.Verb
	hook   bool
	failed bool
}

// didTask notes that a task was done.
func (x *execution) didTask(t plan.Task, err error) {
	if x.u.did == nil || !x.accounts() {
		return
	}
	x.u.applied = x.engine.Now()
	if _, before := x.u.did[t.ID()]; !before || t.Verb != diff.Keep {
		x.u.did[t.ID()] = deed{verb: t.Verb, hook: t.Hook, failed: err != nil}
	}
}

// cutOff says what an operation had done that was ended before it was over.
func cutOff(u *underway) []Deed {
	out := make([]Deed, 0, len(u.did))
	for id, did := range u.did {
		d := Deed{Key: id.Key, Verb: did.verb, Failed: did.failed, Message: u.states[id].Message}
		if did.hook {
			d.Hook = id.Phase
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Deed) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return out
}

// noteApproval notes that a person has approved the deletions of an operation that ask for it. That comes while it is under
// way, and is noted once.
func (x *execution) noteApproval(tasks []plan.Task) {
	told := slices.ContainsFunc(x.u.verdicts, func(v decide.Verdict) bool { return v.Gate == decide.GateApproval })
	if told || !x.accounts() {
		return
	}
	var asked []object.Key
	for _, t := range tasks {
		if t.Deletes() && t.Prune == v1alpha1.OptionConfirm {
			asked = append(asked, t.Key)
		}
	}
	if len(asked) > 0 {
		at := x.app.Annotations[v1alpha1.AnnotationDeletionApproved]
		x.u.verdicts = append(x.u.verdicts, decide.Verdict{
			Gate: decide.GateApproval, Outcome: decide.Confirmed,
			Message: fmt.Sprintf("the deletion of objects that ask for approval was approved at %s: %s", at, some(asked)),
		})
	}
}

// accounts reports whether a ledger wants to know what operations do.
func (t *turn) accounts() bool { return t.engine.Ledger != nil && t.engine.Ledger.Open() }

// account adds to a result what an operation that is over was about, as far as that is known without its objects. It returns nil
// where none is over, or no ledger wants it. u is nil for one that did not begin.
func (in *inputs) account(decisions []decide.Verdict, u *underway, res *Result) *Account {
	if res.Operation == nil || !res.Operation.Phase.Completed() || !in.accounts() {
		return nil
	}
	a := &Account{Decisions: decisions, Pinned: in.Pin != nil, Changes: res.Changes}
	if u != nil {
		a.Decisions, a.AppliedAt, a.Recovered = u.verdicts, u.applied, u.resumed
	}
	a.Decisions = append(slices.Clone(a.Decisions), in.trust.Verdicts()...)
	if a.Changes == nil {
		a.Changes = in.changesMade()
	}
	res.Account, in.kept.accounted = a, true
	return a
}

// accountObjects adds what was rendered to an account.
func (r *rendering) accountObjects(ctx context.Context, a *Account) {
	a.RenderedAt, a.Objects = r.want.renderedAt, r.keepAll(ctx)
}

// account adds to the result of an operation what it was about, and what it did with which object.
func (x *execution) account(ctx context.Context, now *comparison, res *Result) {
	first := !x.kept.accounted || x.d.Untold
	if a := x.inputs.account(nil, x.u, res); a != nil {
		x.accountObjects(ctx, a)
		x.deeds(now, first, a)
		a.Recovered = a.Recovered || x.d.Untold
	}
}

// keepAll hands out the contents of all that is wanted, as far as they are not known already.
func (r *rendering) keepAll(ctx context.Context) []Rendered {
	l := r.engine.Ledger
	var lacking []object.Key
	hooks := false
	for i := range r.want.objects {
		if w := &r.want.objects[i]; w.barred == nil && (w.content == nil || !l.Keeps(*w.content)) {
			lacking = append(lacking, w.key)
		}
	}
	for i := range r.want.hooks {
		h := &r.want.hooks[i]
		hooks = hooks || h.barred == nil && (h.content == nil || !l.Keeps(*h.content))
	}
	if len(lacking) > 0 || hooks {
		if err := r.loadSome(ctx, lacking); err != nil {
			return nil // the deeds are still reported
		}
	}
	cluster := r.target.Live.Server
	op := r.operation()
	private := op != nil && op.Sync != nil && len(op.Sync.Manifests) > 0
	out := make([]Rendered, 0, len(r.want.objects)+len(r.want.hooks))
	for i := range r.want.objects {
		w := &r.want.objects[i]
		if m, ok := r.manifests[w.key]; ok && (w.content == nil || !l.Keeps(*w.content)) {
			c := l.Keep(cluster, m, private)
			w.content = &c
		}
		if w.content != nil {
			out = append(out, Rendered{Key: w.key, Content: *w.content})
		}
	}
	for i := range r.want.hooks {
		h := &r.want.hooks[i]
		if i < len(r.hooks) && h.barred == nil && (h.content == nil || !l.Keeps(*h.content)) {
			c := l.Keep(cluster, r.hooks[i], private)
			h.content = &c
		}
		key := h.key
		if key.Name == "" {
			key.Name = h.prefix + "*" // its operations give it the rest
		}
		if h.content != nil {
			out = append(out, Rendered{Key: key, Hook: true, Content: *h.content})
		}
	}
	return out
}

// deeds says what became of the objects of the operation. first is whether it is the first one of this process.
func (x *execution) deeds(now *comparison, first bool, a *Account) {
	found := map[object.Key]bool{}
	if first {
		found = x.foundDone(now)
	}
	x.op.Each(func(t plan.Task, s plan.State) {
		d := Deed{Key: t.Key, Verb: t.Verb, Message: s.Message, Failed: s.Phase.Completed() && s.Phase != v1alpha1.OperationSucceeded}
		d.Skipped = s.Code == v1alpha1.ResultPruneSkipped
		if t.Hook {
			d.Hook = t.Phase
		}
		if did, ok := x.u.did[t.ID()]; ok {
			d.Verb = did.verb // now that it is done there is nothing to do
		}
		switch {
		case s == (plan.State{}) && d.Verb != diff.Keep:
			return // its turn has not come
		case d.Verb == diff.Keep && found[t.Key]:
			d.Verb = diff.Update
			delete(found, t.Key)
			a.Recovered = true
		case d.Verb == diff.Keep && !d.Failed:
			return
		}
		if t.First && s.Message == "" {
			return
		}
		delete(found, t.Key)
		a.Deeds = append(a.Deeds, d)
	})
	for _, s := range now.states {
		if found[s.key] {
			a.Deeds = append(a.Deeds, Deed{Key: s.key, Verb: diff.Update})
			a.Recovered = true
		}
	}
	told := make(map[object.Key]bool, len(a.Deeds))
	for _, d := range a.Deeds {
		told[d.Key] = true
	}
	for i := range x.want.objects {
		if k := x.want.objects[i].key; !told[k] && x.lives(k) {
			a.Unchanged++
		}
	}
}

func (x *execution) lives(k object.Key) bool {
	_, tracked, _ := x.target.Live.Get(k)
	return tracked
}

// foundDone returns objects that were applied after the last operation that was reported, where this is the first one of this
// process: the process before did it, and ended before it could report.
func (x *execution) foundDone(now *comparison) map[object.Key]bool {
	out := map[object.Key]bool{}
	last := x.app.Status.OperationState
	if last == nil || x.u.operation.Sync != nil && x.u.operation.Sync.DryRun {
		return out
	}
	told := x.u.started.Unix()
	switch {
	case x.u.resumed:
		told-- // in the same second
	case last.FinishedAt != nil && !x.Inputs.Same(last):
		told = last.FinishedAt.Unix()
	case !x.d.Untold:
		return out
	}
	for _, s := range now.states {
		if _, did := x.u.did[plan.ID{Key: s.key, Phase: v1alpha1.PhaseSync}]; !did && s.applied > told && !s.hook {
			out[s.key] = true
		}
	}
	return out
}

// Removed returns what the deletion of an Application has deleted so far.
func (e *Engine) Removed(app *v1alpha1.Application) []object.Key {
	if kept, ok := e.memory.Load(e.instance(app)); ok {
		return slices.Clone(kept.(*memory).removed)
	}
	return nil
}
