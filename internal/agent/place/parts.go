package place

import (
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/repository"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
)

// partsOf gives a project what commits of a repository refer to.
func (s *Sources) partsOf(project string, r reached) gitsource.Parts {
	var out gitsource.Parts
	if repository.Submodules(s.settings.Config(ConfigParameters)) {
		out.Module = func(ctx context.Context, address, commit string) (*gitsource.Tree, error) {
			return s.module(ctx, project, r, address, commit)
		}
	}
	if r.extent.Large && s.Large != nil {
		out.Large = repository.Large(s.Large, r.repo.URL(), r.repo.Scope(), r.cred, r.extent)
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
