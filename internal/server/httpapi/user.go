package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// People are users, groups and service accounts.
type People struct {
	Users           Entities[api.User]
	Groups          Entities[api.Group]
	ServiceAccounts Entities[api.ServiceAccount]
	Authn           Authn
	Providers       Providers
	Policies        Policies
}

// Routes are its rows of the table.
func (h *People) Routes() []Route {
	return slices.Concat(h.users().routes("create"), []Route{h.createUser(), h.resetPassword()}, h.groups().routes(), h.serviceAccounts().routes())
}

func (h *People) users() *noun[api.User, *api.User] {
	return &noun[api.User, *api.User]{
		store: h.Users, kind: api.TypeUser, many: "users", called: "user",
		example:  `{"name":"ada","displayName":"Ada Lovelace","email":"ada@example.org"}`,
		identify: identifyUser,
		check: func(ctx context.Context, c *call, before, after *api.User) error {
			if before == nil {
				return allow(c.policy.MayActAs(c.who.Subject, rbac.Subject{UserID: after.ID}))
			}
			if before.ID == c.who.Principal.ID && c.who.User != nil && (after == nil || after.Disabled) {
				return api.Errorf(api.CodeConflict, "this would shut you out: have somebody else do it")
			}
			if after != nil {
				after.Origin, after.Groups, after.LockedUntil, after.LastSignInAt = before.Origin, before.Groups, before.LockedUntil, before.LastSignInAt
				after.MustChangePassword = before.MustChangePassword // whoever resets the password sets it
			}
			if after != nil && before.Disabled == after.Disabled {
				return nil
			}
			// Nobody lets in or shuts out who may do more than they.
			if err := h.mayActAs(ctx, c, api.Principal{Type: api.PrincipalUser, ID: before.ID}); err != nil {
				return err
			}
			return h.keepAdministrator(ctx, c, loss{user: before.ID})
		},
	}
}

func identifyUser(u *api.User) (api.Scope, error) {
	if u.Scope != api.ScopeAccount {
		return "", &api.Error{Code: api.CodeInvalid, Message: "a user belongs to the account: leave scope out, and bind a role at the scope", Field: "body.scope"}
	}
	u.ID, u.Origin = u.Name, api.OriginLocal
	return api.ScopeAccount, nil
}

// mayActAs refuses what would let the caller come by rights of another that they do not have.
func (h *People) mayActAs(ctx context.Context, c *call, other api.Principal) error {
	groups, err := h.Policies.GroupsOf(ctx, other)
	if err != nil {
		return err
	}
	return allow(c.policy.MayActAs(c.who.Subject, subjectOf(other, groups)))
}

func subjectOf(p api.Principal, groups []string) rbac.Subject {
	out := rbac.Subject{Groups: groups}
	switch p.Type {
	case api.PrincipalUser:
		out.UserID = p.ID
	case api.PrincipalServiceAccount:
		out.ServiceAccountID = p.ID
	case api.PrincipalGroup:
		out.Groups = append(slices.Clone(groups), p.ID)
	}
	return out
}

// createUser makes a user with a password, where the noun alone would make one without.
func (h *People) createUser() Route {
	n := h.users()
	r := n.create()
	r.Secret = true
	r.Example = `{"name":"ada","displayName":"Ada Lovelace","email":"ada@example.org","password":"correct horse battery"}`
	type in = createInput[api.UserCreate]
	r.mount = mount(handler[in, output[api.UserCreated]]{
		find: func(_ context.Context, _ *call, in *in) (target, error) { return n.fresh(&in.Body.User) },
		do: func(ctx context.Context, c *call, in *in) (*output[api.UserCreated], error) {
			in.Body.Groups, in.Body.MustChangePassword = nil, true
			made, err := n.make(ctx, c, in.Body.User, in.DryRun)
			if err != nil || in.DryRun {
				return &output[api.UserCreated]{Body: api.UserCreated{User: in.Body.User}}, err
			}
			password, err := h.Authn.ResetPassword(ctx, made.Body.ID, in.Body.Password)
			if err != nil {
				// A user without a password cannot sign in; it is as if nothing had been made.
				if undo := n.store.Delete(ctx, made.Body.ID, api.DeleteOptions{Force: true}); undo != nil {
					c.log.Error("undo user", "request_id", c.id, "user", made.Body.ID, "err", undo)
				}
				return nil, err
			}
			if in.Body.Password != "" {
				password = ""
			}
			return &output[api.UserCreated]{ETag: made.ETag, Body: api.UserCreated{User: made.Body, Password: password}}, nil
		},
	})
	return r
}

// resetPassword gives somebody a new password.
func (h *People) resetPassword() Route {
	n := h.users()
	type out struct{ Body api.PasswordReset }
	return Route{
		Method: http.MethodPost, Path: "/api/v1/users/{id}/password", Permission: api.PermUserEdit, Audit: "user.password",
		ID: "reset-password", Summary: "Give a user a new password, which is said once and which they have to change; all their sessions and API tokens end", Tag: n.many, Secret: true,
		mount: mount(handler[IDInput, out]{
			find: func(ctx context.Context, _ *call, in *IDInput) (target, error) { return n.find(ctx, in.ID) },
			do: func(ctx context.Context, c *call, in *IDInput) (*out, error) {
				u, _ := c.before.(*api.User)
				c.before = nil
				if u.Origin == api.OriginOIDC {
					return nil, api.Errorf(api.CodeInvalid, "user %s signs in with the identity provider: change the password there", u.ID)
				}
				if err := h.mayActAs(ctx, c, api.Principal{Type: api.PrincipalUser, ID: u.ID}); err != nil {
					return nil, err
				}
				password, err := h.Authn.ResetPassword(ctx, in.ID, "")
				return &out{api.PasswordReset{Password: password}}, err
			},
		}),
	}
}

func (h *People) groups() *noun[api.Group, *api.Group] {
	return &noun[api.Group, *api.Group]{
		store: h.Groups, kind: api.TypeGroup, many: "groups", called: "group",
		example: `{"name":"developers","scope":"org.acme","members":["ada"],"claim":"acme-developers"}`,
		check: func(ctx context.Context, c *call, before, after *api.Group) error {
			if before != nil && after != nil && after.Claim == before.Claim && within(after.Members, before.Members) && within(before.Members, after.Members) {
				return nil
			}
			one := after
			if one == nil {
				one = before
			}
			// Whoever puts somebody into a group gives them what the group has, and nobody takes what they could not give.
			if err := allow(c.policy.MayActAs(c.who.Subject, rbac.Subject{Groups: []string{one.ID}})); err != nil || before == nil {
				return err
			}
			return h.keepAdministrator(ctx, c, loss{group: before.ID, becomes: after})
		},
	}
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (h *People) serviceAccounts() *noun[api.ServiceAccount, *api.ServiceAccount] {
	return &noun[api.ServiceAccount, *api.ServiceAccount]{
		store: h.ServiceAccounts, kind: api.TypeServiceAccount, many: "service-accounts", called: "service account",
		example: `{"name":"ci","scope":"org.acme"}`,
		check: func(ctx context.Context, c *call, before, after *api.ServiceAccount) error {
			switch {
			case before == nil:
				return allow(c.policy.MayActAs(c.who.Subject, rbac.Subject{ServiceAccountID: after.ID}))
			case after != nil && before.Disabled == after.Disabled:
				return nil
			}
			return h.mayActAs(ctx, c, api.Principal{Type: api.PrincipalServiceAccount, ID: before.ID})
		},
	}
}
