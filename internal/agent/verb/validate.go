package verb

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// checkFields finds what the schema of the resource lets through and the engine would stop at, or not heed.
func (p *preview) checkFields() {
	spec := &p.app.Spec
	sources := spec.EffectiveSources()
	if len(sources) == 0 {
		p.problem("spec.source", api.ProblemError, "set the repository and path to deploy")
	}
	if spec.Source != nil && len(spec.Sources) > 0 {
		p.problem("spec.source", api.ProblemWarning, "spec.sources is there as well, and counts: remove one of the two")
	}
	for i := range sources {
		p.checkSource(p.source(i), &sources[i])
	}
	if spec.Destination.Namespace == "" {
		p.problem("spec.destination.namespace", api.ProblemWarning, "it is empty: objects that name no namespace themselves cannot be applied")
	}
	if spec.SyncPolicy != nil {
		for _, option := range object.AppOptions(spec.SyncPolicy.SyncOptions).Unknown {
			p.problem("spec.syncPolicy.syncOptions", api.ProblemWarning, "%q is not known here: it has no effect", option)
		}
	}
	_, wrong := inspect.NewRules(p.app, nil, live.Manager)
	for _, err := range wrong {
		p.problem("spec.ignoreDifferences", api.ProblemWarning, "not in force: %v", err)
	}
}

func (p *preview) checkSource(field string, src *v1alpha1.ApplicationSource) {
	switch {
	case src.RepoURL == "":
		p.problem(field+".repoURL", api.ProblemError, "it is empty: set the repository to deploy from")
		return
	case (src.Chart != "" || strings.HasPrefix(src.RepoURL, "oci://")) && p.v.ReadBy == agentapi.EngineArgoCD:
		p.problem(field+".repoURL", api.ProblemError,
			"Argo CD deploys charts and artifacts from registries, but no preview shows them: a preview reads Git only")
		return
	case src.Chart != "" || strings.HasPrefix(src.RepoURL, "oci://"):
		p.problem(field+".repoURL", api.ProblemError,
			"charts and artifacts from registries are not supported by this version: vendor the chart in Git")
		return
	}
	if len(src.RepoURL) > setting.MaxAddress {
		p.problem(field+".repoURL", api.ProblemError, "it has more than %d bytes: correct it", setting.MaxAddress)
	} else if _, inside, err := git.ParseRemote(src.RepoURL, false); err != nil {
		p.problem(field+".repoURL", api.ProblemError, "%v", err)
	} else if inside.Password != "" {
		p.problem(field+".repoURL", api.ProblemWarning,
			"it contains a user or a password, which every reader of the resource sees: keep them in a repository setting of the agent")
	}
	if _, err := render.CleanPath(src.Path); err != nil {
		p.problem(field+".path", api.ProblemError, "%v", err)
	}
	blocks := 0
	for _, there := range []bool{src.Helm != nil, src.Kustomize != nil, src.Directory != nil, src.Plugin != nil} {
		if there {
			blocks++
		}
	}
	if blocks > 1 {
		p.problem(field, api.ProblemWarning,
			"there are options for more than one tool: those for %s count; remove the others", src.ExplicitType())
	}
	if src.Plugin != nil {
		p.problem(field+".plugin", api.ProblemError, "plugins are not supported yet: %s", render.PluginAdvice(src.Plugin.Name))
	}
}

// checkSources asks the repositories for the revisions and paths, so that what is wrong can be reported by field.
func (p *preview) checkSources(ctx context.Context) error {
	for i, src := range p.app.Spec.EffectiveSources() {
		field := p.source(i)
		fetched, err := p.v.Engine.Sources.Fetch(ctx, p.app.Spec.ProjectName(), src, p.v.Now()) // what was pushed a moment ago counts
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case errors.Is(err, git.ErrNoRevision), errors.Is(err, git.ErrAmbiguous), errors.Is(err, git.ErrRefGone):
			p.problem(field+".targetRevision", api.ProblemError, "%v", err)
			continue
		case err != nil:
			p.problem(field+".repoURL", api.ProblemError, "%v", err)
			continue
		}
		if src.IsRef() {
			continue
		}
		dir, err := render.CleanPath(src.Path)
		if err != nil {
			p.problem(field+".path", api.ProblemError, "%v", err)
			continue
		}
		switch at, err := fetched.Tree.Stat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			p.problem(field+".path", api.ProblemError, "%.300q does not exist at revision %.12s: correct the path, or push the directory", src.Path,
				fetched.Tree.Revision())
		case err != nil:
			p.problem(field+".path", api.ProblemError, "%v", err)
		case !at.IsDir():
			p.problem(field+".path", api.ProblemError, "%.300q is a file: name the directory that it is in", src.Path)
		}
	}
	return nil
}
