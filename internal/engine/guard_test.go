package engine

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// deleting is a run that would delete objects a, b and c of four, which is more than the agent's budget.
func deleting(t *testing.T, change func(*run)) *run {
	t.Helper()
	return compared(func(r *run) {
		r.app.Name, r.app.Annotations = "web", map[string]string{}
		r.engine.Budget = &plan.Budget{Objects: 2, Percent: 50}
		r.grant.rules = permissive(t, nil)
		r.changes = []diff.Change{{Key: key("d"), Verb: diff.Keep}}
		for _, name := range []string{"a", "b", "c"} {
			r.changes = append(r.changes, diff.Change{Key: key(name), Verb: diff.Delete})
		}
		if change != nil {
			change(r)
		}
	})
}

func TestADeletionIsHeldByABudget(t *testing.T) {
	t.Parallel()
	annotate := func(name, value string) func(*run) {
		return func(r *run) { r.app.Annotations[name] = value }
	}
	ofProject := func(text string) func(*run) {
		return func(r *run) {
			r.grant.rules = permissive(t, func(p *v1alpha1.AppProject) {
				p.Annotations = map[string]string{v1alpha1.AnnotationDeletionBudget: text}
			})
		}
	}
	prune, all := Decision{Go: true, Prune: true}, plan.Digest([]object.Key{key("a"), key("b"), key("c")})
	for _, c := range []struct {
		name   string
		change func(*run)
		d      Decision
		want   string // "" where it goes
	}{
		{"by the agent's", nil, prune, `(deletion budget "2,50%" of the agent)`},
		{"by the default", func(r *run) { r.engine.Budget = nil }, prune, ""},
		{"not where nothing is pruned", nil, Decision{Go: true}, ""},
		{"not in a dry run", nil, Decision{Go: true, Prune: true, DryRun: true}, ""},
		{"by the Application's", annotate(v1alpha1.AnnotationDeletionBudget, "1"), prune, `(deletion budget "1" of the Application)`},
		{"not where the Application lifts it", annotate(v1alpha1.AnnotationDeletionBudget, "off"), prune, ""},
		{"by the project's", ofProject("0"), prune, `(deletion budget "0" of the project)`},
		{"not where the Application says other than its project", func(r *run) {
			ofProject("0")(r)
			annotate(v1alpha1.AnnotationDeletionBudget, "3")(r)
		}, prune, ""},
		{"by the agent's, where the Application's cannot be read", annotate(v1alpha1.AnnotationDeletionBudget, "many"), prune, "of the agent)"},
		{"not once it is confirmed", annotate(v1alpha1.AnnotationDeletionConfirmed, all), prune, ""},
		{"again where something else was confirmed", annotate(v1alpha1.AnnotationDeletionConfirmed, plan.Digest([]object.Key{key("a")})), prune, "(plan " + all + ")"},
		{"and says that something else was confirmed", annotate(v1alpha1.AnnotationDeletionConfirmed, "deadbeef"), prune, `(plan ` + all + `); the plan that was confirmed, "deadbeef", is not this one`},
		{"however long that is", annotate(v1alpha1.AnnotationDeletionConfirmed, strings.Repeat("y", 9999)), prune, `yyy…", is not this one`},
		{"not where fewer were chosen", nil, Decision{Go: true, Prune: true, Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{
			Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "a"}},
		}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := deleting(t, c.change).guard(t.Context(), c.d)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q", got)
			}
			if got != "" && (!strings.Contains(got, "slipway app confirm web") || !strings.Contains(got, "ConfigMap shop/a")) {
				t.Errorf("it does not say what, or what to do: %q", got)
			}
		})
	}
}

func TestABudgetThatCannotBeReadIsToldOf(t *testing.T) {
	t.Parallel()
	r := deleting(t, func(r *run) { r.app.Annotations[v1alpha1.AnnotationDeletionBudget] = "many" })
	r.guard(t.Context(), Decision{Go: true, Prune: true})
	if len(r.conditions) != 1 || r.conditions[0].Type != v1alpha1.ConditionUnsupported || !strings.Contains(r.conditions[0].Message, `"many" is no deletion budget`) {
		t.Errorf("%+v", r.conditions)
	}
}

func TestAnOperationThatHasDoneSomethingIsNotHeldHalfway(t *testing.T) {
	t.Parallel()
	going := Decision{Go: true, Going: true, Prune: true}
	begun := func(r *run) *underway {
		return &underway{revisions: r.revisions, states: map[plan.ID]plan.State{{Key: key("z")}: {Phase: v1alpha1.OperationSucceeded}}}
	}
	for _, c := range []struct {
		name   string
		change func(*run)
		d      Decision
		held   bool
	}{
		{"it has only waited", nil, going, true},
		{"it has begun", func(r *run) { r.memory.underway = begun(r) }, going, false},
		{"it begins", func(r *run) { r.memory.underway = begun(r) }, Decision{Go: true, Prune: true}, true},
		{"another one had begun", func(r *run) {
			r.memory.underway = begun(r)
			r.memory.underway.operation = asked()
		}, going, true},
		{"the same had begun at another revision", func(r *run) {
			r.memory.underway = begun(r)
			r.memory.underway.revisions = []string{"r0"}
		}, going, true},
		{"it has begun before a restart", func(r *run) {
			last(r).SyncResult.Resources = []v1alpha1.ResourceResult{{Kind: "ConfigMap", Name: "z", Status: v1alpha1.ResultPruned}}
		}, going, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := deleting(t, c.change).guard(t.Context(), c.d); (got != "") != c.held {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestAHeldOperationIsToldOnceAndNamesNoRevision(t *testing.T) {
	t.Parallel()
	op := asked()
	r := deleting(t, func(r *run) {
		r.app.Operation, r.started = &op, moment(2000).Time
		last(r).Operation, last(r).Phase, last(r).FinishedAt, last(r).StartedAt = op, v1alpha1.OperationRunning, nil, moment(1500)
	})
	state := r.held(Decision{Operation: op}, "held: by a budget")
	if !state.StartedAt.Time.Equal(moment(1500).Time) || state.SyncResult.Revision != "" || state.Message != "held: by a budget" || state.FinishedAt != nil {
		t.Errorf("%+v", state)
	}
	if state = r.held(Decision{Operation: automatic()}, ""); !state.StartedAt.Time.Equal(moment(2000).Time) {
		t.Errorf("another operation began when this one did: %s", state.StartedAt)
	}
}
