package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// aksServer is the application that every AKS cluster signs in with.
const aksServer = "6dae42f8-4368-4678-94ff-3960e28e3630"

// azure makes tokens of Azure: of the agent's workload identity, or of an application whose secret the Secret has.
func (m *Maker) azure(env map[string]string) (maker, error) {
	known := []string{
		"AAD_ENVIRONMENT_NAME", "AAD_LOGIN_METHOD", "AAD_SERVER_APPLICATION_ID", "AAD_SERVICE_PRINCIPAL_CLIENT_ID",
		"AAD_SERVICE_PRINCIPAL_CLIENT_SECRET", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID",
	}
	for name := range env {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("execProviderConfig.env has %.80q, which has no effect on the sign-in to Azure here: it may have %s", name,
				strings.Join(known, ", "))
		}
	}
	host, err := m.authority(env["AAD_ENVIRONMENT_NAME"])
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(env["AAD_SERVICE_PRINCIPAL_CLIENT_SECRET"], env["AZURE_CLIENT_SECRET"])
	method := cmp.Or(env["AAD_LOGIN_METHOD"], m.Environ("AAD_LOGIN_METHOD"))
	if method == "" && secret != "" {
		method = "spn"
	}
	server := cmp.Or(env["AAD_SERVER_APPLICATION_ID"], aksServer)
	tenant := cmp.Or(env["AZURE_TENANT_ID"], m.Environ("AZURE_TENANT_ID"))
	client := cmp.Or(env["AAD_SERVICE_PRINCIPAL_CLIENT_ID"], env["AZURE_CLIENT_ID"], m.Environ("AZURE_CLIENT_ID"))
	id := regexp.MustCompile(`^[A-Za-z0-9.-]{1,100}$`)
	switch {
	case !id.MatchString(tenant) || !id.MatchString(client):
		return nil, errors.New("AZURE_TENANT_ID and AZURE_CLIENT_ID are missing: give the agent a workload identity, or set " +
			"both in execProviderConfig.env")
	case !id.MatchString(server):
		return nil, errors.New("AAD_SERVER_APPLICATION_ID is no application: correct it")
	}
	address := host + tenant + "/oauth2/v2.0/token"
	form := func(more url.Values) url.Values {
		more.Set("grant_type", "client_credentials")
		more.Set("client_id", client)
		more.Set("scope", server+"/.default")
		return more
	}
	switch method {
	case "", "workloadidentity":
		file := m.Environ("AZURE_FEDERATED_TOKEN_FILE")
		if file == "" {
			return nil, errors.New("the agent has no workload identity of Azure (AZURE_FEDERATED_TOKEN_FILE): label its pod " +
				"azure.workload.identity/use=true")
		}
		return func(ctx context.Context) (token, error) {
			const doing = "sign in to Azure with the agent's workload identity"
			proof, err := readToken(file)
			if err != nil {
				return token{}, &Error{doing, err}
			}
			return m.grant(ctx, doing, address, form(url.Values{
				"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {proof},
			}))
		}, nil
	case "spn":
		if secret == "" {
			return nil, errors.New("AAD_SERVICE_PRINCIPAL_CLIENT_SECRET is missing in execProviderConfig.env: set it")
		}
		return func(ctx context.Context) (token, error) {
			return m.grant(ctx, "sign in to Azure as an application", address, form(url.Values{"client_secret": {secret}}))
		}, nil
	}
	return nil, fmt.Errorf("AAD_LOGIN_METHOD %.40q is not supported by this version: use workloadidentity or spn", method)
}

// authority is the address that signs in for a cloud of Azure. A Secret chooses among those of Azure.
func (m *Maker) authority(cloud string) (string, error) {
	host, ok := map[string]string{
		"": "https://login.microsoftonline.com/", "AzurePublicCloud": "https://login.microsoftonline.com/",
		"AzureChinaCloud": "https://login.chinacloudapi.cn/", "AzureUSGovernmentCloud": "https://login.microsoftonline.us/",
	}[cloud]
	if !ok {
		return "", fmt.Errorf("AAD_ENVIRONMENT_NAME %.40q is no cloud of Azure: it is AzurePublicCloud, AzureChinaCloud or "+
			"AzureUSGovernmentCloud", cloud)
	}
	if own := m.Environ("AZURE_AUTHORITY_HOST"); own != "" && cloud == "" {
		host = strings.TrimSuffix(own, "/") + "/"
	}
	if at, err := url.Parse(host); err != nil || at.Scheme != "https" || at.Host == "" {
		return "", errors.New("AZURE_AUTHORITY_HOST of the agent is no https address: correct it")
	}
	return host, nil
}
