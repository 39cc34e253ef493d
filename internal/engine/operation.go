package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// underway is an operation that has begun and is not over. What must not be lost with the process is in the status as
// well: how far the hooks are. What was applied already shows in the cluster.
type underway struct {
	operation v1alpha1.Operation
	revisions []string
	started   time.Time         // as the status says it
	since     time.Duration     // when that was, by the clock that nothing sets
	run       *v1alpha1.HookRun // what its hooks name it by; nil for what is no sync
	states    map[plan.ID]plan.State
	intended  map[plan.ID]bool // hooks that the status announces
	written   map[plan.ID]written
	pruned    []plan.Task // deletions that are no differences any more; what comes after them waits until they are gone
	waiting   []plan.Task
	away      int // how often in a row the API server was

	// For whoever wants to know of it in the end.
	did      map[plan.ID]deed
	applied  time.Time // when the last object was applied or deleted
	verdicts []decide.Verdict
	resumed  bool // it was begun by another process
}

// written says when and at which version we wrote an object.
type written struct {
	version uint64
	at      time.Time
}

// staleFor is how long bad health is taken for old news after a write, as long as the object has not changed since:
// not every controller says which spec it speaks of.
const staleFor = 5 * time.Second

// underway returns what is remembered of an operation at the present revisions, nil when that is nothing.
func (r *run) underway(d decide.Decision) *underway {
	u := r.kept.underway
	if u == nil || !decide.SameOperation(u.operation, d.Operation) || !slices.Equal(u.revisions, r.revisions) {
		return nil
	}
	return u
}

// resume finds the operation that has begun, or makes the record of a new one.
func (r *run) resume(d decide.Decision) *underway {
	if u := r.underway(d); d.Going && u != nil {
		return u
	}
	u := &underway{
		operation: d.Operation, revisions: r.revisions, started: r.started, since: r.engine.ran(),
		states: map[plan.ID]plan.State{}, intended: map[plan.ID]bool{}, written: map[plan.ID]written{},
		did: map[plan.ID]deed{}, verdicts: r.verdicts, resumed: d.Going,
	}
	last := r.app.Status.OperationState
	if decide.Begun(last) && decide.SameOperation(last.Operation, d.Operation) {
		u.started, u.since = last.StartedAt.Time, u.since-r.age(last) // it may have been held until now
	}
	if d.Going && last != nil {
		u.run = r.hookRun(u.started, r.req.Retries, r.revisions)
		for _, res := range last.SyncResult.Resources {
			switch {
			case intended(res):
				u.intended[resultID(res)] = true // the cluster says whether it was made
			case res.HookType != "" || res.Status == v1alpha1.ResultSyncFailed: // hooks may be running because it failed
				u.states[resultID(res)] = plan.State{Code: res.Status, Phase: res.HookPhase, Message: res.Message}
			}
		}
	} else {
		r.distinguish(u)
	}
	r.kept.underway = u
	return u
}

func resultID(res v1alpha1.ResourceResult) plan.ID {
	return plan.ID{
		Key:   object.Key{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name},
		Phase: res.SyncPhase,
	}
}

// tasks turns what was compared into what an operation does.
func (r *run) tasks(d decide.Decision, u *underway) []plan.Task {
	options := object.AppOptions(decide.OptionsOf(r.app, d.Operation.Sync))
	chosen := decide.Selection(d.Operation.Sync)
	whole := len(chosen) == 0 && !d.Heal
	known := make(map[object.Key]*wantedObject, len(r.want.objects))
	for i := range r.want.objects {
		known[r.want.objects[i].key] = &r.want.objects[i]
	}
	out := make([]plan.Task, 0, len(r.changes)+len(r.want.hooks)+1)
	differs := make(map[object.Key]bool, len(r.changes))
	for _, c := range r.changes {
		differs[c.Key] = true
		if len(chosen) > 0 && !chosen.Has(c.Key) {
			continue
		}
		_, begun := u.states[plan.ID{Key: c.Key, Phase: v1alpha1.PhaseSync}]
		if c.Verb == diff.Keep && !begun && (!whole || options.OutOfSync.Is()) {
			continue
		}
		t := plan.Task{Change: c}
		if w := known[c.Key]; w != nil {
			t.Defines = w.defines
		} else if rec, ok, _ := r.target.Live.Get(c.Key); ok {
			t.Last = rec.PruneLast
			if d.Prune && rec.Prune.Or(options.Prune) == object.ConsentAsked {
				t.Prune = v1alpha1.OptionConfirm
			}
		}
		out = append(out, t)
	}
	for _, t := range u.pruned {
		if !differs[t.Key] {
			out = append(out, t)
		}
	}
	if whole {
		for _, c := range r.spared {
			out = append(out, plan.Task{Change: c, Prune: v1alpha1.OptionFalse})
		}
	}
	_, made := u.states[plan.ID{Key: r.namespaceKey(), Phase: v1alpha1.PhasePreSync}]
	if made || r.makesNamespace(d) {
		out = append(out, plan.Task{First: true, Change: diff.Change{
			Key: r.namespaceKey(), Version: "v1", Verb: diff.Update, Phase: v1alpha1.PhasePreSync,
		}})
	}
	if whole && decide.RunsHooks(d.Operation.Sync) {
		out = append(out, r.hookTasks(u)...)
	}
	return out
}

// hookTasks makes a task of every phase that a hook takes part in. A hook that leaves its name to the cluster gets one
// for each operation and phase.
func (r *run) hookTasks(u *underway) []plan.Task {
	var out []plan.Task
	for i, h := range r.want.hooks {
		for _, phase := range h.Phases() {
			key := h.key
			if key.Name == "" {
				key.Name = h.prefix + hookSuffix(r.revisions, phase, u.started)
			}
			out = append(out, plan.Task{
				Change: diff.Change{Key: key, Version: h.version, Verb: diff.Update, Why: "hook", Phase: phase, Wave: h.Wave},
				Hook:   true, Policies: h.Delete, Index: i,
			})
		}
	}
	return out
}

// hookSuffix names a hook after the revision, the phase, and the start of its operation.
func hookSuffix(revisions []string, phase v1alpha1.SyncPhase, started time.Time) string {
	revision := ""
	if len(revisions) > 0 {
		if revision = revisions[0]; len(revision) >= 8 {
			revision = revision[:7]
		}
	}
	return strings.ToLower(fmt.Sprintf("%s-%s-%d", revision, phase, started.UTC().Unix()))
}

// look tells an operation what is live.
func (r *run) look(u *underway) func(plan.Task) plan.Fact {
	now := r.engine.Now()
	return func(t plan.Task) plan.Fact {
		if t.First {
			return plan.Fact{Exists: true}
		}
		rec, tracked, foreign := r.target.Live.Get(t.Key)
		f := plan.Fact{
			Exists: tracked || foreign, Deleting: tracked && (t.Deletes() || t.Hook && rec.Deleting), Finalizer: rec.Finalizer,
			Ours: t.Hook && r.made(u, t, rec), Assessed: rec.Assessed, Health: rec.Health.Status, Message: rec.Health.Message, Stale: rec.Behind,
		}
		if w, ok := u.written[t.ID()]; ok && w.version >= rec.Version && f.Health != v1alpha1.HealthHealthy {
			if rest := staleFor - now.Sub(w.at); rest > 0 {
				f.Stale = true
				r.wakeIn(rest)
			}
		}
		return f
	}
}

// wakeIn has the Application looked at again, after d at the latest.
func (r *run) wakeIn(d time.Duration) {
	if r.wake == 0 || d < r.wake {
		r.wake = d
	}
}

// Waits reports whether an Application's operation waits for an object that is still not where it should be: a turn
// would find nothing to do. It costs next to nothing, however large the Application is.
func (e *Engine) Waits(app *v1alpha1.Application) bool {
	kept, ok := e.memory.Load(e.instance(app))
	if !ok || !decide.Begun(app.Status.OperationState) || app.Status.OperationState.Phase != v1alpha1.OperationRunning {
		return false
	}
	m := kept.(*memory)
	if m.underway == nil || len(m.underway.waiting) == 0 {
		return false
	}
	target := m.target
	return slices.ContainsFunc(m.underway.waiting, func(t plan.Task) bool {
		rec, tracked, _ := target.Live.Get(t.Key)
		return tracked && rec.Assessed && (rec.Health.Status == v1alpha1.HealthProgressing || rec.Behind)
	})
}

// apply carries the plan out as far as it goes without waiting, and returns the move that it stopped at.
func (r *run) apply(ctx context.Context, op *plan.Operation, u *underway, d decide.Decision) plan.Move {
	defer r.lap(StageApply)
	look := r.look(u)
	for {
		m := op.Next(look)
		switch m.Verb {
		case plan.End:
			return m
		case plan.Wait:
			u.waiting = m.Tasks
			if !m.Again || ctx.Err() != nil {
				return m
			}
		case plan.Release:
			for _, t := range m.Tasks {
				if err := r.releaseHook(ctx, op, u, t); err != nil {
					return r.awaitServer(u, err)
				}
			}
		case plan.Remove:
			if ok, wait := r.confirmed(ctx, op, u, d, m.Tasks); !ok {
				return wait
			}
			for _, t := range m.Tasks {
				if err := r.removeHook(ctx, op, u, t, d); err != nil {
					return r.awaitServer(u, err)
				}
			}
		case plan.Try, plan.Do:
			if ok, wait := r.announced(ctx, op, u, d, m); !ok {
				return wait
			}
			if err := r.do(ctx, op, u, m, d); away(err) {
				return r.awaitServer(u, err)
			} else if err != nil {
				return plan.Move{Verb: plan.End, Phase: v1alpha1.OperationError, Message: err.Error()}
			}
		}
		if ctx.Err() != nil {
			return plan.Move{Verb: plan.Wait, Message: "the agent was stopped during the operation: it goes on after the start"}
		}
	}
}

func troubleOf(out apply.Outcome) string {
	if out.Err == nil {
		return ""
	}
	return out.Message
}

// do tries or does the tasks of a move, and records what came of each.
func (r *run) do(ctx context.Context, op *plan.Operation, u *underway, m plan.Move, d decide.Decision) error {
	keys := make([]object.Key, len(m.Tasks))
	for i, t := range m.Tasks {
		keys[i] = t.Key
	}
	if err := r.contentOf(ctx, keys); err != nil {
		return err
	}
	trial := m.Verb == plan.Try
	place := make(map[plan.ID]plan.Task, len(m.Tasks))
	changes := make([]diff.Change, 0, len(m.Tasks))
	for _, t := range m.Tasks {
		if t.Hook {
			if err := r.trespass(t.Key); err != nil {
				op.Record(t, plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: err.Error()})
				continue
			}
		}
		switch {
		case trial && ((t.Deletes() && !d.DryRun) || (t.Hook && r.exists(t.Key))):
			continue // what is there already is deleted first, or need not be valid
		case t.First:
			state, err := r.makeNamespace(ctx)
			if err != nil {
				return err
			}
			op.Record(t, state)
			continue
		case t.Deletes() && t.Prune == v1alpha1.OptionFalse:
			op.Record(t, plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: apply.MessageNotPruned})
			continue
		case t.Deletes() && !d.Prune:
			op.Record(t, plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: "ignored (requires pruning)"})
			continue
		}
		place[t.ID()] = t
		changes = append(changes, t.Change)
	}
	kept, err := r.respect(ctx, changes, d)
	if err != nil {
		return err
	}
	options := r.applyOptions(u, d, m, kept)
	if !trial {
		options.Progress = func(done, _ int) { r.tell(op, u, d, done) }
	}
	original := make(map[object.Key]diff.Change, len(r.changes)) // with the wave that the plan may have moved
	for _, c := range r.changes {
		original[c.Key] = c
	}
	unanswered := r.record(op, u, m, d, place, original, r.target.Step(ctx, changes, options))
	r.done = r.done || !trial
	if unanswered == nil {
		u.away = 0
	}
	return unanswered
}

func (r *run) exists(k object.Key) bool {
	_, tracked, foreign := r.target.Live.Get(k)
	return tracked || foreign
}

func (r *run) applyOptions(u *underway, d decide.Decision, m plan.Move, kept map[object.Key]object.Manifest) apply.Options {
	own := object.AppOptions(decide.OptionsOf(r.app, d.Operation.Sync))
	if decide.Forced(d.Operation.Sync) {
		own.Force = object.Yes
	}
	options := r.objectOptions()
	hooks := make(map[object.Key]plan.Task)
	for _, t := range m.Tasks {
		if t.Hook {
			hooks[t.Key] = t
			if o := r.want.hooks[t.Index].options; o != nil {
				options[t.Key] = o
			}
		}
	}
	manager := r.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager]
	var namespaces []string
	if r.lacksNamespace(d) {
		namespaces = []string{r.app.Spec.Destination.Namespace}
	}
	return apply.Options{
		DryRun: m.Verb == plan.Try, Leave: r.leave, Propagation: propagation(decide.OptionsOf(r.app, d.Operation.Sync)), Namespaces: namespaces,
		How: func(k object.Key) apply.How {
			how := apply.How{App: own, Manager: manager, Destination: r.app.Spec.Destination.Namespace}
			if o := options[k]; o != nil {
				how.Own = *o
			}
			return how
		},
		Manifest: func(k object.Key) (object.Manifest, bool) {
			if t, ok := hooks[k]; ok {
				return r.hookManifest(u, t)
			}
			if m, ok := kept[k]; ok {
				return m, true
			}
			m, ok := r.manifests[k]
			if ok && decide.Restores(d.Operation) {
				return spareFromPrune(m)
			}
			return m, ok
		},
	}
}

// objectOptions are the sync options that objects set themselves.
func (r *run) objectOptions() map[object.Key]*object.Options {
	options := make(map[object.Key]*object.Options, len(r.want.objects))
	for i := range r.want.objects {
		if w := &r.want.objects[i]; w.options != nil {
			options[w.key] = w.options
		}
	}
	return options
}

// plan puts what an operation does in order.
func (r *run) plan(d decide.Decision) (*plan.Operation, *underway) {
	u := r.resume(d)
	r.under = u
	tasks, approved := r.tasks(d, u), r.approved(r.began(u))
	if approved {
		r.tellApproval(u, tasks)
	}
	p := plan.Build(tasks, plan.Options{PruneLast: object.AppOptions(decide.OptionsOf(r.app, d.Operation.Sync)).PruneLast.Is()})
	r.op = plan.NewOperation(p, plan.Settings{
		DryRunFirst: p.Staged() && !d.Heal && !d.DryRun,
		DryRun:      d.DryRun,
		Confirmed:   approved,
	}, u.states)
	return r.op, u
}

// timeLeft is how long an operation may still take, 0 when there is no limit.
func (r *run) timeLeft(u *underway) time.Duration {
	limit := r.engine.timeLimit()
	if limit <= 0 {
		return 0
	}
	return max(time.Millisecond, limit-(r.engine.ran()-u.since))
}

func (e *Engine) timeLimit() time.Duration {
	if e.TimeLimit == nil {
		return 0
	}
	return e.TimeLimit()
}
