package rbac

import (
	"maps"
	"slices"
)

// Filter is what a subject may see of a list, as conditions that a store can ask its tables with: an object is in it
// when one of the terms matches. One without terms has nothing in it.
type Filter struct {
	Type  string
	Terms []Term
}

// Term matches objects at its scope and below ([Prefix]) when All is set, or their id is among IDs, or one of the
// selectors matches their labels.
type Term struct {
	Scope     Scope
	All       bool
	IDs       []string // sorted
	Selectors []Selector
}

// Filter is what the subject may use the permission on: Filter(s, p).Matches(o) is Can(s, p, o) for every object of the
// permission's type.
func (p *Policy) Filter(s Subject, want Permission) Filter {
	out := Filter{Type: want.Type()}
	if !want.Known() || s.Ceiling != nil && !s.Ceiling.admits(want, s.Ceiling.Scope).Allowed {
		return out
	}
	for _, who := range s.principals() {
		for _, g := range p.grants[who] {
			scope := g.binding.Scope
			if s.Ceiling != nil {
				var shared bool
				if scope, shared = meet(scope, s.Ceiling.Scope); !shared {
					continue
				}
			}
			if g.allows.has(want) && g.group.ofType(want.Type()) {
				out.add(Term{scope, g.group.all, slices.Sorted(maps.Keys(g.group.ids)), g.group.selectors})
			}
		}
	}
	return out
}

// Everything says whether the filter leaves nothing out.
func (f Filter) Everything() bool {
	return len(f.Terms) == 1 && f.Terms[0].All && f.Terms[0].Scope == Account
}

// Meets says whether something at a scope can be in it.
func (f Filter) Meets(at Scope) bool {
	return slices.ContainsFunc(f.Terms, func(t Term) bool { return contains(t.Scope, at) })
}

// Nothing says whether no object can be in it.
func (f Filter) Nothing() bool { return len(f.Terms) == 0 }

// Matches says whether the object is in it.
func (f Filter) Matches(o Object) bool {
	return o.Type == f.Type && slices.ContainsFunc(f.Terms, func(t Term) bool { return t.matches(o) })
}

func (t Term) matches(o Object) bool {
	if !contains(t.Scope, o.Scope) {
		return false
	}
	return t.All || slices.Contains(t.IDs, o.ID) || slices.ContainsFunc(t.Selectors, func(s Selector) bool { return s.Matches(o.Labels) })
}

// add keeps the filter short: no term below one that has everything, and one term for the ids and selectors of a scope.
func (f *Filter) add(t Term) {
	if !t.All && len(t.IDs) == 0 && len(t.Selectors) == 0 {
		return
	}
	if slices.ContainsFunc(f.Terms, func(have Term) bool { return have.All && contains(have.Scope, t.Scope) }) {
		return
	}
	if t.All {
		f.Terms = slices.DeleteFunc(f.Terms, func(have Term) bool { return contains(t.Scope, have.Scope) })
		f.Terms = append(f.Terms, Term{Scope: t.Scope, All: true})
		return
	}
	at := slices.IndexFunc(f.Terms, func(have Term) bool { return !have.All && have.Scope == t.Scope })
	if at < 0 {
		f.Terms = append(f.Terms, Term{Scope: t.Scope, IDs: t.IDs, Selectors: slices.Clone(t.Selectors)})
		return
	}
	into := &f.Terms[at]
	into.IDs = slices.Sorted(maps.Keys(union(into.IDs, t.IDs)))
	for _, s := range t.Selectors {
		if !slices.ContainsFunc(into.Selectors, func(have Selector) bool { return have.String() == s.String() }) {
			into.Selectors = append(into.Selectors, s)
		}
	}
}

func union(lists ...[]string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			out[s] = true
		}
	}
	return out
}
