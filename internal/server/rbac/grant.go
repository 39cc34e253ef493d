package rbac

import (
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// MayBind says whether the subject may make the binding, or change one into it: only a user with all that it gives, at
// its scope and for its resources, may give it. The permission to edit bindings is asked for besides.
func (p *Policy) MayBind(s Subject, b Binding) Decision {
	g, err := p.grant(b)
	if err != nil {
		return no("binding %s: %v", b.ID, err)
	}
	return p.holds(s, g)
}

// MayUnbind says whether the subject may delete the binding, or change it into another one: no user takes what they
// could not give. One that gives nothing may go.
func (p *Policy) MayUnbind(s Subject, b Binding) Decision {
	g, err := p.grant(b)
	if err != nil {
		return Decision{true, fmt.Sprintf("binding %s gives nothing: %v", b.ID, err)}
	}
	return p.holds(s, g)
}

// Administrators are those who may do everything by the role that is built in for that. The binding with the id without
// is left out.
func (p *Policy) Administrators(without string) []Principal {
	var out []Principal
	for who, grants := range p.grants {
		if slices.ContainsFunc(grants, func(g grant) bool { return g.binding.ID != without && g.administers() }) {
			out = append(out, who)
		}
	}
	return out
}

// administers reports whether a grant gives everything, whatever becomes of roles and resource groups that are stored.
func (g grant) administers() bool {
	return g.binding.Role == api.RoleAdmin && g.binding.Scope == Account && g.binding.ResourceGroup == api.AllResources
}

// MayDefine says whether the subject may make the role, or change one into it: only a user with all of its permissions, for
// everything at the scope of the role. Bindings of the role below need not be looked at then.
func (p *Policy) MayDefine(s Subject, r Role) Decision {
	scope, _, err := api.ParseID(r.ID)
	if err != nil {
		return no("%v", err)
	}
	if slices.ContainsFunc(BuiltinRoles(), func(have Role) bool { return have.ID == r.ID }) {
		return no("role %s is built in and never changes: make one of another name", r.ID)
	}
	allows, err := expand(r.Permissions)
	if err != nil {
		return no("role %s: %v", r.ID, err)
	}
	return p.holds(s, grant{
		binding: Binding{Meta: api.Meta{ID: "of role " + r.ID, Scope: scope}}, allows: allows, group: group{id: api.AllResources, all: true},
	})
}

// MayGather says whether the subject may make the resource group, or change one into it: only a user with all that
// the bindings which use it would give then.
func (p *Policy) MayGather(s Subject, g ResourceGroup) Decision {
	if _, _, err := api.ParseID(g.ID); err != nil {
		return no("%v", err)
	}
	if slices.ContainsFunc(BuiltinResourceGroups(), func(have ResourceGroup) bool { return have.ID == g.ID }) {
		return no("resource group %s is built in and never changes: make one of another name", g.ID)
	}
	read, err := readGroup(g)
	if err != nil {
		return no("resource group %s: %v", g.ID, err)
	}
	for _, grants := range p.grants {
		for _, have := range grants {
			if have.group.id != g.ID {
				continue
			}
			have.group = read
			if d := p.holds(s, have); !d.Allowed {
				return d
			}
		}
	}
	return Decision{true, fmt.Sprintf("%s has all that resource group %s gives", s, g.ID)}
}

// MayActAs says whether the subject may come by all that another one may do: set their password, make a token for a
// service account, put a user into a group (other is then a subject with that group alone). The ceiling of other
// limits what is asked for.
func (p *Policy) MayActAs(s, other Subject) Decision {
	limit := full()
	if other.Ceiling != nil {
		limit, _ = expand(other.Ceiling.Permissions) // what cannot be read allows nothing
	}
	for _, who := range other.principals() {
		for _, g := range p.grants[who] {
			g.allows = g.allows.and(limit)
			if other.Ceiling != nil {
				var shared bool
				if g.binding.Scope, shared = meet(g.binding.Scope, other.Ceiling.Scope); !shared {
					continue
				}
			}
			if d := p.holds(s, g); !d.Allowed {
				return d
			}
		}
	}
	return Decision{true, fmt.Sprintf("%s may do all that %s may do", s, other)}
}

// MayLimit says whether a token of the subject's own may have that ceiling: a token makes no token that is wider than
// itself.
func (s Subject) MayLimit(c *Ceiling) Decision {
	if s.Ceiling == nil {
		return Decision{true, fmt.Sprintf("%s came without a limited token", s)}
	}
	if c == nil {
		return no("a limited token makes no token without limits: give it permissions and a scope")
	}
	have, _ := expand(s.Ceiling.Permissions) // what cannot be read allows nothing
	want, err := expand(c.Permissions)
	if err != nil {
		return no("%v", err)
	}
	if lacks := want.less(have); !lacks.empty() {
		return no("the token that you use is not for %s, so it cannot make one that is", lacks.list()[0])
	}
	if !contains(s.Ceiling.Scope, c.Scope) {
		return no("the token that you use is limited to %s, so it cannot make one for %s", s.Ceiling.Scope, c.Scope)
	}
	return Decision{true, "within the token that you use"}
}

// holds says whether the subject has everything that a grant gives. It may answer no for a user who has them, where
// that is hard to see (two selectors that together are a third), and never answers yes for a user who does not.
func (p *Policy) holds(s Subject, g grant) Decision {
	wanted := g.typed()
	if s.Ceiling != nil {
		have, _ := expand(s.Ceiling.Permissions) // what cannot be read allows nothing
		if lacks := wanted.less(have); !lacks.empty() {
			return no("the token that %s uses is not for %s, which binding %s gives", s, lacks.list()[0], g.binding.ID)
		}
		if !contains(s.Ceiling.Scope, g.binding.Scope) {
			return no("the token that %s uses is limited to %s, and binding %s is at %s", s, s.Ceiling.Scope, g.binding.ID, g.binding.Scope)
		}
	}
	var mine []grant
	for _, who := range s.principals() {
		for _, have := range p.grants[who] {
			if contains(have.binding.Scope, g.binding.Scope) {
				mine = append(mine, have)
			}
		}
	}
	for _, want := range wanted.list() {
		if !g.group.within(want, mine) {
			return no("you cannot grant permissions that you do not have: binding %s gives %s at %s for %s, which %s does not have",
				g.binding.ID, want, g.binding.Scope, g.group, s)
		}
	}
	return Decision{true, fmt.Sprintf("%s has all that binding %s gives", s, g.binding.ID)}
}

// String names the group in a reason.
func (g group) String() string {
	if g.all && len(g.types) == 0 {
		return "everything"
	}
	return "resource group " + g.id
}

// within says whether all objects of the group that a permission is about are in groups of grants which allow it.
func (g group) within(want Permission, mine []grant) bool {
	ids := map[string]bool{}
	var selectors []Selector
	for _, m := range mine {
		if !m.allows.has(want) || !m.group.ofType(want.Type()) {
			continue
		}
		if m.group.all {
			return true
		}
		for id := range m.group.ids {
			ids[id] = true
		}
		selectors = append(selectors, m.group.selectors...)
	}
	if g.all {
		return false
	}
	for id := range g.ids {
		if !ids[id] {
			return false
		}
	}
	for _, s := range g.selectors {
		if !slices.ContainsFunc(selectors, s.implies) {
			return false
		}
	}
	return true
}
