package account

import (
	"context"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// People are users, groups and service accounts.
type People struct {
	Users           core.Entities[api.User]
	Groups          core.Entities[api.Group]
	ServiceAccounts core.Entities[api.ServiceAccount]
	Authn           core.Authn
	Providers       Providers
	Policies        core.Policies
}

// Routes are its rows of the table.
func (h *People) Routes() []core.Route {
	return slices.Concat(h.users().Routes("create"), []core.Route{h.createUser(), h.resetPassword()}, h.groups().Routes(),
		h.serviceAccounts().Routes())
}

func (h *People) users() *core.Noun[api.User, *api.User] {
	return &core.Noun[api.User, *api.User]{
		Store: h.Users, Kind: api.TypeUser, Many: "users", Called: "user",
		Example:  `{"name":"ada","displayName":"Ada Lovelace","email":"ada@example.org"}`,
		Identify: identifyUser,
		Check: func(ctx context.Context, c *core.Call, before, after *api.User) error {
			if before == nil {
				return core.Allow(c.Policy.MayActAs(c.Who.Subject, rbac.Subject{UserID: after.ID}))
			}
			if before.ID == c.Who.Principal.ID && c.Who.User != nil && (after == nil || after.Disabled) {
				return api.Errorf(api.CodeConflict, "this would lock you out: ask another administrator to do it")
			}
			if after != nil {
				after.Origin, after.Groups, after.LockedUntil, after.LastSignInAt = before.Origin, before.Groups, before.LockedUntil,
					before.LastSignInAt
				after.MustChangePassword = before.MustChangePassword // the user who resets the password sets it
			}
			if after != nil && before.Disabled == after.Disabled {
				return nil
			}
			// A user cannot let in or shut out users with more permissions.
			if err := h.mayActAs(ctx, c, api.Principal{Type: api.PrincipalUser, ID: before.ID}); err != nil {
				return err
			}
			return h.keepAdministrator(ctx, c, loss{user: before.ID})
		},
	}
}

func identifyUser(u *api.User) (api.Scope, error) {
	if u.Scope != api.ScopeAccount {
		return "", &api.Error{
			Code: api.CodeInvalid, Message: "a user belongs to the account: leave scope out, and bind a role at the scope", Field: "body.scope",
		}
	}
	u.ID, u.Origin = u.Name, api.OriginLocal
	return api.ScopeAccount, nil
}

// mayActAs refuses what would let the caller come by rights of another that they do not have.
func (h *People) mayActAs(ctx context.Context, c *core.Call, other api.Principal) error {
	groups, err := h.Policies.GroupsOf(ctx, other)
	if err != nil {
		return err
	}
	return core.Allow(c.Policy.MayActAs(c.Who.Subject, subjectOf(other, groups)))
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
func (h *People) createUser() core.Route {
	n := h.users()
	r := n.Create()
	r.Secret = true
	r.Example = `{"name":"ada","displayName":"Ada Lovelace","email":"ada@example.org","password":"correct horse battery"}`
	type in = core.CreateInput[api.UserCreate]
	r.Mount = core.Mount(core.Answer[in, core.Output[api.UserCreated]]{
		Find: func(_ context.Context, _ *core.Call, in *in) (core.Target, error) { return n.Fresh(&in.Body.User) },
		Do: func(ctx context.Context, c *core.Call, in *in) (*core.Output[api.UserCreated], error) {
			in.Body.Groups, in.Body.MustChangePassword = nil, true
			made, err := n.Make(ctx, c, in.Body.User, in.DryRun)
			if err != nil || in.DryRun {
				return &core.Output[api.UserCreated]{Body: api.UserCreated{User: in.Body.User}}, err
			}
			password, err := h.Authn.ResetPassword(ctx, made.Body.ID, in.Body.Password)
			if err != nil {
				// A user without a password cannot sign in; it is as if nothing had been made.
				if undo := n.Store.Delete(ctx, made.Body.ID, api.DeleteOptions{Force: true}); undo != nil {
					c.Log.Error("undo user", "request_id", c.ID, "user", made.Body.ID, "err", undo)
				}
				return nil, err
			}
			if in.Body.Password != "" {
				password = ""
			}
			return &core.Output[api.UserCreated]{ETag: made.ETag, Body: api.UserCreated{User: made.Body, Password: password}}, nil
		},
	})
	return r
}

// resetPassword gives a user a new password.
func (h *People) resetPassword() core.Route {
	n := h.users()
	type out struct{ Body api.PasswordReset }
	return core.Route{
		Method: http.MethodPost, Path: "/api/v1/users/{id}/password", Permission: api.PermUserEdit, Audit: "user.password",
		ID: "reset-password", Summary: "Give a user a new password, which is shown only once and which they must change; " +
			"all their sessions and API tokens end", Tag: n.Many, Secret: true,
		Mount: core.Mount(core.Answer[core.IDInput, out]{
			Find: func(ctx context.Context, _ *core.Call, in *core.IDInput) (core.Target, error) {
				return n.Find(ctx, in.ID)
			},
			Do: func(ctx context.Context, c *core.Call, in *core.IDInput) (*out, error) {
				u, _ := c.Before.(*api.User)
				c.Before = nil
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

func (h *People) groups() *core.Noun[api.Group, *api.Group] {
	return &core.Noun[api.Group, *api.Group]{
		Store: h.Groups, Kind: api.TypeGroup, Many: "groups", Called: "group",
		Example: `{"name":"developers","scope":"org.acme","members":["ada"],"claim":"acme-developers"}`,
		Check: func(ctx context.Context, c *core.Call, before, after *api.Group) error {
			if before != nil && after != nil && after.Claim == before.Claim && within(after.Members, before.Members) &&
				within(before.Members, after.Members) {
				return nil
			}
			one := after
			if one == nil {
				one = before
			}
			// Adding a user to a group gives them what the group has, and no user takes what they could not give.
			if err := core.Allow(c.Policy.MayActAs(c.Who.Subject, rbac.Subject{Groups: []string{one.ID}})); err != nil || before == nil {
				return err
			}
			return h.keepAdministrator(ctx, c, loss{group: before.ID, becomes: after})
		},
	}
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

func (h *People) serviceAccounts() *core.Noun[api.ServiceAccount, *api.ServiceAccount] {
	return &core.Noun[api.ServiceAccount, *api.ServiceAccount]{
		Store: h.ServiceAccounts, Kind: api.TypeServiceAccount, Many: "service-accounts", Called: "service account",
		Example: `{"name":"ci","scope":"org.acme"}`,
		Check: func(ctx context.Context, c *core.Call, before, after *api.ServiceAccount) error {
			switch {
			case before == nil:
				return core.Allow(c.Policy.MayActAs(c.Who.Subject, rbac.Subject{ServiceAccountID: after.ID}))
			case after != nil && before.Disabled == after.Disabled:
				return nil
			}
			return h.mayActAs(ctx, c, api.Principal{Type: api.PrincipalServiceAccount, ID: before.ID})
		},
	}
}
