package decide

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// pruning is a sync that would delete objects a, b and c of four, which is more than the agent's budget.
func pruning(change func(*Case)) Case {
	return compared(func(c *Case) {
		c.App.Name, c.App.Annotations = "web", map[string]string{}
		c.Gates.Budget, c.Gates.Whose = plan.Budget{Objects: 2, Percent: 50}, "agent"
		c.Found.Changes = []diff.Change{{Key: key("d"), Verb: diff.Keep}}
		for _, name := range []string{"a", "b", "c"} {
			c.Found.Changes = append(c.Found.Changes, diff.Change{Key: key(name), Verb: diff.Delete})
		}
		if change != nil {
			change(c)
		}
	})
}

func TestTheBudgetOfTheApplicationCountsBeforeThoseOfItsProjectAndTheAgent(t *testing.T) {
	t.Parallel()
	small := &plan.Budget{Objects: 2, Percent: 50}
	for name, c := range map[string]struct {
		app, project string
		agent        *plan.Budget
		want, whose  string
		problem      string
	}{
		"the agent's":                    {agent: small, want: "2,50%", whose: "agent"},
		"the default":                    {want: "10,50%", whose: "agent"},
		"the Application's":              {app: "1", project: "0", agent: small, want: "1", whose: "Application"},
		"off":                            {app: "off", agent: small, want: "off", whose: "Application"},
		"the project's":                  {project: "0", agent: small, want: "0", whose: "project"},
		"the agent's, where one is none": {app: "many", project: "0", agent: small, want: "2,50%", whose: "agent", problem: `"many" is no deletion budget`},
	} {
		app := &v1alpha1.Application{}
		app.Annotations = map[string]string{v1alpha1.AnnotationDeletionBudget: c.app}
		b, whose, problem := Budget(app, c.project, c.agent)
		if b.String() != c.want || whose != c.whose || !strings.Contains(problem, c.problem) || (problem == "") != (c.problem == "") {
			t.Errorf("%s: %s of the %s, %q", name, b, whose, problem)
		}
	}
}

func TestADeletionIsHeldByABudget(t *testing.T) {
	t.Parallel()
	confirm := func(digest string) func(*Case) {
		return func(c *Case) { c.App.Annotations[v1alpha1.AnnotationDeletionConfirmed] = digest }
	}
	prune, all := Decision{Go: true, Prune: true}, plan.Digest([]object.Key{key("a"), key("b"), key("c")})
	for _, c := range []struct {
		name   string
		change func(*Case)
		d      Decision
		want   string // "" where it goes
	}{
		{"by the agent's", nil, prune, `(deletion budget "2,50%" of the agent)`},
		{"not by a larger one", func(c *Case) { c.Gates.Budget = plan.DefaultBudget() }, prune, ""},
		{"not where nothing is pruned", nil, Decision{Go: true}, ""},
		{"not in a dry run", nil, Decision{Go: true, Prune: true, DryRun: true}, ""},
		{"and says what else goes", func(c *Case) {
			c.Gates.Loses = func(k []object.Key) string { return ": " + k[0].Name + " holds others" }
		}, prune, "more than 2 and over 50%: a holds others (deletion"},
		{"not once it is confirmed", confirm(all), prune, ""},
		{"again where something else was confirmed", confirm(plan.Digest([]object.Key{key("a")})), prune, "(plan " + all + ")"},
		{"and says that something else was confirmed", confirm("deadbeef"), prune, `(plan ` + all + `); the plan that was confirmed, "deadbeef", is not this one`},
		{"however long that is", confirm(strings.Repeat("y", 9999)), prune, `yyy…", is not this one`},
		{"not where fewer were chosen", nil, Decision{Go: true, Prune: true, Operation: v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{
			Resources: []v1alpha1.SyncOperationResource{{Kind: "ConfigMap", Name: "a"}},
		}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := Guard(pruning(c.change), c.d)
			if got := d.Held; (got == "") != (c.want == "") || !strings.Contains(got, c.want) || d.Go != (got == "") {
				t.Errorf("%q", got)
			}
			if got := d.Held; got != "" && (!strings.Contains(got, "slipway app confirm web") || !strings.Contains(got, "ConfigMap shop/a")) {
				t.Errorf("it does not say what, or what to do: %q", got)
			}
			if d.Leave.Covers(key("a")) != (d.Held == "" && c.d.Prune && !c.d.DryRun) {
				t.Errorf("a may be deleted: %t, held: %q", d.Leave.Covers(key("a")), d.Held)
			}
		})
	}
}

func TestABudgetThatCannotBeReadIsToldOfWhereItWouldCount(t *testing.T) {
	t.Parallel()
	c := pruning(func(c *Case) { c.Gates.Problem = "it is no deletion budget" })
	if d := Guard(c, Decision{Go: true, Prune: true}); d.Warning != c.Gates.Problem {
		t.Errorf("%q", d.Warning)
	}
	if d := Guard(c, Decision{Go: true}); d.Warning != "" {
		t.Errorf("nothing is pruned, and it says %q", d.Warning)
	}
}

func TestAnOperationThatHasDoneSomethingIsNotHeldHalfway(t *testing.T) {
	t.Parallel()
	going := Decision{Go: true, Going: true, Prune: true}
	running := func(c *Case) { c.Running = &Running{Revisions: c.Inputs.Revisions, Acted: true} }
	for _, c := range []struct {
		name   string
		change func(*Case)
		d      Decision
		held   bool
	}{
		{"it has only waited", nil, going, true},
		{"it has begun, and done nothing", func(c *Case) { running(c); c.Running.Acted = false }, going, true},
		{"it has begun", running, going, false},
		{"it begins", running, Decision{Go: true, Prune: true}, true},
		{"another one had begun", func(c *Case) { running(c); c.Running.Operation = asked() }, going, true},
		{"the same had begun at another revision", func(c *Case) { running(c); c.Running.Revisions = []string{"r0"} }, going, true},
		{"it has begun before a restart", func(c *Case) {
			last(c).SyncResult.Resources = []v1alpha1.ResourceResult{{Kind: "ConfigMap", Name: "z", Status: v1alpha1.ResultPruned}}
		}, going, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := Guard(pruning(c.change), c.d); (d.Held != "") != c.held {
				t.Errorf("%q", d.Held)
			}
		})
	}
}
