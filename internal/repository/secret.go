package repository

import (
	"fmt"
	"strconv"
	"strings"
)

// Fields of a repository Secret that are of charts and registries alone.
const (
	fieldDockerConfig = ".dockerconfigjson"
	fieldIdentity     = "workloadIdentity" // aws, gcp or azure: sign in with the identity of the agent's pod
	fieldAzure        = "useAzureWorkloadIdentity"
	fieldPlainHTTP    = "insecureOCIForceHttp"
	fieldOCI          = "enableOCI"
	fieldPass         = "passCredentials" // send the credential where the index of a Helm repository leads
)

// Secret is what a Secret of a repository or of a template for several says.
type Secret struct {
	Kind   string // value of the label secret-type
	Data   map[string][]byte
	within string // the address that the login is for; "" for that of the Secret itself
	strays string // a field with which a Secret of one project would send the login of a template elsewhere; "" for none
}

// Get is a field without the spaces around it. Templates of Argo CD spell two fields in another way.
func (s Secret) Get(key string) string {
	value := strings.TrimSpace(string(s.Data[key]))
	if value == "" && (key == "azureServicePrincipalClientId" || key == "azureServicePrincipalTenantId") {
		value = strings.TrimSpace(string(s.Data[strings.TrimSuffix(key, "Id")+"ID"]))
	}
	return value
}

// flag reads a field that is true or false.
func (s Secret) flag(key string) (bool, error) {
	text := s.Get(key)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s is %.20q: write \"true\" or \"false\"", key, text)
	}
	return on, nil
}

// number reads a field that is a number.
func (s Secret) number(key string) (int64, error) {
	text := s.Get(key)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %.40q: write a number", key, text)
	}
	return n, nil
}

// straying is the error of a Secret that would send the login of a template another way.
func (s Secret) straying() error {
	if s.strays == "" {
		return nil
	}
	return fmt.Errorf("%s of a Secret of one project would decide where the login of a template goes: set it in the template, "+
		"or give this Secret a login of its own", s.strays)
}
