package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Step is where in an operation an object has its turn.
type Step struct {
	Key   object.Key // without a name where Prefix begins it
	Phase v1alpha1.SyncPhase
	Wave  int
	Hook  bool
	// Prefix begins the name that an operation gives a hook.
	Prefix string
}

// maxTimelineText bounds a message of one object.
const maxTimelineText = 4 << 10

// Timeline is the last or running operation of an Application, from its status. steps are what its sources have,
// in the order of a sync; without them, what comes next and in which waves hooks are is not known.
func Timeline(app *v1alpha1.Application, steps []Step) api.OperationTimeline {
	out := api.OperationTimeline{Revisions: []string{}, Steps: []api.OperationStep{}, Warnings: []string{}}
	op := app.Status.OperationState
	if op == nil || app.Operation != nil && op.Phase.Completed() {
		if app.Operation != nil {
			out.Phase, out.Message = "Pending", "it was asked for and has not begun"
			out.InitiatedBy, out.Automatic = app.Operation.InitiatedBy.Username, app.Operation.InitiatedBy.Automated
		}
		return out
	}
	by := op.Operation.InitiatedBy
	out.Phase, out.Message, out.StartedAt = string(op.Phase), object.Lines(op.Message, maxTimelineText), op.StartedAt.Time
	out.InitiatedBy, out.Automatic, out.RetryCount = object.Line(by.Username), by.Automated, op.RetryCount
	out.DryRun = op.Operation.Sync != nil && op.Operation.Sync.DryRun
	if op.FinishedAt != nil {
		out.FinishedAt = op.FinishedAt.Time
	}
	if op.SyncResult != nil {
		switch {
		case len(op.SyncResult.Revisions) > 0:
			out.Revisions = op.SyncResult.Revisions
		case op.SyncResult.Revision != "":
			out.Revisions = []string{op.SyncResult.Revision}
		}
	}
	t := timeline{app: app, op: op, steps: steps, places: map[place]int{}}
	t.results()
	t.toCome()
	for _, s := range t.found {
		for _, item := range s.Items {
			out.Progress.Total++
			if item.State != "waiting" && item.State != "running" {
				out.Progress.Done++
			}
		}
	}
	slices.SortStableFunc(t.found, func(a, b api.OperationStep) int {
		return cmp.Or(cmp.Compare(phaseAt(a.Phase), phaseAt(b.Phase)), cmp.Compare(a.Wave, b.Wave))
	})
	out.Steps = append(out.Steps, t.found...)
	if steps == nil {
		out.Warnings = append(out.Warnings, "the next steps, and the waves of hooks, are not known: the agent did not report them")
	}
	return out
}

// place is a phase and a wave.
type place struct {
	phase string
	wave  int
}

// timeline puts items into steps.
type timeline struct {
	app    *v1alpha1.Application
	op     *v1alpha1.OperationState
	steps  []Step
	found  []api.OperationStep
	places map[place]int // of found
}

func (t *timeline) add(phase v1alpha1.SyncPhase, wave int, item api.OperationItem) {
	at := place{string(cmp.Or(phase, v1alpha1.PhaseSync)), wave}
	i, ok := t.places[at]
	if !ok {
		i = len(t.found)
		t.places[at] = i
		t.found = append(t.found, api.OperationStep{Phase: at.phase, Wave: at.wave})
	}
	t.found[i].Items = append(t.found[i].Items, item)
}

// results are what had its turn.
func (t *timeline) results() {
	if t.op.SyncResult == nil {
		return
	}
	waves := map[object.Key]int{}
	for i := range t.app.Status.Resources {
		waves[KeyOf(&t.app.Status.Resources[i])] = int(t.app.Status.Resources[i].SyncWave)
	}
	for _, r := range t.op.SyncResult.Resources {
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		wave := waves[key]
		if i := t.stepOf(key, r.SyncPhase); i >= 0 {
			wave = t.steps[i].Wave
		}
		item := api.OperationItem{
			ObjectName: nameOf(key), Hook: string(r.HookType), Verb: "apply", State: stateOf(r, t.op.Phase.Completed()),
			Message: object.Lines(r.Message, maxTimelineText),
		}
		switch {
		case r.HookType != "":
			item.Verb = "hook"
		case r.Status == v1alpha1.ResultPruned || r.Status == v1alpha1.ResultPruneSkipped:
			item.Verb = "delete"
		}
		t.add(r.SyncPhase, wave, item)
	}
}

// stateOf is how far an object is. Objects that were applied stay Running in the status, as Argo CD has it: once the operation
// is over they succeeded. A hook whose end was not seen did not.
func stateOf(r v1alpha1.ResourceResult, over bool) string {
	switch {
	case r.Status == v1alpha1.ResultPruneSkipped:
		return "skipped"
	case r.HookPhase == v1alpha1.OperationFailed || r.HookPhase == v1alpha1.OperationError || r.Status == v1alpha1.ResultSyncFailed:
		return "failed"
	case r.Status == v1alpha1.ResultPruned:
		return "pruned"
	case r.HookPhase == v1alpha1.OperationRunning && !over:
		return "running"
	case r.HookPhase == v1alpha1.OperationRunning && r.HookType != "":
		return "failed"
	}
	return "succeeded"
}

// stepOf finds the step of an object; less than nothing for none.
func (t *timeline) stepOf(key object.Key, phase v1alpha1.SyncPhase) int {
	return slices.IndexFunc(t.steps, func(s Step) bool { return s.is(key, cmp.Or(phase, v1alpha1.PhaseSync)) })
}

func (s *Step) is(key object.Key, phase v1alpha1.SyncPhase) bool {
	if s.Prefix == "" {
		return s.Key == key && (s.Phase == phase || !s.Hook)
	}
	named := key
	named.Name = ""
	bare := s.Key
	bare.Name = ""
	return bare == named && s.Phase == phase && strings.HasPrefix(key.Name, s.Prefix)
}

// had is which steps, and which objects, had their turn.
func (t *timeline) had() (steps map[int]bool, objects map[object.Key]bool) {
	steps, objects = make(map[int]bool, len(t.steps)), map[object.Key]bool{}
	if t.op.SyncResult == nil {
		return steps, objects
	}
	for _, r := range t.op.SyncResult.Resources {
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		objects[key] = true
		if i := t.stepOf(key, r.SyncPhase); i >= 0 {
			steps[i] = true
		}
	}
	return steps, objects
}

// toCome are what has not had its turn yet, or never had it: objects that differ, and hooks of an operation on everything.
func (t *timeline) toCome() {
	state := "waiting"
	switch {
	case t.op.Phase == v1alpha1.OperationSucceeded:
		return // nothing was left
	case t.op.Phase.Completed() || t.op.Phase == v1alpha1.OperationTerminating:
		state = "skipped"
	}
	done, did := t.had()
	sync := t.op.Operation.Sync
	limited := sync != nil && len(sync.Resources) > 0
	hooks := !limited && (sync == nil || (sync.SyncStrategy == nil || sync.SyncStrategy.Apply == nil) && sync.AutoHealAttemptsCount == 0)
	for i, s := range t.steps {
		if !s.Hook || !hooks || done[i] || s.Phase == v1alpha1.PhaseSyncFail {
			continue
		}
		name := nameOf(s.Key)
		name.Name = cmp.Or(name.Name, s.Prefix)
		t.add(s.Phase, s.Wave, api.OperationItem{ObjectName: name, Hook: string(s.Phase), Verb: "hook", State: state})
	}
	for i := range t.app.Status.Resources {
		r := &t.app.Status.Resources[i]
		key := KeyOf(r)
		if r.Hook || r.Status != v1alpha1.SyncStatusOutOfSync || did[key] ||
			limited && !slices.ContainsFunc(sync.Resources, func(s v1alpha1.SyncOperationResource) bool {
				return s.Group == r.Group && s.Kind == r.Kind && s.Name == r.Name && (s.Namespace == "" || s.Namespace == r.Namespace)
			}) {
			continue
		}
		item := api.OperationItem{ObjectName: nameOf(key), Verb: "apply", State: state}
		phase, wave := v1alpha1.PhaseSync, int(r.SyncWave)
		if i := t.stepOf(key, phase); i >= 0 {
			phase, wave = t.steps[i].Phase, t.steps[i].Wave
		}
		if r.Leftover() {
			if item.Verb = "delete"; sync == nil || !sync.Prune {
				continue
			}
		}
		t.add(phase, wave, item)
	}
}

// phaseAt orders phases.
func phaseAt(phase string) int {
	return slices.Index([]string{
		string(v1alpha1.HookPreDelete), string(v1alpha1.PhasePreSync), string(v1alpha1.PhaseSync),
		string(v1alpha1.PhasePostSync), string(v1alpha1.PhaseSyncFail), string(v1alpha1.HookPostDelete),
	}, phase)
}
