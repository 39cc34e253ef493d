package agent

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// book is a registry with what it queued and dropped.
type book struct {
	*registry
	queued, gone []string
}

func newBook() *book {
	b := &book{}
	b.registry = newRegistry("argocd", func(id name) { b.queued = append(b.queued, id.String()) },
		func(app *v1alpha1.Application) { b.gone = append(b.gone, app.Name) })
	return b
}

func version(n int, change func(*v1alpha1.Application)) *v1alpha1.Application {
	app := settled()
	app.ObjectMeta = metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: "1", ResourceVersion: strconv.Itoa(n)}
	if change != nil {
		change(app)
	}
	return app
}

func TestAnApplicationIsQueuedForWhatConcernsTheAgent(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	tests := []struct {
		name   string
		change func(*v1alpha1.Application)
		queued bool
	}{
		{"our own status", func(a *v1alpha1.Application) { a.Status.Sync.Status = v1alpha1.SyncStatusOutOfSync }, false},
		{"a label", func(a *v1alpha1.Application) { a.Labels = map[string]string{"a": "b"} }, false},
		{"the specification", func(a *v1alpha1.Application) { a.Spec.Source.Path = "other" }, true},
		{"a refresh", func(a *v1alpha1.Application) { a.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal"} }, true},
		{"an operation", func(a *v1alpha1.Application) { a.Operation = &v1alpha1.Operation{} }, true},
		{"a deletion", func(a *v1alpha1.Application) { a.DeletionTimestamp = &now }, true},
		{"another Application of that name", func(a *v1alpha1.Application) { a.UID = types.UID("2") }, true},
		{"an older version", func(a *v1alpha1.Application) { a.ResourceVersion, a.Spec.Source.Path = "1", "other" }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBook()
			b.seen(version(5, nil), nil)
			b.queued = nil
			b.seen(version(6, test.change), nil)
			if queued := len(b.queued) > 0; queued != test.queued {
				t.Errorf("queued: %t, want %t", queued, test.queued)
			}
		})
	}
}

func TestARefreshThatIsAskedForDuringAnotherIsAnsweredToo(t *testing.T) {
	t.Parallel()
	b, id := newBook(), name{Namespace: "argocd", Name: "web"}
	asks := func(at string) func(*v1alpha1.Application) {
		return func(a *v1alpha1.Application) {
			a.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal", v1alpha1.AnnotationRefreshTimestamp: at}
		}
	}
	b.seen(version(5, nil), nil)
	b.seen(version(6, asks("2026-01-02T03:04:05Z")), nil)
	first, _ := b.take(id) // its turn looks at Git
	b.queued = nil
	b.seen(version(7, asks("2026-01-02T03:04:06Z")), nil)
	b.seen(version(8, func(a *v1alpha1.Application) { // the turn answers
		a.Annotations = map[string]string{v1alpha1.AnnotationRefreshTimestamp: "2026-01-02T03:04:06Z"}
	}), nil)
	if len(b.queued) != 1 {
		t.Errorf("queued: %v", b.queued)
	}
	if second, _ := b.take(id); !second.asked.since.After(first.asked.since) {
		t.Errorf("the next turn counts what Git said after %s, and the first one asked at %s", second.asked.since, first.asked.since)
	}
}

func TestALateAnswerBringsNoApplicationBack(t *testing.T) {
	t.Parallel()
	b := newBook()
	id := name{Namespace: "argocd", Name: "web"}
	b.seen(version(5, nil), nil)
	b.answered(version(6, nil), nil)
	if e, _ := b.take(id); e.version != 6 {
		t.Errorf("after the answer to a write it is known at version %d", e.version)
	}
	b.removed(id)
	b.answered(version(7, nil), nil)
	if b.size() != 0 {
		t.Error("one that is gone is there again")
	}
	b.seen(version(9, func(a *v1alpha1.Application) { a.UID = "2" }), nil)
	b.answered(version(7, nil), nil)
	if app, _ := b.get(id); app == nil || app.UID != "2" {
		t.Errorf("one that was made anew is forgotten for %v", app)
	}
}

func TestWhatIsAskedIsForTheNextTurnAlone(t *testing.T) {
	t.Parallel()
	b := newBook()
	id := name{Namespace: "argocd", Name: "web"}
	b.seen(version(5, nil), nil)
	b.ask(id, ask{since: time.Now()}, true)
	b.seen(version(6, nil), nil) // a write of ours in between loses nothing
	if e, ok := b.take(id); !ok || e.asked.since.IsZero() {
		t.Errorf("the wish is lost: %+v", e.asked)
	}
	if e, _ := b.take(id); !e.asked.since.IsZero() {
		t.Error("the wish is there twice")
	}
	b.postpone(id, time.Now().Add(time.Hour))
	b.seen(version(7, nil), nil)
	if e, _ := b.take(id); e.due.IsZero() {
		t.Error("a write of ours ends the wait before the next attempt")
	}
	b.seen(version(8, func(a *v1alpha1.Application) { a.Spec.Source.Path = "other" }), nil)
	if e, _ := b.take(id); !e.due.IsZero() {
		t.Error("a changed specification waits for the next attempt of the old one")
	}
}

func TestApplicationsThatAreNotListedAreGone(t *testing.T) {
	t.Parallel()
	b := newBook()
	for _, id := range []name{{Namespace: "argocd", Name: "a"}, {Namespace: "argocd", Name: "b"}, {Namespace: "team", Name: "a"}} {
		b.seen(version(5, func(app *v1alpha1.Application) { app.Namespace, app.Name = id.Namespace, id.Name }), nil)
	}
	if _, ok := b.byInstance("team_a"); !ok {
		t.Error("an Application of another namespace is not found by its instance name")
	}
	b.keep("argocd", map[name]bool{{Namespace: "argocd", Name: "a"}: true})
	if d := cmp.Diff([]string{"b"}, b.gone); d != "" || b.size() != 2 {
		t.Errorf("%d left, gone (-want +got):\n%s", b.size(), d)
	}
	if _, ok := b.byInstance("b"); ok {
		t.Error("an Application that is gone is found by its instance name")
	}
}

func TestAnOperationThatIsHeldIsPartOfTheNextView(t *testing.T) {
	t.Parallel()
	finished := metav1.Now()
	app := &v1alpha1.Application{}
	u := &untold{operation: &v1alpha1.OperationState{
		Phase: v1alpha1.OperationSucceeded, FinishedAt: &finished,
		Operation:  v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}},
		SyncResult: &v1alpha1.SyncOperationResult{Revision: "abc"},
	}}
	seen := view(app, u)
	if seen.Status.OperationState != u.operation || len(seen.Status.History) != 1 || seen.Status.History[0].Revision != "abc" {
		t.Errorf("view() = %+v", seen.Status)
	}
	if app.Status.OperationState != nil || len(app.Status.History) != 0 {
		t.Error("the Application itself was changed")
	}
	if view(app, nil) != app {
		t.Error("with nothing untold the view is the Application")
	}
}
