package authn

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Where the interface serves BeginOIDC and FinishOIDC.
const (
	beginPath    = "/api/v1/session/oidc"
	callbackPath = "/api/v1/session/oidc/callback"
)

// Kinds of what is pending, and how long.
const (
	pendingLogin = "oidc"
	pendingCode  = "cli"
	loginLasts   = 10 * time.Minute
)

func (a *Authn) callback() string { return a.base.String() + callbackPath }

// login is a sign-in that was begun. What the provider must not learn, the nonce and the verifier, follows from the
// secret in the browser's cookie and is not kept.
type login struct {
	Provider string
	Browser  string // hash of the cookie
	ReturnTo string
	CLI      *cliLogin `json:",omitempty"`
}

// derive makes a secret for one purpose of one sign-in from that in the cookie.
func derive(cookie, purpose, state string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte(purpose + " " + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// BeginOIDC gives the address at the identity provider to send the browser to: the provider of the query's provider=, or
// the first. A command line says cli_redirect, cli_challenge and cli_state besides; see [Authn.ExchangeCode].
func (a *Authn) BeginOIDC(r *http.Request, returnTo string) (string, []*http.Cookie, error) {
	query := r.URL.Query()
	p, err := a.provider(query.Get("provider"))
	if err != nil {
		return "", nil, err
	}
	cli, err := readCLILogin(query)
	if err != nil {
		return "", nil, err
	}
	found, err := p.discover(r.Context(), a.cfg.Now())
	if err != nil {
		return "", nil, err
	}
	cookie := a.readCookie(r, loginCookie) // of another tab: both can finish
	if cookie == "" {
		cookie = secret()
	}
	state := secret()
	body, err := json.Marshal(login{Provider: p.cfg.Name, Browser: digest(cookie), ReturnTo: localPath(returnTo), CLI: cli})
	if err != nil {
		return "", nil, err
	}
	pending := Pending{Hash: digest(state), Kind: pendingLogin, Body: body, ExpiresAt: a.cfg.Now().Add(loginLasts)}
	if err := a.cfg.Pendings.CreatePending(r.Context(), pending); err != nil {
		return "", nil, err
	}
	target := p.oauth(found).AuthCodeURL(state, oidc.Nonce(derive(cookie, "nonce", state)),
		oauth2.S256ChallengeOption(derive(cookie, "pkce", state)))
	return target, []*http.Cookie{a.cookie(loginCookie, cookie, int(loginLasts/time.Second))}, nil
}

// provider finds an identity provider by its name.
func (a *Authn) provider(name string) (*provider, error) {
	if len(a.providers) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "no identity provider is configured here: sign in with a password")
	}
	if name == "" {
		return a.providers[0], nil
	}
	at := slices.IndexFunc(a.providers, func(p *provider) bool { return p.cfg.Name == name })
	if at < 0 {
		return nil, api.Errorf(api.CodeNotFound, "there is no identity provider %.60q here", name)
	}
	return a.providers[at], nil
}

// localPath keeps a browser from being sent elsewhere.
func localPath(to string) string {
	if u, err := url.Parse(to); err != nil || u.Scheme != "" || u.Host != "" || len(to) > 2000 || !strings.HasPrefix(to, "/") ||
		strings.HasPrefix(to, "//") || strings.ContainsFunc(to, func(r rune) bool { return r == '\\' || r < ' ' }) {
		return "/"
	}
	return to
}

// FinishOIDC takes what the provider sent the browser back with. It gives where the browser goes on: a path of ours, or
// for a command line the address on loopback that it sent; so the interface sends it there without a look. Beside an error
// the address is that of a command line, which waits and gets the reason; it is "" if no command line waits.
func (a *Authn) FinishOIDC(r *http.Request, from Client) (string, api.Principal, []*http.Cookie, error) {
	begun, p, cookie, err := a.takeLogin(r.Context(), r, r.URL.Query().Get("state"))
	if err != nil {
		return "", api.Principal{}, nil, err
	}
	to, principal, cookies, err := a.finish(r, from, begun, p, cookie)
	if err != nil && begun.CLI != nil {
		to = begun.CLI.refused(err)
	}
	return to, principal, cookies, err
}

// finish is FinishOIDC for a sign-in that was found.
func (a *Authn) finish(r *http.Request, from Client, begun login, p *provider,
	cookie string,
) (string, api.Principal, []*http.Cookie, error) {
	ctx, query := r.Context(), r.URL.Query()
	found, err := p.discover(ctx, a.cfg.Now())
	if err != nil {
		return "", api.Principal{}, nil, err
	}
	if iss := query.Get("iss"); iss != p.cfg.Issuer && (iss != "" || found.issParam) {
		return "", api.Principal{}, nil, p.fault("sign in", sentence("another provider answered; sign in again"))
	}
	if code := query.Get("error"); code != "" {
		return "", api.Principal{}, nil, p.denied(code)
	}
	who, err := p.exchange(ctx, found, a.cfg.Now, query.Get("code"), derive(cookie, "pkce", query.Get("state")),
		derive(cookie, "nonce", query.Get("state")), a.cfg.Log)
	if err != nil {
		return "", api.Principal{}, nil, err
	}
	if err := p.cfg.admits(who); err != nil {
		return "", api.Principal{}, nil, err
	}
	user, err := a.admit(ctx, p, who)
	if err != nil {
		return "", api.Principal{}, nil, err
	}
	principal := api.Principal{Type: api.PrincipalUser, ID: user.ID}
	drop := a.cookie(loginCookie, "", -1)
	if begun.CLI != nil {
		to, err := a.handOver(ctx, user, *begun.CLI)
		return to, principal, []*http.Cookie{drop}, err
	}
	session, _, err := a.startSession(ctx, user, p.cfg.Name, from)
	if err != nil {
		return "", principal, nil, err
	}
	return begun.ReturnTo, principal, []*http.Cookie{drop, session}, nil
}

// takeLogin finds the sign-in that a state belongs to, once, and only for the browser that began it.
func (a *Authn) takeLogin(ctx context.Context, r *http.Request, state string) (login, *provider, string, error) {
	again := api.Errorf(api.CodeInvalid, "this sign-in was begun in another browser or too long ago, or it has been used: sign in again")
	var begun login
	cookie := a.readCookie(r, loginCookie)
	if len(state) != len(secret()) || cookie == "" {
		return begun, nil, "", again
	}
	pending, err := a.cfg.Pendings.TakePending(ctx, pendingLogin, digest(state))
	if err != nil {
		return begun, nil, "", instead(err, again)
	}
	if err := strict.Decode(pending.Body, &begun, strict.Unknown); err != nil {
		return begun, nil, "", fmt.Errorf("read a sign-in that was begun: %w", err)
	}
	left := pending.ExpiresAt.Sub(a.cfg.Now()) // too much of it where the clock went back
	if left <= 0 || left > loginLasts+clockAhead || !same(begun.Browser, digest(cookie)) {
		return begun, nil, "", again
	}
	p, err := a.provider(begun.Provider)
	return begun, p, cookie, err
}

// denied is for what the provider sent the browser back with instead of a code. A code of the standards is shown, and nothing
// that the provider wrote.
func (p *provider) denied(code string) error {
	var say string
	kind := api.CodeUnavailable
	switch code {
	case "access_denied":
		kind, say = api.CodeForbidden, "it was cancelled, or you may not use this client; ask the operator of the provider"
	case "invalid_scope":
		say = fmt.Sprintf("it does not give one of the scopes %s; change the scopes of the provider in this server's configuration",
			strings.Join(p.cfg.Scopes, " "))
	case "unauthorized_client", "invalid_request", "unsupported_response_type":
		say = fmt.Sprintf("look whether client %q is registered there for the authorization code flow, with the redirect URI %s",
			p.cfg.ClientID, p.redirect)
	case "server_error", "temporarily_unavailable":
		say = "try again in a minute"
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		kind, say = api.CodeForbidden, "sign in at the provider first"
	default:
		return api.Errorf(api.CodeUnavailable,
			"identity provider %s refused the sign-in with an error that no standard has: look at the provider's log", p.cfg.Name)
	}
	return api.Errorf(kind, "identity provider %s refused the sign-in with %q: %s", p.cfg.Name, code, say)
}

// exchange redeems the code and checks what comes for it.
func (p *provider) exchange(ctx context.Context, found *discovered, now func() time.Time, code, verifier, nonce string,
	log *slog.Logger,
) (person, error) {
	if code == "" || len(code) > 4096 {
		return person{}, p.fault("sign in", sentence("it sent no code; sign in again"))
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.redeem(ctx, found, code, verifier)
	if err != nil {
		return person{}, p.fault("redeem the code of the sign-in", err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return person{}, p.fault("sign in", sentence("it gave no ID token: give our client the scope openid there"))
	}
	id, err := found.Verifier(&oidc.Config{ClientID: p.cfg.ClientID, Now: now}).Verify(ctx, raw)
	if err != nil {
		return person{}, p.fault("check its ID token", err)
	}
	var says claims
	if err := claimsOf(id, &says); err != nil {
		return person{}, p.fault("read its ID token", err)
	}
	if err := unambiguous(raw, says); err != nil {
		return person{}, p.fault("read its ID token", err)
	}
	switch {
	case id.Subject != says.text("sub"):
		return person{}, p.fault("read its ID token", sentence("it names two subjects"))
	case !same(id.Nonce, nonce):
		return person{}, p.fault("check its ID token", sentence("it is not for this sign-in; sign in again"))
	case len(id.Audience) > 1 && says.text("azp") != p.cfg.ClientID:
		return person{}, p.fault("check its ID token", sentence("it was given to another client"))
	case id.AccessTokenHash != "" && id.VerifyAccessToken(token.AccessToken) != nil:
		return person{}, p.fault("check its ID token", sentence("it does not belong to the access token beside it"))
	}
	if err := p.complete(ctx, found, token, id.Subject, says); err != nil {
		return person{}, err
	}
	if raw := says["_claim_names"]; !says.has(p.cfg.GroupsClaim) && strings.Contains(string(raw), `"`+p.cfg.GroupsClaim+`"`) {
		log.Warn("the identity provider left the groups out, because they are too many: have it send only those that are assigned to the client",
			slog.String("provider", p.cfg.Name))
	}
	who, err := p.cfg.read(says)
	if err != nil {
		return person{}, p.fault("read its ID token", err)
	}
	return who, nil
}

// complete asks the provider's user info for what the ID token does not say.
func (p *provider) complete(ctx context.Context, found *discovered, token *oauth2.Token, subject string, says claims) error {
	if !found.userInfo || says.has(p.cfg.GroupsClaim) && says.has(p.cfg.NameClaim) && says.has("email") {
		return nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return p.fault("ask it about the user", err)
	}
	if info.Subject != subject {
		return p.fault("ask it about the user", sentence("it answered about another user"))
	}
	var more claims
	if err := claimsOf(info, &more); err != nil {
		return p.fault("read its claims about the user", err)
	}
	for name, value := range more {
		if _, have := says[name]; !have {
			says[name] = value
		}
	}
	return nil
}

// admit finds the user whom a provider knows, or makes one at the first sign-in, and takes over what it says. An existing
// user of the same name is another person: names and addresses are no proof.
func (a *Authn) admit(ctx context.Context, p *provider, who person) (User, error) {
	user, err := a.cfg.Users.AuthUserByProvider(ctx, p.cfg.Issuer, who.subject)
	if api.CodeOf(err) == api.CodeNotFound {
		user, err = a.create(ctx, p, who)
	}
	if err != nil {
		return User{}, err
	}
	if user.Disabled {
		return User{}, disabled(user.ID)
	}
	groups, err := a.groupsOf(ctx, p, who.groups)
	if err != nil {
		return User{}, err
	}
	if err := a.cfg.Users.SignedInByProvider(ctx, user.ID, a.cfg.Now(), who.title, who.mail, groups); err != nil {
		return User{}, err
	}
	return a.cfg.Users.AuthUser(ctx, user.ID)
}

func (a *Authn) groupsOf(ctx context.Context, p *provider, values []string) (out ProviderGroups, err error) {
	if len(values) == 0 {
		return out, nil
	}
	out.Claimed, err = a.cfg.Users.GroupsByClaim(ctx, values)
	for _, value := range values {
		out.Mapped = append(out.Mapped, p.cfg.Groups[value]...)
	}
	slices.Sort(out.Mapped)
	out.Mapped = slices.Compact(out.Mapped)
	return out, err
}

// create makes a user whose name is free: that of the claims, or with the provider's name, or with a part of a hash.
func (a *Authn) create(ctx context.Context, p *provider, who person) (User, error) {
	base := userName(who)
	sum := digest(p.cfg.Issuer + " " + who.subject)
	names := []string{base, base + "-" + strings.Trim(legible.Prefix(p.cfg.Name, 20), "-"), base + "-" + sum[:12]}
	for _, name := range names {
		user := User{
			User: api.User{
				Meta:  api.Meta{ID: name, Name: name, Scope: api.ScopeAccount, DisplayName: who.title},
				Email: who.mail, Origin: api.OriginOIDC,
			},
			Provider: p.cfg.Issuer, ProviderSubject: who.subject,
		}
		err := a.cfg.Users.CreateAuthUser(ctx, user)
		if api.CodeOf(err) != api.CodeConflict {
			return user, err
		}
		// Perhaps the same person signs in twice at this moment.
		if user, err := a.cfg.Users.AuthUserByProvider(ctx, p.cfg.Issuer, who.subject); api.CodeOf(err) != api.CodeNotFound {
			return user, err
		}
	}
	return User{}, api.Errorf(api.CodeConflict, "the user names %s are all taken: ask an administrator of this server to free one",
		strings.Join(names, ", "))
}
