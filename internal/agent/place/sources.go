package place

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/sops"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
)

// Sources resolves what Applications deploy, with the credentials of the settings, and knows which Application follows which
// repository.
type Sources struct {
	pool      *gitsource.Pool
	settings  *Settings
	OnResolve func(revision string) // called for each revision that is fetched; nil for none
	Opener    sops.Opener           // opens data keys that no Secret has the key for; nil for none
	Decrypted func(values []string) // called with what was decrypted; nil for none
	// Permits reports whether a project permits a repository; nil permits all. A submodule of another one is read without credentials.
	Permits   func(project, url string) bool
	Large     *lfs.Store // of files of Git LFS; nil for none
	Artifacts *Artifacts // of charts and artifacts; nil: only Git is read

	mu      sync.Mutex
	follows map[registry.Name][]follow
	byWhat  map[what]map[registry.Name]bool
	needs   map[registry.Name][]need.Need // beside what the specification names

	version uint64            // of the settings that known is about
	known   map[reach]reached // thousands of Applications reach one repository: finding the credential is done once
}

// maxKnown bounds the repositories whose credential is remembered. What is dropped is found again.
const maxKnown = 50_000

// reach is a repository as a project names it.
type reach struct {
	project, url string
	lender       string // scope of the repository whose credential is used where the settings have none; "" for none
	open         bool   // it is read as everyone can
}

type reached struct {
	repo   *gitsource.Repo
	cred   git.Credential
	extent repository.Extent
	err    error
}

// what is a revision of a repository as seen with one credential: of Git, or of charts and artifacts.
type what struct {
	scope    string
	revision gitsource.Revision
	artifact artifact.Revision
}

type follow struct {
	what what
	stop func()
}

// NewSources resolves what settings have credentials for.
func NewSources(pool *gitsource.Pool, s *Settings) *Sources { return &Sources{pool: pool, settings: s} }

var _ engine.Sources = (*Sources)(nil)

// Repo finds the repository of a source, with the credential that a project has for it, and the revision that it names.
func (s *Sources) Repo(project string, src v1alpha1.ApplicationSource) (*gitsource.Repo, gitsource.Revision, error) {
	r, rev, err := s.reach(project, src)
	return r.repo, rev, err
}

func (s *Sources) reach(project string, src v1alpha1.ApplicationSource) (reached, gitsource.Revision, error) {
	rev := gitsource.Revision{Name: src.TargetRevision, TagPrefix: src.TagPrefix}
	if src.RepoURL == "" {
		return reached{}, rev, errors.New("spec.source.repoURL is empty: set the repository to deploy from")
	}
	if IsArtifact(src) {
		return reached{}, rev, errors.New("the source is a chart or an artifact: it has no commits")
	}
	r := s.find(reach{project: project, url: src.RepoURL}, nil)
	return r, rev, r.err
}

// find finds a repository once, until the settings change. lent is the credential of its lender; nil without one.
func (s *Sources) find(key reach, lent *git.Credential) reached {
	version := s.settings.Version() // before the credential is looked up: at worst it is looked up again
	s.mu.Lock()
	if s.version != version || s.known == nil {
		s.version, s.known = version, map[reach]reached{}
	}
	r, ok := s.known[key]
	s.mu.Unlock()
	if ok {
		return r
	}
	if key.open {
		r.cred, r.err = s.settings.Repositories().Open(key.url)
	} else {
		r.cred, r.extent, r.err = s.settings.Repositories().Reach(key.project, key.url)
	}
	if lent != nil && r.err == nil && r.cred.Anonymous() {
		r.cred = *lent
	}
	if r.err == nil {
		r.repo, r.err = s.pool.Get(key.url, r.cred)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version {
		if len(s.known) >= maxKnown { // the caller that looks at repositories may name any address
			clear(s.known)
		}
		s.known[key] = r
	}
	return r
}

// Fetch implements engine.Sources.
func (s *Sources) Fetch(ctx context.Context, project string, src v1alpha1.ApplicationSource, since time.Time) (engine.Fetched, error) {
	if IsArtifact(src) {
		return s.fetchArtifact(ctx, project, src, since)
	}
	r, rev, err := s.reach(project, src)
	if err != nil {
		return engine.Fetched{}, err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	resolved, err := r.repo.Resolve(ctx, rev, since)
	if err != nil {
		return engine.Fetched{}, err
	}
	if s.OnResolve != nil {
		s.OnResolve(resolved.Commit)
	}
	tree, err := r.repo.Tree(ctx, resolved.Commit)
	if err != nil {
		return engine.Fetched{}, err
	}
	scope := r.repo.Scope()
	parts := s.partsOf(project, r)
	if parts.Module != nil {
		scope += "+modules"
	}
	if parts.Large != nil {
		scope += "+lfs"
	}
	tree = tree.With(parts)
	tree.Prepare(ctx, src.Path)
	return s.fetched(project, scope, tree), nil
}

// Tip returns the revision that a source is at now, and when its remote was asked; a zero time for what can never be another one. What
// was learned from the remote within age is good enough.
func (s *Sources) Tip(ctx context.Context, project string, src v1alpha1.ApplicationSource,
	age time.Duration,
) (revision string, seen time.Time, err error) {
	if IsArtifact(src) {
		repo, rev, err := s.Artifact(project, src)
		if err != nil {
			return "", time.Time{}, err
		}
		return repo.Tip(ctx, rev, age)
	}
	repo, rev, err := s.Repo(project, src)
	if err != nil {
		return "", time.Time{}, err
	}
	return repo.Tip(ctx, rev, age)
}

// Follow makes an Application hear of the revisions that its specification names and of what these need, and of no others.
func (s *Sources) Follow(id registry.Name, app *v1alpha1.Application) {
	wanted := map[what]func() (stop func()){}
	for _, src := range app.Spec.EffectiveSources() {
		s.follow(app.Spec.ProjectName(), src, wanted)
	}
	s.followNeeds(id, app.Spec.ProjectName(), wanted)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.follows == nil {
		s.follows, s.byWhat = map[registry.Name][]follow{}, map[what]map[registry.Name]bool{}
	}
	kept := s.follows[id][:0:0]
	for _, f := range s.follows[id] {
		if wanted[f.what] != nil {
			kept = append(kept, f)
			delete(wanted, f.what)
			continue
		}
		s.drop(id, f)
	}
	for w, begin := range wanted {
		kept = append(kept, follow{what: w, stop: begin()})
		if s.byWhat[w] == nil {
			s.byWhat[w] = map[registry.Name]bool{}
		}
		s.byWhat[w][id] = true
	}
	s.follows[id] = kept
}

// follow adds a source to what is wanted.
func (s *Sources) follow(project string, src v1alpha1.ApplicationSource, wanted map[what]func() (stop func())) {
	if IsArtifact(src) {
		if repo, rev, err := s.Artifact(project, src); err == nil {
			wanted[what{scope: repo.Scope(), artifact: rev}] = func() func() { return repo.Follow(rev) }
		}
		return
	}
	if repo, rev, err := s.Repo(project, src); err == nil {
		wanted[what{scope: repo.Scope(), revision: rev}] = func() func() { return repo.Follow(rev) }
	}
}

func (s *Sources) drop(id registry.Name, f follow) {
	f.stop()
	delete(s.byWhat[f.what], id)
	if len(s.byWhat[f.what]) == 0 {
		delete(s.byWhat, f.what)
	}
}

// Unfollow ends what follow began.
func (s *Sources) Unfollow(id registry.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.follows[id] {
		s.drop(id, f)
	}
	delete(s.follows, id)
	delete(s.needs, id)
}

// Followers returns the Applications that follow a revision that changed.
func (s *Sources) Followers(c gitsource.Change) []registry.Name {
	all := make([]what, len(c.Revisions))
	for i, rev := range c.Revisions {
		all[i] = what{scope: c.Scope, revision: rev}
	}
	return s.followersOf(all)
}

func (s *Sources) followersOf(changed []what) []registry.Name {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[registry.Name]bool{}
	var out []registry.Name
	for _, w := range changed {
		for id := range s.byWhat[w] {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	slices.SortFunc(out, func(a, b registry.Name) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// slowSource is how long a turn waits for a repository with its places.
const slowSource = time.Second
