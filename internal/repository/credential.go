package repository

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// SignIn gets tokens for credentials that are not secrets of a repository themselves.
type SignIn struct {
	Keeper *cloud.Keeper
	Google string // where tokens for service accounts of Google Cloud come from; "" for Google
}

// Credential finds how a project reaches a repository: its own Secret, then one for every project, with what the template gives
// whose URL prefix is the longest where that Secret signs in with nothing; or that template alone.
func (b Book) Credential(project, url string) (git.Credential, error) {
	best, name := b.pick(project, url)
	return b.toCredential(best, name, url)
}

// CredentialIn reads how to reach a repository from what its Secret holds, or would hold; called is its name in errors. Where it
// signs in with nothing, the template that fits is used, as for an Application.
func (b Book) CredentialIn(data map[string][]byte, called, url string) (git.Credential, error) {
	sec, called := b.joined(data, called, url)
	return b.toCredential(sec, called, url)
}

// maxDepth is the largest number of commits that is asked for: what has more is asked for whole anyway.
const maxDepth = 1 << 20

// toCredential reads a repository Secret.
func (b Book) toCredential(sec Secret, name, url string) (git.Credential, error) {
	cred, err := b.readCredential(sec, url)
	if err != nil {
		return git.Credential{}, fmt.Errorf("Secret %s: %w", name, err)
	}
	return cred, nil
}

func (b Book) readCredential(sec Secret, url string) (git.Credential, error) {
	if err := sec.straying(); err != nil {
		return git.Credential{}, err
	}
	remote, _, wrong := git.ParseRemote(url, true)
	var host string
	if wrong == nil {
		host = remote.Hostname()
	}
	a, err := b.accessOf(sec, host)
	if err != nil {
		return git.Credential{}, err
	}
	cred := git.Credential{
		Username: a.Username, Password: a.Password, Bearer: a.Bearer, ClientCert: a.ClientCert, ClientKey: a.ClientKey, CA: a.CA,
		Insecure: a.Insecure, Proxy: a.Proxy, NoProxy: a.NoProxy, SSHKey: sec.Data["sshPrivateKey"],
		KnownHosts: b.KnownHosts,
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
	g, err := b.grantOf(sec, remote)
	if err == nil && g == nil {
		err = sec.SignsInTo(Git)
	}
	if err != nil || g == nil {
		return cred, err
	}
	if remote.SSH() {
		return cred, errors.New("it signs in over https only: use the https:// address of the repository, or an SSH key")
	}
	return b.withTokens(cred, g)
}

// authority is the certificate authorities of a host.
func (b Book) authority(host string) []byte { return []byte(b.Roots[host]) }

// grantOf is what a Secret gets tokens with; nil where it does not.
func (b Book) grantOf(sec Secret, remote git.Remote) (cloud.Grant, error) {
	workload, err := sec.flag(fieldAzure)
	if err != nil {
		return nil, err
	}
	var own cloud.Workload // of the agent's pod
	if b.SignIn.Keeper != nil {
		own = b.SignIn.Keeper.Workload()
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
		return cloud.NewGitHubApp(app, installation, remote.Owner(), sec.Data["githubAppPrivateKey"], sec.Get("githubAppEnterpriseBaseUrl"))
	case sec.Get("gcpServiceAccountKey") != "":
		return cloud.NewGoogleAccount("gcpServiceAccountKey", sec.Data["gcpServiceAccountKey"], b.SignIn.Google, cloud.GoogleScope)
	case workload:
		if !cloud.AzureHost(remote.Hostname()) {
			return nil, errors.New("useAzureWorkloadIdentity is for Azure DevOps (dev.azure.com) only: " +
				"the identity of the agent is sent nowhere else")
		}
		if err := sec.forAgent(); err != nil {
			return nil, err
		}
		return cloud.NewWorkload(own, cloud.AzureDevOps)
	case sec.Get("azureServicePrincipalClientSecret") != "" || sec.Get("azureServicePrincipalClientId") != "":
		return cloud.NewServicePrincipal(sec.Get("azureServicePrincipalTenantId"), sec.Get("azureServicePrincipalClientId"),
			sec.Get("azureServicePrincipalClientSecret"), sec.Get("azureActiveDirectoryEndpoint"), own, cloud.AzureDevOps)
	}
	return nil, nil
}

// withTokens has a credential use the tokens of a cloud. The service that gives them is reached as the repository is.
func (b Book) withTokens(cred git.Credential, g cloud.Grant) (git.Credential, error) {
	if b.SignIn.Keeper == nil {
		return cred, errors.New("tokens cannot be obtained here: use a password, a token or an SSH key")
	}
	a := web.Access{Proxy: cred.Proxy, NoProxy: cred.NoProxy}
	if at, err := url.Parse(cloud.Home(g)); err == nil {
		a.CA = b.authority(at.Hostname())
	}
	if _, ok := g.(*cloud.GitHubApp); ok {
		// One server gives the tokens and has the repositories.
		a.Insecure, a.ClientCert, a.ClientKey = cred.Insecure, cred.ClientCert, cred.ClientKey
	}
	holder, err := b.SignIn.Keeper.Of(g, a)
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
type tokens struct{ *cloud.Holder }

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
