package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// How long a token lasts.
const (
	tokenLasts   = 30 * 24 * time.Hour
	tokenLongest = 366 * 24 * time.Hour
)

// Lengths of the parts of a token, in characters.
const (
	tokenIDSize     = 16 // 80 bits
	tokenSecretSize = 52 // 256 bits
)

// splitToken takes slp_<id>_<secret> apart.
func splitToken(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, api.TokenPrefix)
	if !ok || len(rest) != tokenIDSize+1+tokenSecretSize || rest[tokenIDSize] != '_' {
		return "", "", false
	}
	for i := range len(rest) {
		if c := rest[i]; i != tokenIDSize && (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return "", "", false
		}
	}
	return rest[:tokenIDSize], rest[tokenIDSize+1:], true
}

// MakeToken makes a token. Whether the caller may make it for that owner is asked before. The secret is shown once: the
// store has a hash. It is made if the grounds hold.
func (a *Authn) MakeToken(ctx context.Context, t api.Token, on Grounds) (api.TokenCreated, error) {
	now := a.cfg.Now()
	if err := api.CheckName(t.Name); err != nil {
		return api.TokenCreated{}, &api.Error{Code: api.CodeInvalid, Field: "name", Message: "name of the token: " + err.Error()}
	}
	if t.Owner.ID == "" || t.Owner.Type != api.PrincipalUser && t.Owner.Type != api.PrincipalServiceAccount {
		return api.TokenCreated{}, &api.Error{
			Code: api.CodeInvalid, Field: "owner", Message: "a token belongs to a user or a service account: name one",
		}
	}
	if _, err := rbac.Expand(t.Permissions); err != nil {
		return api.TokenCreated{}, &api.Error{Code: api.CodeInvalid, Field: "permissions", Message: err.Error()}
	}
	if t.Scope != "" && !t.Scope.Valid() {
		return api.TokenCreated{}, &api.Error{
			Code: api.CodeInvalid, Field: "scope",
			Message: fmt.Sprintf("scope %.140q is none: write account, org.<organization> or project.<organization>.<project>", t.Scope),
		}
	}
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = now.Add(tokenLasts)
	}
	if !t.ExpiresAt.After(now) || t.ExpiresAt.Sub(now) > tokenLongest {
		return api.TokenCreated{}, &api.Error{
			Code: api.CodeInvalid, Field: "expiresAt", Message: "a token ends in the future, at most a year from now: choose another time",
		}
	}
	t.ID, t.CreatedAt, t.LastUsedAt = lower32(random(10)), now, time.Time{}
	key := secret()
	if err := a.cfg.Tokens.CreateToken(ctx, Token{Token: t, Hash: digest(key)}, on); err != nil {
		return api.TokenCreated{}, err
	}
	return api.TokenCreated{Token: t, Secret: api.TokenPrefix + t.ID + "_" + key}, nil
}

// CeilingOf is what a token is limited to; nil where it says nothing of it.
func CeilingOf(t api.Token) *rbac.Ceiling {
	if len(t.Permissions) == 0 && (t.Scope == "" || t.Scope == api.ScopeAccount) {
		return nil
	}
	c := &rbac.Ceiling{Permissions: t.Permissions, Scope: t.Scope}
	if len(c.Permissions) == 0 {
		c.Permissions = []api.Permission{"*"}
	}
	if c.Scope == "" {
		c.Scope = api.ScopeAccount
	}
	return c
}

// identifyToken finds out whose token it is. Only a client with the secret learns that it expired.
func (a *Authn) identifyToken(ctx context.Context, text string) (Identity, error) {
	wrong := api.Errorf(api.CodeUnauthenticated, "the token is not valid: it was deleted, or it is not of this server; make a new one")
	id, key, ok := splitToken(text)
	if !ok {
		return Identity{}, wrong
	}
	t, err := a.cfg.Tokens.AuthToken(ctx, id)
	if err != nil {
		return Identity{}, instead(err, wrong)
	}
	if !same(t.Hash, digest(key)) {
		return Identity{}, wrong
	}
	now := a.cfg.Now()
	if !now.Before(t.ExpiresAt) {
		return Identity{}, api.Errorf(api.CodeUnauthenticated, "the token %s expired at %s: make a new one", t.Name,
			t.ExpiresAt.UTC().Format(time.RFC3339))
	}
	who, err := a.owner(ctx, t.Owner)
	if err != nil {
		return Identity{}, instead(err, wrong)
	}
	if now.Sub(t.LastUsedAt) >= seenEvery {
		if err := a.cfg.Tokens.TouchToken(ctx, t.ID, now); err != nil {
			a.cfg.Log.Warn("the use of a token was not noted", slog.String("token", t.ID), slog.Any("err", err))
		}
	}
	who.Token = &t.Token
	who.ExpiresAt = t.ExpiresAt
	who.Subject.Ceiling = CeilingOf(t.Token)
	return who, nil
}

// owner reads who a token acts as.
func (a *Authn) owner(ctx context.Context, p api.Principal) (Identity, error) {
	switch p.Type {
	case api.PrincipalUser:
		user, err := a.cfg.Users.AuthUser(ctx, p.ID)
		if err == nil && user.Disabled {
			err = disabled(p.ID)
		}
		who := ofUser(user)
		who.MustChangePassword = user.MustChangePassword
		return who, err
	case api.PrincipalServiceAccount:
		account, groups, err := a.cfg.ServiceAccounts.AuthServiceAccount(ctx, p.ID)
		if err == nil && account.Disabled {
			err = disabled("service account " + p.ID)
		}
		return Identity{Principal: p, Subject: rbac.Subject{ServiceAccountID: p.ID, Groups: groups}}, err
	}
	return Identity{}, errors.New("token of " + p.Type + " " + p.ID + ": only users and service accounts have tokens")
}
