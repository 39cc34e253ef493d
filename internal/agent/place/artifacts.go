package place

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/helmrepo"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// Registered is an OCI registry as the settings describe it.
type Registered struct {
	Address string // "oci://host/path", or "host/path" where the settings say that it is a registry
	Chart   string // below it; "" where the address names the artifact
	Project string // whose Application asks
	Access  web.Access
	Fields  map[string][]byte // of the Secret, for how to sign in; not to be changed
}

// Artifacts opens chart repositories and registries with the credentials of the settings. It is safe for concurrent use.
type Artifacts struct {
	Pool   *artifact.Pool
	Store  *archive.Store
	Policy *outward.Policy
	// Registry opens what is in an OCI registry; nil: that is not supported. Making one costs no connection.
	Registry func(Registered) (artifact.Remote, error)

	mu      sync.Mutex
	version uint64 // of the settings that known is about
	known   map[named]opened
}

// named is a chart repository, or an artifact of a registry, as a project names it.
type named struct {
	project, url, chart string
	file                bool // it is a file by URL
}

type opened struct {
	repo *artifact.Repo
	err  error
}

// IsArtifact reports whether a source is a chart or an artifact of a registry, and not a repository of Git.
func IsArtifact(src v1alpha1.ApplicationSource) bool {
	return src.Chart != "" || repository.IsOCI(src.RepoURL)
}

// errNoArtifacts is for programs that read Git only.
var errNoArtifacts = errors.New("charts and artifacts from registries are not read here: vendor the chart in Git")

// open finds the remote of a source, with the credential that a project has for it.
func (a *Artifacts) open(s *Settings, project string, src v1alpha1.ApplicationSource) (*artifact.Repo, error) {
	if a == nil {
		return nil, errNoArtifacts
	}
	key := named{project: project, url: src.RepoURL, chart: src.Chart}
	return a.openAs(s, key, func() (artifact.Remote, error) { return a.Remote(s, project, src) })
}

// openAs returns the remote of a key, which is made where it is not known.
func (a *Artifacts) openAs(s *Settings, key named, begin func() (artifact.Remote, error)) (*artifact.Repo, error) {
	version := s.Version() // before the credential is looked up: at worst it is looked up again
	a.mu.Lock()
	if a.version != version || a.known == nil {
		a.version, a.known = version, map[named]opened{}
	}
	o, ok := a.known[key]
	a.mu.Unlock()
	if ok {
		return o.repo, o.err
	}
	remote, err := begin()
	if o.err = err; err == nil {
		o.repo = a.Pool.Get(remote)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.version == version {
		if len(a.known) >= maxKnown { // the caller that looks at repositories may name any address
			clear(a.known)
		}
		a.known[key] = o
	}
	return o.repo, o.err
}

// Remote makes the remote of a source, with the credential that a project has for it.
func (a *Artifacts) Remote(s *Settings, project string, src v1alpha1.ApplicationSource) (artifact.Remote, error) {
	access, fields, err := s.Repositories().Access(project, src.RepoURL)
	if err != nil {
		return nil, err
	}
	return a.make(project, src, access, fields, false)
}

// Look makes a remote that shows what an address has, and nothing of other hosts. Where fields is not nil, they are those of a
// Secret that is not kept yet.
func (a *Artifacts) Look(s *Settings, project, address string, fields map[string][]byte) (artifact.Remote, error) {
	if a == nil {
		return nil, errNoArtifacts
	}
	src := v1alpha1.ApplicationSource{RepoURL: address}
	find := func() (web.Access, map[string][]byte, error) { return s.Repositories().Access(project, address) }
	if fields != nil {
		find = func() (web.Access, map[string][]byte, error) { return s.Repositories().AccessIn(fields, address) }
	}
	access, known, err := find()
	if err != nil {
		return nil, err
	}
	return a.make(project, src, access, known, true)
}

func (a *Artifacts) make(project string, src v1alpha1.ApplicationSource, access web.Access,
	fields map[string][]byte, sameHost bool,
) (artifact.Remote, error) {
	if repository.FromRegistry(src.RepoURL, src.Chart, fields) {
		if a.Registry == nil {
			return nil, errNoArtifacts
		}
		return a.Registry(Registered{Address: src.RepoURL, Chart: src.Chart, Project: project, Access: access, Fields: fields})
	}
	if err := (repository.Secret{Data: fields}).SignsInTo(repository.Helm); err != nil {
		return nil, err
	}
	return helmrepo.New(src.RepoURL, access, helmrepo.Options{Policy: a.Policy, Store: a.Store, SameHost: sameHost})
}

// Artifact finds the chart repository or registry of a source, and the revision that it names.
func (s *Sources) Artifact(project string, src v1alpha1.ApplicationSource) (*artifact.Repo, artifact.Revision, error) {
	rev := artifact.Revision{Chart: src.Chart, Version: src.TargetRevision}
	if src.RepoURL == "" {
		return nil, rev, errors.New("spec.source.repoURL is empty: set the repository to deploy from")
	}
	repo, err := s.Artifacts.open(s.settings, project, src)
	return repo, rev, err
}

// fetchArtifact is Fetch for charts and artifacts.
func (s *Sources) fetchArtifact(ctx context.Context, project string, src v1alpha1.ApplicationSource,
	since time.Time,
) (engine.Fetched, error) {
	repo, rev, err := s.Artifact(project, src)
	if err != nil {
		return engine.Fetched{}, err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	found, err := repo.Resolve(ctx, rev, since)
	if err != nil {
		return engine.Fetched{}, err
	}
	tree, err := repo.Tree(ctx, rev.Chart, found)
	if err != nil {
		return engine.Fetched{}, err
	}
	if s.OnResolve != nil {
		s.OnResolve(tree.Revision())
	}
	out := s.fetched(project, repo.Scope(), tree)
	if out.Digest = found.Digest; out.Digest == "" { // the index of a Helm repository may leave it out
		if unpacked, ok := tree.(interface{ Archive() string }); ok {
			out.Digest = unpacked.Archive()
		}
	}
	if moved, ok := repo.Moved(rev); ok {
		text := fmt.Sprintf("%s: %s %s was published again with other content (%.19s before, %.19s now): versions should never change; "+
			"publish a new one", repo.URL(), rev.Chart, found.Version, moved.Before.Digest, moved.After.Digest)
		out.Notices = []v1alpha1.ApplicationCondition{{Type: v1alpha1.ConditionSourceWarning, Message: text}}
	}
	return out, nil
}

// ArtifactFollowers returns the Applications that follow a version that changed.
func (s *Sources) ArtifactFollowers(c artifact.Change) []registry.Name {
	all := make([]what, len(c.Revisions))
	for i, rev := range c.Revisions {
		all[i] = what{scope: c.Scope, artifact: rev}
	}
	return s.followersOf(all)
}
