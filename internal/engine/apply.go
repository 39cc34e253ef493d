package engine

import (
	"context"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// apply carries the plan out as far as it goes without waiting, and returns the move that it stopped at.
func (x *execution) apply(ctx context.Context) plan.Move {
	defer x.lap(StageApply)
	look := x.look()
	for {
		m := x.op.Next(look)
		switch m.Verb {
		case plan.End:
			return m
		case plan.Wait:
			x.u.waiting = m.Tasks
			if !m.Again || ctx.Err() != nil {
				return m
			}
		case plan.Release:
			for _, t := range m.Tasks {
				if err := x.releaseHook(ctx, t); err != nil {
					return x.awaitServer(err)
				}
			}
		case plan.Remove:
			if ok, wait := x.confirmed(ctx, m.Tasks); !ok {
				return wait
			}
			for _, t := range m.Tasks {
				if err := x.removeHook(ctx, t); err != nil {
					return x.awaitServer(err)
				}
			}
		case plan.Try, plan.Do:
			if ok, wait := x.announced(ctx, m); !ok {
				return wait
			}
			if err := x.do(ctx, m); away(err) {
				return x.awaitServer(err)
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
func (x *execution) do(ctx context.Context, m plan.Move) error {
	keys := make([]object.Key, len(m.Tasks))
	for i, t := range m.Tasks {
		keys[i] = t.Key
	}
	if err := x.loadSome(ctx, keys); err != nil {
		return err
	}
	trial := m.Verb == plan.Try
	place := make(map[plan.ID]plan.Task, len(m.Tasks))
	changes := make([]diff.Change, 0, len(m.Tasks))
	for _, t := range m.Tasks {
		if t.Hook {
			if err := x.hookConflict(t.Key); err != nil {
				x.op.Record(t, plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: err.Error()})
				continue
			}
		}
		switch {
		case trial && ((t.Deletes() && !x.d.DryRun) || (t.Hook && x.exists(t.Key))):
			continue // what is there already is deleted first, or need not be valid
		case t.First:
			state, err := x.makeNamespace(ctx)
			if err != nil {
				return err
			}
			x.op.Record(t, state)
			continue
		case t.Deletes() && t.Prune == v1alpha1.OptionFalse:
			x.op.Record(t, plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: apply.MessageNotPruned})
			continue
		case t.Deletes() && !x.d.Prune:
			x.op.Record(t, plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: "ignored (requires pruning)"})
			continue
		}
		place[t.ID()] = t
		changes = append(changes, t.Change)
	}
	kept, err := x.respect(ctx, changes, x.d.Operation.Sync)
	if err != nil {
		return err
	}
	options := x.applyOptions(m, kept)
	if !trial {
		options.Progress = func(done, _ int) { x.report(done) }
	}
	original := make(map[object.Key]diff.Change, len(x.changes)) // with the wave that the plan may have moved
	for _, c := range x.changes {
		original[c.Key] = c
	}
	unanswered := x.record(m, place, original, x.target.Step(ctx, changes, options))
	x.done = x.done || !trial
	if unanswered == nil {
		x.u.away = 0
	}
	return unanswered
}

func (r *rendering) exists(k object.Key) bool {
	_, tracked, foreign := r.target.Live.Get(k)
	return tracked || foreign
}

func (x *execution) applyOptions(m plan.Move, kept map[object.Key]object.Manifest) apply.Options {
	own := object.AppOptions(decide.OptionsOf(x.app, x.d.Operation.Sync))
	if decide.Forced(x.d.Operation.Sync) {
		own.Force = object.Yes
	}
	options := x.objectOptions()
	hooks := make(map[object.Key]plan.Task)
	for _, t := range m.Tasks {
		if t.Hook {
			hooks[t.Key] = t
			if o := x.want.hooks[t.Index].options; o != nil {
				options[t.Key] = o
			}
		}
	}
	manager := x.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager]
	var namespaces []string
	if x.lacksNamespace(x.d.Operation.Sync, x.drifted) {
		namespaces = []string{x.app.Spec.Destination.Namespace}
	}
	return apply.Options{
		DryRun: m.Verb == plan.Try, Leave: x.d.Leave, Propagation: propagation(decide.OptionsOf(x.app, x.d.Operation.Sync)),
		Namespaces: namespaces,
		How: func(k object.Key) apply.How {
			how := apply.How{App: own, Manager: manager, Destination: x.app.Spec.Destination.Namespace}
			if o := options[k]; o != nil {
				how.Own = *o
			}
			return how
		},
		Manifest: func(k object.Key) (object.Manifest, bool) {
			if t, ok := hooks[k]; ok {
				return x.hookManifest(t)
			}
			if m, ok := kept[k]; ok {
				return m, true
			}
			m, ok := x.manifests[k]
			if ok && decide.Restores(x.d.Operation) {
				return spareFromPrune(m)
			}
			return m, ok
		},
	}
}

// record notes what came of tasks. An API server that was away before it answered is an error: what it may have done, or
// not, is not noted, so that its turn comes again.
func (x *execution) record(
	m plan.Move, place map[plan.ID]plan.Task, original map[object.Key]diff.Change, outcomes []apply.Outcome,
) (unanswered error) {
	for _, out := range outcomes {
		if away(out.Err) {
			unanswered = out.Err
			continue
		}
		t := place[plan.ID{Key: out.Change.Key, Phase: out.Change.Phase}]
		if m.Verb == plan.Try && out.Err == nil && !x.d.DryRun {
			continue
		}
		x.op.Record(t, stateOf(t, out))
		if m.Verb == plan.Try {
			continue
		}
		x.didTask(t, out.Err)
		if rec, ok, _ := x.target.Live.Get(t.Key); ok && out.Err == nil {
			x.u.written[t.ID()] = written{version: rec.Version, at: x.engine.Now()}
		}
		if out.Err == nil && t.Deletes() {
			x.pruned[t.Key] = true
			x.u.pruned = append(x.u.pruned, plan.Task{Change: original[t.Key], Last: t.Last})
		}
	}
	return unanswered
}

func stateOf(t plan.Task, out apply.Outcome) plan.State {
	out.Message = fit.Message(out.Message)
	switch {
	case out.Err != nil:
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: out.Message}
	case t.Deletes():
		return plan.State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded, Message: out.Message}
	}
	return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: out.Message}
}
