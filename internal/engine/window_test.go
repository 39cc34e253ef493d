package engine

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/project"
)

// windowed is a run at noon of an Application whose project has these windows.
func windowed(t *testing.T, windows ...v1alpha1.SyncWindow) *run {
	t.Helper()
	p := &v1alpha1.AppProject{}
	p.Name = "shop"
	p.Spec.SyncWindows = windows
	p.Spec.Roles = []v1alpha1.ProjectRole{{Name: "-"}}
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	app.Name = "web"
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return &run{engine: &Engine{Now: func() time.Time { return now }}, app: app, grant: grant{rules: rules}}
}

func everyApp(kind, schedule, duration string) v1alpha1.SyncWindow {
	return v1alpha1.SyncWindow{Kind: kind, Schedule: schedule, Duration: duration, Applications: []string{"*"}}
}

func asked() v1alpha1.Operation {
	return v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Username: "me"}}
}

func automatic() v1alpha1.Operation {
	return v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Automated: true}}
}

func TestASyncThatAWindowForbidsSaysHowLongItWaits(t *testing.T) {
	t.Parallel()
	manual := everyApp("deny", "40 11 * * *", "1h")
	manual.ManualSync = true
	for _, c := range []struct {
		name    string
		window  v1alpha1.SyncWindow
		op      v1alpha1.Operation
		message string // "" where it is allowed
		refusal string
		retry   time.Duration
	}{
		{
			"an automatic one", everyApp("deny", "40 11 * * *", "1h"), automatic(),
			`sync window deny "40 11 * * *" of project shop is active until 2026-11-21T12:40:00Z: automatic syncs wait until 2026-11-21T12:40:00Z; a manual sync is not allowed either`,
			"Cannot sync: Blocked by sync window", 40 * time.Minute,
		},
		{
			"an automatic one where manual ones may", manual, automatic(),
			`sync window deny "40 11 * * *" of project shop is active until 2026-11-21T12:40:00Z: automatic syncs wait until 2026-11-21T12:40:00Z; a manual sync is allowed`,
			"Cannot sync: Blocked by sync window", 40 * time.Minute,
		},
		{"a manual one where it may", manual, asked(), "", "", 0},
		{
			"a manual one", everyApp("allow", "0 13 * * *", "1h"), asked(), "the sync waits until 2026-11-21T13:00:00Z",
			`Cannot sync: Blocked by sync window: sync window allow "0 13 * * *" of project shop is not active until 2026-11-21T13:00:00Z, ` +
				`and there is no earlier one; it waits until 2026-11-21T13:00:00Z; manualSync: true on the window lets it begin before`, time.Hour,
		},
		{"one of tomorrow is looked at before", everyApp("allow", "0 9 * * *", "1h"), asked(), "2026-11-22T09:00:00Z", "Cannot sync", time.Hour},
		{"one that never ends", everyApp("deny", "* * * * *", "1h"), automatic(), "automatic syncs wait; its project's sync windows have to be changed before", "Cannot sync", 0},
		{"one that is over", everyApp("deny", "0 11 * * *", "1h"), automatic(), "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := windowed(t, c.window).window(c.op)
			if h == nil {
				h = &Held{}
			}
			if (h.Condition.Message == "") != (c.message == "") || !strings.Contains(h.Condition.Message, c.message) ||
				!strings.HasPrefix(h.Refusal, c.refusal) || h.Retry != c.retry {
				t.Errorf("%+v", *h)
			}
			if c.message != "" && h.Condition.Type != v1alpha1.ConditionHeld {
				t.Errorf("type %q", h.Condition.Type)
			}
		})
	}
}

func TestASyncThatRunsGoesOnWhereItsWindowsLetIt(t *testing.T) {
	t.Parallel()
	lenient := everyApp("deny", "40 11 * * *", "1h")
	lenient.SyncOverrun = true
	state := &v1alpha1.OperationState{Operation: automatic(), StartedAt: metav1.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}
	if h := begunAt(windowed(t, lenient), state).overrun(state); h != nil {
		t.Errorf("%+v", *h)
	}
	if h := begunAt(windowed(t, everyApp("deny", "40 11 * * *", "1h")), state).overrun(state); h == nil {
		t.Error("it goes on in a window without syncOverrun")
	}
	state.StartedAt = metav1.Date(2026, 11, 21, 11, 50, 0, 0, time.UTC)
	if h := begunAt(windowed(t, lenient), state).overrun(state); h == nil {
		t.Error("one that began while it was forbidden goes on")
	}
}

// begunAt makes a run remember that it began an operation when a status says so.
func begunAt(r *run, state *v1alpha1.OperationState) *run {
	r.memory = &memory{underway: &underway{operation: state.Operation, started: state.StartedAt.Time, since: state.StartedAt.Time.Sub(time.Unix(0, 0))}}
	return r
}

func TestAStatusAloneDoesNotSayWhenASyncBegan(t *testing.T) {
	t.Parallel()
	lenient := everyApp("deny", "40 11 * * *", "1h")
	lenient.SyncOverrun = true
	state := &v1alpha1.OperationState{Operation: automatic(), StartedAt: metav1.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}
	if h := windowed(t, lenient).overrun(state); h == nil {
		t.Error("an owner who writes into the status passes the window")
	}
}

func TestADecisionStandsAsFarAsWindowsLetIt(t *testing.T) {
	t.Parallel()
	r := windowed(t, everyApp("deny", "40 11 * * *", "1h"))
	r.app.Status.OperationState = &v1alpha1.OperationState{Operation: asked(), StartedAt: metav1.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}
	for _, c := range []struct {
		name        string
		d           Decision
		goes, waits bool
		retry       time.Duration
	}{
		{"nothing to do", Decision{}, false, false, 0},
		{"an automatic sync does not begin", Decision{Go: true, Operation: automatic()}, false, false, 40 * time.Minute},
		{"one that is asked for waits", Decision{Go: true, Operation: asked()}, false, true, 40 * time.Minute},
		{"one that has begun waits", Decision{Go: true, Going: true, Operation: asked()}, false, true, 40 * time.Minute},
		{"an automatic one that has begun waits", Decision{Go: true, Going: true, Operation: automatic()}, false, true, 40 * time.Minute},
		{"one that is to end ends", Decision{Go: true, Going: true, Terminate: true, Operation: asked()}, true, false, 0},
	} {
		got := r.admit(c.d)
		if got.Go != c.goes || (got.Waits == blocked) != c.waits || got.Refused != "" || got.Retry != c.retry || (got.Condition != nil) != (c.retry > 0) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestARefusalOfWhatWasNotTriedIsNoAttempt(t *testing.T) {
	t.Parallel()
	state := &v1alpha1.OperationState{SyncResult: &v1alpha1.SyncOperationResult{Revision: "1"}}
	for _, why := range []string{outlived, invalid + "it is forbidden"} {
		state.SyncResult.Revision = "1"
		if phase := refusal(Decision{Refused: why}, state); phase != v1alpha1.OperationFailed || state.SyncResult.Revision != "" {
			t.Errorf("%s: %s, %+v", why, phase, state.SyncResult)
		}
	}
	state.SyncResult.Revision = "1"
	if phase := refusal(Decision{Refused: "it is not supported"}, state); phase != v1alpha1.OperationError || state.SyncResult.Revision != "1" {
		t.Errorf("%s, %+v", phase, state.SyncResult)
	}
}

func TestAManualSyncWaitsForItsWindow(t *testing.T) {
	t.Parallel()
	for name, going := range map[string]bool{"before it begins": false, "in the midst of it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			deny := func(windows ...v1alpha1.SyncWindow) {
				b.rules = permissive(t, func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = windows })
			}
			manual := everyApp("deny", "* * * * *", "1h")
			manual.ManualSync = true
			b.commit("r1", "["+configMap("a", "")+", {apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {argocd.argoproj.io/sync-wave: \"-1\"}}, "+
				"spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}}]")
			b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Username: "me"}}
			if going {
				if res := b.turn(); res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning {
					t.Fatalf("%+v", res.Operation)
				}
			}
			deny(everyApp("deny", "* * * * *", "1h"), manual) // one of them denies it
			var before *v1alpha1.OperationState
			for range 2 {
				res := b.turn()
				op := res.Operation
				if op == nil || op.Phase != v1alpha1.OperationRunning || op.FinishedAt != nil || !strings.HasPrefix(op.Message, "Sync operation blocked by sync window") {
					t.Fatalf("%+v", op)
				}
				if told := condition(res, v1alpha1.ConditionHeld); !strings.Contains(told, "the sync waits") {
					t.Errorf("%q", told)
				}
				if before != nil && op.StartedAt.Unix() != before.StartedAt.Unix() || going != (len(op.SyncResult.Resources) > 0) {
					t.Errorf("%+v, then %+v", before, op)
				}
				before = op
			}
			if b.has("a") {
				t.Error("it was synced")
			}
			deny(manual)
			if res := b.turn(); going && !strings.HasPrefix(res.Operation.Message, "waiting for") || !going && res.Operation.Phase != v1alpha1.OperationRunning ||
				condition(res, v1alpha1.ConditionHeld) != "" {
				t.Errorf("%+v, %+v", res.Operation, res.Conditions)
			}
			if _, there, _ := b.target.Live.Get(object.Key{Group: "batch", Kind: "Job", Namespace: b.app.Spec.Destination.Namespace, Name: "j"}); !there {
				t.Error("it does not go on when no window denies it")
			}
		})
	}
}

func TestWithoutAProjectThereAreNoWindows(t *testing.T) {
	t.Parallel()
	r := windowed(t)
	r.grant.rules = nil
	if h := r.window(automatic()); h != nil {
		t.Errorf("%+v", *h)
	}
}

func TestAnInvalidProjectIsToldOnItsApplications(t *testing.T) {
	t.Parallel()
	r := windowed(t)
	r.warnProject()
	if len(r.conditions) != 1 || r.conditions[0].Type != v1alpha1.ConditionProject || !strings.Contains(r.conditions[0].Message, `project "shop": role "-"`) {
		t.Errorf("%+v", r.conditions)
	}
}
