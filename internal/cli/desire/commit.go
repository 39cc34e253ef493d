package desire

import (
	"context"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
)

// clone is a repository of Git as an Application reaches it.
type clone struct {
	mirror *git.Mirror
	cred   git.Credential
	extent repository.Extent
}

// commit fetches a commit of a Git repository, and, when they are read, its submodules and files of Git LFS.
func (r *Remote) commit(ctx context.Context, src v1alpha1.ApplicationSource) (source.Tree, error) {
	c, err := r.reach(ctx, src.RepoURL)
	if err != nil {
		return nil, err
	}
	refs, err := c.mirror.LsRemote(ctx)
	if err != nil {
		return nil, err
	}
	found, err := refs.Resolve(src.TargetRevision, src.TagPrefix)
	if err != nil {
		return nil, err
	}
	if found.Ref == "" {
		err = c.mirror.FetchCommit(ctx, found.Commit)
	} else {
		err = c.mirror.Fetch(ctx, found.Ref)
	}
	if err != nil {
		return nil, err
	}
	return r.tree(c, found.Commit) //nolint:contextcheck // it reads what is on disk
}

// reach opens a repository. A submodule needs a Secret of its own, or a template: the login of a repository goes nowhere else, since the
// project is often not known here.
func (r *Remote) reach(ctx context.Context, address string) (clone, error) {
	if r.git == nil {
		dir, err := r.room("git")
		if err != nil {
			return clone{}, err
		}
		if r.git, err = git.New(ctx, git.Options{Dir: dir, Hosts: r.policy}); err != nil {
			return clone{}, err
		}
		if dir, err = r.room("lfs"); err != nil {
			return clone{}, err
		}
		r.large = lfs.NewStore(dir, r.policy)
	}
	var out clone
	var err error
	if r.Permits != nil && r.Permits(address) != nil {
		out.cred, err = r.book.Open(address)
	} else {
		out.cred, out.extent, err = r.book.Reach(r.project, address)
	}
	if err != nil {
		return out, err
	}
	out.mirror, err = r.git.Mirror(address, out.cred)
	return out, err
}

// tree is a commit that is here.
func (r *Remote) tree(c clone, commit string) (*gitsource.Tree, error) {
	tree, err := gitsource.NewTree(c.mirror, commit, 0)
	if err != nil {
		return nil, err
	}
	var parts gitsource.Parts
	if r.whole {
		parts.Module = func(ctx context.Context, address, commit string) (*gitsource.Tree, error) {
			below, err := r.reach(ctx, address)
			if err != nil {
				return nil, err
			}
			if err := below.mirror.FetchCommit(ctx, commit); err != nil {
				return nil, err
			}
			return r.tree(below, commit) //nolint:contextcheck // it reads what is on disk
		}
	}
	if c.extent.Large {
		parts.Large = repository.Large(r.large, c.mirror.Remote().URL, c.mirror.Scope(), c.cred, c.extent)
	}
	return tree.With(parts), nil
}
