package setting

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// ofRegistry reports whether a Secret is about an OCI registry.
func ofRegistry(data map[string][]byte) bool {
	text := func(name string) string { return strings.TrimSpace(string(data[name])) }
	return text("type") == repositoryOCI || text("enableOCI") == "true" || strings.HasPrefix(text("url"), "oci://")
}

// pinging is a remote that can be tried without listing it.
type pinging interface {
	Ping(ctx context.Context) error
}

// tryArtifacts asks a chart repository or a registry what it has, and names the step that fails.
func (v *keeper) tryArtifacts(ctx context.Context, data map[string][]byte) (string, error) {
	remote, err := v.Artifacts.Look(v.Settings, strings.TrimSpace(string(data["project"])), strings.TrimSpace(string(data["url"])), data)
	if err != nil {
		return "", err
	}
	message := "the registry answers"
	switch r := remote.(type) {
	case pinging:
		err = r.Ping(ctx)
	case artifact.Listing:
		var names []string
		var more bool
		names, more, err = r.Charts(ctx, "", maxCharts)
		switch {
		case more:
			message = fmt.Sprintf("the repository has an index of more than %d charts", maxCharts)
		case len(names) == 1:
			message = "the repository has an index of 1 chart"
		default:
			message = fmt.Sprintf("the repository has an index of %d charts", len(names))
		}
	}
	if layer := web.LayerOf(err); layer != "" {
		return "", fmt.Errorf("%s: %w", layer, err)
	}
	return message, err
}

// charts lists what a Helm repository or a registry has.
func (v *browser) charts(ctx context.Context, req api.RepositoryRefsRequest, data map[string][]byte) (any, error) {
	out := api.RepositoryRefs{Branches: []api.RepositoryRef{}, Tags: []api.RepositoryRef{}}
	refused := func(err error) error {
		if ctx.Err() != nil {
			return unread(ctx, err)
		}
		return command.Refuse(agentapi.CodeInvalid, "the charts cannot be listed: %s", hide(err.Error(), data))
	}
	remote, err := v.Artifacts.Look(v.Settings, req.ArgoProject, req.RepoURL, nil)
	if err != nil {
		return nil, refused(err)
	}
	listing, ok := remote.(artifact.Listing)
	if !ok {
		return nil, refused(errors.New("it keeps no list: write chart and version by hand"))
	}
	names, more, err := listing.Charts(ctx, req.Search, maxCharts)
	if err != nil {
		return nil, refused(err)
	}
	out.Truncated = more
	for _, name := range names {
		found, err := listing.Releases(ctx, name, maxChartVersions)
		if err != nil {
			return nil, refused(err)
		}
		chart := api.RepositoryChart{Name: name, Versions: []string{}}
		for _, r := range found.Versions {
			chart.Versions = append(chart.Versions, r.Version)
			if chart.Description == "" {
				chart.Description = r.Description
			}
		}
		out.Truncated = out.Truncated || found.Truncated
		out.Charts = append(out.Charts, chart)
	}
	return out, nil
}
