package decide

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// windowed is a case at noon of an Application whose project has these windows.
func windowed(t *testing.T, windows ...v1alpha1.SyncWindow) Case {
	t.Helper()
	p := &v1alpha1.AppProject{}
	p.Name = "shop"
	p.Spec.SyncWindows = windows
	rules, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	app.Name = "web"
	return Case{App: app, Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Gates: Gates{Windows: rules.Windows(project.AppFacts{Name: "web"})}}
}

// mayGoOn asks the windows of a case about an operation that this process began at a moment; the zero time for another process.
func mayGoOn(c Case, state *v1alpha1.OperationState, began time.Time) *Hold {
	if !began.IsZero() {
		c.Running = &Running{Operation: state.Operation, Began: began}
	}
	m := decision{Case: c}
	return m.overrun(state)
}

func asked() v1alpha1.Operation {
	return v1alpha1.Operation{InitiatedBy: v1alpha1.OperationInitiator{Username: "me"}}
}

func everyApp(kind, schedule, duration string) v1alpha1.SyncWindow {
	return v1alpha1.SyncWindow{Kind: kind, Schedule: schedule, Duration: duration, Applications: []string{"*"}}
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
			in := windowed(t, c.window)
			h := Window(in.Gates.Windows, c.op, in.Now)
			if h == nil {
				h = &Hold{}
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
	if h := mayGoOn(windowed(t, lenient), state, state.StartedAt.Time); h != nil {
		t.Errorf("%+v", *h)
	}
	if h := mayGoOn(windowed(t, everyApp("deny", "40 11 * * *", "1h")), state, state.StartedAt.Time); h == nil {
		t.Error("it goes on in a window without syncOverrun")
	}
	state.StartedAt = metav1.Date(2026, 11, 21, 11, 50, 0, 0, time.UTC)
	if h := mayGoOn(windowed(t, lenient), state, state.StartedAt.Time); h == nil {
		t.Error("one that began while it was forbidden goes on")
	}
}

func TestAStatusAloneDoesNotSayWhenASyncBegan(t *testing.T) {
	t.Parallel()
	lenient := everyApp("deny", "40 11 * * *", "1h")
	lenient.SyncOverrun = true
	state := &v1alpha1.OperationState{Operation: automatic(), StartedAt: metav1.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}
	if h := mayGoOn(windowed(t, lenient), state, time.Time{}); h == nil {
		t.Error("an owner who writes into the status passes the window")
	}
}

func TestADecisionStandsAsFarAsWindowsLetIt(t *testing.T) {
	t.Parallel()
	in := windowed(t, everyApp("deny", "40 11 * * *", "1h"))
	in.App.Status.OperationState = &v1alpha1.OperationState{Operation: asked(), StartedAt: metav1.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC)}
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
		m := decision{Case: in}
		got := m.admit(c.d)
		if got.Go != c.goes || (got.Waits == blocked) != c.waits || got.Refused != "" || got.Retry != c.retry || (got.Condition != nil) != (c.retry > 0) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestARefusalOfWhatWasNotTriedIsNoAttempt(t *testing.T) {
	t.Parallel()
	for why, want := range map[string]bool{outlived: false, invalid + "it is forbidden": false, "it is not supported": true} {
		phase, tried := Decision{Refused: why}.Refusal()
		if tried != want || (phase == v1alpha1.OperationError) != want {
			t.Errorf("%s: %s, tried %t", why, phase, tried)
		}
	}
}

func TestWithoutAProjectThereAreNoWindows(t *testing.T) {
	t.Parallel()
	if h := Window(project.Windows{}, automatic(), time.Now()); h != nil {
		t.Errorf("%+v", *h)
	}
}

func TestWindowsAreAskedByTheClockAsItIsNow(t *testing.T) {
	t.Parallel()
	lenient := everyApp("deny", "40 11 * * *", "1h") // it is 12:00
	lenient.SyncOverrun = true
	for _, c := range []struct {
		name  string
		says  time.Time     // the status, of the start
		began time.Duration // ago
		held  bool
	}{
		{"it began before the window", time.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC), 30 * time.Minute, false},
		{"it began before the window, when the clock was a year ahead", time.Date(2027, 11, 21, 11, 50, 0, 0, time.UTC), 30 * time.Minute, false},
		{"it began in the window, when the clock said another time", time.Date(2026, 11, 21, 11, 30, 0, 0, time.UTC), 5 * time.Minute, true},
		{"it began in the window, when the clock was a year ahead", time.Date(2027, 11, 21, 11, 30, 0, 0, time.UTC), 5 * time.Minute, true},
	} {
		in := windowed(t, lenient)
		state := &v1alpha1.OperationState{Operation: automatic(), StartedAt: metav1.NewTime(c.says)}
		if h := mayGoOn(in, state, in.Now.Add(-c.began)); (h != nil) != c.held {
			t.Errorf("%s: held is %v, want %v: %+v", c.name, h != nil, c.held, h)
		}
	}
}
