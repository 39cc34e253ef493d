package authn

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// seenEvery is how exact the time is at which a session or a token was last used.
const seenEvery = time.Minute

// maxUserAgent is how much of a browser's name is kept.
const maxUserAgent = 200

// SignIn checks a password. Where a token is asked for, it is in the session that is given; else the cookies are, for a
// browser.
func (a *Authn) SignIn(ctx context.Context, in api.SignIn, from Client) (api.Session, []*http.Cookie, error) {
	if a.cfg.NoPasswords {
		return api.Session{}, nil, api.Errorf(api.CodeForbidden, "passwords are turned off here: sign in with %s", a.providers[0].cfg.title())
	}
	user, err := a.checkPassword(ctx, in.Username, in.Password, from.IP)
	if err != nil {
		return api.Session{}, nil, err
	}
	if in.Token != "" && user.MustChangePassword {
		return api.Session{}, nil, api.Errorf(api.CodeForbidden,
			"this password was given to you for once: sign in without a token and choose your own first")
	}
	if err := a.cfg.Users.SignedIn(ctx, user.ID, a.cfg.Now()); err != nil {
		return api.Session{}, nil, err
	}
	if in.Token != "" {
		session, err := a.tokenSession(ctx, user, in.Token, time.Time{})
		return session, nil, err
	}
	cookie, expires, err := a.startSession(ctx, user, "password", from)
	return api.Session{User: user.User, ExpiresAt: expires}, []*http.Cookie{cookie}, err
}

// startSession makes a session with an id that is new at every sign-in.
func (a *Authn) startSession(ctx context.Context, user User, method string, from Client) (*http.Cookie, time.Time, error) {
	id, now, lasts := secret(), a.cfg.Now(), a.cfg.Longest
	if user.Origin == api.OriginOIDC {
		lasts = a.cfg.GroupsLast
	}
	s := Session{
		Hash: digest(id), User: user.ID, Method: method, IP: from.IP, UserAgent: legible.Prefix(from.UserAgent, maxUserAgent),
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(lasts),
	}
	if err := a.cfg.Sessions.CreateSession(ctx, s, user.grounds()); err != nil {
		return nil, time.Time{}, err
	}
	return a.cookie(sessionCookie, id, int(lasts/time.Second)), s.ExpiresAt, nil
}

// grounds are those of a sign-in.
func (u User) grounds() Grounds { return Grounds{User: u.ID, PasswordHash: u.PasswordHash} }

// tokenSession makes a token for a user who signed in with a program. A name that is taken is made another one.
func (a *Authn) tokenSession(ctx context.Context, user User, name string, expires time.Time) (api.Session, error) {
	token := api.Token{Name: name, Owner: api.Principal{Type: api.PrincipalUser, ID: user.ID}, ExpiresAt: expires}
	made, err := a.MakeToken(ctx, token, user.grounds())
	if api.CodeOf(err) == api.CodeConflict {
		token.Name = strings.Trim(legible.Prefix(name, 55), "-") + "-" + lower32(random(4))[:6]
		made, err = a.MakeToken(ctx, token, user.grounds())
	}
	return api.Session{User: user.User, ExpiresAt: made.ExpiresAt, Token: made.Secret, TokenID: made.ID}, err
}

// clockAhead is how far clocks of servers that share the sessions may differ.
const clockAhead = 5 * time.Minute

// Names of the cookies. A browser keeps those with the prefix from being set by another host or without TLS.
const (
	sessionCookie = "slipway_session"
	loginCookie   = "slipway_login"
	hostPrefix    = "__Host-"
)

func (a *Authn) secure() bool { return a.base.Scheme == "https" }

func (a *Authn) cookieName(name string) string {
	if a.secure() {
		return hostPrefix + name
	}
	return name
}

// cookie makes a cookie; an age below 0 takes it away. SameSite is Lax, so that a user who comes from a link or from the
// provider is signed in; changes from other sites are kept out by the interface.
func (a *Authn) cookie(name, value string, age int) *http.Cookie {
	return &http.Cookie{
		Name: a.cookieName(name), Value: value, Path: "/", MaxAge: age,
		Secure: a.secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// readCookie gives the value of a cookie, if it can be one of ours.
func (a *Authn) readCookie(r *http.Request, name string) string {
	c, err := r.Cookie(a.cookieName(name))
	if err != nil || len(c.Value) != len(secret()) {
		return ""
	}
	return c.Value
}

// Identify finds out who sent a request: by its bearer token if it has one, else by the browser's session.
func (a *Authn) Identify(r *http.Request) (Identity, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return Identity{}, api.Errorf(api.CodeUnauthenticated, "the Authorization header is not understood: write Authorization: Bearer slp_…")
		}
		return a.identifyToken(r.Context(), strings.TrimSpace(token))
	}
	id := a.readCookie(r, sessionCookie)
	if id == "" {
		return Identity{}, api.Errorf(api.CodeUnauthenticated, "you are not signed in: sign in, or send a token as Authorization: Bearer slp_…")
	}
	return a.identifySession(r.Context(), digest(id))
}

func (a *Authn) identifySession(ctx context.Context, hash string) (Identity, error) {
	over := api.Errorf(api.CodeUnauthenticated, "the session is over: sign in again")
	s, err := a.cfg.Sessions.Session(ctx, hash)
	if err != nil {
		return Identity{}, instead(err, over)
	}
	now := a.cfg.Now()
	// A session that was made before the clock went back would last until the clock is there again.
	ahead := s.ExpiresAt.Sub(now) > a.cfg.Longest+clockAhead || s.SeenAt.Sub(now) > clockAhead
	if ahead || !same(s.Hash, hash) || !now.Before(s.ExpiresAt) || now.Sub(s.SeenAt) > a.cfg.Idle {
		return Identity{}, errors.Join(over, a.cfg.Sessions.DeleteSession(ctx, hash))
	}
	user, err := a.cfg.Users.AuthUser(ctx, s.User)
	if err != nil {
		return Identity{}, instead(err, over)
	}
	if user.Disabled {
		return Identity{}, disabled(user.ID)
	}
	if now.Sub(s.SeenAt) >= seenEvery {
		if err := a.cfg.Sessions.TouchSession(ctx, hash, now); err != nil {
			a.cfg.Log.Warn("the time of a session was not noted", slog.String("user", user.ID), slog.Any("err", err))
		}
	}
	who := ofUser(user)
	who.Session = hash
	who.ExpiresAt = s.ExpiresAt
	who.MustChangePassword = user.MustChangePassword
	return who, nil
}

// instead replaces an error that says that something is not there.
func instead(err, other error) error {
	if api.CodeOf(err) == api.CodeNotFound {
		return other
	}
	return err
}

func ofUser(u User) Identity {
	return Identity{
		Principal: api.Principal{Type: api.PrincipalUser, ID: u.ID},
		Subject:   rbac.Subject{UserID: u.ID, Groups: u.Groups},
		User:      &u.User,
	}
}

// SignOut ends the session of a request, or deletes the token that it came with. The cookies take the browser's away.
func (a *Authn) SignOut(r *http.Request) ([]*http.Cookie, error) {
	who, err := a.Identify(r)
	if err != nil {
		return nil, err
	}
	if who.Token != nil {
		return nil, a.cfg.Tokens.DeleteToken(r.Context(), who.Token.ID)
	}
	return []*http.Cookie{a.cookie(sessionCookie, "", -1)}, a.cfg.Sessions.DeleteSession(r.Context(), who.Session)
}
