package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
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

	// For the account of it.
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

// execution is an operation that this turn carries on with.
type execution struct {
	*comparison
	d      decide.Decision // that it goes by
	u      *underway
	op     *plan.Operation
	stored bool                // it is in the status of the Application, so it is no deletion's, and does not end by force
	pruned map[object.Key]bool // what this turn deleted
	done   bool                // it changed something
}

// plan puts what an operation does in order.
func (c *comparison) plan(d decide.Decision) *execution {
	x := &execution{comparison: c, d: d, stored: true, pruned: map[object.Key]bool{}}
	x.resume()
	tasks := x.tasks()
	approved, fault := x.approved(x.began(x.u))
	x.warn(v1alpha1.ConditionUnsupported, fault)
	if approved {
		x.noteApproval(tasks)
	}
	p := plan.Build(tasks, plan.Options{PruneLast: object.AppOptions(decide.OptionsOf(x.app, d.Operation.Sync)).PruneLast.Is()})
	x.op = plan.NewOperation(p, plan.Settings{
		DryRunFirst: p.Staged() && !d.Heal && !d.DryRun,
		DryRun:      d.DryRun,
		Confirmed:   approved,
	}, x.u.states)
	return x
}

// resume finds the operation that has begun, or makes the record of a new one.
func (x *execution) resume() {
	u := x.kept.underway
	if x.d.Going && u != nil && decide.SameOperation(u.operation, x.d.Operation) && slices.Equal(u.revisions, x.Revisions) {
		x.u = u
		return
	}
	u = &underway{
		operation: x.d.Operation, revisions: x.Revisions, started: x.started, since: x.engine.ran(),
		states: map[plan.ID]plan.State{}, intended: map[plan.ID]bool{}, written: map[plan.ID]written{},
		did: map[plan.ID]deed{}, resumed: x.d.Going,
	}
	if x.accounts() {
		u.verdicts = x.d.Verdicts
	}
	x.u, x.kept.underway = u, u
	last := x.app.Status.OperationState
	if decide.Begun(last) && decide.SameOperation(last.Operation, x.d.Operation) {
		u.started, u.since = last.StartedAt.Time, u.since-x.age(last) // it may have been held until now
	}
	if x.d.Going && last != nil {
		u.run = x.hookRun(u.started, x.d.Attempts, x.Revisions)
		for _, res := range last.SyncResult.Resources {
			switch {
			case intended(res):
				u.intended[resultID(res)] = true // the cluster says whether it was made
			case res.HookType != "" || res.Status == v1alpha1.ResultSyncFailed: // hooks may be running because it failed
				u.states[resultID(res)] = plan.State{Code: res.Status, Phase: res.HookPhase, Message: res.Message}
			}
		}
	} else {
		x.distinguish()
	}
}

func resultID(res v1alpha1.ResourceResult) plan.ID {
	return plan.ID{
		Key:   object.Key{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name},
		Phase: res.SyncPhase,
	}
}

// tasks turns what was compared into what an operation does.
func (x *execution) tasks() []plan.Task {
	options := object.AppOptions(decide.OptionsOf(x.app, x.d.Operation.Sync))
	chosen := decide.Selection(x.d.Operation.Sync)
	whole := len(chosen) == 0 && !x.d.Heal
	known := make(map[object.Key]*wantedObject, len(x.want.objects))
	for i := range x.want.objects {
		known[x.want.objects[i].key] = &x.want.objects[i]
	}
	out := make([]plan.Task, 0, len(x.changes)+len(x.want.hooks)+1)
	differs := make(map[object.Key]bool, len(x.changes))
	for _, c := range x.changes {
		differs[c.Key] = true
		if len(chosen) > 0 && !chosen.Has(c.Key) {
			continue
		}
		_, begun := x.u.states[plan.ID{Key: c.Key, Phase: v1alpha1.PhaseSync}]
		if c.Verb == diff.Keep && !begun && (!whole || options.OutOfSync.Is()) {
			continue
		}
		t := plan.Task{Change: c}
		if w := known[c.Key]; w != nil {
			t.Defines = w.defines
		} else if rec, ok, _ := x.target.Live.Get(c.Key); ok {
			t.Last = rec.PruneLast
			if x.d.Prune && rec.Prune.Or(options.Prune) == object.ConsentAsked {
				t.Prune = v1alpha1.OptionConfirm
			}
		}
		out = append(out, t)
	}
	for _, t := range x.u.pruned {
		if !differs[t.Key] {
			out = append(out, t)
		}
	}
	if whole {
		for _, c := range x.spared {
			out = append(out, plan.Task{Change: c, Prune: v1alpha1.OptionFalse})
		}
	}
	_, made := x.u.states[plan.ID{Key: x.namespaceKey(), Phase: v1alpha1.PhasePreSync}]
	if made || !x.d.DryRun && x.lacksNamespace(x.d.Operation.Sync, x.drifted) {
		out = append(out, plan.Task{First: true, Change: diff.Change{
			Key: x.namespaceKey(), Version: "v1", Verb: diff.Update, Phase: v1alpha1.PhasePreSync,
		}})
	}
	if whole && decide.RunsHooks(x.d.Operation.Sync) {
		out = append(out, x.hookTasks(x.u.started)...)
	}
	return out
}

// hookTasks makes a task of every phase that a hook takes part in. A hook that leaves its name to the cluster gets one
// for each operation and phase.
func (r *rendering) hookTasks(started time.Time) []plan.Task {
	var out []plan.Task
	for i, h := range r.want.hooks {
		for _, phase := range h.Phases() {
			key := h.key
			if key.Name == "" {
				key.Name = h.prefix + hookSuffix(r.Revisions, phase, started)
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
		// A digest and a version may have what a name may not.
		revision = strings.NewReplacer("+", "-", "_", "-", ":", "-", "/", "-").Replace(strings.TrimPrefix(revisions[0], "sha256:"))
		if len(revision) >= 8 {
			revision = strings.TrimRight(revision[:7], "-.")
		}
	}
	return strings.ToLower(fmt.Sprintf("%s-%s-%d", revision, phase, started.UTC().Unix()))
}

// look shows an operation what is live.
func (x *execution) look() func(plan.Task) plan.Fact {
	now := x.engine.Now()
	return func(t plan.Task) plan.Fact {
		if t.First {
			return plan.Fact{Exists: true}
		}
		rec, tracked, foreign := x.target.Live.Get(t.Key)
		f := plan.Fact{
			Exists: tracked || foreign, Deleting: tracked && (t.Deletes() || t.Hook && rec.Deleting), Finalizer: rec.Finalizer,
			Ours: t.Hook && x.made(t, rec), Assessed: rec.Assessed, Health: rec.Health.Status, Message: rec.Health.Message, Stale: rec.Behind,
		}
		if w, ok := x.u.written[t.ID()]; ok && w.version >= rec.Version && f.Health != v1alpha1.HealthHealthy {
			if rest := staleFor - now.Sub(w.at); rest > 0 {
				f.Stale = true
				x.wakeIn(rest)
			}
		}
		return f
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

// timeLeft is how long an operation may still take, 0 when there is no limit.
func (t *turn) timeLeft(u *underway) time.Duration {
	limit := t.engine.timeLimit()
	if limit <= 0 {
		return 0
	}
	return max(time.Millisecond, limit-(t.engine.ran()-u.since))
}

func (e *Engine) timeLimit() time.Duration {
	if e.TimeLimit == nil {
		return 0
	}
	return e.TimeLimit()
}

// objectOptions are the sync options that objects set themselves.
func (r *rendering) objectOptions() map[object.Key]*object.Options {
	options := make(map[object.Key]*object.Options, len(r.want.objects))
	for i := range r.want.objects {
		if w := &r.want.objects[i]; w.options != nil {
			options[w.key] = w.options
		}
	}
	return options
}
