package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/web"
)

const (
	entraPublic = "https://login.microsoftonline.com"
	// azureDevOps is the application of Azure DevOps in Microsoft Entra: the same one in every tenant.
	azureDevOps = "499b84ac-1321-427f-aa17-267ca6975798/.default"
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

// WorkloadFromEnvironment reads AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_FEDERATED_TOKEN_FILE and AZURE_AUTHORITY_HOST.
func WorkloadFromEnvironment() Workload {
	return Workload{
		Tenant: os.Getenv("AZURE_TENANT_ID"), Client: os.Getenv("AZURE_CLIENT_ID"), File: os.Getenv("AZURE_FEDERATED_TOKEN_FILE"),
		Authority: os.Getenv("AZURE_AUTHORITY_HOST"),
	}
}

// Entra is an application of Microsoft Entra that reads Azure DevOps: with a secret of its own, or as the agent's workload.
type Entra struct {
	tenant, client, secret, file string
	authority                    string
}

// NewServicePrincipal reads what a repository has of an application. named is the address of Microsoft Entra that the repository
// names: it is one of Microsoft's, or that of the operator.
func NewServicePrincipal(tenant, client, secret, named string, operator Workload) (*Entra, error) {
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
	return newEntra(Entra{tenant: tenant, client: client, secret: secret, authority: authority})
}

// NewWorkload is the identity of the agent's own pod.
func NewWorkload(w Workload) (*Entra, error) {
	if w.Tenant == "" || w.Client == "" || w.File == "" {
		return nil, errors.New("the agent has no Azure workload identity: label its pod azure.workload.identity/use and annotate its service " +
			"account, so that AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE are set")
	}
	return newEntra(Entra{tenant: w.Tenant, client: w.Client, file: w.File, authority: w.authority()})
}

func (w Workload) authority() string {
	if a := strings.TrimRight(w.Authority, "/"); a != "" {
		return a
	}
	return entraPublic
}

func newEntra(e Entra) (*Entra, error) {
	if len(e.tenant) > 256 || strings.ContainsAny(e.tenant, "/?#%\\ ") || strings.Trim(e.tenant, ".") == "" {
		return nil, errors.New("the Azure tenant is no id or domain: correct it")
	}
	return &e, nil
}

// AzureHost reports whether an address is of Azure DevOps as a service: only there the agent's own identity is used.
func AzureHost(host string) bool {
	host = strings.ToLower(host)
	return host == "dev.azure.com" || strings.HasSuffix(host, ".visualstudio.com") && host != ".visualstudio.com"
}

func (e *Entra) fields() []string { return []string{"entra", e.tenant, e.client, e.secret, e.file} }

func (e *Entra) home() string { return e.authority }

// obtain implements Grant.
func (e *Entra) obtain(ctx context.Context, client *web.Client, now time.Time) (Token, error) {
	form := url.Values{"client_id": {e.client}, "scope": {azureDevOps}, "grant_type": {"client_credentials"}}
	if e.file == "" {
		form.Set("client_secret", e.secret)
	} else {
		statement, err := readStatement(e.file) // Kubernetes replaces it
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
	var got answer
	if err := call(client, req, &got, wording{
		http.StatusBadRequest: refused, http.StatusUnauthorized: refused, http.StatusForbidden: refused, http.StatusNotFound: refused,
	}); err != nil {
		return Token{}, err
	}
	return got.token(at, "", now)
}

func readStatement(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", errors.New("the file AZURE_FEDERATED_TOKEN_FILE cannot be read: check the Azure workload identity of the agent's pod")
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyBytes))
	text := strings.TrimSpace(string(raw))
	if err != nil || !usableToken(text) {
		return "", errors.New("the file AZURE_FEDERATED_TOKEN_FILE holds no token: check the Azure workload identity of the agent's pod")
	}
	return text, nil
}
