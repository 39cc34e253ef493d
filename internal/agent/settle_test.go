package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
)

// waitingOperation is an operation under way with some hooks that have begun.
func waitingOperation(hooks ...string) *v1alpha1.OperationState {
	o := &v1alpha1.OperationState{
		Phase: v1alpha1.OperationRunning, StartedAt: metav1.NewTime(time.Unix(1000, 0)), SyncResult: &v1alpha1.SyncOperationResult{},
	}
	for _, h := range hooks {
		o.SyncResult.Resources = append(o.SyncResult.Resources, v1alpha1.ResourceResult{
			Kind: "Job", Name: h, HookType: v1alpha1.HookSync, HookPhase: v1alpha1.OperationRunning, SyncPhase: v1alpha1.PhaseSync,
		})
	}
	return o
}

func TestWordsAboutAnOperationAreAsFarApartAsTheyAreDear(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		told, took time.Duration // since then; of the last write
		known, now *v1alpha1.OperationState
		change     func(*v1alpha1.Application, *engine.Result)
		want       bool // it waits
	}{
		{name: "told just now", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(), want: true},
		{name: "told before the window", told: 2 * time.Second, known: waitingOperation(), now: waitingOperation()},
		{name: "the last word was dear", told: 2 * time.Second, took: time.Second, known: waitingOperation(), now: waitingOperation(), want: true},
		{name: "it was dear, and long ago", told: 11 * time.Second, took: time.Second, known: waitingOperation(), now: waitingOperation()},
		{name: "never told", told: 1000 * time.Hour, now: waitingOperation()},
		{name: "the operation is new", told: 100 * time.Millisecond, now: waitingOperation(), want: true},
		{name: "a hook has begun", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a", "b")},
		{name: "a hook is as it was", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a"), want: true},
		{
			name: "a hook of an earlier operation", told: 100 * time.Millisecond, known: waitingOperation("a"), now: waitingOperation("a"),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Status.OperationState.StartedAt = metav1.NewTime(time.Unix(900, 0))
			},
		},
		{
			name: "its end is asked for", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Status.OperationState.Phase = v1alpha1.OperationTerminating
			},
		},
		{
			name: "somebody asks for a refresh", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(app *v1alpha1.Application, _ *engine.Result) {
				app.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal"}
			},
		},
		{
			name: "it waits for its next attempt", told: 100 * time.Millisecond, known: waitingOperation(), now: waitingOperation(),
			change: func(_ *v1alpha1.Application, res *engine.Result) { res.Retry = time.Minute },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := &turner{queue: registry.NewQueue(nil), registry: registry.New("argocd", func(registry.Name) {}, func(*v1alpha1.Application) {})}
			defer a.queue.Close()
			app := &v1alpha1.Application{}
			app.Namespace, app.Name, app.ResourceVersion = "argocd", "web", "1"
			app.Status.OperationState = test.known
			res := engine.Result{Operation: test.now}
			if test.change != nil {
				test.change(app, &res)
			}
			a.registry.Seen(app, nil)
			id := registry.Name{Namespace: "argocd", Name: "web"}
			now := time.Unix(2000, 0)
			a.registry.Wrote(id, now.Add(-test.told), test.took)
			e, _ := a.registry.Take(id)
			if got := a.settles(id, e, res, now); got != test.want {
				t.Errorf("settles() = %v", got)
			}
			after, _ := a.registry.Take(id)
			if seen := registry.View(app, after.Unreported); test.want && seen.Status.OperationState != test.now {
				t.Error("the next turn does not build on the operation")
			}
		})
	}
}
