package account

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Tokens keeps API tokens, without their secrets.
type Tokens interface {
	// ListTokens gives those of an owner; of all that the filter lets through where the owner is empty.
	ListTokens(context.Context, rbac.Filter, api.Principal, api.ListOptions) (api.Page[api.Token], error)
	GetToken(ctx context.Context, id string) (api.Token, error)
	// MakeToken gives the secret, once. It makes one only if the grounds, what the request came with, hold.
	MakeToken(context.Context, api.Token, authn.Grounds) (api.TokenCreated, error)
	DeleteToken(ctx context.Context, id string) error
}

// Providers signs people in by an identity provider.
type Providers interface {
	Methods(context.Context) api.SignInMethods
	// BeginOIDC is where to send the browser.
	BeginOIDC(r *http.Request, returnTo string) (target string, cookies []*http.Cookie, err error)
	// FinishOIDC is what the identity provider sends the browser back with; it goes on to returnTo, which for a command line
	// is on its machine.
	FinishOIDC(r *http.Request, c core.Client) (returnTo string, who api.Principal, cookies []*http.Cookie, err error)
	// ExchangeCode gives a command line the token for the code that its browser brought.
	ExchangeCode(ctx context.Context, code, verifier, tokenName string) (api.Session, error)
}
