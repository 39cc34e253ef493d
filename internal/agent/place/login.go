package place

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// family is which repositories a Secret signs in to.
type family string

// The families, as messages name them.
const (
	ofGit  family = "Git repositories"
	ofHelm family = "Helm repositories"
	ofOCI  family = "OCI registries"
)

// login is a way to sign in that a Secret may have.
type login struct {
	field  string // a Secret that has it has the login
	noun   string
	to     []family
	beside bool // it goes with another login, and does not replace one
}

// logins are all of them.
func logins() []login {
	all, git, oci := []family{ofGit, ofHelm, ofOCI}, []family{ofGit}, []family{ofOCI}
	return []login{
		{"username", "a user name", all, true}, {"tlsClientCertData", "a client certificate", all, true},
		{"password", "a password", all, false}, {"bearerToken", "a bearer token", all, false},
		{"sshPrivateKey", "an SSH key", git, false}, {"githubAppPrivateKey", "a GitHub App", git, false},
		{"gcpServiceAccountKey", "the key of a service account of Google Cloud", git, false},
		{"azureServicePrincipalClientSecret", "an Azure service principal", git, false},
		{fieldAzure, "the Azure workload identity", []family{ofGit, ofOCI}, false},
		{fieldIdentity, "the identity of the agent's pod", oci, false}, {fieldDockerConfig, "a configuration of Docker", oci, false},
	}
}

// logins are those that a Secret has.
func (s Secret) logins() []login {
	return slices.DeleteFunc(logins(), func(l login) bool {
		on, _ := strconv.ParseBool(s.Get(l.field))
		return s.Get(l.field) == "" || l.field == fieldAzure && !on
	})
}

// signsIn reports whether a Secret has a way to sign in.
func (s Secret) signsIn() bool { return len(s.logins()) > 0 }

// signsInTo refuses a Secret all of whose logins are for other repositories: without one, the repository would be read anonymously.
func (s Secret) signsInTo(f family) error {
	var other *login
	for _, l := range s.logins() {
		switch fits := slices.Contains(l.to, f); {
		case fits && !l.beside:
			return nil
		case !fits && other == nil:
			other = &l
		}
	}
	if other == nil {
		return nil
	}
	next := "set username and password"
	switch {
	case f == ofOCI && other.field == "gcpServiceAccountKey":
		next = "set username to _json_key and password to the key, or workloadIdentity to gcp"
	case f == ofOCI:
		next += ", or workloadIdentity"
	}
	takers := make([]string, len(other.to))
	for i, to := range other.to {
		takers[i] = string(to)
	}
	return fmt.Errorf("%s of the repository cannot be used: %s signs in to %s only, and this is one of the %s: %s", other.field, other.noun,
		strings.Join(takers, " and "), f, next)
}
