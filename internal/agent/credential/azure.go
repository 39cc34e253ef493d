package credential

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/cloud"
)

// aksServer is the application that every AKS cluster signs in with.
const aksServer = "6dae42f8-4368-4678-94ff-3960e28e3630"

// azure makes tokens of Azure: of the agent's workload identity, or of an application whose secret the Secret has.
func (m *Maker) azure(env map[string]string) (*cloud.Holder, error) {
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
	authority, err := authority(env["AAD_ENVIRONMENT_NAME"])
	if err != nil {
		return nil, err
	}
	secret := cmp.Or(env["AAD_SERVICE_PRINCIPAL_CLIENT_SECRET"], env["AZURE_CLIENT_SECRET"])
	method := cmp.Or(env["AAD_LOGIN_METHOD"], m.Keeper.Getenv("AAD_LOGIN_METHOD"))
	if method == "" && secret != "" {
		method = "spn"
	}
	own := m.Keeper.Workload()
	own.Tenant = cmp.Or(env["AZURE_TENANT_ID"], own.Tenant)
	own.Client = cmp.Or(env["AAD_SERVICE_PRINCIPAL_CLIENT_ID"], env["AZURE_CLIENT_ID"], own.Client)
	own.Authority = cmp.Or(authority, own.Authority)
	server := cmp.Or(env["AAD_SERVER_APPLICATION_ID"], aksServer)
	switch {
	case own.Tenant == "" || own.Client == "":
		return nil, errors.New("AZURE_TENANT_ID and AZURE_CLIENT_ID are missing: give the agent a workload identity, or set " +
			"both in execProviderConfig.env")
	case !regexp.MustCompile(`^[A-Za-z0-9.-]{1,100}$`).MatchString(server):
		return nil, errors.New("AAD_SERVER_APPLICATION_ID is no application: correct it")
	}
	var application *cloud.Entra
	switch method {
	case "", "workloadidentity":
		application, err = cloud.NewWorkload(own, server+"/.default")
	case "spn":
		if secret == "" {
			return nil, errors.New("AAD_SERVICE_PRINCIPAL_CLIENT_SECRET is missing in execProviderConfig.env: set it")
		}
		application, err = cloud.NewServicePrincipal(own.Tenant, own.Client, secret, "", own, server+"/.default")
	default:
		return nil, fmt.Errorf("AAD_LOGIN_METHOD %.40q is not supported by this version: use workloadidentity or spn", method)
	}
	if err != nil {
		return nil, err
	}
	return m.Keeper.Own(application)
}

// authority is the address that signs in for a cloud of Azure, which a Secret chooses by its name; "" for the agent's own.
func authority(of string) (string, error) {
	host, ok := map[string]string{
		"": "", "AzurePublicCloud": "https://login.microsoftonline.com",
		"AzureChinaCloud": "https://login.chinacloudapi.cn", "AzureUSGovernmentCloud": "https://login.microsoftonline.us",
	}[of]
	if !ok {
		return "", fmt.Errorf("AAD_ENVIRONMENT_NAME %.40q is no cloud of Azure: it is AzurePublicCloud, AzureChinaCloud or "+
			"AzureUSGovernmentCloud", of)
	}
	return host, nil
}
