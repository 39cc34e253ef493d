package rbac

import "github.com/slipway-gitops/slipway/api"

// Scope is a place in the tree of the account, its organizations and their projects. What is given at a scope holds
// there and below.
type Scope = api.Scope

// Account is the scope above all others.
const Account = api.ScopeAccount

// Prefix is what the scopes of all projects of an organization begin with; empty for other scopes. So what is in a scope
// is: everything for the account, else the rows whose scope is the same or, where there is a prefix, begins with it.
func Prefix(s Scope) string {
	if s.Org() == "" || s.Project() != "" {
		return ""
	}
	return string(api.ProjectScope(s.Org(), ""))
}

// meet is the part that two scopes share: the lower one, or none.
func meet(a, b Scope) (Scope, bool) {
	switch {
	case contains(a, b):
		return b, true
	case contains(b, a):
		return a, true
	}
	return "", false
}

// contains says whether a scope is the other one or around it. What is no scope contains nothing and is nowhere.
func contains(outer, inner Scope) bool {
	return outer.Valid() && inner.Valid() && outer.Contains(inner)
}
