package setting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render/browse"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
)

// Bounds of what a repository is asked.
const (
	lookLimit        = 45 * time.Second
	lookAge          = 5 * time.Second // what is known of the references for longer is read again
	MaxAddress       = 2000
	maxRefs          = 1000 // branches, and tags
	maxCharts        = 500
	maxChartVersions = 100
)

// Types of repositories.
const (
	repositoryGit  = "git"
	repositoryHelm = "helm"
	repositoryOCI  = "oci"
)

// RulesFor returns the rules of a project, where Applications of a namespace may be of it; home is that of the agent.
func RulesFor(projects engine.Projects, home, called, namespace string) (*project.Rules, error) {
	rules, err := projects.Rules(called)
	if err == nil && namespace != "" {
		err = rules.PermitsNamespace(namespace, home)
	}
	if err != nil {
		return nil, &engine.ProjectError{Err: err}
	}
	return rules, nil
}

// mayLook asks the project before anything is asked of a repository: with the agent's credentials a user cannot see
// what no Application of the project could deploy.
func (v *browser) mayLook(cmd agentapi.Command, called, address string) error {
	if err := checkAddress(address); err != nil {
		return err
	}
	rules, err := RulesFor(v.Engine.Projects, v.Namespace, called, cmd.Target.Namespace)
	if err != nil {
		return err
	}
	if err := rules.PermitsChart(address, ""); err != nil {
		return &engine.ProjectError{Err: err}
	}
	return nil
}

// checkAddress refuses an address that is none, and one with a password in it: it would be in the logs of whatever is on the way.
func checkAddress(address string) error {
	if address == "" {
		return command.Refuse(agentapi.CodeInvalid, "the address of the repository is empty: set it")
	}
	if len(address) > MaxAddress {
		return command.Refuse(agentapi.CodeInvalid, "the address of the repository has more than %d bytes: correct it", MaxAddress)
	}
	if strings.HasPrefix(address, "oci://") {
		return nil
	}
	_, inside, err := git.ParseRemote(address, false)
	if err != nil {
		return command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	if inside.Password != "" {
		return command.Refuse(agentapi.CodeInvalid,
			"the address holds a user or a password: leave them out, and keep them in a repository setting of the agent")
	}
	return nil
}

// typeOfRepository is what the user or the agent's settings say that a repository is.
func typeOfRepository(said, address string, data map[string][]byte) (string, error) {
	kind := cmp.Or(said, strings.TrimSpace(string(data["type"])), repositoryGit)
	if strings.HasPrefix(address, "oci://") || string(data["enableOCI"]) == "true" {
		kind = repositoryOCI
	}
	if kind != repositoryGit && kind != repositoryHelm && kind != repositoryOCI {
		return "", command.Refuse(agentapi.CodeInvalid, "a repository of the type %.40q is not known: it is git, helm or oci", kind)
	}
	return kind, nil
}

func (v *browser) repositoryRefs(ctx context.Context, cmd agentapi.Command, req api.RepositoryRefsRequest) (any, error) {
	req.ArgoProject = cmp.Or(req.ArgoProject, v1alpha1.DefaultProject)
	if err := v.mayLook(cmd, req.ArgoProject, req.RepoURL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	data := v.Settings.Repositories().Repository(req.ArgoProject, req.RepoURL)
	kind, err := typeOfRepository(req.Type, req.RepoURL, data)
	if err != nil {
		return nil, err
	}
	switch kind {
	case repositoryOCI:
		return v.registryRefs(ctx, req)
	case repositoryHelm:
		return v.charts(ctx, req, data)
	}
	cred, err := v.Settings.Repositories().Credential(req.ArgoProject, req.RepoURL)
	if err != nil {
		return nil, err
	}
	mirror, err := v.Git.Mirror(req.RepoURL, cred)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	refs, err := mirror.LsRemote(ctx)
	if err != nil {
		return nil, unread(ctx, err)
	}
	return refsOf(refs, req.Search), nil
}

// unread gives the failure of a repository its code.
func unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return command.Refuse(agentapi.CodeUnreachable,
			"the repository did not answer within %s: check address, proxy and firewall, and try again", lookLimit)
	}
	var known *git.Error
	if errors.As(err, &known) && errors.Is(known, git.ErrUnreachable) {
		return command.Refuse(agentapi.CodeUnreachable, "%v", err)
	}
	return command.Refuse(agentapi.CodeInvalid, "%v", err)
}

// refsOf are the branches and tags among references, those that contain a text.
func refsOf(refs git.Refs, search string) api.RepositoryRefs {
	out := api.RepositoryRefs{
		Default: strings.TrimPrefix(refs.Default, "refs/heads/"), Branches: []api.RepositoryRef{}, Tags: []api.RepositoryRef{},
	}
	search = strings.ToLower(search)
	for ref, commit := range refs.IDs {
		branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
		tag, isTag := strings.CutPrefix(ref, "refs/tags/")
		switch {
		case isBranch && strings.Contains(strings.ToLower(branch), search):
			out.Branches = append(out.Branches, api.RepositoryRef{Name: branch, Commit: commit})
		case isTag && strings.Contains(strings.ToLower(tag), search):
			out.Tags = append(out.Tags, api.RepositoryRef{Name: tag, Commit: commit})
		}
	}
	slices.SortFunc(out.Branches, func(a, b api.RepositoryRef) int {
		if (a.Name == out.Default) != (b.Name == out.Default) {
			if a.Name == out.Default {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	names := make([]string, 0, len(out.Tags))
	commits := make(map[string]string, len(out.Tags))
	for _, t := range out.Tags {
		names, commits[t.Name] = append(names, t.Name), t.Commit
	}
	artifact.Newest(names)
	for i, name := range names {
		out.Tags[i] = api.RepositoryRef{Name: name, Commit: commits[name]}
	}
	out.Truncated = len(out.Branches) > maxRefs || len(out.Tags) > maxRefs
	out.Branches, out.Tags = out.Branches[:min(len(out.Branches), maxRefs)], out.Tags[:min(len(out.Tags), maxRefs)]
	return out
}

func (v *browser) repositoryPaths(ctx context.Context, cmd agentapi.Command, req api.RepositoryPathsRequest) (any, error) {
	req.ArgoProject = cmp.Or(req.ArgoProject, v1alpha1.DefaultProject)
	if err := v.mayLook(cmd, req.ArgoProject, req.RepoURL); err != nil {
		return nil, err
	}
	kind, err := typeOfRepository("", req.RepoURL, v.Settings.Repositories().Repository(req.ArgoProject, req.RepoURL))
	if err != nil {
		return nil, err
	}
	if kind != repositoryGit && !strings.HasPrefix(req.RepoURL, "oci://") {
		return nil, command.Refuse(agentapi.CodeUnsupported,
			"%s has charts, and no paths: only Git repositories and artifacts can be browsed", req.RepoURL)
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	fetched, err := v.Engine.Sources.Fetch(ctx, req.ArgoProject,
		v1alpha1.ApplicationSource{RepoURL: req.RepoURL, TargetRevision: req.Revision}, v.Now().Add(-lookAge))
	if err != nil {
		return nil, unread(ctx, err)
	}
	out, err := browse.Look(fetched.Tree, req.Path)
	if err != nil {
		return nil, unread(ctx, err)
	}
	if err := v.announce(ctx, req, fetched, &out); err != nil {
		out.Warnings = append(out.Warnings, redact.Text(err.Error()))
	}
	return out, nil
}
