// Package rbac decides the permissions of users: from roles, resource groups and bindings to an answer with its reason, or to a
// filter that a list is asked with. It denies what nothing allows.
package rbac

import (
	"slices"

	"github.com/slipway-gitops/slipway/api"
)

// What rights are made of is the same here as on the wire.
type (
	// Role is a set of permissions; bindings at its scope and below may use it.
	Role = api.Role
	// ResourceGroup is a set of objects; bindings at its scope and below may use it.
	ResourceGroup = api.ResourceGroup
	// Binding gives a principal a role for the objects of a resource group, at its scope and below.
	Binding = api.Binding
	// Principal is the holder of a binding: a user, a group or a service account.
	Principal = api.Principal
)

// Subject is the caller: a user or a service account, the groups that they are in, and the limits of the token that they
// came with.
type Subject struct {
	UserID           string
	ServiceAccountID string
	Groups           []string // ids
	Ceiling          *Ceiling // nil: no token, or one without limits
}

// Ceiling is what a token is limited to, whatever its owner may do. One without permissions or scope allows nothing.
type Ceiling struct {
	Permissions []Permission // names and patterns, see [Expand]
	Scope       Scope
}

// Object is what something is done with. What does not exist yet is asked for with the id that it will have. An
// organization and a project are at their own scope, and are made with a permission at the scope above.
type Object struct {
	Type   string // as permissions name it, see [api.Permission.Type]
	Scope  Scope
	ID     string
	Labels map[string]string
	// Asserted says that the labels are a request's own word: no selector finds the object by them, or by their lack.
	Asserted bool
}

// Decision is an answer, and the reason as a sentence for people.
type Decision struct {
	Allowed bool
	Why     string
}

// principals are all that a binding for the subject can name.
func (s Subject) principals() []Principal {
	out := make([]Principal, 0, len(s.Groups)+1)
	if s.UserID != "" {
		out = append(out, Principal{Type: api.PrincipalUser, ID: s.UserID})
	}
	if s.ServiceAccountID != "" {
		out = append(out, Principal{Type: api.PrincipalServiceAccount, ID: s.ServiceAccountID})
	}
	for _, g := range s.Groups {
		if p := (Principal{Type: api.PrincipalGroup, ID: g}); g != "" && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// String is how reasons name the subject.
func (s Subject) String() string {
	switch {
	case s.UserID != "":
		return s.UserID
	case s.ServiceAccountID != "":
		return "service account " + s.ServiceAccountID
	case len(s.Groups) == 1:
		return "group " + s.Groups[0]
	}
	return "nobody"
}
