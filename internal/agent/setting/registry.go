package setting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// tryRegistry asks an OCI registry whether it accepts the credential: for the tags of an artifact, or, where its setting is for
// charts, whether it is a registry.
func (v *keeper) tryRegistry(ctx context.Context, data map[string][]byte) (string, error) {
	address := strings.TrimSpace(string(data["url"]))
	access, fields, err := v.Settings.Repositories().AccessIn(data, address)
	if err != nil {
		return "", err
	}
	of := place.Registered{Address: address, Project: strings.TrimSpace(string(data["project"])), Access: access, Fields: fields}
	tags, err := v.Registries.Try(ctx, of)
	if err != nil {
		return "", fromRegistry(err)
	}
	if tags < 0 {
		return "the registry answers and accepts the credential", nil
	}
	return fmt.Sprintf("the registry answers: %s", plural(tags, "tag")), nil
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// fromRegistry marks what reveals what is at an address. That a credential is missing or wrong is shown to every user.
func fromRegistry(err error) error {
	if web.LayerOf(err) == web.LayerAuthentication || web.LayerOf(err) == web.LayerPolicy || errors.Is(err, registrylogin.ErrNoSecret) {
		return err
	}
	if web.LayerOf(err) == "" && !errors.Is(err, artifact.ErrNoVersion) && !errors.Is(err, registrylogin.ErrWay) &&
		!errors.Is(err, registrylogin.ErrService) {
		return err // of the setting itself
	}
	return distant{err}
}

// registryRefs lists the tags of an artifact, or the versions of the one chart that the search names: registries cannot list what
// they have.
func (v *browser) registryRefs(ctx context.Context, req api.RepositoryRefsRequest) (any, error) {
	access, fields, err := v.Settings.Repositories().Access(req.ArgoProject, req.RepoURL)
	if err != nil {
		return nil, command.Refuse(agentapi.CodeInvalid, "%v", err)
	}
	of := place.Registered{Address: req.RepoURL, Project: req.ArgoProject, Access: access, Fields: fields}
	charts := strings.TrimSpace(string(fields["enableOCI"])) == "true" || !strings.HasPrefix(req.RepoURL, "oci://")
	most := maxRefs
	if charts {
		if of.Chart, most = strings.TrimSpace(req.Search), maxChartVersions; of.Chart == "" {
			return nil, command.Refuse(agentapi.CodeUnsupported,
				"%s: an OCI registry cannot list its charts: enter the name of the chart to search for, and its versions are listed", req.RepoURL)
		}
	}
	found, err := v.Registries.Versions(ctx, of)
	if err != nil {
		if ctx.Err() != nil || web.LayerOf(err) == web.LayerConnection || web.LayerOf(err) == web.LayerName {
			return nil, unread(ctx, command.Refuse(agentapi.CodeUnreachable, "%s", hide(err.Error(), fields)))
		}
		return nil, command.Refuse(agentapi.CodeInvalid, "the versions cannot be listed: %s", hide(err.Error(), fields))
	}
	out := api.RepositoryRefs{Branches: []api.RepositoryRef{}, Tags: []api.RepositoryRef{}, Truncated: found.Truncated}
	if charts {
		chart := api.RepositoryChart{Name: of.Chart, Versions: []string{}}
		for _, one := range found.Versions[:min(len(found.Versions), most)] {
			chart.Versions = append(chart.Versions, one.Version)
		}
		out.Truncated = out.Truncated || len(found.Versions) > most
		out.Charts = []api.RepositoryChart{chart}
		return out, nil
	}
	search := strings.ToLower(req.Search)
	for _, one := range found.Versions {
		if !strings.Contains(strings.ToLower(one.Version), search) {
			continue
		}
		if len(out.Tags) == most {
			out.Truncated = true
			break
		}
		out.Tags = append(out.Tags, api.RepositoryRef{Name: one.Version})
	}
	return out, nil
}
