package client

import (
	"context"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// RepositoryRefs has an agent list branches, tags or charts of a repository that an application of an Argo project may
// deploy.
func (c *Client) RepositoryRefs(ctx context.Context, agent string, req api.RepositoryRefsRequest) (api.RepositoryRefs, error) {
	query := set(url.Values{}, "repoURL", req.RepoURL, "argoProject", req.ArgoProject, "type", req.Type, "search", req.Search)
	return get[api.RepositoryRefs](ctx, c, query, "agents", agent, "repository-refs")
}

// RepositoryPaths has an agent list one directory of a repository that an application of an Argo project may deploy.
func (c *Client) RepositoryPaths(ctx context.Context, agent string, req api.RepositoryPathsRequest) (api.RepositoryPaths, error) {
	query := set(url.Values{}, "repoURL", req.RepoURL, "argoProject", req.ArgoProject, "revision", req.Revision, "path", req.Path,
		"plugin", req.Plugin)
	return get[api.RepositoryPaths](ctx, c, query, "agents", agent, "repository-paths")
}

// PreviewOptions set what a preview contains.
type PreviewOptions struct {
	// Quick checks the resource and its project only; Manifests wants the objects as rendered, too.
	Quick, Manifests bool
}

// Preview says what an application, or a change of one, would do. Nothing is written.
func (c *Client) Preview(ctx context.Context, agent string, req api.PreviewRequest, o PreviewOptions) (api.Preview, error) {
	query := setBool(setBool(url.Values{}, "quick", o.Quick), "manifests", o.Manifests)
	return post[api.Preview](ctx, c, query, req, "agents", agent, "applications", "preview")
}
