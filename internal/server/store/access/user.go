package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Users keeps users, without what they sign in with.
type Users struct {
	entity.Entities[api.User]
	db *db.DB
}

func newUsers(d *db.DB) *Users { return &Users{entity.Of(d, users()), d} }

func users() *entity.Kind[api.User] {
	return &entity.Kind[api.User]{
		Table: "person", Noun: "user", Kind: api.TypeUser,
		ID: func(u *api.User) string { return u.Name },
		Columns: func(u *api.User) []entity.Column {
			return []entity.Column{
				{Name: "email", Value: u.Email, Into: &u.Email},
				{Name: "disabled", Value: u.Disabled, Into: &u.Disabled},
				{Name: "must_change_password", Value: u.MustChangePassword, Into: &u.MustChangePassword},
			}
		},
		Fixed: func(u *api.User) []entity.Column {
			return []entity.Column{
				{Name: "origin", Value: u.Origin, Into: &u.Origin},
				{Name: "locked_until", Value: u.LockedUntil, Into: db.Instant(&u.LockedUntil)},
				{Name: "last_sign_in_at", Value: u.LastSignInAt, Into: db.Instant(&u.LastSignInAt)},
				{Name: "provider_teams", Value: "", Into: db.Decode(&u.Groups)},
			}
		},
		Fill:    fillGroupsOfUsers,
		Sorts:   map[string]string{"email": "person.email", "lastSignInAt": "person.last_sign_in_at"},
		Prepare: prepareUser,
		Written: func(ctx context.Context, t db.Tx, u, before *api.User) error {
			if before == nil || !u.Disabled {
				return nil
			}
			return t.Run(ctx, "DELETE FROM session WHERE person = ?", u.ID)
		},
		References: func(ctx context.Context, t db.Tx, u *api.User) ([]api.Ref, error) {
			return bindingsOf(ctx, t, api.PrincipalUser, u.ID)
		},
		Release: func(ctx context.Context, t db.Tx, u *api.User) error {
			return releasePrincipal(ctx, t, api.PrincipalUser, u.ID)
		},
	}
}

func prepareUser(ctx context.Context, _ db.Tx, u, _ *api.User) error {
	if u.Scope != api.ScopeAccount {
		return db.Invalid("scope", "users belong to the account: leave the scope out")
	}
	if u.Origin == "" {
		u.Origin = api.OriginLocal
	}
	return nil
}

// bindingsOf are the rights of a principal.
func bindingsOf(ctx context.Context, t db.Tx, kind, id string) ([]api.Ref, error) {
	return Bindings().Refs(ctx, t, "principal_type = ? AND principal_id = ?", kind, id)
}

// releasePrincipal deletes what belongs to a principal: rights and tokens.
func releasePrincipal(ctx context.Context, t db.Tx, kind, id string) error {
	if err := Bindings().DestroyAll(ctx, t, "principal_type = ? AND principal_id = ?", kind, id); err != nil {
		return err
	}
	return t.Run(ctx, "DELETE FROM token WHERE owner_type = ? AND owner_id = ?", kind, id)
}

// mapped comes before the ids of groups, among those of the last sign-in, that
// the configuration of the provider named.
const mapped = "="

// fillGroupsOfUsers adds the groups that people made them members of to those
// that follow from the last sign-in at a provider, if that is not too long ago.
// Of these it leaves out what is gone since, or has no claim any more and came
// by that.
func fillGroupsOfUsers(ctx context.Context, t db.Tx, list []*api.User) error {
	byID, ids := entity.ByID(list)
	var said []string
	for _, u := range list {
		if t.Now-db.Micros(u.LastSignInAt) >= t.ProviderGroups.Microseconds() {
			u.Groups = nil
		}
		for _, id := range u.Groups {
			said = append(said, strings.TrimPrefix(id, mapped))
		}
	}
	slices.Sort(said)
	present := map[string]bool{}
	err := t.EachOf(ctx, "SELECT id, claim FROM team WHERE id IN (LIST)", nil, slices.Compact(said), db.Pair(func(id, claim string) {
		present[mapped+id], present[id] = true, claim != ""
	}))
	if err != nil {
		return err
	}
	for _, u := range list {
		u.Groups = slices.DeleteFunc(u.Groups, func(id string) bool { return !present[id] })
		for i, id := range u.Groups {
			u.Groups[i] = strings.TrimPrefix(id, mapped)
		}
	}
	err = t.EachOf(ctx, "SELECT person, team FROM team_member WHERE person IN (LIST)", nil, ids, db.Pair(func(person, team string) {
		byID[person].Groups = append(byID[person].Groups, team)
	}))
	if err != nil {
		return err
	}
	for _, u := range list {
		slices.Sort(u.Groups)
		u.Groups = slices.Compact(u.Groups)
	}
	return nil
}

// AuthUser reads a user with what they sign in with.
func (s *Users) AuthUser(ctx context.Context, name string) (authn.User, error) {
	return s.authUser(ctx, func(t db.Tx) (*api.User, error) { return users().Get(ctx, t, name) })
}

// AuthUserByProvider reads the user that an identity provider knows by a subject.
func (s *Users) AuthUserByProvider(ctx context.Context, provider, subject string) (authn.User, error) {
	return s.authUser(ctx, func(t db.Tx) (*api.User, error) {
		if subject == "" {
			return nil, db.NotFound("user", subject)
		}
		found, err := users().Query(ctx, t, " WHERE provider = ? AND provider_subject = ?", provider, subject)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, db.NotFound("user of "+provider, subject)
		}
		return found[0], nil
	})
}

func (s *Users) authUser(ctx context.Context, find func(db.Tx) (*api.User, error)) (authn.User, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (u authn.User, err error) {
		found, err := find(t)
		if err != nil {
			return u, err
		}
		u.User = *found
		err = t.One(ctx, "SELECT password_hash, provider, provider_subject FROM person WHERE id = ?", []any{found.ID},
			&u.PasswordHash, &u.Provider, &u.ProviderSubject)
		return u, err
	})
}

// CreateAuthUser makes a user with what they sign in with.
func (s *Users) CreateAuthUser(ctx context.Context, u authn.User) error {
	return s.db.Write(ctx, func(t db.Tx) error { return createAuthUser(ctx, t, u) })
}

func createAuthUser(ctx context.Context, t db.Tx, u authn.User) error {
	if err := users().Insert(ctx, t, &u.User); err != nil {
		return err
	}
	_, err := t.Exec(ctx, "UPDATE person SET password_hash = ?, provider = ?, provider_subject = ?, provider_teams = ? WHERE id = ?",
		u.PasswordHash, u.Provider, u.ProviderSubject, db.Encode(u.Groups), u.ID)
	if errors.Is(err, db.ErrExists) {
		return db.Exists("user of "+u.Provider, u.ProviderSubject)
	}
	return err
}

// CreateFirstAdmin makes a user who may do everything, if there is none at all,
// and reports whether it did.
func (s *Users) CreateFirstAdmin(ctx context.Context, u authn.User) (made bool, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		made = false
		// Several servers may start at a time: this one row makes them wait.
		if err := entity.PolicyChanged(ctx, t, ""); err != nil {
			return err
		}
		var count int64
		if err := t.One(ctx, "SELECT COUNT(*) FROM person", nil, &count); err != nil || count > 0 {
			return err
		}
		if err := createAuthUser(ctx, t, u); err != nil {
			return err
		}
		made = true
		return Bindings().Insert(ctx, t, &api.Binding{
			Meta:      api.Meta{Name: u.Name, Scope: api.ScopeAccount, DisplayName: "The first administrator"},
			Principal: api.Principal{Type: api.PrincipalUser, ID: u.Name}, Role: api.RoleAdmin,
		})
	})
	return made, err
}

// SetPassword sets the hash of a password, and ends sessions and tokens of the
// user as it says. Conflict where the password is another one than it says.
func (s *Users) SetPassword(ctx context.Context, name string, p authn.NewPassword) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		// Written first, so that no other transaction writes it before this is over.
		if err := changeUser(ctx, t, name, "id = id"); err != nil {
			return err
		}
		var was string
		if err := t.One(ctx, "SELECT password_hash FROM person WHERE id = ?", []any{name}, &was); err != nil {
			return err
		}
		if p.Was != "" && p.Was != was {
			return &db.Refusal{
				Kind: db.ErrStale,
				Said: api.Error{Code: api.CodeConflict, Message: "the password was changed at this moment: sign in with the new one"},
			}
		}
		err := changeUser(ctx, t, name, "password_hash = ?, must_change_password = ?", p.Hash, p.MustChange)
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, "DELETE FROM session WHERE person = ? AND hash <> ?", name, p.KeepSession)
		if err != nil || !p.EndTokens {
			return err
		}
		return t.Run(ctx, "DELETE FROM token WHERE owner_type = ? AND owner_id = ? AND id <> ?", api.PrincipalUser, name, p.KeepToken)
	})
}

// SignedIn notes the time of a sign-in.
func (s *Users) SignedIn(ctx context.Context, name string, at time.Time) error {
	return s.db.Write(ctx, func(t db.Tx) error { return changeUser(ctx, t, name, "last_sign_in_at = ?", at) })
}

// SignedInByProvider notes the time of a sign-in and the provider's claims.
func (s *Users) SignedInByProvider(ctx context.Context, name string, at time.Time, displayName, email string,
	groups authn.ProviderGroups,
) error {
	kept := slices.Clone(groups.Claimed)
	for _, id := range groups.Mapped {
		kept = append(kept, mapped+id)
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		return changeUser(ctx, t, name, "last_sign_in_at = ?, display_name = ?, email = ?, provider_teams = ?", at, displayName,
			email, db.Encode(kept))
	})
}

func changeUser(ctx context.Context, t db.Tx, name, set string, args ...any) error {
	return t.Change(ctx, "user", name, "UPDATE person SET "+set+" WHERE id = ?", append(args, name)...)
}

// GroupsByClaim returns the ids of groups with one of these claims.
func (s *Users) GroupsByClaim(ctx context.Context, claims []string) ([]string, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (ids []string, err error) {
		query := "SELECT id FROM team WHERE claim <> '' AND claim IN (LIST) ORDER BY id"
		err = t.EachOf(ctx, query, nil, claims, db.Texts(&ids))
		return ids, err
	})
}
