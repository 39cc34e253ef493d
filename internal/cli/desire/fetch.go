package desire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
)

// Remote fetches sources over git, with the repository credentials of the cluster. Close it after use.
type Remote struct {
	client *git.Client
	creds  credentials
	done   func() // gives the directory of the mirrors up
}

// OpenRemote reads the repository Secrets beside the Applications. Mirrors are kept in the user's cache directory, or,
// while another process uses them there, nowhere.
func OpenRemote(ctx context.Context, cluster *connect.Cluster) (*Remote, error) {
	creds, err := readCredentials(ctx, cluster)
	if err != nil {
		return nil, err
	}
	dir, done, err := cacheDir()
	if err != nil {
		return nil, err
	}
	client, err := git.New(ctx, git.Options{Dir: dir})
	if err != nil {
		done()
		return nil, err
	}
	return &Remote{client: client, creds: creds, done: done}, nil
}

// Close ends what runs.
func (r *Remote) Close() {
	_ = r.client.Close()
	r.done()
}

// cacheDir takes the directory of mirrors for this process, or makes one for this time.
func cacheDir() (dir string, done func(), err error) {
	if cache, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(cache, "slipway", "git")
		if release := lock(dir); release != nil {
			return dir, release, nil
		}
	}
	dir, err = os.MkdirTemp("", "slipway-mirror-")
	if err != nil {
		return "", nil, fmt.Errorf("make directory for repositories: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// lock takes dir for this process; nil where it cannot be had.
func lock(dir string) func() {
	if os.MkdirAll(dir, 0o700) != nil {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		_ = file.Close()
		return nil
	}
	return func() { _ = file.Close() }
}

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
