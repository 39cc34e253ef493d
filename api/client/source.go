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
	var out api.RepositoryRefs
	err := c.do(ctx, call{method: http.MethodGet, path: at("agents", agent, "repository-refs"), query: query}, &out)
	return out, err
}

// RepositoryPaths has an agent list one directory of a repository that an application of an Argo project may deploy.
func (c *Client) RepositoryPaths(ctx context.Context, agent string, req api.RepositoryPathsRequest) (api.RepositoryPaths, error) {
	query := url.Values{}
	set(query, "repoURL", req.RepoURL)
	set(query, "argoProject", req.ArgoProject)
	set(query, "revision", req.Revision)
	set(query, "path", req.Path)
	var out api.RepositoryPaths
	err := c.do(ctx, call{method: http.MethodGet, path: at("agents", agent, "repository-paths"), query: query}, &out)
	return out, err
}
