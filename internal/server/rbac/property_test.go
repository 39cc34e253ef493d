package rbac

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
)

// A small world, so that what is drawn meets.
var (
	orgs       = []string{"acme", "acm", "acme-two"}
	users      = []string{"alice", "bob"}
	groupIDs   = []string{"account.ops", "org.acme.devs"}
	objectIDs  = []string{"account.prod", "org.acme.prod", "account.prod/argocd/shop"}
	someTypes  = []string{api.TypeApplication, api.TypeAgent, api.TypeBinding}
	asked      = []Permission{api.PermApplicationView, api.PermApplicationSync, api.PermAgentView, api.PermBindingEdit}
	patterns   = []Permission{"*", "application_*", "*_view", "application_view", "application_sync", "agent_view", "binding_edit", "nothing_known"}
	selectors  = []string{"team=shop", "team in (shop,web)", "team!=web", "!team", "team", "team=shop,tier=front", "tier notin (back)", "broken in"}
	labelTeams = []string{"", "shop", "web", "ops"}
)

func scopes() *rapid.Generator[Scope] {
	return rapid.Custom(func(t *rapid.T) Scope {
		org := rapid.SampledFrom(orgs).Draw(t, "org")
		switch rapid.IntRange(0, 2).Draw(t, "depth") {
		case 0:
			return Account
		case 1:
			return api.OrgScope(org)
		}
		return api.ProjectScope(org, rapid.SampledFrom([]string{"shop", "web"}).Draw(t, "project"))
	})
}

func objects() *rapid.Generator[Object] {
	return rapid.Custom(func(t *rapid.T) Object {
		o := Object{
			Type:   rapid.SampledFrom(someTypes).Draw(t, "type"),
			Scope:  scopes().Draw(t, "scope"),
			ID:     rapid.SampledFrom(objectIDs).Draw(t, "id"),
			Labels: map[string]string{},
		}
		for _, key := range []string{"team", "tier"} {
			if v := rapid.SampledFrom(labelTeams).Draw(t, key); v != "" {
				o.Labels[key] = v
			}
		}
		return o
	})
}

func ceilings() *rapid.Generator[*Ceiling] {
	return rapid.Custom(func(t *rapid.T) *Ceiling {
		if rapid.Bool().Draw(t, "unlimited") {
			return nil
		}
		return &Ceiling{
			Permissions: rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 3).Draw(t, "ceiling"),
			Scope:       scopes().Draw(t, "ceiling scope"),
		}
	})
}

func subjects() *rapid.Generator[Subject] {
	return rapid.Custom(func(t *rapid.T) Subject {
		s := Subject{Groups: rapid.SliceOfN(rapid.SampledFrom(groupIDs), 0, 2).Draw(t, "groups"), Ceiling: ceilings().Draw(t, "ceiling")}
		if rapid.Bool().Draw(t, "service account") {
			s.ServiceAccountID = "org.acme.ci"
		} else {
			s.UserID = rapid.SampledFrom(users).Draw(t, "user")
		}
		return s
	})
}

// world is what a policy is made of.
type world struct {
	roles    []Role
	groups   []ResourceGroup
	bindings []Binding
}

func (w world) policy() *Policy { return NewPolicy(w.roles, w.groups, w.bindings) }

func roles(id string) *rapid.Generator[Role] {
	return rapid.Custom(func(t *rapid.T) Role {
		return role(id, rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 3).Draw(t, "permissions")...)
	})
}

func resourceGroups(id string) *rapid.Generator[ResourceGroup] {
	return rapid.Custom(func(t *rapid.T) ResourceGroup {
		g := ResourceGroup{Meta: meta(id), Types: rapid.SliceOfN(rapid.SampledFrom(someTypes), 0, 2).Draw(t, "types")}
		switch rapid.IntRange(0, 2).Draw(t, "way") {
		case 0:
			g.All = true
		case 1:
			g.IDs = rapid.SliceOfN(rapid.SampledFrom(objectIDs), 0, 2).Draw(t, "ids")
		default:
			g.Selectors = rapid.SliceOfN(rapid.SampledFrom(selectors), 0, 2).Draw(t, "selectors")
		}
		return g
	})
}

func bindings(name string) *rapid.Generator[Binding] {
	return rapid.Custom(func(t *rapid.T) Binding {
		principals := []Principal{
			{Type: api.PrincipalUser, ID: "alice"},
			{Type: api.PrincipalUser, ID: "bob"},
			{Type: api.PrincipalServiceAccount, ID: "org.acme.ci"},
			{Type: api.PrincipalGroup, ID: groupIDs[0]},
			{Type: api.PrincipalGroup, ID: groupIDs[1]},
		}
		return Binding{
			Meta:          meta(scopes().Draw(t, "scope").ID(name)),
			Principal:     rapid.SampledFrom(principals).Draw(t, "principal"),
			Role:          rapid.SampledFrom([]string{api.RoleAdmin, api.RoleViewer, "account.r", "org.acme.r"}).Draw(t, "role"),
			ResourceGroup: rapid.SampledFrom([]string{"", "account.g", "org.acme.g"}).Draw(t, "group"),
		}
	})
}

func worlds() *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		w := world{
			roles:  []Role{roles("account.r").Draw(t, "role 1"), roles("org.acme.r").Draw(t, "role 2")},
			groups: []ResourceGroup{resourceGroups("account.g").Draw(t, "group 1"), resourceGroups("org.acme.g").Draw(t, "group 2")},
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "bindings") {
			w.bindings = append(w.bindings, bindings("b"+string(rune('0'+i))).Draw(t, "binding"))
		}
		return w
	})
}

func TestAFilterMatchesExactlyWhatMayBeDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, s, o := worlds().Draw(t, "world").policy(), subjects().Draw(t, "subject"), objects().Draw(t, "object")
		want := rapid.SampledFrom(asked).Draw(t, "permission")
		o.Type = want.Type()
		can, matches := p.Can(s, want, o), p.Filter(s, want).Matches(o)
		if can.Allowed != matches {
			t.Fatalf("can: %v (%s), filter %+v matches: %v", can.Allowed, can.Why, p.Filter(s, want), matches)
		}
	})
}

// allowed says it once more, in the plainest way: some binding allows it, all of whose parts fit.
func (w world) allowed(s Subject, want Permission, o Object) bool {
	if s.Ceiling != nil {
		list, _ := Expand(s.Ceiling.Permissions)
		if !slices.Contains(list, want) || !s.Ceiling.Scope.Contains(o.Scope) {
			return false
		}
	}
	for _, b := range w.bindings {
		mine := b.Principal.Type == api.PrincipalUser && b.Principal.ID == s.UserID ||
			b.Principal.Type == api.PrincipalServiceAccount && b.Principal.ID == s.ServiceAccountID ||
			b.Principal.Type == api.PrincipalGroup && slices.Contains(s.Groups, b.Principal.ID)
		if !mine || !b.Scope.Contains(o.Scope) {
			continue
		}
		for _, r := range slices.Concat(w.roles, BuiltinRoles()) {
			list, _ := Expand(r.Permissions)
			if r.ID != b.Role || !r.Scope.Contains(b.Scope) || !slices.Contains(list, want) {
				continue
			}
			if b.ResourceGroup == "" {
				return true
			}
			for _, g := range w.groups {
				if g.ID == b.ResourceGroup && g.Scope.Contains(b.Scope) && gathers(g, o) {
					return true
				}
			}
		}
	}
	return false
}

func gathers(g ResourceGroup, o Object) bool {
	if len(g.Types) > 0 && !slices.Contains(g.Types, o.Type) {
		return false
	}
	for _, text := range g.Selectors {
		if s, err := ParseSelector(text); err == nil && s.Matches(o.Labels) {
			return true
		}
	}
	return g.All || slices.Contains(g.IDs, o.ID)
}

func TestADecisionIsThatOfThePlainReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, s, o := worlds().Draw(t, "world"), subjects().Draw(t, "subject"), objects().Draw(t, "object")
		want := rapid.SampledFrom(asked).Draw(t, "permission")
		o.Type = want.Type()
		if got := w.policy().Can(s, want, o); got.Allowed != w.allowed(s, want, o) || got.Why == "" {
			t.Fatalf("got %v: %s", got.Allowed, got.Why)
		}
	})
}

func TestABindingMoreTakesNothingAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, s, o := worlds().Draw(t, "world"), subjects().Draw(t, "subject"), objects().Draw(t, "object")
		want := rapid.SampledFrom(asked).Draw(t, "permission")
		more := w
		more.bindings = append(slices.Clone(w.bindings), bindings("more").Draw(t, "more"))
		if w.policy().Can(s, want, o).Allowed && !more.policy().Can(s, want, o).Allowed {
			t.Fatal("a binding more, and it is denied")
		}
		free := s
		free.Ceiling = nil
		if w.policy().Can(s, want, o).Allowed && !w.policy().Can(free, want, o).Allowed {
			t.Fatal("without the limits of the token it is denied")
		}
	})
}

func TestNothingIsAllowedWithoutABinding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, s, o := worlds().Draw(t, "world"), subjects().Draw(t, "subject"), objects().Draw(t, "object")
		w.bindings = slices.DeleteFunc(w.bindings, func(b Binding) bool { return slices.Contains(s.principals(), b.Principal) })
		p := w.policy()
		for _, want := range api.Permissions() {
			o.Type = want.Type()
			if d := p.Can(s, want, o); d.Allowed {
				t.Fatal(d.Why)
			}
			if !p.Filter(s, want).Nothing() {
				t.Fatalf("%s lets something through", want)
			}
		}
	})
}

// TestWhoGivesHasIt draws somebody who changes rights, and looks whether anybody can do more afterwards than before that
// the one who did it cannot do.
func TestWhoGivesHasIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, giver := worlds().Draw(t, "world"), subjects().Draw(t, "giver")
		before := w.policy()
		after := world{slices.Clone(w.roles), slices.Clone(w.groups), slices.Clone(w.bindings)}
		var d Decision
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			b := bindings("new").Draw(t, "new")
			after.bindings = append(after.bindings, b)
			d = before.MayBind(giver, b)
		case 1:
			at := rapid.IntRange(0, 1).Draw(t, "which")
			after.roles[at] = roles(w.roles[at].ID).Draw(t, "new role")
			d = before.MayDefine(giver, after.roles[at])
		default:
			at := rapid.IntRange(0, 1).Draw(t, "which")
			after.groups[at] = resourceGroups(w.groups[at].ID).Draw(t, "new group")
			d = before.MayGather(giver, after.groups[at])
		}
		if !d.Allowed {
			return
		}
		taker, o := subjects().Draw(t, "taker"), objects().Draw(t, "object")
		for _, want := range asked {
			o.Type = want.Type()
			if after.policy().Can(taker, want, o).Allowed && !before.Can(taker, want, o).Allowed && !before.Can(giver, want, o).Allowed {
				t.Fatalf("%v may %s %+v now, which %v may not; it was said: %s", taker, want, o, giver, d.Why)
			}
		}
	})
}

func TestWhoMayActAsAnotherMayDoWhatTheyDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, s, other := worlds().Draw(t, "world").policy(), subjects().Draw(t, "subject"), subjects().Draw(t, "other")
		o := objects().Draw(t, "object")
		if !p.MayActAs(s, other).Allowed {
			return
		}
		for _, want := range asked {
			o.Type = want.Type()
			if p.Can(other, want, o).Allowed && !p.Can(s, want, o).Allowed {
				t.Fatalf("%v may %s %+v, and %v may not", other, want, o, s)
			}
		}
	})
}
