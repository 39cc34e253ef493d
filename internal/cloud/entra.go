package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
)

const (
	entraPublic = "https://login.microsoftonline.com"
	// AzureDevOps is what tokens for Azure DevOps are asked for: its application is the same one in every tenant.
	AzureDevOps = "499b84ac-1321-427f-aa17-267ca6975798/.default"
)

// entraHosts are where Microsoft gives tokens, in its clouds.
var entraHosts = []string{ //nolint:gochecknoglobals // a table
	"login.microsoftonline.com", "login.microsoftonline.us", "login.chinacloudapi.cn", "login.partner.microsoftonline.cn",
}

// Workload is the identity that Azure gives to the pod of the agent. Its webhook sets the variables of the environment.
type Workload struct {
	Tenant, Client string
	File           string // with the token of the service account of Kubernetes
	Authority      string // address of Microsoft Entra
}

// Workload reads AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE and AZURE_AUTHORITY_HOST.
func (k *Keeper) Workload() Workload {
	get := k.opts.Getenv
	return Workload{
		Tenant: get("AZURE_TENANT_ID"), Client: get("AZURE_CLIENT_ID"), File: get("AZURE_FEDERATED_TOKEN_FILE"),
		Authority: get("AZURE_AUTHORITY_HOST"),
	}
}

// Entra is an application of Microsoft Entra: with a secret of its own, or as the agent's workload.
type Entra struct {
	tenant, client, secret, file string
	authority                    string
	scope                        string // what its tokens are for
}

// NewServicePrincipal reads what a repository has of an application whose tokens are for a scope. named is the address of Microsoft Entra
// that the repository names: it is one of Microsoft's, or that of the operator.
func NewServicePrincipal(tenant, client, secret, named string, operator Workload, scope string) (*Entra, error) {
	for _, f := range []struct{ name, value string }{
		{"azureServicePrincipalTenantId", tenant}, {"azureServicePrincipalClientId", client}, {"azureServicePrincipalClientSecret", secret},
	} {
		if f.value == "" {
			return nil, fmt.Errorf("%s is missing: an Azure service principal needs tenant, client and secret", f.name)
		}
	}
	authority := strings.TrimRight(named, "/")
	if authority == "" {
		authority = operator.authority()
	}
	if u, err := url.Parse(authority); authority != operator.authority() &&
		(err != nil || u.Scheme != "https" || !slices.Contains(entraHosts, u.Host) || u.Path != "" || u.User != nil) {
		return nil, errors.New("azureActiveDirectoryEndpoint is none of Microsoft's: give " + entraPublic +
			" or that of another cloud of Microsoft, or have the operator set AZURE_AUTHORITY_HOST of the agent")
	}
	return newEntra(Entra{tenant: tenant, client: client, secret: secret, authority: authority, scope: scope})
}

// NewWorkload is the identity of the agent's own pod, with tokens for a scope.
func NewWorkload(w Workload, scope string) (*Entra, error) {
	if w.Tenant == "" || w.Client == "" || w.File == "" {
		return nil, errors.New("the agent has no Azure workload identity: label its pod azure.workload.identity/use and annotate its service " +
			"account, so that AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE are set")
	}
	return newEntra(Entra{tenant: w.Tenant, client: w.Client, file: w.File, authority: w.authority(), scope: scope})
}

func (w Workload) authority() string {
	if a := strings.TrimRight(w.Authority, "/"); a != "" {
		return a
	}
	return entraPublic
}

// entraID is what tenants and applications are named by: an id, or a domain.
var entraID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$`)

func newEntra(e Entra) (*Entra, error) {
	switch at, err := url.Parse(e.authority); {
	case !entraID.MatchString(e.tenant):
		return nil, errors.New("the Azure tenant is no id or domain: correct it")
	case !entraID.MatchString(e.client):
		return nil, errors.New("the Azure client is no id of an application: correct it")
	case err != nil || at.Scheme != "https" || at.Host == "":
		return nil, errors.New("AZURE_AUTHORITY_HOST of the agent is no https address: correct it")
	}
	return &e, nil
}

// AzureHost reports whether an address is of Azure DevOps as a service: only there the agent's own identity is used.
func AzureHost(host string) bool {
	host = strings.ToLower(host)
	return host == "dev.azure.com" || strings.HasSuffix(host, ".visualstudio.com") && host != ".visualstudio.com"
}

func (e *Entra) fields() []string {
	return []string{"entra", e.tenant, e.client, e.secret, e.file, e.scope}
}

func (e *Entra) home() string { return e.authority }

// obtain implements Grant.
func (e *Entra) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	form := url.Values{"client_id": {e.client}, "scope": {e.scope}, "grant_type": {"client_credentials"}}
	if e.file == "" {
		form.Set("client_secret", e.secret)
	} else {
		statement, err := tokenIn("AZURE_FEDERATED_TOKEN_FILE", e.file)
		if err != nil {
			return Token{}, err
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", statement)
	}
	at := client.Home().JoinPath(e.tenant, "oauth2", "v2.0", "token")
	req, err := posted(ctx, at, form)
	if err != nil {
		return Token{}, err
	}
	const refused = "Microsoft Entra does not accept the application: check tenant and client, and that its secret or " +
		"federated credential has not expired"
	words := refusing(refused)
	words[http.StatusNotFound] = refused
	var got answer
	if err := call(client, req, &got, words); err != nil {
		return Token{}, err
	}
	return got.token(at, "", now)
}
