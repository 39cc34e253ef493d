package setting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/render/browse"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Bounds of what a repository is asked.
const (
	lookLimit        = 45 * time.Second
	lookAge          = 5 * time.Second // what is known of the references for longer is read again
	MaxAddress       = 2000
	maxRefs          = 1000 // branches, and tags
	maxCharts        = 500
	maxChartVersions = 100
	maxIndex         = document.MaxDocument
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
	if err == nil {
		err = rules.Keepable()
	}
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
	if err := rules.PermitsSource(address); err != nil {
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
	data := v.Settings.Repository(req.ArgoProject, req.RepoURL)
	kind, err := typeOfRepository(req.Type, req.RepoURL, data)
	if err != nil {
		return nil, err
	}
	switch kind {
	case repositoryOCI:
		return nil, command.Refuse(agentapi.CodeUnsupported,
			"%s: what an OCI registry has cannot be listed by this version: write chart and version by hand", req.RepoURL)
	case repositoryHelm:
		out, err := v.charts(ctx, req, data)
		if err != nil {
			return nil, command.Refuse(agentapi.CodeInvalid, "the charts cannot be listed: %s", hide(err.Error(), data))
		}
		return out, nil
	}
	cred, err := v.Settings.Credential(req.ArgoProject, req.RepoURL)
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
	newestFirst(names)
	for i, name := range names {
		out.Tags[i] = api.RepositoryRef{Name: name, Commit: commits[name]}
	}
	out.Truncated = len(out.Branches) > maxRefs || len(out.Tags) > maxRefs
	out.Branches, out.Tags = out.Branches[:min(len(out.Branches), maxRefs)], out.Tags[:min(len(out.Tags), maxRefs)]
	return out
}

// newestFirst sorts versions, the highest first; what is no version comes last, by name.
func newestFirst(names []string) {
	versions := make(map[string]*semver.Version, len(names))
	for _, name := range names {
		if version, err := semver.NewVersion(name); err == nil {
			versions[name] = version
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		va, vb := versions[a], versions[b]
		switch {
		case va != nil && vb != nil && !va.Equal(vb):
			return vb.Compare(va)
		case (va == nil) != (vb == nil):
			if va != nil {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
}

// errRedirect ends a request that would go on at another host: the project permits this one.
var errRedirect = errors.New("the server sends us to another address: use that one as the address of the repository")

func sameHost(req *http.Request, via []*http.Request) error {
	const most = 5
	if first := via[0].URL; len(via) > most || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return errRedirect
	}
	return nil
}

// charts lists what a Helm repository has.
func (v *browser) charts(ctx context.Context, req api.RepositoryRefsRequest, data map[string][]byte) (api.RepositoryRefs, error) {
	out := api.RepositoryRefs{Branches: []api.RepositoryRef{}, Tags: []api.RepositoryRef{}}
	as := maps.Clone(data)
	if as == nil {
		as = map[string][]byte{}
	}
	as["url"] = []byte(req.RepoURL) // the Secret may be a template, for a part of the address
	raw, err := v.helm().index(ctx, as, maxIndex+1, sameHost)
	if err != nil {
		return out, err
	}
	if len(raw) > maxIndex {
		return out, fmt.Errorf("%s/index.yaml is larger than %d MiB: write chart and version by hand", helmAddress(as), maxIndex>>20)
	}
	out.Charts, out.Truncated, err = chartsOf(raw, req.Search)
	if err != nil {
		return out, fmt.Errorf("%s/index.yaml is no index of a Helm repository: check the address", helmAddress(as))
	}
	return out, nil
}

// chartsOf reads the index of a Helm repository.
func chartsOf(raw []byte, search string) (charts []api.RepositoryChart, more bool, err error) {
	asJSON, err := document.ToJSON(raw)
	if err != nil {
		return nil, false, err
	}
	var index struct {
		Entries map[string][]struct {
			Version     string `json:"version"`
			Description string `json:"description"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(asJSON, &index); err != nil || index.Entries == nil {
		return nil, false, errors.New("it has no entries")
	}
	for _, name := range slices.Sorted(maps.Keys(index.Entries)) {
		if !strings.Contains(strings.ToLower(name), strings.ToLower(search)) {
			continue
		}
		if len(charts) == maxCharts {
			return charts, true, nil
		}
		chart := api.RepositoryChart{Name: name, Versions: []string{}}
		for _, one := range index.Entries[name] {
			chart.Versions = append(chart.Versions, one.Version)
			if chart.Description == "" {
				chart.Description = one.Description[:min(len(one.Description), 300)]
			}
		}
		newestFirst(chart.Versions)
		more = more || len(chart.Versions) > maxChartVersions
		chart.Versions = chart.Versions[:min(len(chart.Versions), maxChartVersions)]
		charts = append(charts, chart)
	}
	return charts, more, nil
}

func (v *browser) repositoryPaths(ctx context.Context, cmd agentapi.Command, req api.RepositoryPathsRequest) (any, error) {
	req.ArgoProject = cmp.Or(req.ArgoProject, v1alpha1.DefaultProject)
	if err := v.mayLook(cmd, req.ArgoProject, req.RepoURL); err != nil {
		return nil, err
	}
	kind, err := typeOfRepository("", req.RepoURL, v.Settings.Repository(req.ArgoProject, req.RepoURL))
	if err != nil {
		return nil, err
	}
	if kind != repositoryGit {
		return nil, command.Refuse(agentapi.CodeUnsupported, "%s has charts, and no paths: only Git repositories can be browsed", req.RepoURL)
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
	return out, nil
}
