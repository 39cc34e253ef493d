package rbac

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
)

func TestASelectorIsReadAsKubernetesReadsIt(t *testing.T) {
	t.Parallel()
	sets := []map[string]string{
		nil, {"team": "shop"}, {"team": "web", "tier": "front"}, {"team": "", "example.org/owner": "ann"}, {"tier": "back"},
	}
	for _, text := range []string{
		"team=shop", "team == shop", "team!=shop", "team in (shop,web)", "team notin ( shop , web )", "team", "!team", "! team",
		"team=", "team!=", "team in ()", "team in (,shop)", "team,tier", "team=shop,tier!=back", "example.org/owner in (ann)",
		"team notin (shop),!tier", "in in (in)", "notin",
	} {
		theirs, err := labels.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		ours, err := ParseSelector(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := ParseSelector(ours.String())
		if err != nil || again.String() != ours.String() {
			t.Errorf("%s is written as %s, and read again as %s (%v)", text, ours, again, err)
		}
		for _, set := range sets {
			if got, want := ours.Matches(set), theirs.Matches(labels.Set(set)); got != want {
				t.Errorf("%s matches %v: %v, want %v", text, set, got, want)
			}
		}
	}
}

func TestASelectorThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	many := ""
	for i := range 101 {
		many += fmt.Sprintf("x%d,", i)
	}
	for _, text := range []string{
		"", " ", ",", "team=shop,", ",team", "team in", "team in (a", "team in a", "team=a b", "team>3", "=a", "!", "!=a", "a=(b)",
		"te am=x", "-team", "team=-x", "a/b/c=d", "/a", "A_B/c", "team==" + strings.Repeat("x", 64), strings.Repeat("a,", 40) + "a",
		"team in (" + many + "x)", strings.Repeat("x", 5000), "ключ=1", "a=\x00", "a=b\x00,c=d", "a=\x1b[31m", "a in (\u202eb)",
	} {
		if s, err := ParseSelector(text); err == nil {
			t.Errorf("%.50q is read as %q", text, s)
		}
	}
}

func TestASelectorImpliesAnotherOnlyIfItMatchesLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		read := func(name string) Selector {
			s, err := ParseSelector(strings.Join(rapid.SliceOfN(rapid.SampledFrom(selectors[:len(selectors)-1]), 1, 3).Draw(t, name), ","))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		a, b, o := read("a"), read("b"), objects().Draw(t, "object")
		if !a.implies(a) {
			t.Fatalf("%s does not imply itself", a)
		}
		if a.implies(b) && a.Matches(o.Labels) && !b.Matches(o.Labels) {
			t.Fatalf("%s implies %s, but not for %v", a, b, o.Labels)
		}
	})
}

func FuzzParseSelector(f *testing.F) {
	for _, seed := range []string{"team=shop", "a in (b,c),!d", "x notin ()", "a.b/c!=d", "((", "a==", ",,"} {
		f.Add(seed, "team", "shop")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		ours, err := ParseSelector(text)
		if err != nil {
			return
		}
		theirs, err := labels.Parse(text)
		if err != nil {
			t.Fatalf("%q is read as %q, and Kubernetes says %v", text, ours, err)
		}
		set := map[string]string{key: value}
		if ours.Matches(set) != theirs.Matches(labels.Set(set)) {
			t.Fatalf("%q matches %v: %v", text, set, ours.Matches(set))
		}
		again, err := ParseSelector(ours.String())
		if err != nil || again.String() != ours.String() {
			t.Fatalf("%q is written as %q, and read again as %q (%v)", text, ours, again, err)
		}
	})
}

// FuzzScope asks rights about ids and scopes of any form: nothing but a well-formed scope below that of the binding is
// allowed.
func FuzzScope(f *testing.F) {
	for _, seed := range []string{"account", "org.acme", "project.acme.shop", "project.acme.", "org.acme.x", "org.", "", "account.x", "project.acme.shop.prod"} {
		f.Add(seed)
	}
	p := NewPolicy(nil, nil, []Binding{binding("org.acme.b", "alice", api.RoleAdmin, "")})
	f.Fuzz(func(t *testing.T, text string) {
		scope := Scope(text)
		o := Object{Type: api.TypeAgent, Scope: scope, ID: scope.ID("x")}
		got := p.Can(Subject{UserID: "alice"}, api.PermAgentView, o).Allowed
		project, below := strings.CutPrefix(text, "project.acme.")
		want := text == "org.acme" || below && api.CheckName(project) == nil
		if got != want || p.Filter(Subject{UserID: "alice"}, api.PermAgentView).Matches(o) != want {
			t.Fatalf("%q is allowed: %v", text, got)
		}
		if at, name, err := api.ParseID(text); err == nil && (!at.Valid() || at.ID(name) != text || api.CheckName(name) != nil) {
			t.Fatalf("id %q is read as %q at %q", text, name, at)
		}
		if prefix := Prefix(scope); scope.Valid() && prefix != "" && !scope.Contains(Scope(prefix+"x")) {
			t.Fatalf("%q is around %q", text, prefix)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"*", "application_*", "*_view", "_", "*_*", "agent_view"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		list, err := Expand([]Permission{Permission(pattern)})
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%q means %v (%v)", pattern, list, err)
		}
		for _, p := range list {
			if !p.Known() {
				t.Fatalf("%q means %q", pattern, p)
			}
		}
	})
}
