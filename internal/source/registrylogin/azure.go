package registrylogin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// azureAudience is what a token is asked for: it reads registries, and nothing else of Azure.
const azureAudience = "https://containerregistry.azure.net/.default"

// acrUser stands for a client that signs in with a token.
const acrUser = "00000000-0000-0000-0000-000000000000"

// acrLife is how long a refresh token of a registry is used. The registry does not say it; its documentation says three hours.
const acrLife = 2 * 60 * 60

// azure exchanges the pod's token of Kubernetes for one of Entra ID, and this for a refresh token of the registry.
func (p *Pod) azure(ctx context.Context, host string, reach web.Access) (Secret, error) {
	assertion, err := p.tokenFile("AZURE_FEDERATED_TOKEN_FILE")
	if err != nil {
		return Secret{}, err
	}
	tenant, client := p.opts.Getenv("AZURE_TENANT_ID"), p.opts.Getenv("AZURE_CLIENT_ID")
	if tenant == "" || client == "" {
		return Secret{}, errors.New("the environment has no AZURE_TENANT_ID or no AZURE_CLIENT_ID")
	}
	authority := strings.TrimSuffix(cmp.Or(p.opts.Getenv("AZURE_AUTHORITY_HOST"), "https://login.microsoftonline.com"), "/")
	raw, err := p.service(ctx, http.MethodPost, authority+"/"+url.PathEscape(tenant)+"/oauth2/v2.0/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client}, "scope": {azureAudience}, "client_assertion": {assertion},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
	}.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		return Secret{}, err
	}
	var entra struct {
		Token string `json:"access_token"`
	}
	if strict.Decode(raw, &entra, strict.Foreign) != nil || entra.Token == "" {
		return Secret{}, errors.New("the answer of Entra ID has no token")
	}
	registry, err := web.Open("https://"+host, p.opts.Outbound, reach, web.Options{Bytes: maxIdentity})
	if err != nil {
		return Secret{}, err
	}
	defer registry.Close()
	at := registry.Home().JoinPath("oauth2", "exchange")
	raw, err = exchange(ctx, registry, http.MethodPost, at, url.Values{
		"grant_type": {"access_token"}, "service": {host}, "tenant": {tenant}, "access_token": {entra.Token},
	}.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	if err != nil {
		return Secret{}, err
	}
	var acr struct {
		Refresh string `json:"refresh_token"`
	}
	if strict.Decode(raw, &acr, strict.Foreign) != nil || acr.Refresh == "" {
		return Secret{}, errors.New("the answer of the registry has no refresh token")
	}
	return Secret{Username: acrUser, Refresh: acr.Refresh, Ends: p.ends(acrLife)}, nil
}
