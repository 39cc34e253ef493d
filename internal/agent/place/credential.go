package place

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/grant"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// SignIn gets tokens for credentials that are not secrets of a repository themselves.
type SignIn struct {
	Keeper   *grant.Keeper
	Workload grant.Workload // of the agent's own pod
	Google   string         // where tokens for service accounts of Google Cloud come from; "" for Google
}

// Credential finds how a project reaches a repository: its own Secret, then one for every project, with what the template gives
// whose URL prefix is the longest where that Secret signs in with nothing; or that template alone.
func (s *Settings) Credential(project, url string) (git.Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, name := s.pick(project, url)
	return s.toCredential(best, name, url)
}

// CredentialIn reads how to reach a repository from what its Secret holds, or would hold; called is its name in errors. Where it
// signs in with nothing, the template that fits is used, as for an Application.
func (s *Settings) CredentialIn(data map[string][]byte, called, url string) (git.Credential, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sec, called := s.joined(data, called, url)
	return s.toCredential(sec, called, url)
}

// Repository returns the fields that a project reaches a repository with; nothing where there are none. They are not to be changed.
func (s *Settings) Repository(project, url string) map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	best, _ := s.pick(project, url)
	return best.Data
}

// pick finds what a project reaches a repository with, and its name. Callers hold the lock.
func (s *Settings) pick(project, url string) (Secret, string) {
	best, name, rank := Secret{}, "", 0
	for called, sec := range s.secrets {
		at, owner := sec.Get("url"), sec.Get("project")
		if sec.kind != v1alpha1.SecretTypeRepository || owner != "" && owner != project ||
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
	template, from := s.template(project, url)
	if rank == 0 {
		return template, from
	}
	return inherit(best, name, template, from)
}

// joined is what a Secret of a repository with an address is, or would be, with the template that fits, and its name. Callers hold the
// lock.
func (s *Settings) joined(data map[string][]byte, called, url string) (Secret, string) {
	sec := Secret{Data: data}
	template, from := s.template(sec.Get("project"), url)
	return inherit(sec, called, template, from)
}

// template finds what signs in to all repositories below an address: a credential template, or the Secret of a registry that is closer
// to it. A chart may name a dependency so, whose repository has no Secret of its own. Callers hold the lock.
func (s *Settings) template(project, url string) (Secret, string) {
	creds, name := s.longest(project, func(sec Secret, prefix string) bool {
		return sec.kind == v1alpha1.SecretTypeRepoCreds && (below(url, prefix) || belowRegistry(url, prefix))
	})
	above, of := s.longest(project, func(sec Secret, prefix string) bool {
		return sec.kind == v1alpha1.SecretTypeRepository && (isOCI(prefix) || sec.Get(fieldOCI) == "true") &&
			belowRegistry(url, prefix) && !sameRegistry(url, prefix)
	})
	if len(trimOCI(above.Get("url"))) > len(trimOCI(creds.Get("url"))) {
		return above, of
	}
	return creds, name
}

// longest finds the Secret that fits with the longest address, of those with one the project's own. Callers hold the lock.
func (s *Settings) longest(project string, fits func(sec Secret, prefix string) bool) (best Secret, name string) {
	length := -1
	for called, sec := range s.secrets {
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

// below reports whether a URL is at or under a prefix. The prefix ends at a boundary, so that what is meant for
// https://git.example is never sent to https://git.example.evil.
func below(url, prefix string) bool {
	rest, ok := strings.CutPrefix(url, prefix)
	return ok && (rest == "" || strings.HasSuffix(prefix, "/") || strings.HasPrefix(rest, "/"))
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
		if template.kind == v1alpha1.SecretTypeRepository && (field == fieldOCI || field == "type") {
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

// steers are the fields that decide which way a login takes, who gets it, and who is believed to be the one.
var steers = []string{ //nolint:gochecknoglobals // a table
	"proxy", "noProxy", "insecure", "insecureIgnoreHostKey", fieldPlainHTTP, "githubAppEnterpriseBaseUrl", "githubAppID",
	"githubAppInstallationID", "azureActiveDirectoryEndpoint", "azureServicePrincipalTenantId", "azureServicePrincipalClientId",
}

// steersFrom returns a field with which a Secret would send the login of a template another way; "" for none.
func (s Secret) steersFrom(template Secret) string {
	for _, field := range steers {
		own := s.Get(field)
		if off, err := strconv.ParseBool(own); own != "" && own != template.Get(field) && (err != nil || off) {
			return field
		}
	}
	return ""
}

// Borrows returns a field with which a Secret without a login of its own would send that of a template another way, as far as it has
// the field; "" for none. data is what the Secret would hold.
func (s *Settings) Borrows(data map[string][]byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	sec := Secret{Data: data}
	template, from := s.template(sec.Get("project"), sec.Get("url"))
	if from == "" || sec.signsIn() || !template.signsIn() {
		return ""
	}
	return sec.steersFrom(template)
}

// straying is the error of a Secret that would send the login of a template another way.
func (s Secret) straying() error {
	if s.strays == "" {
		return nil
	}
	return fmt.Errorf("%s of a Secret of one project would decide where the login of a template goes: set it in the template, "+
		"or give this Secret a login of its own", s.strays)
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

// maxDepth is the largest number of commits that is asked for: what has more is asked for whole anyway.
const maxDepth = 1 << 20

// toCredential reads a repository Secret. Callers hold the lock.
func (s *Settings) toCredential(sec Secret, name, url string) (git.Credential, error) {
	cred, err := s.readCredential(sec, url)
	if err != nil {
		return git.Credential{}, fmt.Errorf("Secret %s: %w", name, err)
	}
	return cred, nil
}

func (s *Settings) readCredential(sec Secret, url string) (git.Credential, error) {
	if err := sec.straying(); err != nil {
		return git.Credential{}, err
	}
	remote, _, wrong := git.ParseRemote(url, true)
	var host string
	if wrong == nil {
		host = remote.Hostname()
	}
	a, err := s.accessOf(sec, host)
	if err != nil {
		return git.Credential{}, err
	}
	cred := git.Credential{
		Username: a.Username, Password: a.Password, Bearer: a.Bearer, ClientCert: a.ClientCert, ClientKey: a.ClientKey, CA: a.CA,
		Insecure: a.Insecure, Proxy: a.Proxy, NoProxy: a.NoProxy, SSHKey: sec.Data["sshPrivateKey"],
		KnownHosts: []byte(s.configs[ConfigKnownHosts]["ssh_known_hosts"]),
	}
	if cred.Basic, err = sec.flag("forceHttpBasicAuth"); err != nil {
		return cred, err
	}
	depth, err := sec.number("depth")
	if err != nil {
		return cred, err
	}
	cred.Depth = int(min(depth, maxDepth))
	if cred.Password != "" || cred.Bearer != "" || len(cred.SSHKey) > 0 {
		return cred, nil
	}
	g, err := s.grantOf(sec, remote)
	if err == nil && g == nil {
		err = sec.signsInTo(ofGit)
	}
	if err != nil || g == nil {
		return cred, err
	}
	if remote.SSH() {
		return cred, errors.New("it signs in over https only: use the https:// address of the repository, or an SSH key")
	}
	return s.withTokens(cred, g)
}

// authority is the certificate authorities of a host. Callers hold the lock.
func (s *Settings) authority(host string) []byte { return []byte(s.configs[ConfigCertificate][host]) }

// grantOf is what a Secret gets tokens with; nil where it does not.
func (s *Settings) grantOf(sec Secret, remote git.Remote) (grant.Grant, error) {
	workload, err := sec.flag(fieldAzure)
	if err != nil {
		return nil, err
	}
	switch {
	case sec.Get("githubAppPrivateKey") != "" || sec.Get("githubAppID") != "":
		app, err := sec.number("githubAppID")
		if err != nil {
			return nil, err
		}
		installation, err := sec.number("githubAppInstallationID")
		if err != nil {
			return nil, err
		}
		return grant.NewGitHubApp(app, installation, remote.Owner(), sec.Data["githubAppPrivateKey"], sec.Get("githubAppEnterpriseBaseUrl"))
	case sec.Get("gcpServiceAccountKey") != "":
		return grant.NewGoogleAccount(sec.Data["gcpServiceAccountKey"], s.SignIn.Google)
	case workload:
		if !grant.AzureHost(remote.Hostname()) {
			return nil, errors.New("useAzureWorkloadIdentity is for Azure DevOps (dev.azure.com) only: " +
				"the identity of the agent is sent nowhere else")
		}
		if err := sec.forAgent(); err != nil {
			return nil, err
		}
		return grant.NewWorkload(s.SignIn.Workload)
	case sec.Get("azureServicePrincipalClientSecret") != "" || sec.Get("azureServicePrincipalClientId") != "":
		return grant.NewServicePrincipal(sec.Get("azureServicePrincipalTenantId"), sec.Get("azureServicePrincipalClientId"),
			sec.Get("azureServicePrincipalClientSecret"), sec.Get("azureActiveDirectoryEndpoint"), s.SignIn.Workload)
	}
	return nil, nil
}

// withTokens has a credential use the tokens of a grant. The service that gives them is reached as the repository is.
func (s *Settings) withTokens(cred git.Credential, g grant.Grant) (git.Credential, error) {
	if s.SignIn.Keeper == nil {
		return cred, errors.New("tokens cannot be obtained here: use a password, a token or an SSH key")
	}
	a := web.Access{Proxy: cred.Proxy, NoProxy: cred.NoProxy}
	if at, err := url.Parse(grant.Home(g)); err == nil {
		a.CA = s.authority(at.Hostname())
	}
	if _, ok := g.(*grant.GitHubApp); ok {
		// One server gives the tokens and has the repositories.
		a.Insecure, a.ClientCert, a.ClientKey = cred.Insecure, cred.ClientCert, cred.ClientKey
	}
	holder, err := s.SignIn.Keeper.Of(g, a)
	if err != nil {
		return cred, err
	}
	cred.Username, cred.Tokens = "", tokens{holder}
	// What decides on the mirror is the grant, and how the repository is reached.
	cred.Identity = holder.Identity() + " " + git.Credential{
		ClientCert: cred.ClientCert, ClientKey: cred.ClientKey, CA: cred.CA, Insecure: cred.Insecure, Proxy: cred.Proxy, NoProxy: cred.NoProxy,
	}.Scope()
	return cred, nil
}

// tokens gives git what a holder has.
type tokens struct{ *grant.Holder }

// Login implements git.Tokens.
func (t tokens) Login(ctx context.Context, refused string) (git.Login, error) {
	got, err := t.Token(ctx, refused)
	if err != nil {
		switch web.LayerOf(err) {
		case "", web.LayerAuthentication:
			return git.Login{}, err
		}
		return git.Login{}, unreachable{err}
	}
	if got.Username == "" {
		return git.Login{Bearer: got.Secret}, nil
	}
	return git.Login{Username: got.Username, Password: got.Secret}, nil
}

// unreachable is the failure of a service that gives tokens.
type unreachable struct{ error }

// Unwrap says of which kind it is.
func (u unreachable) Unwrap() []error { return []error{git.ErrUnreachable, u.error} }
