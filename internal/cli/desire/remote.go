package desire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cloud"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/helmrepo"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/source/oci"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/webfile"
)

// Remote fetches sources, and what they need, from Git repositories, Helm repositories, registries and web servers. Close it after use.
type Remote struct {
	project string // whose Application names the sources
	book    repository.Book
	docker  registrylogin.Keeper // signs in to registries that have no credential; nil: nothing does
	policy  *outward.Policy      // of what Applications and repositories name
	whole   bool                 // submodules are read
	// Permits reports whether the project permits a repository; nil permits all, where the project is not known. Submodules that it does
	// not permit are read without credentials, as by an agent.
	Permits func(address string) error

	base   string // directory of mirrors and archives; "" until something is fetched
	done   func() // gives it up
	git    *git.Client
	large  *lfs.Store
	store  *archive.Store
	opened []interface{ Close() }
}

// OpenRemote reads the repository Secrets beside the Applications, for an Application of a project. Mirrors are kept in the user's cache
// directory, or, while another process uses them there, nowhere.
func OpenRemote(ctx context.Context, cluster *connect.Cluster, project string) (*Remote, error) {
	book, err := readBook(ctx, cluster)
	if err != nil {
		return nil, err
	}
	policy, err := (&outward.Flags{}).Policy()
	if err != nil {
		return nil, err
	}
	parameters, err := readConfigMap(ctx, cluster, "argocd-cmd-params-cm")
	if err != nil {
		return nil, err
	}
	r := newRemote(project, book, policy)
	r.whole = repository.Submodules(parameters)
	return r, nil
}

// CredentialsVariable names the environment variable with a file of repository Secrets.
const CredentialsVariable = "SLIPWAY_REPOSITORY_CREDENTIALS"

// newRemote fetches with the Secrets of a book.
func newRemote(project string, book repository.Book, policy *outward.Policy) *Remote {
	book.SignIn.Keeper = cloud.NewKeeper(cloud.Options{Outbound: policy})
	return &Remote{project: project, book: book, policy: policy, whole: true}
}

// Surroundings are the credentials and rules that the environment names, for an Application of a project.
func Surroundings(project string) (*Remote, error) {
	policy, err := (&outward.Flags{}).Policy()
	if err != nil {
		return nil, err
	}
	return Elsewhere{Project: project, Credentials: os.Getenv(CredentialsVariable), Policy: policy}.Open()
}

// Elsewhere are the credentials and rules to fetch with where there is no cluster.
type Elsewhere struct {
	Project     string // of the Application
	Credentials string // file with repository Secrets; "" for none
	Docker      string // config.json of Docker, for registries; "" for none
	Policy      *outward.Policy
}

// Open reads the credentials. Nothing is fetched yet.
func (e Elsewhere) Open() (*Remote, error) {
	book, err := fileBook(e.Credentials)
	if err != nil {
		return nil, err
	}
	r := newRemote(e.Project, book, e.Policy)
	if e.Docker != "" {
		raw, err := os.ReadFile(e.Docker)
		if err != nil {
			return nil, fmt.Errorf("read credentials of registries: %w", err)
		}
		config, err := registrylogin.ReadDockerConfig(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Docker, err)
		}
		r.docker = config
	}
	return r, nil
}

// Close ends what runs.
func (r *Remote) Close() {
	if r.git != nil {
		_ = r.git.Close()
	}
	for _, o := range r.opened {
		o.Close()
	}
	if r.done != nil {
		r.done()
	}
}

// room returns a directory for what is fetched.
func (r *Remote) room(name string) (string, error) {
	if r.base == "" {
		var err error
		if r.base, r.done, err = cacheDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(r.base, name), nil
}

// cacheDir takes the directory of mirrors and archives for this process, or makes one for this time.
func cacheDir() (dir string, done func(), err error) {
	if cache, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(cache, "slipway")
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

// Fetch resolves the revision and brings its files here.
func (r *Remote) Fetch(ctx context.Context, src v1alpha1.ApplicationSource, revision string) (source.Tree, error) {
	if revision != "" {
		src.TargetRevision = revision
	}
	if artifactual(src) {
		return r.artifact(ctx, src)
	}
	return r.commit(ctx, src)
}

// FetchNeed brings what a source needs here.
func (r *Remote) FetchNeed(ctx context.Context, n need.Need) (source.Tree, error) {
	if name, ok := n.Alias(); ok {
		if n.URL = r.book.Named(r.project, name); n.URL == "" {
			return nil, fmt.Errorf("no credential names the Helm repository %.100q: write its address in Chart.yaml, or add a Secret with "+
				"that name to the file of --credentials", name)
		}
	}
	switch {
	case n.Kind == need.File:
		access, _, err := r.book.Access(r.project, n.URL)
		if err != nil {
			return nil, err
		}
		file, err := webfile.New(n.URL, r.policy, access, need.FileName)
		if err != nil {
			return nil, err
		}
		return r.found(ctx, file, artifact.Revision{})
	case n.Kind == need.Chart:
		return r.artifact(ctx, n.Source())
	}
	return r.commit(ctx, n.Source())
}

// artifactual reports whether a source is a chart or an artifact of a registry.
func artifactual(src v1alpha1.ApplicationSource) bool {
	return src.Chart != "" || repository.IsOCI(src.RepoURL)
}

// artifact fetches a chart, or an artifact of a registry.
func (r *Remote) artifact(ctx context.Context, src v1alpha1.ApplicationSource) (source.Tree, error) {
	if r.store == nil {
		dir, err := r.room("archives")
		if err != nil {
			return nil, err
		}
		if r.store, err = archive.Open(dir, 0); err != nil {
			return nil, err
		}
	}
	access, fields, err := r.book.Access(r.project, src.RepoURL)
	if err != nil {
		return nil, err
	}
	sec := repository.Secret{Data: fields}
	revision := artifact.Revision{Chart: src.Chart, Version: src.TargetRevision}
	if !repository.FromRegistry(src.RepoURL, src.Chart, fields) {
		if err := sec.SignsInTo(repository.Helm); err != nil {
			return nil, err
		}
		repo, err := helmrepo.New(src.RepoURL, access, helmrepo.Options{Policy: r.policy, Store: r.store})
		if err != nil {
			return nil, err
		}
		r.opened = append(r.opened, repo)
		return r.found(ctx, repo, revision)
	}
	address, version, err := oci.ParseArtifact(src.RepoURL, src.Chart)
	if err != nil {
		return nil, err
	}
	o := oci.Options{
		Address: address, Version: version, Chart: src.Chart != "", Access: access, PlainHTTP: sec.PlainHTTP(),
		Outbound: r.policy, Store: r.store,
	}
	if o.Keeper, o.Access.Identity, err = sec.Keeper(access, nil); err != nil {
		return nil, err
	}
	if o.Keeper == nil && r.docker != nil && access.Username == "" && access.Password == "" && access.Bearer == "" {
		o.Keeper, o.Access.Identity = r.docker, "docker"
	}
	remote, err := oci.Open(o)
	if err != nil {
		return nil, err
	}
	return r.found(ctx, remote, revision)
}

// found finds a revision at a remote and fetches it.
func (r *Remote) found(ctx context.Context, remote artifact.Remote, revision artifact.Revision) (source.Tree, error) {
	found, err := remote.Find(ctx, revision, time.Time{})
	if err != nil {
		return nil, err
	}
	return remote.Fetch(ctx, revision.Chart, found)
}

// None fetches nothing.
type None struct{}

var errOffline = errors.New("--offline fetches nothing")

// Fetch refuses.
func (None) Fetch(_ context.Context, src v1alpha1.ApplicationSource, _ string) (source.Tree, error) {
	if src.Chart != "" {
		return nil, fmt.Errorf("%w: unpack chart %s and add --repo %s=DIR", errOffline, src.Chart, src.RepoURL)
	}
	return nil, fmt.Errorf("%w: add --repo %s=DIR", errOffline, src.RepoURL)
}

// FetchNeed refuses.
func (None) FetchNeed(_ context.Context, n need.Need) (source.Tree, error) {
	switch n.Kind {
	case need.Chart:
		return nil, fmt.Errorf("%w: unpack chart %s and add --repo %s/%s=DIR, or put it into charts/", errOffline, n.Name, n.URL, n.Name)
	case need.Git:
		return nil, fmt.Errorf("%w: check %s out and add --repo %s=DIR", errOffline, n, n.URL)
	}
	return nil, fmt.Errorf("%w: leave --offline out, or keep %s in the repository", errOffline, n)
}
