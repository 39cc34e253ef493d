// Package access keeps users and their permissions: users, groups and service accounts, sessions and tokens, roles,
// resource groups and bindings.
package access

import (
	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Access puts the nouns together.
type Access struct {
	*Users
	*ServiceAccounts
	*Sessions
	*Tokens
	*Rights
	Groups         entity.Entities[api.Group]
	Roles          entity.Entities[api.Role]
	ResourceGroups entity.Entities[api.ResourceGroup]
	Bindings       entity.Entities[api.Binding]
}

// New is for an open database. Once it is migrated, what comes with the server is written.
func New(d *db.DB) Access {
	rights := &Rights{d}
	d.Settle(rights.writeBuiltins)
	return Access{
		Users: newUsers(d), ServiceAccounts: newServiceAccounts(d), Sessions: &Sessions{d}, Tokens: &Tokens{d}, Rights: rights,
		Groups: entity.Of(d, Groups()), Roles: entity.Of(d, Roles()), ResourceGroups: entity.Of(d, ResourceGroups()),
		Bindings: entity.Of(d, Bindings()),
	}
}

// Sessions keeps sessions of browsers, wrong passwords, and sign-ins that are under way.
type Sessions struct{ db *db.DB }

// Tokens keeps API tokens, without their secrets.
type Tokens struct{ db *db.DB }

// Rights reads what rights follow from.
type Rights struct{ db *db.DB }
