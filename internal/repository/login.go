package repository

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Family is which repositories a Secret signs in to.
type Family string

// The families, as messages name them.
const (
	Git        Family = "Git repositories"
	Helm       Family = "Helm repositories"
	Registries Family = "OCI registries"
)

// Login is a way to sign in that a Secret may have.
type Login struct {
	Field  string // a Secret that has it has the login
	noun   string
	To     []Family // the repositories that it signs in to
	beside bool     // it goes with another login, and does not replace one
}

// Logins are all of them.
func Logins() []Login {
	all, git, oci := []Family{Git, Helm, Registries}, []Family{Git}, []Family{Registries}
	return []Login{
		{"username", "a user name", all, true},
		{"tlsClientCertData", "a client certificate", all, true},
		{"password", "a password", all, false},
		{"bearerToken", "a bearer token", all, false},
		{"sshPrivateKey", "an SSH key", git, false},
		{"githubAppPrivateKey", "a GitHub App", git, false},
		{"gcpServiceAccountKey", "the key of a service account of Google Cloud", git, false},
		{"azureServicePrincipalClientSecret", "an Azure service principal", git, false},
		{fieldAzure, "the Azure workload identity", []Family{Git, Registries}, false},
		{fieldIdentity, "the identity of the agent's pod", oci, false},
		{fieldDockerConfig, "a configuration of Docker", oci, false},
	}
}

// logins are those that a Secret has.
func (s Secret) logins() []Login {
	return slices.DeleteFunc(Logins(), func(l Login) bool {
		on, _ := strconv.ParseBool(s.Get(l.Field))
		return s.Get(l.Field) == "" || l.Field == fieldAzure && !on
	})
}

// signsIn reports whether a Secret has a way to sign in.
func (s Secret) signsIn() bool { return len(s.logins()) > 0 }

// SignsInTo refuses a Secret all of whose logins are for other repositories: without one, the repository would be read anonymously.
func (s Secret) SignsInTo(f Family) error {
	var other *Login
	for _, l := range s.logins() {
		switch fits := slices.Contains(l.To, f); {
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
	case f == Registries && other.Field == "gcpServiceAccountKey":
		next = "set username to _json_key and password to the key, or workloadIdentity to gcp"
	case f == Registries:
		next += ", or workloadIdentity"
	}
	takers := make([]string, len(other.To))
	for i, to := range other.To {
		takers[i] = string(to)
	}
	return fmt.Errorf("%s of the repository cannot be used: %s signs in to %s only, and this is one of the %s: %s", other.Field, other.noun,
		strings.Join(takers, " and "), f, next)
}
