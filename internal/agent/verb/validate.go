package verb

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/setting"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
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
	case len(src.RepoURL) > setting.MaxAddress:
		p.problem(field+".repoURL", api.ProblemError, "it has more than %d bytes: correct it", setting.MaxAddress)
	case place.IsArtifact(*src):
		p.checkArtifact(field, src)
	default:
		p.checkGit(field, src)
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
	if src.Plugin != nil && (p.v.HasPlugin == nil || !p.v.HasPlugin(src.Plugin.Name)) {
		p.problem(field+".plugin", api.ProblemError, "no such plugin is beside the agent: add its sidecar, or %s",
			render.PluginAdvice(src.Plugin.Name))
	}
}

// checkArtifact finds what is wrong with the address of a chart or an artifact.
func (p *preview) checkArtifact(field string, src *v1alpha1.ApplicationSource) {
	if redact.HasUser(src.RepoURL) {
		p.problem(field+".repoURL", api.ProblemWarning,
			"it contains a user or a password, which every reader of the resource sees: keep them in a repository setting of the agent")
	}
	if strings.Contains(src.RepoURL, "://") && !strings.HasPrefix(src.RepoURL, "oci://") {
		if _, err := web.ParseAddress(src.RepoURL); err != nil {
			p.problem(field+".repoURL", api.ProblemError, "%v", err)
		}
	}
	if src.Path != "" && src.Chart != "" {
		p.problem(field+".path", api.ProblemWarning, "it is not used: a chart is deployed from its root; leave it out")
	}
}

// checkGit finds what is wrong with the address and the path in a Git repository.
func (p *preview) checkGit(field string, src *v1alpha1.ApplicationSource) {
	if _, inside, err := git.ParseRemote(src.RepoURL, false); err != nil {
		p.problem(field+".repoURL", api.ProblemError, "%v", err)
	} else if inside.Password != "" {
		p.problem(field+".repoURL", api.ProblemWarning,
			"it contains a user or a password, which every reader of the resource sees: keep them in a repository setting of the agent")
	}
	if _, err := render.CleanPath(src.Path); err != nil {
		p.problem(field+".path", api.ProblemError, "%v", err)
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
		case errors.Is(err, git.ErrNoRevision), errors.Is(err, git.ErrAmbiguous), errors.Is(err, git.ErrRefGone),
			errors.Is(err, artifact.ErrNoVersion):
			p.problem(field+".targetRevision", api.ProblemError, "%v", err)
			continue
		case err != nil:
			p.problem(field+".repoURL", api.ProblemError, "%v", err)
			continue
		}
		if src.IsRef() || src.Chart != "" {
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
