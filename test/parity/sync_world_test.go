package parity

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

const syncNamespace = "app-ns" // of what names none

// syncWorld is a cluster with an operation of the engine on it.
type syncWorld struct {
	t         *testing.T
	given     syncGiven
	live      map[object.Key]*syncLive
	health    map[string]string
	plan      plan.Plan
	op        *plan.Operation
	confirmed bool

	// Of the last step.
	phase    v1alpha1.OperationPhase
	message  string
	deleted  []string // hooks
	released int
	wave     *syncWave
	// Of all steps.
	done, commands []string
}

type syncLive struct {
	obj                map[string]any
	finalizer, deleted bool
}

func newSyncWorld(t *testing.T, given syncGiven) *syncWorld {
	t.Helper()
	w := &syncWorld{t: t, given: given, health: given.Health, live: map[object.Key]*syncLive{}}
	for _, o := range given.Live {
		w.add(o)
	}
	w.begin(false)
	return w
}

// begin makes plan and operation of what is wanted and live, as after a restart.
func (w *syncWorld) begin(terminate bool) {
	states := map[plan.ID]plan.State{}
	if w.op == nil {
		w.plan = plan.Build(w.tasks(), plan.Options{PruneLast: w.given.Settings.PruneLast})
		for _, r := range w.given.State.Results {
			s := plan.State{Code: r.Status, Phase: r.HookPhase}
			if r.Message != nil {
				s.Message = *r.Message
			}
			states[plan.ID{Key: syncKey(r.Object), Phase: r.SyncPhase}] = s
		}
	} else {
		states = w.op.States()
	}
	w.op = plan.NewOperation(w.plan, plan.Settings{DryRunFirst: true, Confirmed: w.confirmed, Terminate: terminate}, states)
}

func (o syncObject) key() object.Key {
	return object.Key{Group: o.group(), Kind: o.Kind, Namespace: namespaceOf(o.Kind, o.Namespace), Name: o.Name}
}

func (o syncObject) group() string {
	if o.APIVersion != "" {
		group, _ := object.SplitAPIVersion(o.APIVersion)
		return group
	}
	return groupOf(o.Kind)
}

func groupOf(kind string) string {
	switch kind {
	case "Job":
		return "batch"
	case "Workflow":
		return "argoproj.io"
	case "CustomResourceDefinition":
		return "apiextensions.k8s.io"
	}
	return ""
}

func namespaceOf(kind, namespace string) string {
	switch {
	case kind == "Namespace", kind == "PersistentVolume", kind == "CustomResourceDefinition":
		return ""
	case namespace == "":
		return syncNamespace
	}
	return namespace
}

func syncKey(kindName string) object.Key {
	kind, name, _ := strings.Cut(kindName, "/")
	return syncObject{Kind: kind, Name: name}.key()
}

func shortKey(k object.Key) string { return k.Kind + "/" + k.Name }

// manifest writes the object out.
func (o syncObject) manifest() map[string]any {
	annotations := map[string]any{}
	set := func(name, value string) {
		if value != "" {
			annotations[name] = value
		}
	}
	set(v1alpha1.AnnotationHook, o.Hook)
	set(v1alpha1.AnnotationHookDeletePolicy, o.DeletePolicy)
	set(v1alpha1.AnnotationSyncOptions, strings.Join(o.Options, ","))
	if o.Wave != nil {
		set(v1alpha1.AnnotationSyncWave, itoa(*o.Wave))
	}
	version := o.APIVersion
	if version == "" {
		version = strings.TrimPrefix(o.group()+"/v1", "/")
	}
	return map[string]any{
		"apiVersion": version, "kind": o.Kind, "metadata": map[string]any{"name": o.Name, "annotations": annotations},
	}
}

func (w *syncWorld) add(o syncObject) {
	w.live[o.key()] = &syncLive{obj: o.manifest(), finalizer: o.Finalizer}
}

// options are those of the Application.
func (s syncSettings) options() object.Options {
	var list []string
	if s.DefaultPrune != "" {
		list = append(list, "Prune="+s.DefaultPrune)
	}
	if s.Validate != nil && !*s.Validate {
		list = append(list, "Validate=false")
	}
	if s.SkipDryRunOnMissingResource {
		list = append(list, "SkipDryRunOnMissingResource=true")
	}
	return object.AppOptions(list)
}

// tasks are what the comparison would give: an object of the revision counts as changed unless the scenario says
// otherwise, since we do not apply what is as wanted.
func (w *syncWorld) tasks() []plan.Task {
	var out []plan.Task
	wanted := map[object.Key]bool{}
	ours := slices.Concat(w.given.Target, w.given.Hooks)
	for _, o := range w.given.Live { // hooks of this operation, whether or not the scenario says that they are wanted
		if o.Hook != "" && slices.ContainsFunc(w.given.State.Results, func(r syncResult) bool { return syncKey(r.Object) == o.key() }) {
			ours = append(ours, o)
		}
	}
	for _, o := range ours {
		if wanted[o.key()] {
			continue
		}
		wanted[o.key()] = true
		hook := plan.ReadHook(o.manifest())
		if hook.Is && w.given.Settings.SkipHooks || !hook.Is && !w.changed(o.key()) {
			continue
		}
		for _, phase := range hook.Phases() {
			verb := diff.Create
			if w.live[o.key()] != nil {
				verb = diff.Update
			}
			out = append(out, plan.Task{
				Change: diff.Change{Key: o.key(), Verb: verb, Phase: phase, Wave: hook.Wave}, Hook: hook.Is, Policies: hook.Delete,
			})
		}
	}
	for _, o := range w.given.Live {
		if options := object.OptionsOf(o.manifest()).Over(w.given.Settings.options()); !wanted[o.key()] && o.Hook == "" && w.changed(o.key()) {
			out = append(out, plan.Task{
				Change: diff.Change{Key: o.key(), Verb: diff.Delete, Wave: plan.ReadHook(o.manifest()).Wave},
				Prune:  consent(options.Prune), Last: options.PruneLast.Is(),
			})
		}
	}
	if ns := (object.Key{Kind: "Namespace", Name: syncNamespace}); w.given.Settings.CreateNamespace && !wanted[ns] {
		out = append(out, plan.Task{Change: diff.Change{Key: ns, Verb: diff.Create, Phase: v1alpha1.PhasePreSync}, First: true})
	}
	return out
}

func consent(c object.Consent) string {
	switch c {
	case object.ConsentDenied:
		return "false"
	case object.ConsentAsked:
		return v1alpha1.OptionConfirm
	}
	return ""
}

func (w *syncWorld) changed(k object.Key) bool {
	g := w.given
	return !g.Settings.ApplyOutOfSyncOnly || g.OutOfSync == nil || slices.Contains(g.OutOfSync, k.Name) || slices.Contains(g.NotInDiff, k.Name)
}

// look is what is known of a task's object: its health is what the scenario says, or that of the bare object.
func (w *syncWorld) look(task plan.Task) plan.Fact {
	l := w.live[task.Key]
	if l == nil {
		return plan.Fact{}
	}
	f := plan.Fact{Exists: true, Deleting: l.deleted, Finalizer: l.finalizer}
	if status, ok := w.health[task.Key.Name]; ok {
		f.Assessed, f.Health = true, v1alpha1.HealthStatusCode(status)
	} else if r, ok := health.Assess(l.obj); ok {
		f.Assessed, f.Health, f.Message = true, v1alpha1.HealthStatusCode(r.Status), r.Message
	}
	return f
}

// step changes the world as the scenario says, and goes on until the operation waits or ends.
func (w *syncWorld) step(s syncStep) {
	w.change(s)
	w.deleted, w.released, w.wave = nil, 0, nil
	for range 100 {
		m := w.op.Next(w.look)
		w.message, w.phase = m.Message, v1alpha1.OperationRunning
		switch m.Verb {
		case plan.Wait:
			return
		case plan.End:
			w.phase = m.Phase
			return
		case plan.Try:
			for _, task := range m.Tasks {
				if text, fails := w.given.DryRunFails[task.Key.Name]; fails {
					w.op.Record(task, plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: text})
				}
			}
		case plan.Do:
			for _, task := range m.Tasks {
				w.op.Record(task, w.do(task))
			}
			first := m.Tasks[0]
			w.wave = &syncWave{Phase: first.Phase, Wave: first.Wave, Final: len(w.op.States()) == len(w.plan.Tasks)}
		case plan.Release:
			for _, task := range m.Tasks {
				w.release(task)
			}
		case plan.Remove:
			for _, task := range m.Tasks {
				w.remove(task)
			}
		}
	}
	w.t.Fatalf("no end: %s", w.message)
}

func (w *syncWorld) change(s syncStep) {
	for k, l := range w.live {
		if hook := plan.ReadHook(l.obj); hook.Is && l.deleted {
			delete(w.live, k) // hooks that were deleted are gone in the next step
		}
	}
	health := map[string]string{}
	for _, from := range []map[string]string{w.health, s.Health} {
		for name, status := range from {
			health[name] = status
		}
	}
	for _, name := range s.Cluster.Completed {
		health[syncKey(name).Name] = "Healthy"
	}
	w.health = health
	if s.Cluster.Live != nil {
		w.live = map[object.Key]*syncLive{}
		for _, o := range *s.Cluster.Live {
			w.add(o)
		}
	}
	for _, o := range s.Cluster.Add {
		w.add(o)
	}
	for _, name := range s.Cluster.Remove {
		delete(w.live, syncKey(name))
	}
	for _, name := range s.Cluster.Terminating {
		w.live[syncKey(name)].deleted = true
	}
	if s.Cluster.PruneConfirmed || s.Terminate {
		w.confirmed = w.confirmed || s.Cluster.PruneConfirmed
		w.begin(s.Terminate)
	}
}

// do applies or deletes the object of a task.
func (w *syncWorld) do(task plan.Task) plan.State {
	short := shortKey(task.Key)
	w.done = append(w.done, short)
	if text, fails := w.given.Fails[task.Key.Name]; fails {
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: text}
	}
	if task.Deletes() {
		switch {
		case task.Prune == "false":
			return plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: "ignored (no prune)"}
		case !w.given.Settings.Prune:
			return plan.State{Code: v1alpha1.ResultPruneSkipped, Phase: v1alpha1.OperationSucceeded, Message: "ignored (requires pruning)"}
		}
		w.live[task.Key].deleted = true
		return plan.State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded, Message: "pruned"}
	}
	command := "update "
	if w.live[task.Key] == nil {
		command = "create "
		for _, o := range slices.Concat(w.given.Target, w.given.Hooks, []syncObject{{Kind: "Namespace", Name: syncNamespace}}) {
			if o.key() == task.Key {
				w.add(o)
			}
		}
	}
	w.commands = append(w.commands, command+short)
	return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}
}

func (w *syncWorld) release(task plan.Task) {
	text, fails := w.given.UpdateFails[task.Key.Name]
	if !fails {
		w.released++
		w.live[task.Key].finalizer = false
	}
	w.op.Released(task, text)
}

func (w *syncWorld) remove(task plan.Task) {
	w.deleted = append(w.deleted, shortKey(task.Key))
	w.commands = append(w.commands, "delete "+shortKey(task.Key))
	gone := w.given.DeleteAnswers[task.Key.Name] == "not found"
	if gone {
		delete(w.live, task.Key)
	} else {
		w.live[task.Key].deleted = true
	}
	w.op.Removed(task, gone, "")
}

// results are what became of objects, by kind and name.
func (w *syncWorld) results() map[string]plan.State {
	out := map[string]plan.State{}
	for id, s := range w.op.States() {
		out[shortKey(id.Key)] = s
	}
	return out
}
