package account

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

const (
	// tokenTime is how long a token lasts by default; maxTokenTime how long it may.
	tokenTime    = 30 * 24 * time.Hour
	maxTokenTime = 366 * 24 * time.Hour
)

// TokenRoutes are API tokens.
type TokenRoutes struct {
	Tokens Tokens
	People *People
}

// TokenObject is a token as an object of rights: it is where its owner is.
func TokenObject(t *api.Token) rbac.Object {
	scope := api.ScopeAccount
	if t.Owner.Type == api.PrincipalServiceAccount {
		if at, _, err := api.ParseID(t.Owner.ID); err == nil {
			scope = at
		}
	}
	return rbac.Object{Type: api.TypeToken, Scope: scope, ID: t.ID}
}

// findToken lets owners at their own tokens without a permission, and others with it.
func (h *TokenRoutes) findToken(ctx context.Context, c *core.Call, id string, want api.Permission) (*api.Token, error) {
	t, err := h.Tokens.GetToken(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return nil, core.NotFound("token", id)
	}
	if err != nil {
		return nil, err
	}
	at := core.Target{Object: TokenObject(&t), Value: &t}
	c.Object, c.Before = at.Ref(), at.Value
	// A limited token has to do with what is within its limits only.
	if t.Owner == c.Who.Principal && c.Who.Subject.MayLimit(authn.CeilingOf(t)).Allowed {
		return &t, nil
	}
	return &t, c.May(want, at)
}

type tokenList struct {
	core.ListInput
	Owner string `query:"owner" maxLength:"210" doc:"Id of the user or service account whose tokens to list; default: your own; * for all that you may see" example:"org.acme.ci"`
	Type  string `query:"ownerType" enum:"user,serviceaccount" default:"user" doc:"Type of the owner"`
}

// Routes are its rows of the table.
func (h *TokenRoutes) Routes() []core.Route {
	route := func(method, path, audit, id, summary string) core.Route {
		return core.Route{Method: method, Path: path, Access: core.SignedIn, Within: true, Audit: audit, ID: id, Summary: summary, Tag: "tokens"}
	}
	list := route(http.MethodGet, "/api/v1/tokens", "", "list-tokens", "List your own tokens, or others with token_view")
	list.Mount = core.Mount(core.Answer[tokenList, core.PageOutput[api.Token]]{Do: h.listTokens})
	get := route(http.MethodGet, "/api/v1/tokens/{id}", "", "get-token", "Get a token, without its secret")
	type out struct{ Body api.Token }
	get.Mount = core.Mount(core.Answer[core.IDInput, out]{Do: func(ctx context.Context, c *core.Call, in *core.IDInput) (*out, error) {
		t, err := h.findToken(ctx, c, in.ID, api.PermTokenView)
		if err != nil {
			return nil, err
		}
		return &out{*t}, nil
	}})
	create := route(http.MethodPost, "/api/v1/tokens", "token.create", "create-token",
		"Create a token for yourself, or for others with token_edit")
	create.Secret, create.Example = true, `{"name":"ci","permissions":["application_view","application_sync"],"scope":"org.acme"}`
	create.Mount = core.Mount(core.Answer[tokenInput, tokenOutput]{Do: h.createToken})
	remove := route(http.MethodDelete, "/api/v1/tokens/{id}", "token.delete", "delete-token",
		"Delete a token of your own, or of others with token_delete")
	remove.Mount = core.Mount(core.Answer[core.IDInput, core.NoOutput]{Do: func(ctx context.Context, c *core.Call,
		in *core.IDInput,
	) (*core.NoOutput, error) {
		if _, err := h.findToken(ctx, c, in.ID, api.PermTokenDelete); err != nil {
			return nil, err
		}
		return nil, h.Tokens.DeleteToken(ctx, in.ID)
	}})
	return []core.Route{list, get, create, remove}
}

func (h *TokenRoutes) listTokens(ctx context.Context, c *core.Call, in *tokenList) (*core.PageOutput[api.Token], error) {
	options, err := in.Options()
	if err != nil {
		return nil, err
	}
	owner := c.Who.Principal
	visible := rbac.Filter{Type: api.TypeToken, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	if in.Owner != "" && (in.Owner != owner.ID || in.Type != owner.Type) {
		owner = api.Principal{Type: in.Type, ID: in.Owner}
		if in.Owner == "*" {
			owner = api.Principal{}
		}
		if visible = c.Policy.Filter(c.Who.Subject, api.PermTokenView); visible.Nothing() {
			return nil, api.Errorf(api.CodeForbidden, "nothing gives you token_view: leave owner out to see your own tokens")
		}
	}
	page, err := h.Tokens.ListTokens(ctx, visible, owner, options)
	if owner == c.Who.Principal {
		// A limited token sees of its owner's those that are within it.
		page.Items = slices.DeleteFunc(page.Items, func(t api.Token) bool { return !c.Who.Subject.MayLimit(authn.CeilingOf(t)).Allowed })
	}
	return core.PageOf(page), err
}

type tokenInput struct {
	core.TryInput
	Body api.Token
}

type tokenOutput struct{ Body api.TokenCreated }

func (h *TokenRoutes) createToken(ctx context.Context, c *core.Call, in *tokenInput) (*tokenOutput, error) {
	t := &in.Body
	if t.Owner == (api.Principal{}) {
		t.Owner = c.Who.Principal
	}
	at := core.Target{Object: TokenObject(t)}
	c.Object = at.Ref()
	until := longest(c)
	if t.ExpiresAt.IsZero() && until.Before(c.Now().Add(tokenTime)) {
		t.ExpiresAt = until
	}
	if err := checkToken(c, t); err != nil {
		return nil, err
	}
	if t.ExpiresAt.After(until) {
		return nil, api.Errorf(api.CodeForbidden, "a limited token makes no token that lasts longer than itself: end it by %s",
			until.Format(time.RFC3339))
	}
	if t.Owner != c.Who.Principal {
		if err := c.May(api.PermTokenEdit, at); err != nil {
			return nil, err
		}
		if err := h.People.mayActAs(ctx, c, t.Owner); err != nil {
			return nil, err
		}
	}
	if err := core.Allow(c.Who.Subject.MayLimit(authn.CeilingOf(*t))); err != nil {
		return nil, err
	}
	if in.DryRun {
		c.Quiet = true
		return &tokenOutput{api.TokenCreated{Token: *t}}, nil
	}
	made, err := h.Tokens.MakeToken(ctx, *t, c.Who.Grounds())
	if err != nil {
		return nil, err
	}
	c.Object.ID, c.After = made.ID, &made.Token
	return &tokenOutput{made}, nil
}

// longest is until when a token may last that is made with this request.
func longest(c *core.Call) time.Time {
	if c.Who.Token != nil && c.Who.Subject.Ceiling != nil {
		return c.Who.Token.ExpiresAt
	}
	return c.Now().UTC().Add(maxTokenTime)
}

// checkToken puts a token in shape.
func checkToken(c *core.Call, t *api.Token) error {
	if err := api.CheckName(t.Name); err != nil {
		return &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.name"}
	}
	if t.Owner.Type != api.PrincipalUser && t.Owner.Type != api.PrincipalServiceAccount {
		return &api.Error{Code: api.CodeInvalid, Message: "a token belongs to a user or a service account", Field: "body.owner.type"}
	}
	scope, err := api.ParseScope(string(t.Scope))
	if err != nil {
		return &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.scope"}
	}
	t.Scope, t.ID = scope, ""
	if _, err := rbac.Expand(t.Permissions); err != nil {
		return &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.permissions"}
	}
	now := c.Now().UTC()
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = now.Add(tokenTime)
	}
	if !t.ExpiresAt.After(now) || t.ExpiresAt.After(now.Add(maxTokenTime)) {
		return &api.Error{
			Code: api.CodeInvalid, Message: "expiresAt has to be in the future and at most a year from now", Field: "body.expiresAt",
		}
	}
	return nil
}
