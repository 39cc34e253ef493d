package place

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/webfile"
)

var _ supply.Needs = (*Sources)(nil)

// Rendering is what argocd-cm says about rendering. It is read once for every change of the settings.
func (s *Settings) Rendering() render.Settings {
	version := s.Version()
	if r := s.rendering.Load(); r != nil && r.version == version {
		return r.settings
	}
	out := render.ReadSettings(s.Config(ConfigArgoCD))
	s.rendering.Store(&renderingAt{version: version, settings: out})
	return out
}

// renderingAt is what the settings of a version say about rendering.
type renderingAt struct {
	version  uint64
	settings render.Settings
}

// Locate implements supply.Needs. The names of Helm repositories are those in the Secrets that a project may use.
func (s *Sources) Locate(project string, n need.Need) (need.Need, error) {
	name, ok := n.Alias()
	if !ok {
		return n, nil
	}
	url := s.settings.Repositories().Named(project, name)
	if url == "" {
		return n, fmt.Errorf("no Helm repository of the settings is named %.100q: add it, or write the address of the repository", name)
	}
	n.URL = url
	return n, nil
}

// FetchNeed implements supply.Needs.
func (s *Sources) FetchNeed(ctx context.Context, project string, n need.Need, since time.Time) (engine.Fetched, error) {
	if n.Kind != need.File {
		return s.Fetch(ctx, project, n.Source(), since)
	}
	repo, err := s.Artifacts.file(s.settings, project, n.URL)
	if err != nil {
		return engine.Fetched{}, err
	}
	back := registry.LeaveAfter(ctx, slowSource)
	defer back()
	found, err := repo.Resolve(ctx, artifact.Revision{}, since)
	if err != nil {
		return engine.Fetched{}, err
	}
	tree, err := repo.Tree(ctx, "", found)
	if err != nil {
		return engine.Fetched{}, err
	}
	return s.fetched(project, repo.Scope(), tree), nil
}

// file finds the remote of a file by URL. Credentials are those of the repository or the template whose address the URL is at or
// below, and no others.
func (a *Artifacts) file(s *Settings, project, url string) (*artifact.Repo, error) {
	if a == nil {
		return nil, errNoArtifacts
	}
	return a.openAs(s, named{project: project, url: url, file: true}, func() (artifact.Remote, error) {
		access, _, err := s.Repositories().Access(project, url)
		if err != nil {
			return nil, err
		}
		return webfile.New(url, a.Policy, access, need.FileName)
	})
}

// Heed implements supply.Needs: the Application follows what it needs, beside what its specification names.
func (s *Sources) Heed(app *v1alpha1.Application, needs []supply.Needed, all bool) {
	id := registry.NameOf(app)
	s.mu.Lock()
	had := s.needs[id]
	s.mu.Unlock()
	list := make([]need.Need, 0, len(needs)+len(had))
	for _, n := range needs {
		list = append(list, n.Need)
	}
	if !all { // what was not reached this time may still count
		for _, n := range had {
			if len(list) < 2*need.MaxNeeds && !slices.ContainsFunc(list, func(o need.Need) bool { return o.Key() == n.Key() }) {
				list = append(list, n)
			}
		}
	}
	if slices.EqualFunc(list, had, func(a, b need.Need) bool { return a.Key() == b.Key() }) {
		return // as at most turns
	}
	s.mu.Lock()
	if s.needs == nil {
		s.needs = map[registry.Name][]need.Need{}
	}
	s.needs[id] = list
	s.mu.Unlock()
	s.Follow(id, app)
}

// followNeeds adds what an Application needs to what it follows.
func (s *Sources) followNeeds(id registry.Name, project string, wanted map[what]func() (stop func())) {
	s.mu.Lock()
	list := s.needs[id]
	s.mu.Unlock()
	for _, n := range list {
		n, err := s.Locate(project, n)
		if err != nil {
			continue
		}
		if n.Kind == need.File {
			if repo, err := s.Artifacts.file(s.settings, project, n.URL); err == nil {
				wanted[what{scope: repo.Scope(), artifact: artifact.Revision{}}] = func() func() { return repo.Follow(artifact.Revision{}) }
			}
			continue
		}
		s.follow(project, n.Source(), wanted)
	}
}
