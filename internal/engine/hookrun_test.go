package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// ended reports whether a hook is at its end.
func ended(o *v1alpha1.OperationState) bool {
	return slices.ContainsFunc(o.SyncResult.Resources, func(r v1alpha1.ResourceResult) bool { return r.HookType != "" && r.HookPhase.Completed() })
}

// hookNamed is a hook, and an object that comes after it.
func hookNamed(naming, hook, policy string) string {
	if policy != "" {
		policy = ", argocd.argoproj.io/hook-delete-policy: " + policy
	}
	return fmt.Sprintf(`[{apiVersion: v1, kind: ConfigMap, metadata: {%s, annotations: {argocd.argoproj.io/hook: "%s"%s}}}, `+
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]`, naming, hook, policy)
}

func TestAHookThatAnOperationHasMadeDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, naming, hook, policy string
		once, twice                int // how often it has run after one operation, and after the next at the same revision
	}{
		{"deleted before it runs again", "name: h", "PreSync", "BeforeHookCreation", 1, 2},
		{"deleted when it succeeded", "name: h", "PreSync", "HookSucceeded", 1, 2},
		{"deleted when it failed", "name: h", "PreSync", "HookFailed", 1, 1}, // it is applied once more, which leaves it as it is
		{"always deleted", "name: h", "PreSync", `"BeforeHookCreation,HookSucceeded,HookFailed"`, 1, 2},
		{"with no policy", "name: h", "PreSync", "", 1, 2},
		{"with no name", "generateName: h-", "PreSync", "HookFailed", 1, 2},
		{"of two phases", "name: h", "PreSync,PostSync", "", 2, 4},
		{"of two phases, with no name", "generateName: h-", "PreSync,PostSync", "HookFailed", 2, 4},
		{"after the objects", "name: h", "PostSync", "", 1, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t)
			k.commit("r1", hookNamed(c.naming, c.hook, c.policy))
			for n, want := range []int{c.once, c.twice} {
				k.ask()
				for range 3 { // each time the process ends before it can tell of an end
					k.lose = ended
					k.lostTurn()
					k.restart()
				}
				k.lose = nil
				op := k.finish()
				if op.Phase != v1alpha1.OperationSucceeded || !ended(op) {
					t.Errorf("operation %d: %+v", n, op)
				}
				if got := k.runs("h"); got != want {
					t.Errorf("after operation %d the hook has run %d times, want %d: %v", n, got, want, k.created)
				}
				k.await("the hook is gone", func() bool { return !strings.Contains(c.policy, "HookSucceeded") || !k.has("h") })
			}
		})
	}
}

func TestEachAttemptRunsItsHooks(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.commit("r1", hookNamed("name: h", "PreSync", ""))
	k.ask()
	k.app.Operation.Retry.Limit = 1
	k.fault = func(r *http.Request) fault {
		if strings.HasSuffix(r.URL.Path, "/configmaps/a") && r.URL.Query().Get("dryRun") == "" {
			return answered
		}
		return unharmed
	}
	if op := k.finish(); op.Phase != v1alpha1.OperationSucceeded || op.RetryCount != 1 {
		t.Errorf("%+v", op)
	}
	if got := k.runs("h"); got != 2 {
		t.Errorf("the hook has run %d times in two attempts", got)
	}
}

func TestNoAnswerOfAnAPIServerMakesAHookRunTwice(t *testing.T) {
	t.Parallel()
	is := func(method, name, kind string) func(*http.Request) bool {
		return func(r *http.Request) bool {
			return r.Method == method && strings.HasSuffix(r.URL.Path, "/configmaps/"+name) && r.URL.Query().Get("dryRun") == "" &&
				strings.Contains(r.Header.Get("Content-Type"), kind)
		}
	}
	for _, c := range []struct {
		name string
		at   func(*http.Request) bool
	}{
		{"all is tried out", func(r *http.Request) bool { return r.URL.Query().Get("dryRun") != "" }},
		{"the one before is deleted", is(http.MethodDelete, "h", "")},
		{"it is created", is(http.MethodPatch, "h", "apply-patch")},
		{"its finalizer is removed", is(http.MethodPatch, "h", "json-patch")},
		{"an object is applied", is(http.MethodPatch, "a", "apply-patch")},
		{"one that succeeded is deleted", is(http.MethodDelete, "s", "")},
	} {
		for _, what := range []fault{unsent, unheard} {
			t.Run(fmt.Sprintf("%s, %d", c.name, what), func(t *testing.T) {
				t.Parallel()
				k := newKeeper(t)
				list := func(value int) string {
					return fmt.Sprintf(`[{apiVersion: v1, kind: ConfigMap, metadata: {name: h, annotations: {argocd.argoproj.io/hook: PreSync}}}, `+
						`{apiVersion: v1, kind: ConfigMap, metadata: {name: s, annotations: {argocd.argoproj.io/hook: PostSync, `+
						`argocd.argoproj.io/hook-delete-policy: HookSucceeded}}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {v: "%d"}}]`, value)
				}
				k.commit("r1", list(1))
				k.ask()
				k.finish()
				k.commit("r2", list(2))
				k.ask()
				struck := false
				k.fault = func(r *http.Request) fault {
					if !c.at(r) {
						return unharmed
					}
					struck = true
					return what
				}
				res := k.turn()
				for !struck && res.Operation != nil && !res.Operation.Phase.Completed() {
					<-k.events
					res = k.turn()
				}
				if !struck || res.Operation == nil || res.Operation.Phase != v1alpha1.OperationRunning || res.Wake == 0 ||
					!strings.Contains(res.Operation.Message, "does not answer") {
					t.Fatalf("struck %t, looked at again after %s: %+v", struck, res.Wake, res.Operation)
				}
				if op := k.finish(); op.Phase != v1alpha1.OperationSucceeded {
					t.Errorf("%+v", op)
				}
				if h, s := k.runs("h"), k.runs("s"); h != 2 || s != 2 {
					t.Errorf("in two operations the hooks have run %d and %d times", h, s)
				}
			})
		}
	}
}

func TestAMarkThatGitSetsIsNotBelieved(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	// The author knows what the next operation will be called, and has an object of the hook's name from an operation before.
	u := &underway{run: &v1alpha1.HookRun{
		Application: string(k.app.UID), StartedAt: k.engine.Now().Add(time.Second).UTC().Format(time.RFC3339), Revisions: []string{"r2"},
	}}
	mark := u.hookMark(v1alpha1.PhasePreSync)
	list := fmt.Sprintf(`[{apiVersion: v1, kind: ConfigMap, metadata: {name: h, annotations: {argocd.argoproj.io/hook: PreSync, `+
		`%[1]s: '%[2]s'}}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {%[1]s: '%[2]s'}}}]`, v1alpha1.AnnotationHookRun, mark)
	k.commit("r1", list)
	k.ask()
	k.finish()
	if rec, _, _ := k.target.Live.Get(k.key("h")); rec.HookRun == 0 || k.runs("h") != 1 {
		t.Fatalf("%+v", rec)
	}
	k.commit("r2", list)
	k.ask()
	res := k.turn()
	if !slices.ContainsFunc(res.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ConditionUnsupported && strings.Contains(c.Message, v1alpha1.AnnotationHookRun)
	}) {
		t.Errorf("nobody says that it does not count: %+v", res.Conditions)
	}
	op := k.app.Status.OperationState
	if !op.Phase.Completed() {
		op = k.finish()
	}
	if want := u.run.StartedAt; op.StartedAt.UTC().Format(time.RFC3339) != want {
		t.Fatalf("the operation began at %s, and the author took it for %s", op.StartedAt, want)
	}
	if k.runs("h") != 2 {
		t.Errorf("the hook did not run: it is believed to be of this operation")
	}
	res2, err := k.target.Live.Find(t.Context(), object.Kind{Kind: "ConfigMap"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"h": true, "a": false} {
		obj, err := k.target.Client.Get(t.Context(), res2, k.key(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := object.Annotation(obj, v1alpha1.AnnotationHookRun); (got != "") != want || !want && got == mark {
			t.Errorf("%s has the mark %q", name, got)
		}
	}
}

func TestAnOperationThatIsEndedDeletesTheHookThatNoStatusTellsOf(t *testing.T) {
	t.Parallel()
	earlier := hookNamed("name: h", "PreSync", "HookFailed")
	for _, c := range []struct {
		name, list, path string
		what             fault
		told             bool // the status has it in the end
	}{
		{"it was made", suspended, "/jobs/wait", unheard, true},
		{"it was not made", suspended, "/jobs/wait", unsent, false},
		{"it was not made, and one of an operation before is there", earlier, "/configmaps/h", unsent, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t)
			k.commit("r1", earlier)
			k.ask()
			k.finish()
			k.commit("r2", c.list)
			k.ask()
			k.fault = func(r *http.Request) fault {
				if strings.HasSuffix(r.URL.Path, c.path) && r.URL.Query().Get("dryRun") == "" {
					return c.what
				}
				return unharmed
			}
			k.lostTurn()
			if op := k.app.Status.OperationState; !hookRunning(op.SyncResult) || op.SyncResult.Revision != "r2" {
				t.Fatalf("the status does not announce the hook: %+v", op)
			}
			k.restart()
			wait := object.Key{Group: "batch", Kind: "Job", Namespace: k.key("").Namespace, Name: "wait"}
			there := func() bool { _, ok, _ := k.target.Live.Get(wait); return ok }
			if c.what == unheard {
				k.await("the hook is made", there)
			}
			k.app.Status.OperationState.Phase = v1alpha1.OperationTerminating
			op := k.turn().Operation
			if op == nil || op.Phase != v1alpha1.OperationFailed {
				t.Fatalf("%+v", op)
			}
			if told := len(op.SyncResult.Resources) > 0; told != c.told {
				t.Errorf("the status tells of the hook: %t: %+v", told, op.SyncResult.Resources)
			}
			k.await("it is gone", func() bool { return !there() })
			if !k.has("h") {
				t.Error("the hook of another operation is gone")
			}
		})
	}
}

func TestAnOperationWaitsForAHookThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.commit("r1", strings.Replace(hookNamed("name: h", "PreSync", "HookFailed"), "name: h,", "name: h, finalizers: [slipway.io/held],", 1))
	k.ask()
	k.finish()
	rec, _, _ := k.target.Live.Get(k.key("h"))
	leave, err := guard.JudgeHook(k.key("h"), guard.Loss{})
	if err != nil {
		t.Fatal(err)
	}
	if out := k.target.DeleteHook(t.Context(), leave, k.key("h"), rec.UID, ""); out.Err != nil {
		t.Fatal(out.Err)
	}
	k.await("it is being deleted", func() bool { rec, _, _ := k.target.Live.Get(k.key("h")); return rec.Deleting })
	k.commit("r2", hookNamed("name: h", "PreSync", "HookFailed"))
	k.ask()
	res := k.turn()
	if res.Operation == nil || !strings.Contains(res.Operation.Message, "waiting for deletion of hook") {
		t.Fatalf("%+v", res.Operation)
	}
	client, err := kubernetes.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().ConfigMaps(k.key("h").Namespace).Patch(t.Context(), "h", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if op := k.finish(); op.Phase != v1alpha1.OperationSucceeded || k.runs("h") != 2 {
		t.Errorf("it has run %d times: %+v", k.runs("h"), op)
	}
}

func TestNoTwoOperationsHaveOneStart(t *testing.T) {
	t.Parallel()
	k := newKeeper(t)
	k.commit("r1", hookNamed("name: h", "PreSync", ""))
	seen := map[string]bool{}
	for range 3 {
		k.ask()
		op := k.finish()
		at := op.StartedAt.UTC().Format(time.RFC3339)
		if seen[at] || op.FinishedAt.Before(&op.StartedAt) {
			t.Errorf("the operation began at %s, and ended at %s; others: %v", at, op.FinishedAt, seen)
		}
		seen[at] = true
	}
	// A clock that was set back: the hook that is there says that it ran then.
	k.app.Status.OperationState.StartedAt = metav1.NewTime(k.engine.Now().Add(-time.Hour))
	ahead := k.engine.Now().Add(2 * time.Second)
	k.engine.Now = func() time.Time { return ahead }
	k.ask()
	k.finish()
	if k.runs("h") != 4 {
		t.Errorf("the hook has run %d times in 4 operations", k.runs("h"))
	}
}

func TestAnAnnouncedHookHoldsTheRevision(t *testing.T) {
	t.Parallel()
	o := &v1alpha1.OperationState{SyncResult: &v1alpha1.SyncOperationResult{Resources: []v1alpha1.ResourceResult{{
		Kind: "ConfigMap", Name: "h", HookType: v1alpha1.HookPreSync, SyncPhase: v1alpha1.PhasePreSync, HookPhase: v1alpha1.OperationRunning,
	}}}}
	if !hookRunning(o.SyncResult) || !intended(o.SyncResult.Resources[0]) {
		t.Error("a newer commit would cut it off")
	}
	u := fresh()
	u.intended = map[plan.ID]bool{resultID(o.SyncResult.Resources[0]): true}
	op := plan.NewOperation(plan.Build([]plan.Task{{Hook: true}}, plan.Options{}), plan.Settings{}, nil)
	if got := results(op, u, fit.Most); len(got) != 0 {
		t.Errorf("what nobody announced: %+v", got)
	}
}
