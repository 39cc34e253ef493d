package mirror_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// world is a store with objects at all scopes, and the same objects as rights
// see them.
type world struct {
	*storetest.Bench
	scopes  []api.Scope
	objects map[string][]rbac.Object // by type
}

// newWorld makes organizations of which one's name begins like another's, with
// projects, agents, applications and groups in each.
func newWorld(t *testing.T, b *storetest.Bench) *world {
	ctx := t.Context()
	w := &world{Bench: b, scopes: []api.Scope{api.ScopeAccount}, objects: map[string][]rbac.Object{}}
	for _, org := range []string{"acme", "acme-2", "ac"} {
		made := storetest.Must[api.Organization](t)(b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{Name: org, Labels: labelsOf(len(w.scopes))}}))
		w.add(api.TypeOrganization, api.OrgScope(org), made.ID, made.Labels)
		w.scopes = append(w.scopes, api.OrgScope(org))
		for _, project := range []string{"shop", "web"} {
			made := storetest.Must[api.Project](t)(b.Projects.Create(ctx, api.Project{Meta: api.Meta{Name: project, Labels: labelsOf(len(w.scopes))}, Organization: org}))
			w.add(api.TypeProject, api.ProjectScope(org, project), made.ID, made.Labels)
			w.scopes = append(w.scopes, api.ProjectScope(org, project))
		}
	}
	for at, scope := range w.scopes {
		a, epoch := b.Agent(t, "prod", scope)
		w.add(api.TypeAgent, scope, a.ID, nil)
		var items []agentapi.Item
		for i := range 4 {
			labels := map[string]any{}
			for name, value := range labelsOf(at*4 + i) {
				labels[name] = value
			}
			item := storetest.App(fmt.Sprintf("app-%d", i), "default", storetest.Labelled(labels))
			items = append(items, item)
			w.add(api.TypeApplication, scope, api.ItemID(a.ID, "argocd", item.Name), labelsOf(at*4+i))
			g := storetest.Must[api.Group](t)(b.Groups.Create(ctx, api.Group{Meta: api.Meta{Name: fmt.Sprintf("g-%d", i), Scope: scope, Labels: labelsOf(at + i)}}))
			w.add(api.TypeGroup, scope, g.ID, g.Labels)
		}
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, items, b.Clock.Now()))
	}
	return w
}

func (w *world) add(kind string, scope api.Scope, id string, labels map[string]string) {
	w.objects[kind] = append(w.objects[kind], rbac.Object{Type: kind, Scope: scope, ID: id, Labels: labels})
}

// labelsOf gives each number some labels, and some none.
func labelsOf(n int) map[string]string {
	labels := map[string]string{}
	if n%3 > 0 {
		labels["team"] = []string{"", "shop", "web"}[n%3]
	}
	if n%4 > 1 {
		labels["example.org/tier"] = []string{"", "", "", "gold"}[n%4]
	}
	return labels
}

// listed are the ids that the store lists for a filter.
func (w *world) listed(t tester, kind string, f rbac.Filter) []string {
	options := api.ListOptions{Limit: api.MaxLimit}
	got := []string{}
	var err error
	switch kind {
	case api.TypeApplication:
		var page api.Page[api.Application]
		page, err = w.ListApplications(t.Context(), f, api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: options}})
		got = storetest.IDs(page, func(a api.Application) string { return a.ID })
	case api.TypeGroup:
		var page api.Page[api.Group]
		page, err = w.Groups.List(t.Context(), f, options)
		got = storetest.IDs(page, func(g api.Group) string { return g.ID })
	case api.TypeAgent:
		var page api.Page[api.Agent]
		page, err = w.Agents.List(t.Context(), f, options)
		got = storetest.IDs(page, func(a api.Agent) string { return a.ID })
	case api.TypeOrganization:
		var page api.Page[api.Organization]
		page, err = w.Organizations.List(t.Context(), f, options)
		got = storetest.IDs(page, func(o api.Organization) string { return o.ID })
	case api.TypeProject:
		var page api.Page[api.Project]
		page, err = w.Projects.List(t.Context(), f, options)
		got = storetest.IDs(page, func(p api.Project) string { return p.ID })
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// policy draws roles, resource groups and bindings for a subject.
func (w *world) policy(t *rapid.T) (*rbac.Policy, rbac.Subject) {
	patterns := []api.Permission{"*", "*_view", "application_*", api.PermApplicationView, api.PermGroupView, api.PermOrganizationView, api.PermProjectView, api.PermAgentEdit}
	var everyID []string
	for _, kind := range []string{api.TypeApplication, api.TypeGroup, api.TypeAgent, api.TypeOrganization, api.TypeProject} {
		for _, o := range w.objects[kind] {
			everyID = append(everyID, o.ID)
		}
	}
	selectors := []string{
		"team=shop", "team!=shop", "team", "!team", "team in (shop,web)", "team notin (shop),example.org/tier", "example.org/tier=gold", "example.org/tier=",
		"!example.org/tier,team=web",
	}
	var roles []api.Role
	var groups []api.ResourceGroup
	var bindings []api.Binding
	scope := func(name string) api.Scope { return rapid.SampledFrom(w.scopes).Draw(t, name) }
	for i := range rapid.IntRange(1, 3).Draw(t, "roles") {
		at := scope("role")
		roles = append(roles, api.Role{
			Meta:        api.Meta{ID: at.ID(fmt.Sprintf("r%d", i)), Scope: at},
			Permissions: rapid.SliceOfN(rapid.SampledFrom(patterns), 1, 3).Draw(t, "permissions"),
		})
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "groups") {
		at := scope("group")
		g := api.ResourceGroup{Meta: api.Meta{ID: at.ID(fmt.Sprintf("g%d", i)), Scope: at}}
		if rapid.Bool().Draw(t, "typed") {
			g.Types = rapid.SliceOfN(rapid.SampledFrom([]string{"application", "group", "project"}), 1, 2).Draw(t, "types")
		}
		switch rapid.IntRange(0, 2).Draw(t, "way") {
		case 0:
			g.All = true
		case 1:
			g.IDs = rapid.SliceOfN(rapid.SampledFrom(everyID), 1, 8).Draw(t, "ids")
		case 2:
			g.Selectors = rapid.SliceOfN(rapid.SampledFrom(selectors), 1, 3).Draw(t, "selectors")
		}
		groups = append(groups, g)
	}
	principals := []api.Principal{{Type: "user", ID: "ada"}, {Type: "group", ID: "account.devs"}, {Type: "user", ID: "eve"}}
	for i := range rapid.IntRange(1, 5).Draw(t, "bindings") {
		at := scope("binding")
		bindings = append(bindings, api.Binding{
			Meta: api.Meta{ID: at.ID(fmt.Sprintf("b%d", i)), Scope: at}, Principal: rapid.SampledFrom(principals).Draw(t, "principal"),
			Role: rapid.SampledFrom(roles).Draw(t, "its role").ID, ResourceGroup: rapid.SampledFrom(groups).Draw(t, "its group").ID,
		})
	}
	subject := rbac.Subject{UserID: "ada"}
	if rapid.Bool().Draw(t, "in group") {
		subject.Groups = []string{"account.devs"}
	}
	if rapid.IntRange(0, 3).Draw(t, "token") == 0 {
		subject.Ceiling = &rbac.Ceiling{Permissions: []rbac.Permission{rapid.SampledFrom(patterns).Draw(t, "ceiling")}, Scope: scope("ceiling scope")}
	}
	return rbac.NewPolicy(roles, groups, bindings), subject
}

func TestAListHasExactlyWhatThePolicyAllows(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		w := newWorld(t, b)
		if got := w.compare(t, partial(w.scopes[1]), rbac.Subject{UserID: "ada"}); got == 0 {
			t.Error("a policy for one organization let through nothing or all: the test says nothing")
		}
		rapid.Check(t, func(t *rapid.T) {
			policy, subject := w.policy(t)
			w.compare(t, policy, subject)
		})
	})
}

// tester is what a test and a draw of rapid have in common.
type tester interface {
	rapid.TB
	Context() context.Context
}

// partial lets ada see the applications and groups of one scope.
func partial(scope api.Scope) *rbac.Policy {
	role := api.Role{Meta: api.Meta{ID: "account.some", Scope: api.ScopeAccount}, Permissions: []api.Permission{api.PermApplicationView, api.PermGroupView}}
	all := api.ResourceGroup{Meta: api.Meta{ID: "account.everything", Scope: api.ScopeAccount}, All: true}
	binding := api.Binding{
		Meta: api.Meta{ID: scope.ID("some"), Scope: scope}, Principal: api.Principal{Type: "user", ID: "ada"}, Role: role.ID, ResourceGroup: all.ID,
	}
	return rbac.NewPolicy([]api.Role{role}, []api.ResourceGroup{all}, []api.Binding{binding})
}

// compare holds lists against decisions, and returns of how many types some objects are seen and others not.
func (w *world) compare(t tester, policy *rbac.Policy, subject rbac.Subject) int {
	some := 0
	for _, want := range []api.Permission{api.PermApplicationView, api.PermGroupView, api.PermAgentView, api.PermOrganizationView, api.PermProjectView} {
		allowed := []string{}
		for _, o := range w.objects[want.Type()] {
			if policy.Can(subject, want, o).Allowed {
				allowed = append(allowed, o.ID)
			}
		}
		slices.Sort(allowed)
		listed := w.listed(t, want.Type(), policy.Filter(subject, want))
		if diff := cmp.Diff(allowed, listed); diff != "" {
			t.Fatalf("%s (-policy +list):\n%s", want, diff)
		}
		if n := len(allowed); n > 0 && n < len(w.objects[want.Type()]) {
			some++
		}
	}
	return some
}

func TestAFilterOfNothingListsNothing(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		w := newWorld(t, b)
		for name, f := range map[string]rbac.Filter{
			"no term":                    {Type: api.TypeGroup},
			"a term without a way":       {Type: api.TypeGroup, Terms: []rbac.Term{{Scope: api.ScopeAccount}}},
			"a scope that is none":       {Type: api.TypeGroup, Terms: []rbac.Term{{Scope: "org.", All: true}}},
			"no scope":                   {Type: api.TypeGroup, Terms: []rbac.Term{{All: true}}},
			"a selector without any":     {Type: api.TypeGroup, Terms: []rbac.Term{{Scope: api.ScopeAccount, Selectors: []rbac.Selector{{}}}}},
			"a requirement of no values": {Type: api.TypeGroup, Terms: []rbac.Term{{Scope: api.ScopeAccount, Selectors: []rbac.Selector{{{Key: "team", Op: rbac.NotIn}}}}}},
			"an operator that is none":   {Type: api.TypeGroup, Terms: []rbac.Term{{Scope: api.ScopeAccount, Selectors: []rbac.Selector{{{Key: "team", Op: "like"}}}}}},
			"a filter for another type":  storetest.All(api.TypeRole),
		} {
			page, err := w.Groups.List(t.Context(), f, api.ListOptions{})
			if err != nil || page.Total != 0 || len(page.Items) != 0 {
				t.Errorf("%s: %d of %d, %v", name, len(page.Items), page.Total, err)
			}
		}
	})
}
