package engine

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

const hookThatGoes = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, annotations: {argocd.argoproj.io/hook: PreSync, ` +
	`argocd.argoproj.io/hook-delete-policy: HookSucceeded}}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`

// storage is what stands for the stored status of a bed's Application.
type storage struct {
	b        *bed
	fails    bool
	there    bool // the hook, when it was asked
	asked    int
	hookSaid v1alpha1.OperationPhase
}

func (s *storage) confirm(
	_ context.Context, told func(*v1alpha1.OperationState) bool, state func() v1alpha1.OperationState,
) error {
	now := state()
	for _, res := range now.SyncResult.Resources {
		if res.Name == "gone" {
			s.hookSaid = res.HookPhase
		}
	}
	if !s.hookSaid.Completed() { // it is about to be made
		s.b.app.Status.OperationState = &now
		return nil
	}
	s.asked++
	s.there = s.b.has("gone")
	if s.fails {
		return errors.New("the API server is away")
	}
	if told(s.b.app.Status.OperationState) || !told(&now) {
		return errors.New("told too early, or never")
	}
	s.b.app.Status.OperationState = &now
	return nil
}

func TestAHookIsDeletedOnceItsEndIsStored(t *testing.T) {
	t.Parallel()
	b := newBed(t, nil)
	b.automate()
	b.commit("r1", hookThatGoes)
	s := &storage{b: b, fails: true}
	turn := func() Result {
		res := b.engine.Reconcile(t.Context(), Request{App: b.app, Confirm: s.confirm})
		b.app.Status.OperationState = res.Operation
		return res
	}
	res := turn()
	for res.Operation != nil && s.asked == 0 && !res.Operation.Phase.Completed() {
		res = turn()
	}
	if s.asked == 0 || !b.has("gone") {
		t.Fatalf("asked %d times, and the hook is gone before its end is stored: %+v", s.asked, res.Operation)
	}
	if res.Operation.Phase != v1alpha1.OperationRunning || !strings.Contains(res.Operation.Message, "the API server is away") || res.Wake == 0 {
		t.Fatalf("an end that is not stored: %+v, wake %s", res.Operation, res.Wake)
	}
	b.app.Status.OperationState.SyncResult.Resources = nil // that was not stored either
	s.fails = false
	res = turn()
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationSucceeded {
		t.Fatalf("%v, %+v", res, res.Operation)
	}
	if !s.there || s.hookSaid != v1alpha1.OperationSucceeded {
		t.Errorf("when its end was stored, the hook was there: %t; stored was %q", s.there, s.hookSaid)
	}
	b.await("the hook is gone", func() bool { return !b.has("gone") })
}

func TestAHookThatWasAnnouncedAndNotMadeIsMadeByTheNextProcess(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.commit("r1", hookNamed("name: h", "PreSync", ""))
	k.ask()
	k.fault = func(r *http.Request) fault {
		if strings.HasSuffix(r.URL.Path, "/configmaps/h") && r.URL.Query().Get("dryRun") == "" {
			return unsent
		}
		return unharmed
	}
	k.lostTurn() // the process ends when it has announced the hook
	if op := k.app.Status.OperationState; op == nil || !hookRunning(op.SyncResult) || k.runs("h") != 0 {
		t.Fatalf("the hook was made %d times; stored is %+v", k.runs("h"), op)
	}
	k.restart()
	if op := k.finish(); op.Phase != v1alpha1.OperationSucceeded || k.runs("h") != 1 {
		t.Errorf("the hook was made %d times: %+v", k.runs("h"), op)
	}
}

func TestAHookWhoseAnnouncementIsNotStoredIsNotMade(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.commit("r1", hookNamed("name: h", "PreSync", ""))
	k.ask()
	k.lose = func(*v1alpha1.OperationState) bool { return true }
	for range 2 {
		res := k.lostTurn()
		if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || res.Wake == 0 || k.runs("h") != 0 ||
			!strings.Contains(res.Operation.Message, "could not be written") {
			t.Fatalf("the hook was made %d times, looked at again after %s: %+v", k.runs("h"), res.Wake, res.Operation)
		}
	}
	k.lose = nil
	if op := k.finish(); op.Phase != v1alpha1.OperationSucceeded || k.runs("h") != 1 {
		t.Errorf("the hook was made %d times: %+v", k.runs("h"), op)
	}
}
