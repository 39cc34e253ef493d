package client

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
)

// SignInMethods says how one can sign in.
func (c *Client) SignInMethods(ctx context.Context) (api.SignInMethods, error) {
	return get[api.SignInMethods](ctx, c, nil, "session", "methods")
}

// SignIn checks a password. With a name for a token the answer has one.
func (c *Client) SignIn(ctx context.Context, in api.SignIn) (api.Session, error) {
	return once[api.Session](ctx, c, nil, in, "session")
}

// ChooseFirst signs in with a password that another user or the server chose and changes it: no token is given for such a one.
func (c *Client) ChooseFirst(ctx context.Context, in api.SignIn, password string) error {
	in.Token = ""
	header, err := c.exchange(ctx, call{method: http.MethodPost, path: at("session"), body: in, once: true}, nil)
	if err != nil {
		return err
	}
	cookies := http.Header{}
	for _, cookie := range (&http.Response{Header: header}).Cookies() {
		cookies.Add("Cookie", cookie.Name+"="+cookie.Value)
	}
	change := api.PasswordChange{Current: in.Password, New: password}
	return c.With("").do(ctx, call{method: http.MethodPost, path: at("session", "password"), body: change, once: true, header: cookies}, nil)
}

// SignOut deletes the token that the client calls with.
func (c *Client) SignOut(ctx context.Context) error { return c.delete(ctx, nil, "session") }

// Whoami returns the caller, and their permissions.
func (c *Client) Whoami(ctx context.Context) (api.Whoami, error) {
	return get[api.Whoami](ctx, c, nil, "session")
}

// ChangePassword changes the caller's own password.
func (c *Client) ChangePassword(ctx context.Context, change api.PasswordChange) error {
	return c.do(ctx, call{method: http.MethodPost, path: at("session", "password"), body: change, once: true}, nil)
}

// Can asks whether a principal may do something, and why.
func (c *Client) Can(ctx context.Context, question api.AccessQuestion) (api.AccessAnswer, error) {
	return post[api.AccessAnswer](ctx, c, nil, question, "access", "can")
}

// Tokens gives a page of the tokens of an owner: the caller's where it is zero, all that may be seen where its id is "*".
func (c *Client) Tokens(ctx context.Context, owner api.Principal, options api.ListOptions) (api.Page[api.Token], error) {
	return get[api.Page[api.Token]](ctx, c, set(listQuery(options), "owner", owner.ID, "ownerType", owner.Type), "tokens")
}

// Token reads a token, without its secret.
func (c *Client) Token(ctx context.Context, id string) (api.Token, error) {
	return get[api.Token](ctx, c, nil, "tokens", id)
}

// CreateToken makes a token; its secret is shown once.
func (c *Client) CreateToken(ctx context.Context, token api.Token, dryRun bool) (api.TokenCreated, error) {
	return once[api.TokenCreated](ctx, c, dry(dryRun), token, "tokens")
}

// DeleteToken makes a token worth nothing.
func (c *Client) DeleteToken(ctx context.Context, id string) error {
	return c.delete(ctx, nil, "tokens", id)
}

// ExchangeCode gives the token for the code that a browser brought from the identity provider.
func (c *Client) ExchangeCode(ctx context.Context, in api.CodeExchange) (api.Session, error) {
	return once[api.Session](ctx, c, nil, in, "session", "oidc", "exchange")
}
