package engine

import (
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Stage names a part of a reconciliation, for errors and metrics.
type Stage string

// The stages, in order.
const (
	StagePermit  Stage = "permit"
	StageFetch   Stage = "fetch"
	StageVerify  Stage = "verify"
	StageRender  Stage = "render"
	StageLive    Stage = "live"
	StageCompare Stage = "compare"
	StageApply   Stage = "apply"
)

// turn is one reconciliation of one Application: what it was asked for, when it began, and what is kept of the turns before.
// The values of its stages stand on it: inputs, rendering, comparison, execution, each on the one before.
type turn struct {
	engine   *Engine
	req      Request
	app      *v1alpha1.Application
	instance string // of the Application, in tracking marks
	started  time.Time
	kept     memory

	wake      time.Duration // when to look again, at the latest; 0 for never
	takenOver int           // how many objects changed hands
	mark      time.Time     // when the stage under way began
	laps      map[Stage]time.Duration
}

func (e *Engine) instance(app *v1alpha1.Application) string {
	return object.InstanceName(app.Namespace, app.Name, e.Namespace)
}

// begin starts a turn that goes on from the last one of its Application.
func (e *Engine) begin(req Request) *turn {
	t := e.look(req)
	if kept, ok := e.memory.Load(t.instance); ok {
		t.kept = *kept.(*memory)
	}
	return t
}

// look starts a turn that knows nothing of earlier ones. Nothing is kept of it unless it ends with keep.
func (e *Engine) look(req Request) *turn {
	now := e.Now()
	return &turn{
		engine: e, req: req, app: req.App, instance: e.instance(req.App), started: now, mark: now, laps: make(map[Stage]time.Duration, 5),
	}
}

// keep ends a turn: the next one goes on from what this one found out.
func (t *turn) keep() {
	if t.kept.wanted != nil {
		t.engine.memory.Store(t.instance, &t.kept)
	}
}

// lap notes how long the stage that ends here took.
func (t *turn) lap(s Stage) {
	now := t.engine.Now()
	t.laps[s] += now.Sub(t.mark)
	t.mark = now
}

// wakeIn has the Application looked at again, after d at the latest.
func (t *turn) wakeIn(d time.Duration) {
	if t.wake == 0 || d < t.wake {
		t.wake = d
	}
}

// operation is what a person or a program asked for: a new one, or one that is being tried again.
func (t *turn) operation() *v1alpha1.Operation { return t.app.Operation }

// noted is what was found before anything was compared, and who signed it.
func (in *inputs) noted() notes { return append(slices.Clone(in.notices), in.trust.Notes()...) }

// notes are conditions that a turn reports.
type notes []v1alpha1.ApplicationCondition

func (n *notes) warn(kind v1alpha1.ConditionType, lines []string) {
	if len(lines) > 0 {
		*n = append(*n, v1alpha1.ApplicationCondition{Type: kind, Message: decide.Few(lines)})
	}
}
