package rbac

import (
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// Policy is all roles, resource groups and bindings, put in order so that a question is answered from those of the
// principal alone. It never changes: make a new one when something was edited.
type Policy struct {
	roles    map[string]set
	groups   map[string]group
	grants   map[Principal][]grant
	problems []string
}

// grant is a binding, read.
type grant struct {
	binding Binding
	allows  set
	group   group
}

// group is a resource group, read.
type group struct {
	id        string
	types     []string
	all       bool
	ids       map[string]bool
	selectors []Selector
}

// NewPolicy puts together what is stored; the built-in roles and resource groups need not be among it. What cannot be
// read allows nothing, and is reported by [Policy.Problems].
func NewPolicy(roles []Role, groups []ResourceGroup, bindings []Binding) *Policy {
	p := &Policy{roles: map[string]set{}, groups: map[string]group{}, grants: map[Principal][]grant{}}
	for _, r := range slices.Concat(BuiltinRoles(), roles) {
		if _, twice := p.roles[r.ID]; twice {
			p.problem("role %s is there twice: the first counts", r.ID)
			continue
		}
		allows, err := expand(r.Permissions)
		if err != nil {
			p.problem("role %s: %v", r.ID, err)
		}
		p.roles[r.ID] = allows
	}
	for _, g := range slices.Concat(BuiltinResourceGroups(), groups) {
		if _, twice := p.groups[g.ID]; twice {
			p.problem("resource group %s is there twice: the first counts", g.ID)
			continue
		}
		read, err := readGroup(g)
		if err != nil {
			p.problem("resource group %s: %v", g.ID, err)
		}
		p.groups[g.ID] = read
	}
	for _, b := range bindings {
		g, err := p.grant(b)
		if err != nil {
			p.problem("binding %s: %v", b.ID, err)
			continue
		}
		p.grants[b.Principal] = append(p.grants[b.Principal], g)
	}
	return p
}

func (p *Policy) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// Problems says what is stored but allows nothing, and why.
func (p *Policy) Problems() []string { return slices.Clone(p.problems) }

// readGroup reads what it can; a selector that cannot be read has nothing in it.
func readGroup(in ResourceGroup) (group, error) {
	out := group{id: in.ID, types: in.Types, all: in.All, ids: map[string]bool{}}
	var wrong error
	if ways := btoi(in.All) + btoi(len(in.IDs) > 0) + btoi(len(in.Selectors) > 0); ways != 1 {
		return group{id: in.ID}, fmt.Errorf("it must set one of: all, ids, label selectors; it sets %d", ways)
	}
	for _, id := range in.IDs {
		out.ids[id] = true
	}
	for _, text := range in.Selectors {
		s, err := ParseSelector(text)
		if err != nil {
			wrong = err
			continue
		}
		out.selectors = append(out.selectors, s)
	}
	return out, wrong
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// grant reads a binding, and refuses one that reaches for what is not above it: otherwise a user who may edit a
// role in one organization would give rights in another.
func (p *Policy) grant(b Binding) (grant, error) {
	out := grant{binding: b}
	if !b.Scope.Valid() {
		return out, fmt.Errorf("scope %.150q is none", b.Scope)
	}
	if b.Principal.ID == "" || !slices.Contains([]string{api.PrincipalUser, api.PrincipalGroup, api.PrincipalServiceAccount},
		b.Principal.Type) {
		return out, fmt.Errorf("principal %.150q of type %.40q is no user, group or service account", b.Principal.ID, b.Principal.Type)
	}
	if out.binding.ResourceGroup == "" {
		out.binding.ResourceGroup = api.AllResources
	}
	var found bool
	if out.allows, found = p.roles[b.Role]; !found {
		return out, fmt.Errorf("there is no role %.150q", b.Role)
	}
	if out.group, found = p.groups[out.binding.ResourceGroup]; !found {
		return out, fmt.Errorf("there is no resource group %.150q", out.binding.ResourceGroup)
	}
	for _, id := range []string{b.Role, out.binding.ResourceGroup} {
		if home, _, err := api.ParseID(id); err != nil || !contains(home, b.Scope) {
			return out, fmt.Errorf("%.150s is not at %s or above, so a binding there cannot use it", id, b.Scope)
		}
	}
	return out, nil
}

// has says whether an object is in the group.
func (g group) has(o Object) bool {
	return g.ofType(o.Type) && (g.all || g.ids[o.ID] ||
		!o.Asserted && slices.ContainsFunc(g.selectors, func(s Selector) bool { return s.Matches(o.Labels) }))
}

func (g group) ofType(t string) bool { return len(g.types) == 0 || slices.Contains(g.types, t) }

// Can says whether the subject may do it, and why. An object must be of the type that the permission is about.
func (p *Policy) Can(s Subject, want Permission, o Object) Decision {
	at := slices.Index(permissions, want)
	switch {
	case at < 0:
		return no("permission %.80q is not known", want)
	case o.Type != want.Type():
		return no("%s is not about objects of type %.80q", want, o.Type)
	case !o.Scope.Valid():
		return no("the object is at scope %.150q, which is none", o.Scope)
	}
	if d := s.Ceiling.admits(want, o.Scope); !d.Allowed {
		return d
	}
	var near *grant
	for _, who := range s.principals() {
		for i, g := range p.grants[who] {
			if !g.allows.bit(at) || !g.binding.Scope.Contains(o.Scope) {
				continue
			}
			if g.group.has(o) {
				return Decision{true, fmt.Sprintf("allowed by binding %s: role %s at scope %s", g.binding.ID, g.binding.Role, g.binding.Scope)}
			}
			near = &p.grants[who][i]
		}
	}
	if near != nil && o.Asserted && len(near.group.selectors) > 0 {
		return no("binding %s gives %s at %s by label, for what has the label already: labels in a request are ignored",
			near.binding.ID, want, near.binding.Scope)
	}
	if near != nil {
		return no("binding %s gives %s at %s, but %s %s is not in its resource group %s",
			near.binding.ID, want, near.binding.Scope, o.Type, o.ID, near.group.id)
	}
	return no("no binding of %s or its groups gives %s at %s", s, want, o.Scope)
}

// MayRelabel says whether the subject may give an object other labels: not if the subject could
// do more with the object afterwards.
func (p *Policy) MayRelabel(s Subject, before, after Object) Decision {
	for _, want := range permissions {
		if want.Type() == after.Type && p.Can(s, want, after).Allowed && !p.Can(s, want, before).Allowed {
			return no("with these labels the %s is in a resource group that gives you %s, which you do not have now", after.Type, want)
		}
	}
	return Decision{Allowed: true}
}

func no(format string, args ...any) Decision { return Decision{false, fmt.Sprintf(format, args...)} }

// Admits says whether the token that the subject came with may be used for a permission at a scope: always where it has no
// limits. Whether the subject has the permission is another question.
func (s Subject) Admits(want Permission, at Scope) Decision { return s.Ceiling.admits(want, at) }

// admits says whether a token may be used for it at all.
func (c *Ceiling) admits(want Permission, at Scope) Decision {
	if c == nil {
		return Decision{Allowed: true}
	}
	allows, _ := expand(c.Permissions) // what cannot be read allows nothing
	if !allows.has(want) {
		return no("the token is not for %s: it is limited to %.200q", want, c.Permissions)
	}
	if !contains(c.Scope, at) {
		return no("the token is limited to %s, and this is at %s", c.Scope, at)
	}
	return Decision{Allowed: true}
}

// Allowed lists what the subject may do with at least some objects at the scope itself, for a program that shows only
// what is of use.
func (p *Policy) Allowed(s Subject, at Scope) []Permission {
	var all set
	for _, who := range s.principals() {
		for _, g := range p.grants[who] {
			if contains(g.binding.Scope, at) {
				all = all.or(g.typed())
			}
		}
	}
	if s.Ceiling != nil {
		ceiling, _ := expand(s.Ceiling.Permissions) // what cannot be read allows nothing
		if !contains(s.Ceiling.Scope, at) {
			ceiling = set{}
		}
		all = all.and(ceiling)
	}
	return all.list()
}

// typed is what a grant allows, without the types that its resource group has nothing of.
func (g grant) typed() set {
	var out set
	for at, p := range permissions {
		if g.allows.has(p) && g.group.ofType(p.Type()) {
			out.add(at)
		}
	}
	return out
}
