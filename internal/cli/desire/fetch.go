package desire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
)

// Remote fetches sources over git, with the repository credentials of the cluster. Close it after use.
type Remote struct {
	client *git.Client
	creds  credentials
}

// OpenRemote reads the repository Secrets beside the Applications. Mirrors are kept in the user's cache directory.
func OpenRemote(ctx context.Context, cluster *access.Cluster) (*Remote, error) {
	creds, err := readCredentials(ctx, cluster)
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	client, err := git.New(ctx, git.Options{Dir: filepath.Join(cache, "slipway", "git")})
	if err != nil {
		return nil, err
	}
	return &Remote{client: client, creds: creds}, nil
}

// Close ends what runs.
func (r *Remote) Close() { _ = r.client.Close() }

// Fetch resolves the revision and brings its commit here.
func (r *Remote) Fetch(ctx context.Context, src v1alpha1.ApplicationSource, revision string) (source.Tree, error) {
	if src.Chart != "" {
		return nil, fmt.Errorf("chart %s is in a Helm repository, which this command cannot read yet: "+
			"unpack the chart and add --repo %s=DIR", src.Chart, src.RepoURL)
	}
	if revision == "" {
		revision = src.TargetRevision
	}
	mirror, err := r.client.Mirror(src.RepoURL, r.creds.of(src.RepoURL))
	if err != nil {
		return nil, err
	}
	refs, err := mirror.LsRemote(ctx)
	if err != nil {
		return nil, err
	}
	found, err := refs.Resolve(revision, src.TagPrefix)
	if err != nil {
		return nil, err
	}
	if found.Ref == "" {
		err = mirror.FetchCommit(ctx, found.Commit)
	} else {
		err = mirror.Fetch(ctx, found.Ref)
	}
	if err != nil {
		return nil, err
	}
	return gitsource.NewTree(mirror, found.Commit, 0)
}
