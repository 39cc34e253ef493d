package operate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func noon() time.Time { return time.Date(2030, 5, 6, 12, 0, 0, 0, time.UTC) }

func anna() Who { return Who{Name: "user:anna", ID: "request-1"} }

// deployedApp is an Application with one deployment for each of revisions; Git says the last of them.
func deployedApp(revisions ...string) *v1alpha1.Application {
	source := v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/a.git", Path: "web"}
	app := &v1alpha1.Application{}
	app.Name, app.Spec.Source, app.ResourceVersion = "web", &source, "7"
	for i, r := range revisions {
		app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{ID: int64(i), Revision: r, Source: source})
		app.Status.Sync.Revision = r
		app.Status.OperationState = attempt(r, v1alpha1.OperationSucceeded)
	}
	return app
}

func attempt(revision string, phase v1alpha1.OperationPhase) *v1alpha1.OperationState {
	return &v1alpha1.OperationState{Phase: phase, SyncResult: &v1alpha1.SyncOperationResult{
		Revision: revision, Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.com/a.git", Path: "web"},
	}}
}

func automated(app *v1alpha1.Application) *v1alpha1.Application {
	app.Spec.SyncPolicy = &v1alpha1.SyncPolicy{Automated: &v1alpha1.AutomatedSync{}}
	return app
}

func running(app *v1alpha1.Application) *v1alpha1.Application {
	app.Operation = &v1alpha1.Operation{}
	return app
}

func id(n int64) *int64 { return &n }

// checkError reports whether an error is the one that is wanted; "" for none.
func checkError(t *testing.T, err error, want string) bool {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
	return err == nil
}

func TestARequestForASyncThatMakesNoSenseIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		req  api.SyncRequest
		want string
	}{
		{name: "none"},
		{name: "retry", req: api.SyncRequest{Retry: &api.SyncRetry{Limit: -1, Duration: "1s", Factor: 3, Refresh: true}}},
		{name: "backoff without retry", req: api.SyncRequest{Retry: &api.SyncRetry{Duration: "1s"}}, want: "further attempts"},
		{name: "negative backoff", req: api.SyncRequest{Retry: &api.SyncRetry{Limit: 1, MaxDuration: "-1s"}}, want: "no duration"},
		{name: "no duration", req: api.SyncRequest{Retry: &api.SyncRetry{Limit: 1, Duration: "soon"}}, want: "no duration"},
		{name: "manifests at a revision", req: api.SyncRequest{Manifests: []string{"{}"}, Revisions: []string{"v1"}}, want: "not both"},
		{name: "option without a value", req: api.SyncRequest{Options: []string{"Replace"}}, want: "Name=value"},
		{name: "label that is none", req: api.SyncRequest{Labels: []string{"a b"}}, want: "name=value"},
		{name: "empty label", req: api.SyncRequest{Labels: []string{""}}, want: "name=value"},
		{name: "labels that nobody has resolved", req: api.SyncRequest{Labels: []string{"a=b"}}, want: "no object was looked for"},
		{name: "object without a kind", req: api.SyncRequest{Objects: []api.ObjectName{{Name: "web"}}}, want: "kind"},
		{name: "long reason", req: api.SyncRequest{Reason: strings.Repeat("x", 1001)}, want: "shorten"},
		{name: "manifest that is none", req: api.SyncRequest{Manifests: []string{"[]"}}, want: "manifest 1"},
		{name: "Secret", req: api.SyncRequest{Manifests: []string{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`}}, want: "is a Secret"},
		{name: "large manifest", req: api.SyncRequest{Manifests: []string{strings.Repeat("x", maxLocal+1)}}, want: "cannot hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Sync(deployedApp("one"), c.req, anna(), noon())
			var fault *Error
			if !checkError(t, err, c.want) && (!errors.As(err, &fault) || fault.Fault != Invalid) {
				t.Errorf("%v does not say that the request is wrong", err)
			}
		})
	}
}

func TestARequestForASyncBecomesAnOperation(t *testing.T) {
	t.Parallel()
	one := deployedApp("one")
	own := v1alpha1.SyncOptions{"CreateNamespace=true"}
	one.Spec.SyncPolicy = &v1alpha1.SyncPolicy{SyncOptions: own}
	two := deployedApp("one")
	two.Spec.Sources = []v1alpha1.ApplicationSource{{RepoURL: "a"}, {RepoURL: "b"}}
	factor := int64(3)
	object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`
	for _, c := range []struct {
		name string
		app  *v1alpha1.Application
		req  api.SyncRequest
		want v1alpha1.Operation
		err  string
	}{
		{name: "nothing asked", app: one, want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: own}}},
		{
			name: "revision, prune, force and reason", app: one,
			req: api.SyncRequest{Revisions: []string{"v1"}, Prune: true, Force: true, Reason: "why not"},
			want: v1alpha1.Operation{
				Sync: &v1alpha1.SyncOperation{SyncOptions: own, Revision: "v1", Prune: true, SyncStrategy: &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}},
				Info: []v1alpha1.Info{{Name: "reason", Value: "why not"}},
			},
		},
		{
			name: "no hooks", app: one, req: api.SyncRequest{ApplyOnly: true, DryRun: true},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: own, DryRun: true, SyncStrategy: &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{}}}},
		},
		{
			name: "a switch keeps the application's options", app: one, req: api.SyncRequest{Replace: true, ServerSide: true},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"CreateNamespace=true", "Replace=true", "ServerSideApply=true"}}},
		},
		{
			name: "options take their place", app: one, req: api.SyncRequest{Options: []string{"PruneLast=true"}, Replace: true},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"PruneLast=true", "Replace=true"}}},
		},
		{
			name: "single objects", app: one,
			req: api.SyncRequest{Objects: []api.ObjectName{{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, {Kind: "ConfigMap", Name: "settings"}}},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: own, Resources: []v1alpha1.SyncOperationResource{
				{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, {Kind: "ConfigMap", Name: "settings"},
			}}},
		},
		{
			name: "retry", app: one, req: api.SyncRequest{Retry: &api.SyncRetry{Limit: 3, Duration: "10s", MaxDuration: "1m0s", Factor: 3, Refresh: true}},
			want: v1alpha1.Operation{
				Sync:  &v1alpha1.SyncOperation{SyncOptions: own},
				Retry: v1alpha1.RetryStrategy{Limit: 3, Refresh: true, Backoff: &v1alpha1.Backoff{Duration: "10s", MaxDuration: "1m0s", Factor: &factor}},
			},
		},
		{
			name: "manifests", app: one, req: api.SyncRequest{Manifests: []string{object}},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: own, Manifests: []string{object}}},
		},
		{
			name: "several sources", app: two, req: api.SyncRequest{Revisions: []string{"v1", "v2"}},
			want: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Revisions: []string{"v1", "v2"}}},
		},
		{name: "one revision for several sources", app: two, req: api.SyncRequest{Revisions: []string{"v1"}}, err: "has 2 sources"},
		{name: "several revisions for one source", app: one, req: api.SyncRequest{Revisions: []string{"v1", "v2"}}, err: "has one source"},
		{name: "manifests while automated sync is on", app: automated(deployedApp("one")), req: api.SyncRequest{Manifests: []string{object}}, err: "automated.enabled: false"},
		{name: "an operation is under way", app: running(deployedApp("one")), err: "operation under way"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Sync(c.app, c.req, anna(), noon())
			if !checkError(t, err, c.err) {
				return
			}
			c.want.InitiatedBy = v1alpha1.OperationInitiator{Username: "user:anna"}
			c.want.Info = append([]v1alpha1.Info{{Name: RequestInfo, Value: "request-1"}}, c.want.Info...)
			if d := cmp.Diff(&c.want, got.Operation); d != "" {
				t.Errorf("operation (-want +got):\n%s", d)
			}
			patch := map[string]any{
				"metadata": map[string]any{"resourceVersion": "7"}, "operation": got.Operation, "status": map[string]any{"operationState": nil},
			}
			if d := cmp.Diff(patch, got.Patch); d != "" || !got.Answer.Changed || got.Answer.Request != "request-1" {
				t.Errorf("patch (-want +got):\n%s\nanswer %+v", d, got.Answer)
			}
		})
	}
}

func manifestOf(t *testing.T, kind, name string, metadata map[string]any) object.Manifest {
	t.Helper()
	metadata["name"] = name
	m, err := object.NewManifest(map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLabelsChooseObjects(t *testing.T) {
	t.Parallel()
	objects := []object.Manifest{
		manifestOf(t, "ConfigMap", "both", map[string]any{"labels": map[string]any{"tier": "web", "team": "shop"}}),
		manifestOf(t, "ConfigMap", "one", map[string]any{"labels": map[string]any{"tier": "web"}}),
		manifestOf(t, "Pod", "hook", map[string]any{
			"labels":      map[string]any{"tier": "web", "team": "shop"},
			"annotations": map[string]any{v1alpha1.AnnotationHook: "PreSync"},
		}),
		manifestOf(t, "ConfigMap", "odd", map[string]any{"labels": map[string]any{"tier": []any{"web"}}}),
		manifestOf(t, "ConfigMap", "none", map[string]any{}),
	}
	named := []api.ObjectName{{Kind: "Service", Name: "web"}}
	got, err := Select(deployedApp("one"), api.SyncRequest{Labels: []string{"tier=web", "team=shop"}, Objects: named}, objects)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(append(named, api.ObjectName{Kind: "ConfigMap", Name: "both"}), got.Objects); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := Select(deployedApp("one"), api.SyncRequest{Labels: []string{"tier=db"}, Objects: named}, objects); err == nil {
		t.Error("no object has the label, and that is no error")
	}
}

func TestARollbackFindsTheDeploymentBeforeThePresentOne(t *testing.T) {
	t.Parallel()
	pinned := func(app *v1alpha1.Application, p v1alpha1.Pin) *v1alpha1.Application {
		text, err := mark.Write(v1alpha1.AnnotationRollback, p)
		if err != nil {
			t.Fatal(err)
		}
		app.Annotations = map[string]string{v1alpha1.AnnotationRollback: text}
		return app
	}
	failed := deployedApp("one", "two")
	failed.Status.Sync.Revision, failed.Status.OperationState = "three", attempt("three", v1alpha1.OperationFailed)
	waiting := deployedApp("one", "two")
	waiting.Status.Sync.Revision = "three"
	partly := deployedApp("one", "two")
	partly.Status.OperationState = attempt("one", v1alpha1.OperationSucceeded)
	partly.Status.OperationState.Operation.Sync = &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "a"}}}
	unknown := deployedApp("one", "two")
	unknown.Status.Sync.Revision = ""
	for _, c := range []struct {
		name       string
		app        *v1alpha1.Application
		req        api.RollbackRequest
		id         int64
		quarantine string
		err        string
	}{
		{name: "the one before", app: deployedApp("one", "two", "three"), id: 1, quarantine: "three"},
		{name: "the same again does not count", app: deployedApp("one", "two", "two"), id: 0, quarantine: "two"},
		{name: "what failed is no deployment, and is what is left", app: failed, id: 1, quarantine: "three"},
		{name: "what Git says is not deployed yet", app: waiting, id: 0, quarantine: "three"},
		{name: "some objects of another one are no deployment", app: partly, id: 0, quarantine: "two"},
		{name: "an id", app: deployedApp("one", "two", "three"), req: api.RollbackRequest{ID: id(0)}, id: 0, quarantine: "three"},
		{
			name: "a revision, the newest of it", app: deployedApp("oneoneone", "two", "oneoneone", "three"),
			req: api.RollbackRequest{Revision: "oneoneo"}, id: 2, quarantine: "three",
		},
		{
			name: "further back than the pin, with the same quarantine", id: 0, quarantine: "three",
			app: pinned(deployedApp("one", "two", "three", "two"), v1alpha1.Pin{ID: 1, Revisions: []string{"two"}, Quarantine: v1alpha1.Quarantine{Revisions: []string{"three"}}}),
		},
		{name: "no such id", app: deployedApp("one", "two"), req: api.RollbackRequest{ID: id(7)}, err: "has no deployment 7"},
		{name: "no such revision", app: deployedApp("one", "two"), req: api.RollbackRequest{Revision: "abcdefg"}, err: "has no deployment of abcdefg"},
		{name: "nothing before", app: deployedApp("one"), err: "no earlier deployment"},
		{name: "nothing at all", app: deployedApp(), err: "no earlier deployment"},
		{name: "what Git says", app: deployedApp("one", "two"), req: api.RollbackRequest{ID: id(1)}, err: "is the present revision in Git"},
		{name: "nobody knows what Git says", app: unknown, err: "app refresh web"},
		{name: "both", app: deployedApp("one"), req: api.RollbackRequest{ID: id(1), Revision: "abcdefg"}, err: "not both"},
		{name: "a short revision", app: deployedApp("one"), req: api.RollbackRequest{Revision: "abc"}, err: "too short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Rollback(c.app, c.req, anna(), noon())
			if !checkError(t, err, c.err) {
				return
			}
			if p := got.Pin; p.ID != c.id || !cmp.Equal(p.Quarantine.Revisions, []string{c.quarantine}) || p.By != "user:anna" || !p.At.Equal(noon()) {
				t.Errorf("pin %+v; want deployment %d, quarantine %s", p, c.id, c.quarantine)
			}
			c.req.DryRun = true
			if dry, err := Rollback(c.app, c.req, anna(), noon()); err != nil || dry.Patch != nil || dry.Answer.Changed || *dry.Answer.Deployment != c.id {
				t.Errorf("a dry run gives %+v, %v", dry, err)
			}
		})
	}
}

func TestARollbackAsksForASyncWhereNobodyElseDoes(t *testing.T) {
	t.Parallel()
	got, err := Rollback(deployedApp("one", "two"), api.RollbackRequest{Reason: "orders are lost"}, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	if op := got.Operation; op == nil || op.Sync.Revision != "one" || !op.Sync.Prune || op.Sync.Source == nil {
		t.Errorf("without automated sync the operation is %+v", got.Operation)
	}
	if !slices.Contains(got.Operation.Info, v1alpha1.Info{Name: RollbackInfo, Value: v1alpha1.OptionTrue}) {
		t.Errorf("the operation does not say that it goes back: %+v", got.Operation.Info)
	}
	got, err = Rollback(automated(deployedApp("one", "two")), api.RollbackRequest{}, anna(), noon())
	if err != nil || got.Operation != nil || got.Patch["operation"] != nil {
		t.Errorf("with automated sync the operation is %+v (%v), want none", got.Operation, err)
	}
	if _, err = Rollback(running(deployedApp("one", "two")), api.RollbackRequest{}, anna(), noon()); err == nil {
		t.Error("an operation under way is overwritten")
	}
}

func TestEndingSaysWhatItEnds(t *testing.T) {
	t.Parallel()
	began := deployedApp("one")
	began.Status.OperationState.Phase = v1alpha1.OperationRunning
	terminating := deployedApp("one")
	terminating.Status.OperationState.Phase = v1alpha1.OperationTerminating
	version := map[string]any{"resourceVersion": "7"}
	for _, c := range []struct {
		name, what string
		app        *v1alpha1.Application
		want       map[string]any
	}{
		{name: "nothing", what: "no operation", app: deployedApp("one")},
		{name: "terminating", app: terminating, what: "terminating already"},
		{name: "asked for", app: running(deployedApp("one")), what: "has not begun", want: map[string]any{"operation": nil, "metadata": version}},
		{
			name: "running", app: began, what: "began at",
			want: map[string]any{"status": map[string]any{"operationState": map[string]any{"phase": v1alpha1.OperationTerminating}}, "metadata": version},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Terminate(c.app, api.TerminateRequest{}, anna(), noon())
			if err != nil || !strings.Contains(got.Answer.Message, c.what) {
				t.Errorf("it says %q (%v), want %q in it", got.Answer.Message, err, c.what)
			}
			if d := cmp.Diff(c.want, got.Patch); d != "" {
				t.Errorf("change (-want +got):\n%s", d)
			}
			if dry, err := Terminate(c.app, api.TerminateRequest{DryRun: true}, anna(), noon()); err != nil || dry.Patch != nil {
				t.Errorf("a dry run gives %+v, %v", dry, err)
			}
		})
	}
}

func TestAQuestionNamesWhatWouldGo(t *testing.T) {
	t.Parallel()
	gone := object.Key{Kind: "ConfigMap", Namespace: "shop", Name: "gone"}
	digest := plan.Digest([]object.Key{gone})
	app := deployedApp("one")
	app.Status.Resources = []v1alpha1.ResourceStatus{
		{Kind: "ConfigMap", Namespace: "shop", Name: "kept"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "gone", RequiresPruning: true},
	}
	if q := Asks(app); q != nil {
		t.Errorf("nothing is held, but the question is %+v", q)
	}
	app.Status.Conditions = []v1alpha1.ApplicationCondition{{
		Type: v1alpha1.ConditionHeld, Message: "deny window: automatic syncs wait until tomorrow",
	}}
	if q := Asks(app); q != nil {
		t.Errorf("a window needs no confirmation, but the question is %+v", q)
	}
	app.Status.Conditions[0].Message = "held: confirm with `slipway app confirm web` (plan " + digest + ")"
	q := Asks(app)
	if q == nil || q.Plan != digest || !cmp.Equal(q.Objects, []object.Key{gone}) {
		t.Fatalf("the question is %+v, want plan %s of %v", q, digest, gone)
	}
	app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "kept"}}}}
	if q := Asks(app); q == nil || len(q.Objects) != 0 {
		t.Errorf("the operation is limited to an object that stays, but the question is %+v", q)
	}
}

func TestWhatAsksForAConfirmationOfItsOwnIsListedAlone(t *testing.T) {
	t.Parallel()
	app := deployedApp("one")
	app.Status.OperationState.Phase = v1alpha1.OperationRunning
	app.Status.OperationState.Message = "waiting for pruning confirmation of /Namespace/shop"
	app.Status.Resources = []v1alpha1.ResourceStatus{
		{Kind: "ConfigMap", Namespace: "shop", Name: "gone", RequiresPruning: true},
		{Kind: "Namespace", Name: "shop", RequiresPruning: true, RequiresDeletionConfirmation: true},
	}
	q := Asks(app)
	if q == nil || q.Plan != "" || !cmp.Equal(q.Objects, []object.Key{{Kind: "Namespace", Name: "shop"}}) {
		t.Errorf("the question is %+v", q)
	}
	app.DeletionTimestamp = &metav1.Time{}
	app.Status.OperationState = nil
	if q := Asks(app); q != nil {
		t.Errorf("nothing waits, but the question is %+v", q)
	}
}

func TestOnlyWhatWasSeenIsConfirmed(t *testing.T) {
	t.Parallel()
	const digest = "0123456789abcdef"
	waiting := func(message string) *v1alpha1.Application {
		app := deployedApp("one")
		app.Status.Conditions = []v1alpha1.ApplicationCondition{{Type: v1alpha1.ConditionHeld, Message: message}}
		return app
	}
	planned, plain := "run `slipway app confirm web` (plan "+digest+")", "run `slipway app confirm web`"
	for _, c := range []struct {
		name string
		app  *v1alpha1.Application
		req  api.ConfirmRequest
		want map[string]any // annotations; nil for none
		err  string
	}{
		{name: "nothing waits", app: deployedApp("one")},
		{name: "nothing waits any more", app: deployedApp("one"), req: api.ConfirmRequest{Plan: digest}, err: "any more"},
		{
			name: "the plan", app: waiting(planned), req: api.ConfirmRequest{Plan: digest},
			want: map[string]any{v1alpha1.AnnotationDeletionApproved: "2030-05-06T12:00:00Z", v1alpha1.AnnotationDeletionConfirmed: digest},
		},
		{name: "another plan", app: waiting(planned), req: api.ConfirmRequest{Plan: "fedcba9876543210"}, err: "changed in the meantime"},
		{name: "no plan", app: waiting(planned), err: "by their plan"},
		{name: "a plan where there is none", app: waiting(plain), req: api.ConfirmRequest{Plan: digest}, err: "changed in the meantime"},
		{name: "any word", app: waiting(plain), want: map[string]any{v1alpha1.AnnotationDeletionApproved: "2030-05-06T12:00:00Z"}},
		{name: "another message", app: waiting(plain), req: api.ConfirmRequest{Message: "x"}, err: "changed in the meantime"},
		{name: "a dry run", app: waiting(planned), req: api.ConfirmRequest{DryRun: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Confirm(c.app, c.req, anna(), noon())
			if !checkError(t, err, c.err) {
				return
			}
			meta, _ := got.Patch["metadata"].(map[string]any)
			have, _ := meta["annotations"].(map[string]any)
			if d := cmp.Diff(c.want, have); d != "" {
				t.Errorf("annotations (-want +got):\n%s", d)
			}
		})
	}
}

func TestAnObjectIsTheApplicationsAndOnlyOne(t *testing.T) {
	t.Parallel()
	app := deployedApp("one")
	app.Status.Resources = []v1alpha1.ResourceStatus{
		{Kind: "ConfigMap", Namespace: "a", Name: "both"},
		{Kind: "ConfigMap", Namespace: "b", Name: "both"},
		{Kind: "ConfigMap", Namespace: "a", Name: "one"},
		{Kind: "Pod", Namespace: "a", Name: "hook", Hook: true},
	}
	for _, c := range []struct{ text, want, err string }{
		{text: "ConfigMap:one", want: "a"},
		{text: "ConfigMap:b/both", want: "b"},
		{text: "ConfigMap:both", err: "set the namespace"},
		{text: "ConfigMap:b/one", err: "has no ConfigMap b/one"},
		{text: "Pod:hook", err: "has no Pod"},
	} {
		r, err := ParseObject(c.text)
		if err != nil {
			t.Fatal(err)
		}
		k, err := OwnObject(app, r)
		if checkError(t, err, c.err); k.Namespace != c.want {
			t.Errorf("%s is %v; want namespace %q", c.text, k, c.want)
		}
	}
}

func TestEachOperationHasTheSyncOptionsOfItsApplication(t *testing.T) {
	t.Parallel()
	app := func() *v1alpha1.Application {
		out := deployedApp("one", "two")
		out.Spec.SyncPolicy = &v1alpha1.SyncPolicy{SyncOptions: v1alpha1.SyncOptions{"ServerSideApply=true"}}
		return out
	}
	all := map[string]func() (Change, error){
		"sync":            func() (Change, error) { return Sync(app(), api.SyncRequest{}, anna(), noon()) },
		"rollback":        func() (Change, error) { return Rollback(app(), api.RollbackRequest{}, anna(), noon()) },
		"rollback beside": func() (Change, error) { return RollbackBeside(app(), api.RollbackRequest{}, anna(), noon()) },
	}
	for name, ask := range all {
		c, err := ask()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if op := c.Operation; op == nil || op.Sync == nil || !slices.Equal(op.Sync.SyncOptions, v1alpha1.SyncOptions{"ServerSideApply=true"}) {
			t.Errorf("%s: %+v", name, op)
		}
	}
}
