package api_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

func TestAScopeIsTakenApartAndPutTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, scope, org, project string
		parent                    api.Scope
	}{
		{"account", "account", "", "", ""},
		{"organization", "org.acme", "acme", "", "account"},
		{"project", "project.acme.shop", "acme", "shop", "org.acme"},
		{"an organization called org", "org.org", "org", "", "account"},
		{"a project called project", "project.org.project", "org", "project", "org.org"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := api.ParseScope(c.scope)
			if err != nil {
				t.Fatal(err)
			}
			parent, _ := s.Parent()
			if s.Org() != c.org || s.Project() != c.project || parent != c.parent {
				t.Errorf("%s: org %q, project %q, parent %q", s, s.Org(), s.Project(), parent)
			}
			back, name, err := api.ParseID(s.ID("prod"))
			if err != nil || back != s || name != "prod" {
				t.Errorf("%s: %q %q %v", s.ID("prod"), back, name, err)
			}
		})
	}
}

func TestWhatIsNoScopeIsRefused(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"org", "org.", "org..", "org.a.b", "project.a", "project.a.", "project.a.b.c", "Org.a", "org.A", "org.-a", "org.a-",
		"account.a", " account", "org." + strings.Repeat("a", 64), "org.ä", "org.a\n", "tenant.a", "..", strings.Repeat(".", 1000),
	} {
		if got, err := api.ParseScope(s); err == nil {
			t.Errorf("%q was read as %q", s, got)
		}
	}
	for _, s := range []string{"", "prod", "account", "account.", "account.a.b", "org.a", "project.a.b", "project.a.b.c.d"} {
		if scope, name, err := api.ParseID(s); err == nil {
			t.Errorf("%q was read as %q %q", s, scope, name)
		}
	}
}

func TestAScopeHoldsWhatIsInsideItAndNothingThatOnlyBeginsLikeIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outer, inner api.Scope
		want         bool
	}{
		{"account", "account", true},
		{"account", "project.acme.shop", true},
		{"org.acme", "project.acme.shop", true},
		{"org.acme", "org.acme2", false},
		{"org.acme", "project.acme2.shop", false},
		{"project.acme.shop", "project.acme.shop2", false},
		{"project.acme.shop", "org.acme", false},
		{"org.acme", "account", false},
	} {
		if got := c.outer.Contains(c.inner); got != c.want {
			t.Errorf("%s contains %s: %v", c.outer, c.inner, got)
		}
	}
}

func FuzzParseScope(f *testing.F) {
	for _, s := range []string{"", "account", "org.acme", "project.acme.shop", "org.", "project..", "account.x", "org.acme.prod", "project.a.b.c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if scope, err := api.ParseScope(s); err == nil {
			if !scope.Valid() || !api.ScopeAccount.Contains(scope) || (s != "" && string(scope) != s) {
				t.Errorf("%q was read as %q", s, scope)
			}
		}
		if scope, name, err := api.ParseID(s); err == nil && (scope.ID(name) != s || !scope.Valid() || api.CheckName(name) != nil) {
			t.Errorf("%q was read as %q and %q", s, scope, name)
		}
		if org, project, err := api.ParseProjectID(s); err == nil && (api.ProjectID(org, project) != s || !api.ProjectScope(org, project).Valid()) {
			t.Errorf("%q was read as %q and %q", s, org, project)
		}
	})
}
