package registrylogin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// azureAudience is what a token is asked for: it reads registries, and nothing else of Azure.
const azureAudience = "https://containerregistry.azure.net/.default"

// acrUser stands for a client that signs in with a token.
const acrUser = "00000000-0000-0000-0000-000000000000"

// acrLife is how long a refresh token of a registry is used. The registry does not say it; its documentation says three hours.
const acrLife = 2 * time.Hour

// maxExchange bounds the answer of a registry, in bytes.
const maxExchange = 64 << 10

// azure makes what gets refresh tokens of a registry, for tokens of Entra that the identity of the pod gets.
func (p *Pod) azure(host string, reach web.Access) (cloud.Obtain, error) {
	workload := p.opts.Keeper.Workload()
	identity, err := cloud.NewWorkload(workload, azureAudience)
	if err != nil {
		return nil, err
	}
	entra, err := p.opts.Keeper.Own(identity)
	if err != nil {
		return nil, err
	}
	registry, err := web.Open("https://"+host, p.opts.Outbound, reach, web.Options{Bytes: maxExchange, SameHost: true})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (cloud.Token, error) {
		token, err := entra.Token(ctx, "")
		if err != nil {
			return cloud.Token{}, err
		}
		at := registry.Home().JoinPath("oauth2", "exchange")
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(url.Values{
			"grant_type": {"access_token"}, "service": {host}, "tenant": {workload.Tenant}, "access_token": {token.Secret},
		}.Encode()))
		if err != nil {
			return cloud.Token{}, errors.New("the registry cannot be asked for a token: correct its address")
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := registry.Do(req)
		if err != nil {
			return cloud.Token{}, err
		}
		defer drain(resp)
		if err := web.Check(at, resp); err != nil {
			return cloud.Token{}, err
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			return cloud.Token{}, err
		}
		var acr struct {
			Refresh string `json:"refresh_token"`
		}
		if strict.Decode(raw, &acr, strict.Foreign) != nil || acr.Refresh == "" {
			return cloud.Token{}, errors.New("the answer of the registry has no refresh token")
		}
		return cloud.Token{Username: acrUser, Secret: acr.Refresh, Ends: p.opts.Keeper.Now().Add(acrLife)}, nil
	}, nil
}
