package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// RepositoryRefs has an agent list branches, tags or charts of a repository that an application of an Argo project may
// deploy.
func (c *Client) RepositoryRefs(ctx context.Context, agent string, req api.RepositoryRefsRequest) (api.RepositoryRefs, error) {
	query := url.Values{}
	set(query, "repoURL", req.RepoURL)
	set(query, "argoProject", req.ArgoProject)
	set(query, "type", req.Type)
	set(query, "search", req.Search)
	return get[api.RepositoryRefs](ctx, c, at("agents", agent, "repository-refs"), query)
}

// RepositoryPaths has an agent list one directory of a repository that an application of an Argo project may deploy.
func (c *Client) RepositoryPaths(ctx context.Context, agent string, req api.RepositoryPathsRequest) (api.RepositoryPaths, error) {
	query := url.Values{}
	set(query, "repoURL", req.RepoURL)
	set(query, "argoProject", req.ArgoProject)
	set(query, "revision", req.Revision)
	set(query, "path", req.Path)
	return get[api.RepositoryPaths](ctx, c, at("agents", agent, "repository-paths"), query)
}

// PreviewOptions say how much a preview tells.
type PreviewOptions struct {
	// Quick checks the resource and its project only; Manifests wants the objects as rendered, too.
	Quick, Manifests bool
}

// Preview says what an application, or a change of one, would do. Nothing is written.
func (c *Client) Preview(ctx context.Context, agent string, req api.PreviewRequest, o PreviewOptions) (api.Preview, error) {
	query := url.Values{}
	setBool(query, "quick", o.Quick)
	setBool(query, "manifests", o.Manifests)
	return ask[api.Preview](ctx, c, call{method: http.MethodPost, path: at("agents", agent, "applications", "preview"), query: query, body: req})
}
