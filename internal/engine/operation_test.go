package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

func moment(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }

// fresh is the record of an operation that begins.
func fresh() *underway {
	return &underway{started: time.Unix(1000, 0), states: map[plan.ID]plan.State{}, written: map[plan.ID]written{}}
}

func names(tasks []plan.Task) []string {
	out := make([]string, 0, len(tasks))
	for _, t := range tasks {
		text := string(t.Verb) + " " + t.Key.Name
		if t.Hook {
			text = "hook " + t.Key.Name + " " + string(t.Phase)
		}
		out = append(out, text)
	}
	return out
}

func TestTasksAreWhatAnOperationIsToDo(t *testing.T) {
	t.Parallel()
	hooked := func(r *comparison) {
		r.changes = []diff.Change{{Key: key("a"), Verb: diff.Update}, {Key: key("b"), Verb: diff.Keep}}
		r.want.objects = []wantedObject{{key: key("a")}, {key: key("b")}}
		r.want.hooks = []wantedHook{{key: key("h"), Hook: plan.Hook{Is: true, Types: []v1alpha1.HookType{v1alpha1.HookPreSync, v1alpha1.HookPostDelete}}}}
	}
	only := []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "b"}}
	for _, c := range []struct {
		name string
		d    decide.Decision
		u    func(*underway)
		want []string
	}{
		{"all of it", decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}}, nil, []string{"update a", "keep b", "hook h PreSync"}},
		{"without a word on how", decide.Decision{}, nil, []string{"update a", "keep b", "hook h PreSync"}},
		{"self-heal", decide.Decision{Heal: true}, nil, []string{"update a"}},
		{
			"what is out of sync only",
			decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncOptions: []string{"ApplyOutOfSyncOnly=true"}}}},
			nil,
			[]string{"update a", "hook h PreSync"},
		},
		{
			"what was chosen, though it is in sync now that it was done",
			decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Resources: only}}},
			func(u *underway) {
				u.states[plan.ID{Key: key("b"), Phase: v1alpha1.PhaseSync}] = plan.State{Phase: v1alpha1.OperationRunning}
			},
			[]string{"keep b"},
		},
		{"what was chosen, and differs in nothing", decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{Resources: only}}}, nil, []string{}},
		{
			"no hooks, where it is to apply alone",
			decide.Decision{Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{SyncStrategy: &v1alpha1.SyncStrategy{Apply: &v1alpha1.SyncStrategyApply{}}}}},
			nil,
			[]string{"update a", "keep b"},
		},
		{
			"what it has deleted already",
			decide.Decision{},
			func(u *underway) {
				u.pruned = []plan.Task{{Change: diff.Change{Key: key("old"), Verb: diff.Delete, Wave: 3}}}
			},
			[]string{"update a", "keep b", "delete old", "hook h PreSync"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, u := compared(hooked), fresh()
			if c.u != nil {
				c.u(u)
			}
			if d := cmp.Diff(c.want, names((&execution{comparison: r, d: c.d, u: u}).tasks())); d != "" {
				t.Errorf("tasks (-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatMayNotBeDeletedIsInThePlanAndSaysSo(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) { r.spared = []diff.Change{{Key: key("kept"), Verb: diff.Delete}} })
	tasks := (&execution{comparison: r, u: fresh()}).tasks()
	if last := tasks[len(tasks)-1]; last.Key != key("kept") || last.Prune != v1alpha1.OptionFalse {
		t.Errorf("%+v", last)
	}
}

func TestAHookWithoutANameGetsOneForEachPhaseAndOperation(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) {
		r.Revisions = []string{"0123456789abcdef"}
		k := key("")
		r.want.hooks = []wantedHook{{key: k, prefix: "job-", Hook: plan.Hook{Is: true, Types: []v1alpha1.HookType{v1alpha1.HookPreSync, v1alpha1.HookPostSync}}}}
	})
	u := fresh()
	want := []string{"hook job-0123456-presync-1000 PreSync", "hook job-0123456-postsync-1000 PostSync"}
	if d := cmp.Diff(want, names(r.hookTasks(u.started))); d != "" {
		t.Errorf("hooks (-want +got):\n%s", d)
	}
	r.Revisions = nil
	if got := names(r.hookTasks(u.started))[0]; got != "hook job--presync-1000 PreSync" {
		t.Errorf("without a revision: %s", got)
	}
	for revision, want := range map[string]string{
		"sha256:0123456789": "0123456-sync-7", "1.0.0+b1": "1.0.0-b-sync-7", "1.0.0-rc": "1.0.0-r-sync-7", "12.0.1-rc1": "12.0.1-sync-7",
	} {
		if got := hookSuffix([]string{revision}, v1alpha1.PhaseSync, time.Unix(7, 0)); got != want {
			t.Errorf("the suffix for %s is %q, want %q", revision, got, want)
		}
	}
	if got := hookSuffix([]string{"ABCDEFG"}, v1alpha1.PhaseSync, time.Unix(7, 0)); got != "abcdefg-sync-7" {
		t.Errorf("a short revision: %s", got)
	}
}

func TestAHookWithoutANameKeepsItsPoliciesWhenItsOperationEnds(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) {
		r.want.hooks = []wantedHook{{key: key(""), prefix: "job-", Hook: plan.Hook{Delete: plan.Policies{Failed: true}}}, {key: key("x")}}
	})
	if p := r.policies(plan.ID{Key: key("job-0123456-presync-1000")}); !p.Failed {
		t.Errorf("%+v", p)
	}
	if p := r.policies(plan.ID{Key: key("x")}); p.Failed {
		t.Errorf("of another hook: %+v", p)
	}
}

func TestAnOperationIsLimitedToWhatWasChosen(t *testing.T) {
	t.Parallel()
	if chosen := decide.Selection(nil); len(chosen) != 0 {
		t.Errorf("%v", chosen)
	}
	chosen := decide.Selection(&v1alpha1.SyncOperation{Resources: []v1alpha1.SyncOperationResource{
		{Kind: "ConfigMap", Name: "a"}, {Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "b"},
	}})
	for k, want := range map[object.Key]bool{
		key("a"): true, key("b"): false,
		{Kind: "Secret", Namespace: "shop", Name: "a"}:                    false,
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "b"}: true,
		{Group: "apps", Kind: "Deployment", Namespace: "x", Name: "b"}:    false,
		{Kind: "Deployment", Namespace: "shop", Name: "b"}:                false,
	} {
		if got := chosen.Has(k); got != want {
			t.Errorf("%s: %t", k, got)
		}
	}
}

// done is an operation of n objects whose states f gives.
func done(n int, f func(int) (plan.Task, plan.State)) *plan.Operation {
	tasks, states := make([]plan.Task, 0, n), map[plan.ID]plan.State{}
	for i := range n {
		task, s := f(i)
		if task.Key == (object.Key{}) {
			task.Key = key(fmt.Sprintf("o%05d", i))
		}
		if task.Phase == "" {
			task.Phase = v1alpha1.PhaseSync
		}
		tasks = append(tasks, task)
		states[task.ID()] = s
	}
	return plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{}, states)
}

func TestResultsKeepWhatFailedWhenThereAreTooMany(t *testing.T) {
	t.Parallel()
	update := plan.Task{Change: diff.Change{Verb: diff.Update}}
	remove := plan.Task{Change: diff.Change{Verb: diff.Delete}}
	synced := plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationSucceeded, Message: "applied"}
	pruned := plan.State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded, Message: "pruned"}
	failed := plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: "no"}
	for _, c := range []struct {
		name  string
		most  func(int) (plan.Task, plan.State)
		plain bool
	}{
		{"applied", func(int) (plan.Task, plan.State) { return update, synced }, true},
		{"deleted", func(int) (plan.Task, plan.State) { return remove, pruned }, false},
	} {
		const n = fit.MaxResults + 500
		op := done(n, func(i int) (plan.Task, plan.State) {
			switch i {
			case n - 1:
				return update, failed
			case n - 2:
				return plan.Task{Hook: true, Change: diff.Change{Verb: diff.Update, Phase: v1alpha1.PhasePostSync}}, plan.State{Phase: v1alpha1.OperationRunning}
			}
			return c.most(i)
		})
		got := results(op, fresh(), fit.Most)
		var bad, hooks int
		for _, out := range got {
			if out.HookPhase == v1alpha1.OperationFailed && out.Message == "no" {
				bad++
			}
			if out.HookType == v1alpha1.HookPostSync && hookRunning(&v1alpha1.SyncOperationResult{Resources: got}) {
				hooks++
			}
			if c.plain && out.Status == v1alpha1.ResultSynced && out.HookType == "" && out.Message != "" {
				t.Fatalf("%s: what went well still has a message: %+v", c.name, out)
			}
		}
		if len(got) != fit.MaxResults || bad != 1 || hooks != 1 || got[0].Message != "no" {
			t.Errorf("%s: %d results, %d failed, %d hooks, the first is %+v", c.name, len(got), bad, hooks, got[0])
		}
	}
}

func TestResultsLeaveOutWhatStayedAsItWas(t *testing.T) {
	t.Parallel()
	states := []plan.State{
		{}, {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning}, {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationFailed, Message: "degraded"},
	}
	op := done(len(states), func(i int) (plan.Task, plan.State) { return plan.Task{Change: diff.Change{Verb: diff.Keep}}, states[i] })
	if got := results(op, fresh(), fit.Most); len(got) != 1 || got[0].Message != "degraded" {
		t.Errorf("%+v", got)
	}
}

// resumable has a status of an operation that has begun with a hook and an object.
func resumable(r *comparison) {
	src := *r.app.Spec.Source
	r.Revisions = []string{"r1"}
	r.app.Status.OperationState = &v1alpha1.OperationState{
		Phase: v1alpha1.OperationRunning, StartedAt: moment(900), Operation: automatic(),
		SyncResult: &v1alpha1.SyncOperationResult{Revision: "r1", Source: src, Resources: []v1alpha1.ResourceResult{
			{Kind: "ConfigMap", Namespace: "shop", Name: "a", Status: v1alpha1.ResultSynced, HookPhase: v1alpha1.OperationRunning, SyncPhase: v1alpha1.PhaseSync},
			{
				Group: "batch", Kind: "Job", Namespace: "shop", Name: "h", Status: v1alpha1.ResultSynced, HookPhase: v1alpha1.OperationRunning,
				SyncPhase: v1alpha1.PhasePreSync, HookType: v1alpha1.HookPreSync, Message: "runs",
			},
		}},
	}
}

func TestAnOperationGoesOnFromItsStatusAfterARestart(t *testing.T) {
	t.Parallel()
	r := compared(resumable)
	d := r.decide(t.Context())
	if !d.Going {
		t.Fatalf("%+v", d)
	}
	resume := func() *underway {
		x := &execution{comparison: r, d: d}
		x.resume()
		return x.u
	}
	u := resume()
	hook := plan.ID{Key: object.Key{Group: "batch", Kind: "Job", Namespace: "shop", Name: "h"}, Phase: v1alpha1.PhasePreSync}
	want := map[plan.ID]plan.State{hook: {Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: "runs"}}
	if d := cmp.Diff(want, u.states); d != "" || !u.started.Equal(time.Unix(900, 0)) || r.kept.underway != u {
		t.Errorf("began %s, states (-want +got):\n%s", u.started, d)
	}
	if again := resume(); again != u {
		t.Error("the next turn does not find what this one keeps")
	}
	r.Revisions = []string{"r2"}
	if other := resume(); other == u {
		t.Error("another revision goes on with the operation of this one")
	}
}

func TestAnAttemptBeginsWhenItsStatusSaysSo(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) {
		resumable(r)
		end := moment(950)
		last(r).FinishedAt, last(r).RetryCount, r.req.Retries, r.started = &end, 1, 1, time.Unix(1000, 0)
	})
	d := decide.Decision{Go: true, Operation: last(r).Operation}
	d.Attempts = 1
	x := &execution{comparison: r, d: d}
	x.resume()
	u, state := x.u, r.operationState(d, x.u)
	if !state.StartedAt.Time.Equal(u.started) || !u.started.Equal(time.Unix(1000, 0)) || len(u.states) != 0 {
		t.Errorf("hooks are named after %s, and after a restart after %s", u.started, state.StartedAt)
	}
}

func TestAnOperationKeepsItsRevisions(t *testing.T) {
	t.Parallel()
	ask := asked()
	for _, c := range []struct {
		name   string
		change func(*comparison)
		want   bool
	}{
		{"no operation", func(r *comparison) { r.app.Status.OperationState = nil }, false},
		{"one that is over", func(r *comparison) { last(r).Phase = v1alpha1.OperationSucceeded }, false},
		{"an automated one whose hook runs", nil, true},
		{"an automated one without hooks", func(r *comparison) { last(r).SyncResult.Resources = nil }, false},
		{"an automated one whose hook is done", func(r *comparison) { last(r).SyncResult.Resources[1].HookPhase = v1alpha1.OperationSucceeded }, false},
		{"an automated one that waits for its next attempt", func(r *comparison) { end := moment(950); last(r).FinishedAt = &end }, false},
		{"one that was asked for", func(r *comparison) { last(r).Operation, r.app.Operation, last(r).SyncResult.Resources = ask, &ask, nil }, true},
		{"one that was asked for, before its next attempt", func(r *comparison) {
			end := moment(950)
			last(r).Operation, r.app.Operation, last(r).FinishedAt = ask, &ask, &end
		}, true},
		{"the same with refresh", func(r *comparison) {
			end, again := moment(950), ask
			again.Retry.Refresh = true
			last(r).Operation, r.app.Operation, last(r).FinishedAt = again, &again, &end
		}, false},
		{"another one was asked for meanwhile", func(r *comparison) { r.app.Operation, last(r).SyncResult.Resources = &ask, nil }, false},
		{"the sources are others now, though its hook runs", func(r *comparison) { r.Sources[0].Path = "elsewhere" }, false},
		{"there are more sources now", func(r *comparison) { r.Sources = append(r.Sources, r.Sources[0]) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compared(func(r *comparison) {
				resumable(r)
				r.Sources = append([]v1alpha1.ApplicationSource{}, r.Sources...)
				if c.change != nil {
					c.change(r)
				}
			})
			var want []string
			if c.want {
				want = []string{"r1"}
			}
			if d := cmp.Diff(want, r.pin()); d != "" {
				t.Errorf("revisions (-want +got):\n%s", d)
			}
		})
	}
}

func TestTurnsBetweenAttemptsDoNotPutThemOff(t *testing.T) {
	t.Parallel()
	now := int64(1000)
	r := compared(func(r *comparison) {
		r.Revisions, r.req.Retries, last(r).Phase = []string{"r1"}, 1, v1alpha1.OperationRunning
		r.engine.Now = func() time.Time { return time.Unix(now, 0) }
	})
	for at, want := range map[int64]time.Duration{1000: 5 * time.Second, 1003: 2 * time.Second, 1005: 0, 1100: 0, 900: 5 * time.Second} {
		now = at
		if d := r.decide(t.Context()); d.Retry != want || d.Go != (want == 0) {
			t.Errorf("after %d s: %+v", at-1000, d)
		}
	}
}

func TestAStageThatFailsBetweenAttemptsIsNone(t *testing.T) {
	t.Parallel()
	op := asked()
	op.Retry.Limit = 5
	failing := func(change func(*comparison)) Result {
		r := compared(func(r *comparison) {
			r.app.Operation, last(r).Operation, last(r).Phase, last(r).RetryCount, r.req.Retries = &op, op, v1alpha1.OperationRunning, 2, 2
			change(r)
		})
		return r.inputs.failed(t.Context(), at(StageFetch, errTest))
	}
	if res := failing(func(*comparison) {}); res.Operation != nil || res.Retry != 10*time.Second {
		t.Errorf("an attempt is lost: %+v", res.Operation)
	}
	if res := failing(func(r *comparison) { r.req.Due = true }); res.Operation == nil || res.Operation.RetryCount != 3 {
		t.Errorf("%+v", res.Operation)
	}
	if res := failing(func(r *comparison) { last(r).Operation = automatic() }); res.Operation == nil || res.Operation.RetryCount != 1 {
		t.Errorf("attempts of another operation count: %+v", res.Operation)
	}
}

func TestAnOperationThatNobodyGoesOnWithEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*comparison)
		d      decide.Decision
		want   string
	}{
		{"it goes on by itself", nil, decide.Decision{}, ""},
		{"automated sync was turned off", func(r *comparison) { r.app.Spec.SyncPolicy = nil }, decide.Decision{}, "automated sync is off"},
		{"and another revision is there", func(r *comparison) { r.app.Spec.SyncPolicy, r.Revisions = nil, []string{"r2"} }, decide.Decision{}, "the sources have moved on"},
		{"another revision is there, and is held", func(r *comparison) { r.Revisions = []string{"r2"} }, decide.Decision{Held: "held: by a budget"}, "the sources have moved on"},
		{"it waits for its next attempt", func(r *comparison) { r.app.Spec.SyncPolicy = nil }, decide.Decision{Retry: time.Second}, ""},
		{"a window holds it", func(r *comparison) { r.app.Spec.SyncPolicy = nil }, decide.Decision{Condition: &v1alpha1.ApplicationCondition{}}, ""},
		{"it is over", func(r *comparison) { r.app.Spec.SyncPolicy, last(r).Phase = nil, v1alpha1.OperationFailed }, decide.Decision{}, ""},
		{"somebody asks", func(r *comparison) { r.app.Spec.SyncPolicy, r.app.Operation = nil, &v1alpha1.Operation{} }, decide.Decision{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compared(func(r *comparison) {
				resumable(r)
				if c.change != nil {
					c.change(r)
				}
			})
			res := r.unsynced(t.Context(), c.d)
			got := ""
			if res.Operation != nil {
				got = res.Operation.Message
				if res.Operation.Phase != v1alpha1.OperationFailed || res.Operation.FinishedAt == nil || last(r).Phase.Completed() {
					t.Errorf("%+v", res.Operation)
				}
			}
			if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
				t.Errorf("message %q", got)
			}
		})
	}
}

func TestASharedObjectKeepsAutomatedSyncsBackToo(t *testing.T) {
	t.Parallel()
	r := compared(func(r *comparison) {
		r.shared = []string{"ConfigMap shop/a belongs to Application other"}
		r.app.Spec.SyncPolicy.SyncOptions = []string{"FailOnSharedResource=true"}
	})
	if d := r.decide(t.Context()); d.Go || d.Condition == nil || !strings.Contains(d.Condition.Message, "other") {
		t.Errorf("%+v", d)
	}
}

func TestMessagesOfOthersFitIntoAStatus(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40<<10)
	update := plan.Task{Change: diff.Change{Verb: diff.Update}}
	failed := stateOf(update, apply.Outcome{Err: errTest, Message: long})
	if len(failed.Message) > fit.MaxMessage+len(" … ") || !utf8.ValidString(failed.Message) {
		t.Errorf("%d bytes", len(failed.Message))
	}
	total := 0
	op := done(fit.MaxResults, func(int) (plan.Task, plan.State) { return update, failed })
	got := results(op, fresh(), fit.Most)
	for _, out := range got {
		total += len(out.Message)
	}
	if total > fit.MaxMessages || len(got) != fit.MaxResults || got[0].Message != failed.Message {
		t.Errorf("%d results say %d bytes", len(got), total)
	}
	r := compared(func(r *comparison) {
		for i := range 1000 {
			r.states = append(r.states, state{
				key: key(fmt.Sprintf("o%04d", i)), assessed: true, health: health.Result{Status: health.Degraded, Message: strings.Repeat("x", 2<<10)},
			})
		}
	})
	total = 0
	for _, s := range r.result(decide.Decision{}).Resources {
		if s.Health != nil {
			total += len(s.Health.Message)
		}
	}
	if total > fit.MaxMessages || total == 0 {
		t.Errorf("objects say %d bytes of their health", total)
	}
}
