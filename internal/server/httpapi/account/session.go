package account

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// SessionRoutes sign people in and out.
type SessionRoutes struct {
	Authn     core.Authn
	Providers Providers
}

type cookieOutput[T any] struct {
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"Session of a browser"`
	Body      T
}

type noBody struct {
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"Session of a browser"`
}

type redirect struct {
	Status    int           `doc:"Always 303"`
	Location  string        `header:"Location" doc:"Where to continue"`
	SetCookie []http.Cookie `header:"Set-Cookie" doc:"Session of a browser"`
}

func values(in []*http.Cookie) []http.Cookie {
	out := make([]http.Cookie, 0, len(in))
	for _, c := range in {
		out = append(out, *c)
	}
	return out
}

type signInInput struct{ Body api.SignIn }

type exchangeInput struct{ Body api.CodeExchange }

type exchangeOutput struct{ Body api.Session }

type passwordInput struct{ Body api.PasswordChange }

type oidcBegin struct {
	ReturnTo  string `query:"returnTo" maxLength:"500" doc:"Path to return to" example:"/"`
	Provider  string `query:"provider" maxLength:"1000" doc:"Name of the identity provider; default: the first" example:"company"`
	Redirect  string `query:"cli_redirect" maxLength:"500" doc:"Of a command line: its address on loopback, to send the browser to" example:"http://127.0.0.1:40123/signed-in"`
	Challenge string `query:"cli_challenge" maxLength:"500" doc:"Of a command line: SHA-256 of the verifier that it shows for the token, in base64url"`
	State     string `query:"cli_state" maxLength:"500" doc:"Of a command line: state by which it recognizes its browser"`
}

// Routes are its rows of the table.
func (h *SessionRoutes) Routes() []core.Route {
	route := func(method, path string, access core.Access, audit, id, summary string) core.Route {
		return core.Route{Method: method, Path: "/api/v1/session" + path, Access: access, Audit: audit, ID: id, Summary: summary, Tag: "session"}
	}
	methods := route(http.MethodGet, "/methods", core.Public, "", "sign-in-methods", "Get the ways to sign in")
	type methodsOut struct{ Body api.SignInMethods }
	methods.Mount = core.Mount(core.Answer[core.Empty, methodsOut]{Do: func(ctx context.Context, _ *core.Call,
		_ *core.Empty,
	) (*methodsOut, error) {
		return &methodsOut{h.Providers.Methods(ctx)}, nil
	}})
	in := route(http.MethodPost, "", core.Public, "session.create", "sign-in", "Sign in with a password, for a browser's session or a token")
	in.Secret, in.Example = true, `{"username":"ada","password":"correct horse battery"}`
	in.Mount = core.Mount(core.Answer[signInInput, cookieOutput[api.Session]]{Do: h.signIn})
	out := route(http.MethodDelete, "", core.SignedIn, "session.delete", "sign-out",
		"Sign out: end the session, or delete the token of this request")
	out.Unsettled, out.Within = true, true // it ends the token
	out.Mount = core.Mount(core.Answer[core.Empty, noBody]{Do: func(_ context.Context, c *core.Call, _ *core.Empty) (*noBody, error) {
		c.Object = api.Ref{Type: c.Who.Principal.Type, ID: c.Who.Principal.ID, Scope: api.ScopeAccount}
		cookies, err := h.Authn.SignOut(c.Request)
		return &noBody{values(cookies)}, err
	}})
	who := route(http.MethodGet, "", core.SignedIn, "", "whoami", "Get the caller and their permissions")
	who.Unsettled, who.Within = true, true // it says what the token may
	type whoOut struct{ Body api.Whoami }
	who.Mount = core.Mount(core.Answer[core.Empty, whoOut]{Do: func(_ context.Context, c *core.Call, _ *core.Empty) (*whoOut, error) {
		return &whoOut{whoami(c)}, nil
	}})
	password := route(http.MethodPost, "/password", core.SignedIn, "session.password", "change-password",
		"Change your own password; all other sessions end, and with endTokens all other API tokens")
	password.Unsettled = true
	password.Example = `{"current":"correct horse battery","new":"staple orbit lantern"}`
	password.Mount = core.Mount(core.Answer[passwordInput, core.NoOutput]{Do: h.changePassword})
	begin := route(http.MethodGet, "/oidc", core.Public, "", "begin-oidc", "Begin to sign in with the identity provider")
	begin.Begins = true
	begin.Mount = core.Mount(core.Answer[oidcBegin, redirect]{Do: func(_ context.Context, c *core.Call, in *oidcBegin) (*redirect, error) {
		to, cookies, err := h.Providers.BeginOIDC(c.Request, in.ReturnTo)
		return &redirect{http.StatusSeeOther, to, values(cookies)}, err
	}})
	finish := route(http.MethodGet, "/oidc/callback", core.Public, "session.create", "finish-oidc",
		"Where the identity provider sends the browser back to")
	finish.Secret, finish.Returns = true, true
	finish.Mount = core.Mount(core.Answer[core.Empty, redirect]{Do: func(_ context.Context, c *core.Call, _ *core.Empty) (*redirect, error) {
		to, who, cookies, err := h.Providers.FinishOIDC(c.Request, c.Client)
		c.Who.Principal = who
		c.Object = api.Ref{Type: who.Type, ID: who.ID, Scope: api.ScopeAccount}
		if err != nil && to != "" { // a command line waits, and shows it
			if core.Untold(err) {
				c.Log.Error("sign in", "request_id", c.ID, "err", err)
			}
			c.Told, err = err, nil
		}
		return &redirect{http.StatusSeeOther, to, values(cookies)}, err
	}})
	exchange := route(http.MethodPost, "/oidc/exchange", core.Public, "session.create", "exchange-oidc",
		"Give a command line the token for the code that its browser brought")
	exchange.Secret, exchange.Example = true, `{"code":"…","verifier":"…","token":"laptop"}`
	exchange.Mount = core.Mount(core.Answer[exchangeInput, exchangeOutput]{Do: func(ctx context.Context, c *core.Call,
		in *exchangeInput,
	) (*exchangeOutput, error) {
		session, err := h.Providers.ExchangeCode(ctx, in.Body.Code, in.Body.Verifier, in.Body.Token)
		if err != nil {
			return nil, err
		}
		c.Who.Principal = api.Principal{Type: api.PrincipalUser, ID: session.User.ID}
		c.Object = api.Ref{Type: api.PrincipalUser, ID: session.User.ID, Scope: api.ScopeAccount}
		return &exchangeOutput{session}, nil
	}})
	return []core.Route{methods, in, out, who, password, begin, finish, exchange}
}

func (h *SessionRoutes) signIn(ctx context.Context, c *core.Call, in *signInInput) (*cookieOutput[api.Session], error) {
	c.Object = api.Ref{Type: api.PrincipalUser, ID: legible.Cut(in.Body.Username, 63), Scope: api.ScopeAccount}
	session, cookies, err := h.Authn.SignIn(ctx, in.Body, c.Client)
	if err != nil {
		return nil, err
	}
	c.Who.Principal = api.Principal{Type: api.PrincipalUser, ID: session.User.ID}
	c.Object.ID = session.User.ID
	return &cookieOutput[api.Session]{values(cookies), session}, nil
}

func (h *SessionRoutes) changePassword(ctx context.Context, c *core.Call, in *passwordInput) (*core.NoOutput, error) {
	c.Object = api.Ref{Type: c.Who.Principal.Type, ID: c.Who.Principal.ID, Scope: api.ScopeAccount}
	if c.Who.User == nil || c.Who.User.Origin == api.OriginOIDC {
		return nil, api.Errorf(api.CodeInvalid, "you have no password here: change it where you sign in")
	}
	return nil, h.Authn.ChangePassword(ctx, c.Who, in.Body)
}

// whoami returns the caller. The permissions are those at the scopes that the caller's bindings are at.
func whoami(c *core.Call) api.Whoami {
	out := api.Whoami{
		Principal: c.Who.Principal, User: c.Who.User, Groups: c.Who.Subject.Groups,
		Token: c.Who.Token, ExpiresAt: c.Who.ExpiresAt, Grants: []api.Grant{},
	}
	seen := map[api.Scope]bool{}
	for _, want := range api.Permissions() {
		for _, term := range c.Policy.Filter(c.Who.Subject, want).Terms {
			seen[term.Scope] = true
		}
	}
	for _, scope := range sortedKeys(seen) {
		grant := api.Grant{Scope: api.Scope(scope)}
		for _, p := range c.Policy.Allowed(c.Who.Subject, scope) {
			grant.Permissions = append(grant.Permissions, api.Permission(p))
		}
		out.Grants = append(out.Grants, grant)
	}
	return out
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
