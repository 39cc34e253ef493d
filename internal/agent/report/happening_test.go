package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/damp"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// declaredEvents are the types of events that the protocol names.
func declaredEvents(t *testing.T) []agentapi.EventType {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/agentapi/state.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []agentapi.EventType
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "EventType" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, agentapi.EventType(text))
		return true
	})
	return out
}

// standing is an Application that deployed revision "new", and was compared with it.
func standing(sync v1alpha1.SyncStatusCode, health v1alpha1.HealthStatusCode, change func(*v1alpha1.Application)) *v1alpha1.Application {
	app := operated(2, v1alpha1.OperationSucceeded, nil)
	app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{}}
	app.Status.Sync.Status, app.Status.Sync.Revision, app.Status.Health.Status = sync, "new", health
	app.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "shop", Name: "web", Status: sync, Health: &v1alpha1.HealthStatus{Status: health, Message: "it is so"}}}
	if change != nil {
		change(app)
	}
	return app
}

// condition adds a condition.
func conditioned(kind v1alpha1.ConditionType, message string) func(*v1alpha1.Application) {
	return func(app *v1alpha1.Application) {
		app.Status.Conditions = append(app.Status.Conditions, v1alpha1.ApplicationCondition{Type: kind, Message: message})
	}
}

// repaired has an operation that puts drift back, in a phase.
func repaired(phase v1alpha1.OperationPhase, op v1alpha1.Operation) func(*v1alpha1.Application) {
	return func(app *v1alpha1.Application) {
		app.Status.OperationState = operated(3, phase, func(o *v1alpha1.OperationState) {
			o.Operation = op
			o.SyncResult.Resources = []v1alpha1.ResourceResult{{Kind: "ConfigMap", Namespace: "shop", Name: "web"}}
		}).Status.OperationState
	}
}

func healing() v1alpha1.Operation {
	return v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{AutoHealAttemptsCount: 1}, InitiatedBy: v1alpha1.OperationInitiator{Automated: true}}
}

func reverting() v1alpha1.Operation {
	return v1alpha1.Operation{
		Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Username: "user:ann"},
		Info: []v1alpha1.Info{{Name: operate.RequestInfo, Value: "c1"}, {Name: v1alpha1.InfoRevert, Value: "true"}},
	}
}

// happeningCases are changes of an Application, and what is told of them: "type by user: part of the message", where auto stands
// for nobody.
func happeningCases() map[string]struct {
	steps []*v1alpha1.Application // nil at the end: it is gone
	want  []string
} {
	const synced, out, healthy, degraded = v1alpha1.SyncStatusSynced, v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, v1alpha1.HealthDegraded
	const running, done, failed = v1alpha1.OperationRunning, v1alpha1.OperationSucceeded, v1alpha1.OperationFailed
	type apps = []*v1alpha1.Application
	now := metav1.NewTime(time.Now())
	leaving := func(app *v1alpha1.Application) { app.DeletionTimestamp = &now }
	return map[string]struct {
		steps []*v1alpha1.Application
		want  []string
	}{
		"nothing":                     {apps{standing(synced, healthy, nil), standing(synced, healthy, nil)}, nil},
		"drift that nobody puts back": {apps{standing(synced, healthy, nil), standing(out, healthy, nil)}, []string{"drift.found by auto: ConfigMap shop/web"}},
		"drift after a commit that changed nothing": {apps{standing(synced, healthy, nil), standing(out, healthy, func(app *v1alpha1.Application) {
			app.Status.Sync.Revision = "newer"
		})}, []string{"drift.found by auto: ConfigMap shop/web"}},
		"a commit that waits": {apps{standing(synced, healthy, nil), standing(out, healthy, func(app *v1alpha1.Application) {
			app.Status.Sync.Revision = "newer"
			conditioned(v1alpha1.ConditionHeld, "a window")(app)
		})}, []string{"sync.held by auto: a window"}},
		"a commit without automated sync": {apps{standing(synced, healthy, nil), standing(out, healthy, func(app *v1alpha1.Application) {
			app.Status.Sync.Revision, app.Spec.SyncPolicy = "newer", nil
			app.Generation = 0
		})}, nil},
		"another specification": {apps{standing(synced, healthy, nil), standing(out, healthy, func(app *v1alpha1.Application) { app.Generation = 2 })}, nil},
		"drift that heals": {
			apps{standing(synced, healthy, nil), standing(synced, healthy, repaired(running, healing())), standing(synced, healthy, repaired(done, healing()))},
			[]string{"sync.started by auto: ", "drift.found by auto: ConfigMap shop/web", "sync.finished by auto: ", "drift.reverted by auto: ConfigMap shop/web"},
		},
		"drift that heals between two looks": {
			apps{standing(synced, healthy, nil), standing(synced, healthy, repaired(done, healing()))},
			[]string{"sync.started by auto: ", "sync.finished by auto: ", "drift.found by auto: ConfigMap shop/web", "drift.reverted by auto: ConfigMap shop/web"},
		},
		"drift that somebody puts back": {
			apps{standing(out, healthy, nil), standing(out, healthy, repaired(running, reverting())), standing(synced, healthy, repaired(done, reverting()))},
			[]string{"sync.started by user:ann: ", "sync.finished by user:ann: ", "drift.reverted by user:ann: ConfigMap shop/web"},
		},
		"a repair that fails": {
			apps{standing(out, healthy, nil), standing(out, healthy, repaired(failed, reverting()))},
			[]string{"sync.started by user:ann: ", "sync.finished by user:ann: ", "drift.reverted by user:ann: "},
		},
		"drift that goes by itself": {apps{standing(out, healthy, nil), standing(synced, healthy, nil)}, []string{"drift.reverted by auto: without a sync"}},
		"a sync that is held, with words that change": {
			apps{standing(out, healthy, nil), standing(out, healthy, conditioned(v1alpha1.ConditionHeld, "held: 2")), standing(out, healthy, conditioned(v1alpha1.ConditionHeld, "held: 3"))},
			[]string{"sync.held by auto: held: 2"},
		},
		"a deletion that is held": {
			apps{standing(synced, healthy, leaving), standing(synced, healthy, conditioned(v1alpha1.ConditionDeletionError, "held: nothing was deleted"))},
			[]string{"sync.held by auto: held: nothing was deleted"},
		},
		"it becomes degraded and recovers": {
			apps{standing(synced, healthy, nil), standing(synced, v1alpha1.HealthProgressing, nil), standing(synced, degraded, nil), standing(synced, v1alpha1.HealthUnknown, nil), standing(synced, healthy, nil)},
			[]string{"health.changed by auto: Degraded, was Healthy: ConfigMap shop/web: it is so", "health.changed by auto: Healthy, was Degraded"},
		},
		"it rolls out": {apps{standing(synced, healthy, nil), standing(synced, v1alpha1.HealthProgressing, nil), standing(synced, healthy, nil)}, nil},
		"it is deleted by somebody": {apps{standing(synced, healthy, func(app *v1alpha1.Application) {
			leaving(app)
			app.Annotations = map[string]string{v1alpha1.AnnotationDeletedBy: `{"by":"user:ann","request":"c1","reason":"moved","at":"` + now.UTC().Format(time.RFC3339) + `"}`}
			conditioned(v1alpha1.ConditionKept, "1 object stays")(app)
		}), nil}, []string{"deleted by user:ann: the application is gone; 1 object stays"}},
		"it is deleted by whom is not known": {apps{standing(synced, healthy, func(app *v1alpha1.Application) {
			leaving(app)
			app.Annotations = map[string]string{v1alpha1.AnnotationDeletedBy: `{"by":"user:ann","at":"2020-01-01T00:00:00Z"}`}
		}), nil}, []string{"deleted by auto: the application is gone"}},
		"automated sync carries a rollback out": {apps{standing(synced, healthy, nil), standing(synced, healthy, repaired(done, v1alpha1.Operation{
			Sync: &v1alpha1.SyncOperation{}, InitiatedBy: v1alpha1.OperationInitiator{Automated: true, Username: "user:ann"},
			Info: []v1alpha1.Info{{Name: v1alpha1.InfoRollback, Value: "true"}, {Name: v1alpha1.InfoRequest, Value: "c1"}},
		}))}, []string{"sync.started by user:ann: ", "sync.finished by user:ann: "}},
	}
}

func TestWhatHappensToAnApplicationIsReportedOnce(t *testing.T) {
	t.Parallel()
	for what, c := range happeningCases() {
		h := newHappenings(nil, operate.DeletedBy)
		h.between(nil, c.steps[0])
		var got []string
		ids := map[string]bool{}
		for i, fresh := range c.steps[1:] {
			for _, e := range h.between(c.steps[i], fresh) {
				by := e.User
				if e.Automatic {
					by = "auto"
				}
				got = append(got, string(e.Type)+" by "+by+": "+e.Message)
				if ids[e.ID] || e.ID == "" || e.At.IsZero() || e.Target.Name != "web" {
					t.Errorf("%s: %+v has the id of another event, or lacks something", what, e)
				}
				ids[e.ID] = true
			}
		}
		alike := slices.EqualFunc(got, c.want, func(got, want string) bool {
			head, tail, _ := strings.Cut(want, ": ")
			return strings.HasPrefix(got, head+": ") && strings.Contains(got, tail)
		})
		if !alike {
			t.Errorf("%s: reported %q, want %q", what, got, c.want)
		}
	}
}

func TestEveryTypeOfEventsIsSent(t *testing.T) {
	t.Parallel()
	sent := map[string]bool{string(agentapi.EventLost): true} // by the link itself: TestTooManyEventsAreCountedAndTold
	for _, c := range happeningCases() {
		for _, w := range c.want {
			kind, _, _ := strings.Cut(w, " ")
			sent[kind] = true
		}
	}
	for _, kind := range declaredEvents(t) {
		if !sent[string(kind)] {
			t.Errorf("events of type %s are declared, and nothing sends one", kind)
		}
		delete(sent, string(kind))
	}
	if len(sent) > 0 {
		t.Errorf("these types are sent and not declared: %v", sent)
	}
}

func TestWhatRepeatsEachSecondIsReportedOnceInAWhileWithItsNumber(t *testing.T) {
	t.Parallel()
	const synced, out, healthy, degraded = v1alpha1.SyncStatusSynced, v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, v1alpha1.HealthDegraded
	heals := func(i int) *v1alpha1.Application {
		return standing(synced, healthy, func(app *v1alpha1.Application) {
			repaired(v1alpha1.OperationSucceeded, healing())(app)
			at := metav1.NewTime(time.Now().Add(time.Duration(i) * time.Second))
			app.Status.OperationState.StartedAt, app.Status.OperationState.FinishedAt = at, &at
		})
	}
	for what, c := range map[string]struct {
		at   func(i int) *v1alpha1.Application
		want []agentapi.EventType // in one window
	}{
		"drift that self-heal puts back": {heals, []agentapi.EventType{
			agentapi.EventSyncStarted, agentapi.EventSyncFinished, agentapi.EventDrift, agentapi.EventDriftReverted,
		}},
		"drift that comes and goes": {func(i int) *v1alpha1.Application {
			app := standing([]v1alpha1.SyncStatusCode{out, synced}[i%2], healthy, nil)
			app.ResourceVersion = strconv.Itoa(i)
			return app
		}, []agentapi.EventType{agentapi.EventDrift, agentapi.EventDriftReverted}},
		"health that changes": {func(i int) *v1alpha1.Application {
			return standing(synced, []v1alpha1.HealthStatusCode{degraded, healthy}[i%2], nil)
		}, []agentapi.EventType{agentapi.EventHealth, agentapi.EventHealth}},
		"a hold that comes and goes": {func(i int) *v1alpha1.Application {
			return standing(synced, healthy, func(app *v1alpha1.Application) {
				if i%2 == 0 {
					conditioned(v1alpha1.ConditionHeld, "held: "+strconv.Itoa(i))(app)
				}
			})
		}, []agentapi.EventType{agentapi.EventHeld}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var got []agentapi.Event
				h := newHappenings(func(e agentapi.Event) {
					mu.Lock()
					defer mu.Unlock()
					got = append(got, e)
				}, operate.DeletedBy)
				before := standing(synced, healthy, nil)
				h.moved(nil, before)
				got = nil // the operation that it had
				const times = 290
				for i := range times {
					fresh := c.at(i)
					h.moved(before, fresh)
					before = fresh
					<-time.After(time.Second)
				}
				if len(got) != len(c.want) {
					t.Errorf("%d events within the window, want %v", len(got), c.want)
				}
				<-time.After(2 * dampWindow)
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if len(got) > 2*len(c.want) {
					t.Fatalf("%d events in all", len(got))
				}
				for _, kind := range c.want {
					last := got[len(got)-1-slices.IndexFunc(reversed(got), func(e agentapi.Event) bool { return e.Type == kind })]
					if !strings.Contains(last.Message, " more since ") {
						t.Errorf("%s: the last says %q, and not for how many it stands", kind, last.Message)
					}
				}
			})
		})
	}
}

func reversed(list []agentapi.Event) []agentapi.Event {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

func TestWhatAPersonAskedForIsNeverHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		h := newHappenings(func(agentapi.Event) { sent++ }, operate.DeletedBy)
		before := standing(v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, nil)
		h.moved(nil, before)
		sent = 0
		for range 5 {
			<-time.After(time.Second)
			fresh := standing(v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, func(app *v1alpha1.Application) {
				repaired(v1alpha1.OperationSucceeded, reverting())(app)
				at := metav1.NewTime(time.Now())
				app.Status.OperationState.StartedAt, app.Status.OperationState.FinishedAt = at, &at
			})
			h.moved(before, fresh)
			before = fresh
		}
		if sent != 15 { // beginning, end and repair, each time
			t.Errorf("%d events of 5 repairs that somebody asked for", sent)
		}
	})
}

func TestManyRepairsAreOneEntryOfTheLedger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		l, id := &Ledger{repairs: damp.New[registry.Name](dampWindow)}, registry.Name{Namespace: "argocd", Name: "web"}
		ended := func(what string, automatic, repair bool) {
			d := &api.LedgerDetail{LedgerEntry: api.LedgerEntry{
				Automatic: automatic, Options: &api.LedgerOptions{Repair: repair}, Phase: string(v1alpha1.OperationSucceeded),
			}}
			l.keep(id, d, func() {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, what+" +"+strconv.Itoa(d.Repeats))
			})
		}
		for i := range 100 {
			ended("repair "+strconv.Itoa(i), true, true)
			<-time.After(time.Second)
		}
		ended("sync", true, false)
		ended("repair", true, true)
		ended("asked", false, true)
		<-time.After(2 * dampWindow)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := []string{"repair 0 +0", "repair 99 +98", "sync +0", "repair +0", "asked +0"}
		if !slices.Equal(got, want) {
			t.Errorf("entries %q, want %q", got, want)
		}
	})
}
