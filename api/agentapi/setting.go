package agentapi

import (
	"slices"
	"strings"
)

// settingFields are the fields of a type of settings: those that are judged, which are written in the open, and those that are
// secret, which are sealed. No field is both, and what is in neither list is refused, by server and agent alike.
type settingFields struct {
	open, secret []string
	// wide says that a setting of the type counts for more than one project: what it is for is written at the agent's scope.
	wide bool
	// aims are the open fields that say where the secrets are sent.
	aims []string
}

// fieldsOf is the one list of fields by type.
func fieldsOf(t SettingType) settingFields {
	access := []string{
		"url", "type", "project", "insecure", "insecureIgnoreHostKey", "enableOCI", "insecureOCIForceHttp",
		"forceHttpBasicAuth", "proxy", "noProxy",
		"githubAppID", "githubAppInstallationID", "githubAppEnterpriseBaseUrl", "useAzureWorkloadIdentity", "workloadIdentity",
		"azureServicePrincipalTenantId", "azureServicePrincipalClientId", "azureActiveDirectoryEndpoint", "webhookManifestCacheWarmDisabled",
		"passCredentials",
	}
	secrets := []string{
		"username", "password", "bearerToken", "sshPrivateKey", "tlsClientCertData", "tlsClientCertKey", "githubAppPrivateKey",
		"gcpServiceAccountKey", "azureServicePrincipalClientSecret", ".dockerconfigjson",
	}
	aims := []string{
		"url", "proxy", "insecure", "insecureIgnoreHostKey", "insecureOCIForceHttp", "githubAppEnterpriseBaseUrl",
		"azureActiveDirectoryEndpoint", "passCredentials",
	}
	switch t {
	case SettingRepository:
		return settingFields{open: append(access, "name", "enableLfs", "depth"), secret: secrets, aims: aims}
	case SettingRepoCreds:
		return settingFields{open: append(access, "name", "enableLfs", "depth"), secret: secrets, aims: aims, wide: true}
	case SettingCluster:
		return settingFields{
			open: []string{"name", "server", "project", "namespaces", "clusterResources", "shard"}, secret: []string{"config"},
			aims: []string{"server"},
		}
	case SettingCertificate:
		return settingFields{open: []string{"serverName", "certData"}, wide: true}
	case SettingKnownHost:
		return settingFields{open: []string{"data", "serverName", "certSubType", "certData"}, wide: true}
	case SettingGPGKey:
		return settingFields{open: []string{"keyData"}, wide: true}
	}
	return settingFields{}
}

// SettingTypes lists the types of settings.
func SettingTypes() []SettingType {
	return []SettingType{SettingRepository, SettingRepoCreds, SettingCluster, SettingCertificate, SettingKnownHost, SettingGPGKey}
}

// OpenFields are the fields of a type that are written in the open, because rights, projects and addresses are judged by them.
func (t SettingType) OpenFields() []string { return fieldsOf(t).open }

// SecretFields are the fields of a type that an agent takes sealed only.
func (t SettingType) SecretFields() []string { return fieldsOf(t).secret }

// Open reports whether a field of the type is written in the open.
func (t SettingType) Open(field string) bool { return slices.Contains(fieldsOf(t).open, field) }

// Secret reports whether a field of the type is taken sealed only.
func (t SettingType) Secret(field string) bool { return slices.Contains(fieldsOf(t).secret, field) }

// Wide reports whether a setting of the type counts beyond one project: for all repositories below an address, for all that
// is read from a host, or for all commits. It takes the right to the agent's scope.
func (t SettingType) Wide() bool { return fieldsOf(t).wide }

// Aims are the fields that say where the secrets of a setting are sent. A request that changes one must contain the secrets
// again.
func (t SettingType) Aims() []string { return fieldsOf(t).aims }

// Unused says why an engine makes nothing of a value of a setting's field, and what to do instead; "" where it uses the value.
// Nearly every field is of use to an Argo CD, whose settings these are. Of certain fields it is the value that decides: "false" asks for
// nothing.
func (e Engine) Unused(t SettingType, field, value string) string {
	value = strings.TrimSpace(value)
	if value == "" || value == "false" {
		return ""
	}
	if e.Known() == EngineArgoCD {
		switch field {
		case "workloadIdentity", ".dockerconfigjson":
			return "Argo CD does not know it: set user name and password"
		case "passCredentials":
			return "Argo CD does not know it: set helm.passCredentials in the source of the Application"
		}
		return ""
	}
	if t == SettingCluster {
		if field == "shard" {
			return "agents divide their work automatically: leave it out"
		}
		return ""
	}
	if field == "webhookManifestCacheWarmDisabled" {
		return "the agent keeps no cache that a webhook warms: leave it out"
	}
	return ""
}

// Judged says for which AppProjects rights to a setting were asked.
type Judged struct {
	// From is that of the setting as it is there; nil where the server knows none of that name.
	From *string `json:"from,omitempty"`
	// To is that of the setting as it is to be; empty for all projects.
	To string `json:"to,omitempty"`
}
