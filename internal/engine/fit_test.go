package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/fit"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// carriedOut is an operation that did n objects and some hooks, each with a message.
func carriedOut(n, hooks int, state plan.State, nameLength int) (*plan.Operation, *underway) {
	u := &underway{states: map[plan.ID]plan.State{}, written: map[plan.ID]written{}}
	var tasks []plan.Task
	for i := range n + hooks {
		name := fmt.Sprintf("object-%05d-", i)
		name += strings.Repeat("x", max(0, nameLength-len(name)))
		t := plan.Task{Change: diff.Change{
			Key:     object.Key{Kind: "ConfigMap", Namespace: strings.Repeat("n", nameLength), Name: name},
			Version: "v1", Verb: diff.Update, Phase: v1alpha1.PhaseSync, Wave: 12,
		}, Hook: i >= n}
		u.states[t.ID()] = state
		tasks = append(tasks, t)
	}
	return plan.NewOperation(plan.Build(tasks, plan.Options{}), plan.Settings{}, u.states), u
}

func states(n, nameLength int, change func(i int, s *state)) *comparison {
	t := &turn{engine: &Engine{Now: time.Now}, app: &v1alpha1.Application{}}
	r := &comparison{rendering: &rendering{inputs: &inputs{turn: t}, want: &wanted{}}}
	for i := range n {
		name := fmt.Sprintf("object-%05d-", i)
		s := state{
			key:     object.Key{Kind: "ConfigMap", Namespace: strings.Repeat("n", nameLength), Name: name + strings.Repeat("x", max(0, nameLength-len(name)))},
			version: "v1", wave: 12, synced: true,
		}
		if change != nil {
			change(i, &s)
		}
		r.states = append(r.states, s)
	}
	return r
}

func bytesOf(t *testing.T, v any) int {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

func TestAStatusOf5000ObjectsStaysBelowAMegabyte(t *testing.T) {
	t.Parallel()
	op, u := carriedOut(5000, 10, plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationSucceeded, Message: "configmap/x configured"}, 30)
	res := states(5000, 30, nil).result(decide.Decision{})
	if len(res.Resources) != 5000 {
		t.Fatalf("%d of 5000 objects are listed", len(res.Resources))
	}
	outcomes := results(op, u, fit.Room(res.Resources, fit.Most))
	if n := bytesOf(t, res.Resources) + bytesOf(t, outcomes); n > 1_000_000 {
		t.Errorf("objects and outcomes have %d bytes", n)
	}
	if hooks := slices.DeleteFunc(outcomes, func(r v1alpha1.ResourceResult) bool { return r.HookType == "" }); len(hooks) != 10 {
		t.Errorf("%d of 10 hooks are told of", len(hooks))
	}
}

func TestTheLongestNamesDoNotMakeAStatusTooLargeToBeStored(t *testing.T) {
	t.Parallel()
	for _, n := range []int{5000, 20_000} {
		op, u := carriedOut(n, 10, plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: strings.Repeat("no ", 500)}, 63)
		res := states(n, 63, func(i int, s *state) {
			s.synced, s.missing = i%2 == 0, i%2 == 1
			s.assessed, s.health.Status, s.health.Message = true, "Degraded", strings.Repeat("bad ", 100)
		}).result(decide.Decision{})
		size := bytesOf(t, res.Resources) + bytesOf(t, results(op, u, fit.Room(res.Resources, fit.Most)))
		if size > 1_400_000 {
			t.Errorf("objects and outcomes of %d have %d bytes", n, size)
		}
		told := slices.ContainsFunc(res.Conditions, func(c v1alpha1.ApplicationCondition) bool {
			return strings.Contains(c.Message, fmt.Sprintf("lists %d of %d objects", len(res.Resources), n))
		})
		if len(res.Resources) < n && !told {
			t.Errorf("%d of %d objects are listed, and nobody is told", len(res.Resources), n)
		}
	}
}

func TestObjectsThatNeedAttentionAndOneOfEachKindAreListedFirst(t *testing.T) {
	t.Parallel()
	const n = 20_000
	r := states(n, 63, func(i int, s *state) {
		s.synced = i != n-2
		if i == n-1 {
			s.key.Kind = "Zebra"
		}
	})
	res := r.result(decide.Decision{})
	for _, want := range []object.Key{r.states[n-2].key, r.states[n-1].key} {
		if !slices.ContainsFunc(res.Resources, func(s v1alpha1.ResourceStatus) bool { return s.Kind == want.Kind && s.Name == want.Name }) {
			t.Errorf("%s is not listed", want)
		}
	}
	if res.Sync != v1alpha1.SyncStatusOutOfSync {
		t.Error("what is not listed does not count")
	}
}

func TestOutcomesOfEarlierPartsOfAnOperationAreToldToo(t *testing.T) {
	t.Parallel()
	name := func(n string) object.Key { return object.Key{Kind: "ConfigMap", Namespace: "shop", Name: n} }
	u := &underway{states: map[plan.ID]plan.State{}, written: map[plan.ID]written{}}
	done := plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationSucceeded}
	id := func(n string) plan.ID { return plan.ID{Key: name(n), Phase: v1alpha1.PhaseSync} }
	u.states[id("written")], u.states[id("kept")], u.states[id("now")] = done, done, done
	u.written[id("written")] = written{}
	op := plan.NewOperation(plan.Build([]plan.Task{
		{Change: diff.Change{Key: name("written"), Verb: diff.Keep}},
		{Change: diff.Change{Key: name("kept"), Verb: diff.Keep}},
		{Change: diff.Change{Key: name("now"), Verb: diff.Update}},
	}, plan.Options{}), plan.Settings{}, u.states)
	var got []string
	for _, r := range results(op, u, fit.Most) {
		got = append(got, r.Name)
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"now", "written"}, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("outcomes (-want +got):\n%s", d)
	}
}
