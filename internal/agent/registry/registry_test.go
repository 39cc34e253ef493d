package registry

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
	*Registry
	queued, gone []string
}

func newBook() *book {
	b := &book{}
	b.Registry = New("argocd", func(id Name) { b.queued = append(b.queued, id.String()) },
		func(app *v1alpha1.Application) { b.gone = append(b.gone, app.Name) })
	return b
}

func version(n int, change func(*v1alpha1.Application)) *v1alpha1.Application {
	app := &v1alpha1.Application{Spec: v1alpha1.ApplicationSpec{Source: &v1alpha1.ApplicationSource{RepoURL: "https://git.example/shop", Path: "web"}}}
	app.Status.Sync.Status = v1alpha1.SyncStatusSynced
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
			b.Seen(version(5, nil), nil)
			b.queued = nil
			b.Seen(version(6, test.change), nil)
			if queued := len(b.queued) > 0; queued != test.queued {
				t.Errorf("queued: %t, want %t", queued, test.queued)
			}
		})
	}
}

func TestARefreshThatIsAskedForDuringAnotherIsAnsweredToo(t *testing.T) {
	t.Parallel()
	b, id := newBook(), Name{Namespace: "argocd", Name: "web"}
	asks := func(at string) func(*v1alpha1.Application) {
		return func(a *v1alpha1.Application) {
			a.Annotations = map[string]string{v1alpha1.AnnotationRefresh: "normal", v1alpha1.AnnotationRefreshTimestamp: at}
		}
	}
	b.Seen(version(5, nil), nil)
	b.Seen(version(6, asks("2026-01-02T03:04:05Z")), nil)
	first, _ := b.Take(id) // its turn looks at Git
	b.queued = nil
	b.Seen(version(7, asks("2026-01-02T03:04:06Z")), nil)
	b.Seen(version(8, func(a *v1alpha1.Application) { // the turn answers
		a.Annotations = map[string]string{v1alpha1.AnnotationRefreshTimestamp: "2026-01-02T03:04:06Z"}
	}), nil)
	if len(b.queued) != 1 {
		t.Errorf("queued: %v", b.queued)
	}
	if second, _ := b.Take(id); !second.Asked.Since.After(first.Asked.Since) {
		t.Errorf("the next turn counts what Git said after %s, and the first one asked at %s", second.Asked.Since, first.Asked.Since)
	}
}

func TestALateAnswerBringsNoApplicationBack(t *testing.T) {
	t.Parallel()
	b := newBook()
	id := Name{Namespace: "argocd", Name: "web"}
	b.Seen(version(5, nil), nil)
	b.Answered(version(6, nil), nil)
	if e, _ := b.Take(id); e.version != 6 {
		t.Errorf("after the answer to a write it is known at version %d", e.version)
	}
	b.Removed(id)
	b.Answered(version(7, nil), nil)
	if b.Size() != 0 {
		t.Error("one that is gone is there again")
	}
	b.Seen(version(9, func(a *v1alpha1.Application) { a.UID = "2" }), nil)
	b.Answered(version(7, nil), nil)
	if app, _ := b.Get(id); app == nil || app.UID != "2" {
		t.Errorf("one that was made anew is forgotten for %v", app)
	}
}

func TestWhatIsAskedIsForTheNextTurnAlone(t *testing.T) {
	t.Parallel()
	b := newBook()
	id := Name{Namespace: "argocd", Name: "web"}
	b.Seen(version(5, nil), nil)
	b.Ask(id, Ask{Since: time.Now()}, true)
	b.Seen(version(6, nil), nil) // a write of ours in between loses nothing
	if e, ok := b.Take(id); !ok || e.Asked.Since.IsZero() {
		t.Errorf("the wish is lost: %+v", e.Asked)
	}
	if e, _ := b.Take(id); !e.Asked.Since.IsZero() {
		t.Error("the wish is there twice")
	}
	b.Postpone(id, time.Now().Add(time.Hour))
	b.Seen(version(7, nil), nil)
	if e, _ := b.Take(id); e.Due.IsZero() {
		t.Error("a write of ours ends the wait before the next attempt")
	}
	b.Seen(version(8, func(a *v1alpha1.Application) { a.Spec.Source.Path = "other" }), nil)
	if e, _ := b.Take(id); !e.Due.IsZero() {
		t.Error("a changed specification waits for the next attempt of the old one")
	}
}

func TestApplicationsThatAreNotListedAreGone(t *testing.T) {
	t.Parallel()
	b := newBook()
	for _, id := range []Name{{Namespace: "argocd", Name: "a"}, {Namespace: "argocd", Name: "b"}, {Namespace: "team", Name: "a"}} {
		b.Seen(version(5, func(app *v1alpha1.Application) { app.Namespace, app.Name = id.Namespace, id.Name }), nil)
	}
	if _, ok := b.ByInstance("team_a"); !ok {
		t.Error("an Application of another namespace is not found by its instance name")
	}
	b.keep("argocd", map[Name]bool{{Namespace: "argocd", Name: "a"}: true})
	if d := cmp.Diff([]string{"b"}, b.gone); d != "" || b.Size() != 2 {
		t.Errorf("%d left, gone (-want +got):\n%s", b.Size(), d)
	}
	if _, ok := b.ByInstance("b"); ok {
		t.Error("an Application that is gone is found by its instance name")
	}
}

func TestAnOperationThatIsHeldIsPartOfTheNextView(t *testing.T) {
	t.Parallel()
	finished := metav1.Now()
	app := &v1alpha1.Application{}
	u := &Unreported{Operation: &v1alpha1.OperationState{
		Phase: v1alpha1.OperationSucceeded, FinishedAt: &finished,
		Operation:  v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}},
		SyncResult: &v1alpha1.SyncOperationResult{Revision: "abc"},
	}}
	seen := View(app, u)
	if seen.Status.OperationState != u.Operation || len(seen.Status.History) != 1 || seen.Status.History[0].Revision != "abc" {
		t.Errorf("View() = %+v", seen.Status)
	}
	if app.Status.OperationState != nil || len(app.Status.History) != 0 {
		t.Error("the Application itself was changed")
	}
	if View(app, nil) != app {
		t.Error("with nothing unreported, the view is the Application")
	}
}

func TestTheWishToEndAnOperationIsSeenThoughMoreIsUntold(t *testing.T) {
	t.Parallel()
	app := &v1alpha1.Application{}
	app.Status.OperationState = &v1alpha1.OperationState{Phase: v1alpha1.OperationTerminating}
	if seen := View(app, &Unreported{Operation: &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning}}); seen.Status.OperationState.Phase != v1alpha1.OperationTerminating {
		t.Errorf("the operation is %s", seen.Status.OperationState.Phase)
	}
}

func TestAnOperationUnderWayIsNoHistory(t *testing.T) {
	t.Parallel()
	if seen := View(&v1alpha1.Application{}, &Unreported{Operation: &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, SyncResult: &v1alpha1.SyncOperationResult{}}}); len(seen.Status.History) != 0 {
		t.Errorf("the history is %+v", seen.Status.History)
	}
}

func TestAnotherAddressOfAnApplicationBringsATurn(t *testing.T) {
	t.Parallel()
	app := version(1, func(app *v1alpha1.Application) {
		app.Annotations = map[string]string{"link.argocd.argoproj.io/docs": "Docs|https://docs.example"}
	})
	other := app.DeepCopy()
	other.Annotations["link.argocd.argoproj.io/docs"] = "https://other.example"
	if !concernsUs(app, other) || concernsUs(app, app.DeepCopy()) {
		t.Error("a turn begins by another address, and by nothing else")
	}
}
