package rbac

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
)

func role(id string, permissions ...Permission) Role {
	return Role{Meta: meta(id), Permissions: permissions}
}

func meta(id string) api.Meta {
	scope, name, _ := api.ParseID(id)
	return api.Meta{ID: id, Name: name, Scope: scope}
}

func binding(id, user, role, group string) Binding {
	return Binding{Meta: meta(id), Principal: Principal{Type: api.PrincipalUser, ID: user}, Role: role, ResourceGroup: group}
}

func application(scope Scope, id string) Object {
	return Object{Type: api.TypeApplication, Scope: scope, ID: id, Labels: map[string]string{"team": "shop"}}
}

func reasons(t *testing.T) *Policy {
	t.Helper()
	p := NewPolicy(nil,
		[]ResourceGroup{
			{Meta: meta("org.acme.front"), Selectors: []string{"team=front"}},
			{Meta: meta("org.acme.one"), IDs: []string{"account.prod/argocd/one"}, Types: []string{api.TypeApplication}},
		},
		[]Binding{
			binding("org.acme.devs", "alice", api.RoleDeveloper, ""),
			binding("org.acme.fronts", "carol", api.RoleDeveloper, "org.acme.front"),
			binding("org.acme.ones", "dave", api.RoleDeveloper, "org.acme.one"),
		})
	if len(p.Problems()) > 0 {
		t.Fatalf("problems: %q", p.Problems())
	}
	return p
}

func TestTheReasonSaysWhichBindingAllowsItOrWhatIsMissing(t *testing.T) {
	t.Parallel()
	p := reasons(t)
	shop := application(api.ProjectScope("acme", "shop"), "account.prod/argocd/shop")
	tests := []struct {
		name    string
		subject Subject
		want    Permission
		object  Object
		allowed bool
		why     string
	}{
		{
			"a binding above",
			Subject{UserID: "alice"},
			api.PermApplicationSync, shop, true,
			"allowed by binding org.acme.devs: role account.developer at scope org.acme",
		},
		{
			"no binding",
			Subject{UserID: "bob"},
			api.PermApplicationSync, shop, false,
			"no binding of bob or its groups gives application_sync at project.acme.shop",
		},
		{
			"the role has it not",
			Subject{UserID: "alice"},
			api.PermApplicationDelete, shop, false,
			"no binding of alice or its groups gives application_delete at project.acme.shop",
		},
		{
			"other organization",
			Subject{UserID: "alice"},
			api.PermApplicationSync, application(api.OrgScope("acme-two"), "x"), false,
			"no binding of alice or its groups gives application_sync at org.acme-two",
		},
		{
			"above the binding",
			Subject{UserID: "alice"},
			api.PermApplicationSync, application(Account, "x"), false,
			"no binding of alice or its groups gives application_sync at account",
		},
		{
			"other labels",
			Subject{UserID: "carol"},
			api.PermApplicationSync, shop, false,
			"binding org.acme.fronts gives application_sync at org.acme, but application account.prod/argocd/shop is not in its resource group org.acme.front",
		},
		{
			"by id",
			Subject{UserID: "dave"},
			api.PermApplicationSync, application(api.OrgScope("acme"), "account.prod/argocd/one"), true,
			"allowed by binding org.acme.ones: role account.developer at scope org.acme",
		},
		{
			"a token for less",
			Subject{UserID: "alice", Ceiling: &Ceiling{Permissions: []Permission{"*_view"}, Scope: Account}},
			api.PermApplicationSync, shop, false,
			`the token is not for application_sync: it is limited to ["*_view"]`,
		},
		{
			"a token for elsewhere",
			Subject{UserID: "alice", Ceiling: &Ceiling{Permissions: []Permission{"*"}, Scope: api.ProjectScope("acme", "web")}},
			api.PermApplicationSync, shop, false,
			"the token is limited to project.acme.web, and this is at project.acme.shop",
		},
		{
			"unknown permission",
			Subject{UserID: "alice"},
			"application_fly", shop, false,
			`permission "application_fly" is not known`,
		},
		{
			"other type",
			Subject{UserID: "alice"},
			api.PermAgentView, shop, false,
			`agent_view is not about objects of type "application"`,
		},
		{
			"no scope",
			Subject{UserID: "alice"},
			api.PermApplicationView,
			Object{Type: api.TypeApplication},
			false,
			`the object is at scope "", which is none`,
		},
		{
			"nobody",
			Subject{},
			api.PermApplicationView, shop, false,
			"no binding of nobody or its groups gives application_view at project.acme.shop",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(Decision{tt.allowed, tt.why}, p.Can(tt.subject, tt.want, tt.object)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBuiltInRolesAllowWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	has := func(id string, p Permission) bool {
		at := slices.IndexFunc(BuiltinRoles(), func(r Role) bool { return r.ID == id })
		list, err := Expand(BuiltinRoles()[at].Permissions)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(list, p)
	}
	for _, p := range api.Permissions() {
		view := p.Verb() == "view"
		want := map[string]bool{
			api.RoleAdmin:   true,
			api.RoleViewer:  view && p != api.PermAuditView,
			api.RoleAuditor: view,
			api.RoleDeveloper: view && p != api.PermAuditView || slices.Contains([]Permission{
				api.PermApplicationEdit, api.PermApplicationSync, api.PermApplicationLogs, api.PermApplicationResourceAction,
			}, p),
			api.RoleOperator: view || !slices.Contains([]string{
				"user", "group", "serviceaccount", "token", "role", "resourcegroup", "binding", "setting",
			}, p.Type()),
		}
		for id, allowed := range want {
			if has(id, p) != allowed {
				t.Errorf("%s has %s: %v, want %v", id, p, !allowed, allowed)
			}
		}
	}
}

func TestEveryPermissionHasItsPlaceInASet(t *testing.T) {
	t.Parallel()
	if len(permissions) > 128 {
		t.Fatalf("%d permissions do not fit into a set: make it longer", len(permissions))
	}
	for at, p := range permissions {
		var s set
		s.add(at)
		if diff := cmp.Diff([]Permission{p}, s.list()); diff != "" || !s.has(p) {
			t.Errorf("%s: %s", p, diff)
		}
	}
}

func TestWhatCannotBeReadAllowsNothingAndIsTold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		role    Role
		group   ResourceGroup
		binding Binding
		problem string
	}{
		{"no role", Role{}, ResourceGroup{}, binding("account.b", "alice", "account.none", ""), `there is no role "account.none"`},
		{"no resource group", Role{}, ResourceGroup{}, binding("account.b", "alice", api.RoleAdmin, "account.none"), `there is no resource group "account.none"`},
		{
			"a role of another organization", role("org.evil.all", "*"),
			ResourceGroup{},
			binding("org.acme.b", "alice", "org.evil.all", ""),
			"org.evil.all is not at org.acme or above",
		},
		{"a role below", role("project.acme.shop.all", "*"), ResourceGroup{}, binding("org.acme.b", "alice", "project.acme.shop.all", ""), "is not at org.acme or above"},
		{
			"a resource group of another organization",
			Role{},
			ResourceGroup{Meta: meta("org.evil.all"), All: true},
			binding("org.acme.b", "alice", api.RoleAdmin, "org.evil.all"), "org.evil.all is not at org.acme or above",
		},
		{"an unknown permission", role("account.r", "application_fly"), ResourceGroup{}, binding("account.b", "alice", "account.r", ""), `permission "application_fly" is not known`},
		{"a selector that is none", Role{}, ResourceGroup{Meta: meta("account.g"), Selectors: []string{"a in b"}}, binding("account.b", "alice", api.RoleAdmin, "account.g"), "found 'b' expected: '('"},
		{
			"a group that is all and some",
			Role{},
			ResourceGroup{Meta: meta("account.g"), All: true, IDs: []string{"x"}},
			binding("account.b", "alice", api.RoleAdmin, "account.g"),
			"it must set one of: all, ids, label selectors; it sets 2",
		},
		{"an empty group", Role{}, ResourceGroup{Meta: meta("account.g")}, binding("account.b", "alice", api.RoleAdmin, "account.g"), "it sets 0"},
		{"a built-in role made anew", role(api.RoleViewer, "*"), ResourceGroup{}, Binding{Meta: meta("account.b")}, "role account.viewer is there twice"},
		{"no principal", Role{}, ResourceGroup{}, Binding{Meta: meta("account.b"), Role: api.RoleAdmin}, `principal "" of type ""`},
		{
			"no scope",
			Role{},
			ResourceGroup{},
			Binding{Meta: api.Meta{ID: "b"}, Principal: Principal{Type: "user", ID: "alice"}, Role: api.RoleAdmin},
			`scope "" is none`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := NewPolicy([]Role{tt.role}, []ResourceGroup{tt.group}, []Binding{tt.binding})
			if all := strings.Join(p.Problems(), "\n"); !strings.Contains(all, tt.problem) {
				t.Errorf("problems are %q, want %q", all, tt.problem)
			}
			for _, want := range api.Permissions() {
				object := Object{Type: want.Type(), Scope: api.ProjectScope("acme", "shop"), ID: "x"}
				if d := p.Can(Subject{UserID: "alice"}, want, object); d.Allowed {
					t.Fatalf("%s: %s", want, d.Why)
				}
			}
		})
	}
}

func TestNobodyGivesWhatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	p := NewPolicy(
		[]Role{role("org.acme.gatekeeper", "binding_*", "role_*", "group_*", "user_*", "token_*", "application_view")},
		[]ResourceGroup{{Meta: meta("org.acme.shop"), Selectors: []string{"team=shop,tier=web"}}, {Meta: meta("org.acme.wide"), Selectors: []string{"team=shop"}}, {Meta: meta("org.acme.typed"), All: true, Types: []string{api.TypeApplication}}},
		[]Binding{
			binding("account.admins", "root", api.RoleAdmin, ""),
			binding("org.acme.gatekeepers", "gina", "org.acme.gatekeeper", ""),
			binding("org.acme.devs", "dora", api.RoleDeveloper, "org.acme.wide"),
			binding("org.acme.typed", "tom", api.RoleViewer, "org.acme.typed"),
			{Meta: meta("org.acme.ops"), Principal: Principal{Type: api.PrincipalGroup, ID: "org.acme.ops"}, Role: api.RoleOperator},
			binding("org.acme.shops", "gina", api.RoleAuditor, "org.acme.shop"),
		})
	if len(p.Problems()) > 0 {
		t.Fatalf("problems: %q", p.Problems())
	}
	root, gina, dora := Subject{UserID: "root"}, Subject{UserID: "gina"}, Subject{UserID: "dora"}
	limited := Subject{UserID: "root", Ceiling: &Ceiling{Permissions: []Permission{"binding_*", "*_view"}, Scope: api.OrgScope("acme")}}
	tests := []struct {
		name string
		got  Decision
		want bool
	}{
		{"an administrator binds anything", p.MayBind(root, binding("org.acme.x", "bob", api.RoleAdmin, "")), true},
		{"who may edit bindings does not make themselves administrator", p.MayBind(gina, binding("org.acme.x", "gina", api.RoleAdmin, "")), false},
		{"nor gives what they have at the scope above", p.MayBind(gina, binding("account.x", "bob", "org.acme.gatekeeper", "")), false},
		{"they give what they have", p.MayBind(gina, binding("project.acme.shop.x", "bob", "org.acme.gatekeeper", "")), true},
		{"some of what they have", p.MayBind(dora, binding("org.acme.x", "bob", api.RoleViewer, "org.acme.shop")), true},
		{"not more objects than they have", p.MayBind(dora, binding("org.acme.x", "bob", api.RoleViewer, "")), false},
		{"not other types than they have", p.MayBind(Subject{UserID: "tom"}, binding("org.acme.x", "bob", api.RoleViewer, "")), false},
		{"those types that they have", p.MayBind(Subject{UserID: "tom"}, binding("org.acme.x", "bob", api.RoleViewer, "org.acme.typed")), true},
		{"a limited token gives within its limits", p.MayBind(limited, binding("org.acme.x", "bob", api.RoleViewer, "")), true},
		{"and not beyond its permissions", p.MayBind(limited, binding("org.acme.x", "bob", api.RoleDeveloper, "")), false},
		{"or its scope", p.MayBind(limited, binding("account.x", "bob", api.RoleViewer, "")), false},
		{"a binding of nothing known is refused", p.MayBind(root, binding("org.acme.x", "bob", "account.none", "")), false},
		{"a role of what one has", p.MayDefine(gina, role("org.acme.r", "binding_view", "application_view")), true},
		{"a role of more", p.MayDefine(gina, role("org.acme.r", "binding_view", "application_sync")), false},
		{"a role above", p.MayDefine(gina, role("account.r", "binding_view")), false},
		{"a role that is built in", p.MayDefine(root, role(api.RoleViewer, "*")), false},
		{"a role of unknown permissions", p.MayDefine(root, role("account.r", "application_fly")), false},
		{"a resource group that nobody uses", p.MayGather(gina, ResourceGroup{Meta: meta("org.acme.new"), All: true}), true},
		{"a resource group that widens what others may do", p.MayGather(gina, ResourceGroup{Meta: meta("org.acme.wide"), All: true}), false},
		{"the same by an administrator", p.MayGather(root, ResourceGroup{Meta: meta("org.acme.wide"), All: true}), true},
		{"the resource group of everything", p.MayGather(root, ResourceGroup{Meta: meta(api.AllResources), All: true}), false},
		{"somebody into a group that may more", p.MayActAs(gina, Subject{Groups: []string{"org.acme.ops"}}), false},
		{"somebody into a group that may nothing", p.MayActAs(gina, Subject{Groups: []string{"org.acme.none"}}), true},
		{"the password of an administrator", p.MayActAs(gina, root), false},
		{"the password of somebody who may less", p.MayActAs(root, gina), true},
		{"a token of another one for what one has", p.MayActAs(gina, Subject{UserID: "root", Ceiling: &Ceiling{Permissions: []Permission{"role_view"}, Scope: api.OrgScope("acme")}}), true},
		{"a token of another one for more", p.MayActAs(gina, Subject{UserID: "root", Ceiling: &Ceiling{Permissions: []Permission{"role_view"}, Scope: Account}}), false},
		{"a token within the token", limited.MayLimit(&Ceiling{Permissions: []Permission{"binding_view"}, Scope: api.ProjectScope("acme", "shop")}), true},
		{"a token beyond the token", limited.MayLimit(&Ceiling{Permissions: []Permission{"*"}, Scope: api.OrgScope("acme")}), false},
		{"a token of a wider scope", limited.MayLimit(&Ceiling{Permissions: []Permission{"binding_view"}, Scope: Account}), false},
		{"a token without limits from a limited one", limited.MayLimit(nil), false},
		{"a token without limits from a session", root.MayLimit(nil), true},
	}
	for _, tt := range tests {
		if tt.got.Allowed != tt.want || tt.got.Why == "" {
			t.Errorf("%s: %v (%s), want %v", tt.name, tt.got.Allowed, tt.got.Why, tt.want)
		}
	}
}

func TestAFilterIsAsShortAsItCanBe(t *testing.T) {
	t.Parallel()
	p := NewPolicy(nil, []ResourceGroup{
		{Meta: meta("account.one"), IDs: []string{"b", "a"}},
		{Meta: meta("account.two"), IDs: []string{"c", "a"}},
		{Meta: meta("account.shop"), Selectors: []string{"team=shop", "team == shop"}},
		{Meta: meta("account.agents"), All: true, Types: []string{api.TypeAgent}},
	}, []Binding{
		binding("org.acme.1", "alice", api.RoleViewer, "account.one"),
		binding("org.acme.2", "alice", api.RoleViewer, "account.two"),
		binding("org.acme.3", "alice", api.RoleViewer, "account.shop"),
		binding("org.acme.4", "alice", api.RoleViewer, "account.agents"),
		binding("project.other.shop.5", "alice", api.RoleViewer, "account.one"),
		binding("org.other.6", "alice", api.RoleViewer, ""),
		binding("project.other.web.7", "alice", api.RoleViewer, ""),
	})
	shop, err := ParseSelector("team=shop")
	if err != nil {
		t.Fatal(err)
	}
	want := Filter{Type: api.TypeApplication, Terms: []Term{
		{Scope: api.OrgScope("acme"), IDs: []string{"a", "b", "c"}, Selectors: []Selector{shop}},
		{Scope: api.OrgScope("other"), All: true},
	}}
	if diff := cmp.Diff(want, p.Filter(Subject{UserID: "alice"}, api.PermApplicationView)); diff != "" {
		t.Error(diff)
	}
	if f := p.Filter(Subject{UserID: "bob"}, api.PermApplicationView); !f.Nothing() {
		t.Errorf("bob sees %+v", f)
	}
	all := NewPolicy(nil, nil, []Binding{binding("account.a", "root", api.RoleAdmin, "")})
	if f := all.Filter(Subject{UserID: "root"}, api.PermApplicationView); !f.Everything() {
		t.Errorf("an administrator sees %+v only", f)
	}
	within := Subject{UserID: "root", Ceiling: &Ceiling{Permissions: []Permission{"*"}, Scope: api.OrgScope("acme")}}
	if diff := cmp.Diff([]Term{{Scope: api.OrgScope("acme"), All: true}}, all.Filter(within, api.PermApplicationView).Terms); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsAllowedAtAScopeIsListed(t *testing.T) {
	t.Parallel()
	p := NewPolicy([]Role{role("account.r", "application_view", "agent_view")},
		[]ResourceGroup{{Meta: meta("account.g"), Types: []string{api.TypeApplication}, All: true}},
		[]Binding{binding("org.acme.b", "alice", "account.r", "account.g")})
	at := func(s Subject, scope Scope) []Permission { return p.Allowed(s, scope) }
	if diff := cmp.Diff([]Permission{api.PermApplicationView}, at(Subject{UserID: "alice"}, api.ProjectScope("acme", "shop"))); diff != "" {
		t.Error(diff)
	}
	if got := at(Subject{UserID: "alice"}, Account); got != nil {
		t.Errorf("allowed above the binding: %v", got)
	}
	if got := at(Subject{UserID: "alice", Ceiling: &Ceiling{Permissions: []Permission{"*"}, Scope: api.OrgScope("other")}}, api.OrgScope("acme")); got != nil {
		t.Errorf("allowed outside of the token: %v", got)
	}
}
