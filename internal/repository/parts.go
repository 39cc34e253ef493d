package repository

import (
	"context"
	"strconv"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Submodules reports whether submodules are read, as a parameter of Argo CD in argocd-cmd-params-cm says.
func Submodules(parameters map[string]string) bool {
	on, err := strconv.ParseBool(parameters["reposerver.enable.git.submodule"])
	return on || err != nil
}

// Large fetches files of Git LFS as their repository is reached, for those who share its scope.
func Large(store *lfs.Store, url, scope string, cred git.Credential,
	extent Extent,
) func(ctx context.Context, endpoint string, p lfs.Pointer) ([]byte, error) {
	from := lfs.Repository{
		URL: url, Scope: scope,
		Access: func(ctx context.Context, refused string) (web.Access, error) {
			a, err := signedIn(ctx, cred, refused)
			a.Within = append(lfs.Own(url), extent.Within...)
			return a, err
		},
	}
	return func(ctx context.Context, endpoint string, p lfs.Pointer) ([]byte, error) {
		return store.Get(ctx, from, endpoint, p)
	}
}

// signedIn is how files beside a repository are reached.
func signedIn(ctx context.Context, cred git.Credential, refused string) (web.Access, error) {
	a := web.Access{
		Identity: cred.Identity, Username: cred.Username, Password: cred.Password, Bearer: cred.Bearer, ClientCert: cred.ClientCert,
		ClientKey: cred.ClientKey, CA: cred.CA, Insecure: cred.Insecure, Proxy: cred.Proxy, NoProxy: cred.NoProxy,
	}
	if cred.Basic && cred.Password != "" {
		a.Bearer = ""
	}
	if a.Password != "" && a.Username == "" {
		a.Username = "git"
	}
	if cred.Tokens == nil {
		return a, nil
	}
	login, err := cred.Tokens.Login(ctx, refused)
	if err != nil {
		return a, err
	}
	a.Username, a.Password, a.Bearer = login.Username, login.Password, login.Bearer
	return a, nil
}
