package place

import (
	"context"
	"fmt"
	"strconv"

	"github.com/slipway-gitops/slipway/internal/git"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// submodules reports whether submodules are read, as Argo CD's parameter for it says.
func (s *Settings) submodules() bool {
	on, err := strconv.ParseBool(s.Config(ConfigParameters)["reposerver.enable.git.submodule"])
	return on || err != nil
}

// partsOf gives a project what commits of a repository refer to.
func (s *Sources) partsOf(project string, r reached) gitsource.Parts {
	var out gitsource.Parts
	if s.settings.submodules() {
		out.Module = func(ctx context.Context, address, commit string) (*gitsource.Tree, error) {
			return s.module(ctx, project, r, address, commit)
		}
	}
	if r.extent.Large && s.Large != nil {
		out.Large = func(ctx context.Context, endpoint string, p lfs.Pointer) ([]byte, error) {
			return s.Large.Get(ctx, lfs.Repository{
				URL: r.repo.URL(), Scope: r.repo.Scope(),
				Access: func(ctx context.Context, refused string) (web.Access, error) {
					a, err := signedIn(ctx, r.cred, refused)
					a.Within = append(lfs.Own(r.repo.URL()), r.extent.Within...)
					return a, err
				},
			}, endpoint, p)
		}
	}
	return out
}

// module opens a submodule. A project's credentials are for repositories that it permits: others are read as everyone can.
func (s *Sources) module(ctx context.Context, project string, parent reached, address, commit string) (*gitsource.Tree, error) {
	remote, _, err := git.ParseRemote(address, true)
	if err != nil {
		return nil, err
	}
	permitted := s.Permits == nil || s.Permits(project, address)
	key, lent := reach{project: project, url: address}, (*git.Credential)(nil)
	switch {
	case !permitted && remote.Hostname() == "": // what this machine has is not what everyone can read
		return nil, fmt.Errorf("a submodule in a local directory is read only where sourceRepos of project %s permits it", project)
	case !permitted:
		key = reach{url: address, open: true}
	case remote.Host() == parent.repo.Remote().Host() && !parent.extent.Bounded:
		// Argo CD signs in to submodules as to their repository. The login of a template goes no further than its address.
		key.lender, lent = parent.repo.Scope(), &parent.cred
	}
	r := s.find(key, lent)
	if r.err != nil {
		return nil, r.err
	}
	tree, err := r.repo.Tree(ctx, commit)
	if err != nil {
		if !permitted {
			return nil, fmt.Errorf("%w; it is read without credentials, because sourceRepos of project %s does not permit it", err, project)
		}
		return nil, err
	}
	return tree.With(s.partsOf(project, r)), nil
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
