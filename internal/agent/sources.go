package agent

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
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
)

// sources resolves what Applications deploy, with the credentials of the settings, and knows who follows what.
type sources struct {
	pool     *gitsource.Pool
	settings *settings
	resolved func(revision string) // called for each revision that is fetched; nil for nobody

	mu      sync.Mutex
	follows map[registry.Name][]follow
	byWhat  map[what]map[registry.Name]bool

	version uint64            // of the settings that known is about
	known   map[reach]reached // thousands of Applications reach one repository: finding the credential is done once
}

// maxKnown bounds the repositories whose credential is remembered. What is dropped is found again.
const maxKnown = 50_000

// reach is a repository as a project names it.
type reach struct{ project, url string }

type reached struct {
	repo *gitsource.Repo
	err  error
}

// what is a revision of a repository as seen with one credential.
type what struct {
	scope    string
	revision gitsource.Revision
}

type follow struct {
	what what
	stop func()
}

var _ engine.Sources = (*sources)(nil)

func (s *sources) repo(project string, src v1alpha1.ApplicationSource) (*gitsource.Repo, gitsource.Revision, error) {
	rev := gitsource.Revision{Name: src.TargetRevision, TagPrefix: src.TagPrefix}
	if src.RepoURL == "" {
		return nil, rev, errors.New("spec.source.repoURL is empty: say which repository to deploy from")
	}
	if src.Chart != "" || strings.HasPrefix(src.RepoURL, "oci://") {
		return nil, rev, errors.New("charts and artifacts from registries are not supported by this version: vendor the chart in Git")
	}
	key := reach{project, src.RepoURL}
	version := s.settings.version.Load() // before the credential is looked up: at worst it is looked up again
	s.mu.Lock()
	if s.version != version || s.known == nil {
		s.version, s.known = version, map[reach]reached{}
	}
	r, ok := s.known[key]
	s.mu.Unlock()
	if ok {
		return r.repo, rev, r.err
	}
	cred, err := s.settings.credential(project, src.RepoURL)
	if err == nil {
		r.repo, err = s.pool.Get(src.RepoURL, cred)
	}
	r.err = err
	s.mu.Lock()
	if s.version == version {
		if len(s.known) >= maxKnown { // whoever looks at repositories names what they like
			clear(s.known)
		}
		s.known[key] = r
	}
	s.mu.Unlock()
	return r.repo, rev, r.err
}

// Fetch implements engine.Sources.
func (s *sources) Fetch(ctx context.Context, project string, src v1alpha1.ApplicationSource, since time.Time) (engine.Fetched, error) {
	repo, rev, err := s.repo(project, src)
	if err != nil {
		return engine.Fetched{}, err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	resolved, err := repo.Resolve(ctx, rev, since)
	if err != nil {
		return engine.Fetched{}, err
	}
	if s.resolved != nil {
		s.resolved(resolved.Commit)
	}
	tree, err := repo.Tree(ctx, resolved.Commit)
	if err != nil {
		return engine.Fetched{}, err
	}
	return engine.Fetched{Tree: tree, Scope: project + "/" + repo.Scope()}, nil
}

// follow makes an Application hear of the revisions that its specification names, and of no others.
func (s *sources) follow(id registry.Name, app *v1alpha1.Application) {
	wanted := map[what]*gitsource.Repo{}
	for _, src := range app.Spec.EffectiveSources() {
		if repo, rev, err := s.repo(app.Spec.ProjectName(), src); err == nil {
			wanted[what{repo.Scope(), rev}] = repo
		}
	}
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
	for w, repo := range wanted {
		kept = append(kept, follow{what: w, stop: repo.Follow(w.revision)})
		if s.byWhat[w] == nil {
			s.byWhat[w] = map[registry.Name]bool{}
		}
		s.byWhat[w][id] = true
	}
	s.follows[id] = kept
}

func (s *sources) drop(id registry.Name, f follow) {
	f.stop()
	delete(s.byWhat[f.what], id)
	if len(s.byWhat[f.what]) == 0 {
		delete(s.byWhat, f.what)
	}
}

// unfollow ends what follow began.
func (s *sources) unfollow(id registry.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.follows[id] {
		s.drop(id, f)
	}
	delete(s.follows, id)
}

// followers returns the Applications that follow a revision that changed.
func (s *sources) followers(c gitsource.Change) []registry.Name {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[registry.Name]bool{}
	var out []registry.Name
	for _, rev := range c.Revisions {
		for id := range s.byWhat[what{c.Scope, rev}] {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	slices.SortFunc(out, func(a, b registry.Name) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// revisionsMoved queues the Applications that a change of a repository concerns: those for which something that they
// read is not what it was. The others are told nothing, and nothing is written for them.
func (a *Agent) revisionsMoved(c gitsource.Change) {
	followers := a.sources.followers(c)
	a.background.Go(func() {
		ctx, parent := a.ctx, ""
		for _, id := range followers {
			if app, ok := a.registry.Get(id); ok && !a.engine.Unaffected(ctx, app) {
				if parent == "" {
					parent = a.traces.moved(c.Revisions)
				}
				a.registry.Ask(id, registry.Ask{Trace: parent}, true)
			}
		}
	})
}

// slowSource is how long a turn waits for a repository with its places.
const slowSource = time.Second
