// Package repository reads Argo CD's Secrets of repositories: which one a project reaches an address with, what it takes over from a
// template, and how far its login goes. An agent and the command line read them with the same rules.
package repository

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// Book has the Secrets of repositories, and what else decides how these are reached. It is not changed after it was made, and safe for
// concurrent use.
type Book struct {
	Secrets    map[string]Secret // of repositories and templates, by name
	Roots      map[string]string // certificate authorities in PEM, by host
	KnownHosts []byte            // of SSH servers
	SignIn     SignIn
}

// Repository returns the fields that a project reaches a repository with; nothing where there are none. They are not to be changed.
func (b Book) Repository(project, url string) map[string][]byte {
	best, _ := b.pick(project, url)
	return best.Data
}

// pick finds what a project reaches a repository with, and its name.
func (b Book) pick(project, url string) (Secret, string) {
	best, name, rank := Secret{}, "", 0
	for called, sec := range b.Secrets {
		at, owner := sec.Get("url"), sec.Get("project")
		if sec.Kind != v1alpha1.SecretTypeRepository || owner != "" && owner != project ||
			!webhook.SameRemote(at, url) && !sameRegistry(at, url) {
			continue
		}
		r := 1
		if owner != "" {
			r = 2
		}
		if r > rank || r == rank && called < name {
			best, name, rank = sec, called, r
		}
	}
	template, from := b.template(project, url)
	if rank == 0 {
		return template, from
	}
	return inherit(best, name, template, from)
}

// joined is what a Secret of a repository with an address is, or would be, with the template that fits, and its name.
func (b Book) joined(data map[string][]byte, called, url string) (Secret, string) {
	sec := Secret{Data: data}
	template, from := b.template(sec.Get("project"), url)
	return inherit(sec, called, template, from)
}

// template finds what signs in to all repositories below an address: a credential template, or the Secret of a registry that is closer
// to it. A chart may name a dependency so, whose repository has no Secret of its own.
func (b Book) template(project, url string) (Secret, string) {
	creds, name := b.longest(project, func(sec Secret, prefix string) bool {
		return sec.Kind == v1alpha1.SecretTypeRepoCreds && (below(url, prefix) || belowRegistry(url, prefix))
	})
	above, of := b.longest(project, func(sec Secret, prefix string) bool {
		return sec.Kind == v1alpha1.SecretTypeRepository && (IsOCI(prefix) || sec.Get(fieldOCI) == "true") &&
			belowRegistry(url, prefix) && !sameRegistry(url, prefix)
	})
	if len(trimOCI(above.Get("url"))) > len(trimOCI(creds.Get("url"))) {
		return above, of
	}
	return creds, name
}

// longest finds the Secret that fits with the longest address, of those with one the project's own.
func (b Book) longest(project string, fits func(sec Secret, prefix string) bool) (best Secret, name string) {
	length := -1
	for called, sec := range b.Secrets {
		prefix, owner := sec.Get("url"), sec.Get("project")
		if owner != "" && owner != project || prefix == "" || !fits(sec, prefix) {
			continue
		}
		n := 2 * len(trimOCI(prefix)) // a registry is named with its scheme or without
		if owner != "" {
			n++
		}
		if n > length || n == length && called < name {
			best, name, length = sec, called, n
		}
	}
	return best, name
}

// inherited are the fields that a repository takes over from a template, as in Argo CD.
var inherited = []string{ //nolint:gochecknoglobals // a table
	"username", "password", "bearerToken", "sshPrivateKey", "tlsClientCertData", "tlsClientCertKey", "githubAppPrivateKey", "githubAppID",
	"githubAppInstallationID", "githubAppEnterpriseBaseUrl", "gcpServiceAccountKey", "azureServicePrincipalClientId",
	"azureServicePrincipalClientSecret", "azureServicePrincipalTenantId", "azureActiveDirectoryEndpoint", "proxy", "noProxy", "type",
	"insecure", "insecureIgnoreHostKey",
	fieldOCI, fieldPlainHTTP, "forceHttpBasicAuth", fieldAzure, fieldIdentity, fieldDockerConfig, fieldPass,
}

// inherit gives a repository that signs in with nothing the fields of a template. What the login is for is then decided by the author of
// the template: its project, the addresses that it is sent to, and whether it is passed on.
func inherit(sec Secret, called string, template Secret, from string) (Secret, string) {
	if from == "" || sec.signsIn() {
		return sec, called
	}
	out := sec
	out.Data = maps.Clone(sec.Data)
	if out.Data == nil {
		out.Data = map[string][]byte{}
	}
	if sec.Get("project") != "" {
		out.strays = sec.steersFrom(template)
	}
	delete(out.Data, "project")
	delete(out.Data, fieldPass)
	out.within = template.Get("url")
	if owner := template.Get("project"); owner != "" {
		out.Data["project"] = []byte(owner)
	}
	for _, field := range inherited {
		if template.Kind == v1alpha1.SecretTypeRepository && (field == fieldOCI || field == "type") {
			continue // what is in a registry need not be of the kind that the registry is of
		}
		if sec.Get(field) == "" && template.Get(field) != "" {
			out.Data[field] = []byte(template.Get(field))
			if strings.HasPrefix(field, "tls") || field == "sshPrivateKey" || field == "githubAppPrivateKey" {
				out.Data[field] = template.Data[field] // as it is, with the end of its last line
			}
		}
	}
	return out, called + " with " + from
}

// Steers are the fields that decide which way a login takes, who gets it, and who is believed to be the one.
func Steers() []string {
	return []string{
		"proxy", "noProxy", "insecure", "insecureIgnoreHostKey", fieldPlainHTTP, "githubAppEnterpriseBaseUrl", "githubAppID",
		"githubAppInstallationID", "azureActiveDirectoryEndpoint", "azureServicePrincipalTenantId", "azureServicePrincipalClientId",
	}
}

// loose are those that make a connection less safe. Turning one off sends nothing elsewhere.
var loose = []string{"insecure", "insecureIgnoreHostKey", fieldPlainHTTP} //nolint:gochecknoglobals // a table

// steersFrom returns a field with which a Secret would send the login of a template another way; "" for none.
func (s Secret) steersFrom(template Secret) string {
	for _, field := range Steers() {
		own := s.Get(field)
		if own == "" || own == template.Get(field) {
			continue
		}
		if on, err := strconv.ParseBool(own); err != nil || on || !slices.Contains(loose, field) {
			return field
		}
	}
	return ""
}

// Borrows returns a field with which a Secret without a login of its own would send that of a template another way, as far as it has
// the field; "" for none. data is what the Secret would hold.
func (b Book) Borrows(data map[string][]byte) string {
	sec := Secret{Data: data}
	template, from := b.template(sec.Get("project"), sec.Get("url"))
	if from == "" || sec.signsIn() || !template.signsIn() {
		return ""
	}
	return sec.steersFrom(template)
}

// Named returns the address of the Helm repository with a name: that of the project's own Secret, else that of one for every project. ""
// stands for none.
func (b Book) Named(project, name string) string {
	best, owned, at := "", false, ""
	for called, sec := range b.Secrets {
		owner := sec.Get("project")
		if sec.Kind != v1alpha1.SecretTypeRepository || sec.Get("name") != name || sec.Get("url") == "" || owner != "" && owner != project ||
			sec.Get("type") != "helm" && sec.Get("type") != "oci" && sec.Get(fieldOCI) != "true" {
			continue
		}
		mine := owner != ""
		if best == "" || mine && !owned || mine == owned && called < at {
			best, owned, at = sec.Get("url"), mine, called
			if !strings.Contains(best, "://") && (sec.Get(fieldOCI) == "true" || sec.Get("type") == "oci") {
				best = scheme + best
			}
		}
	}
	return best
}
