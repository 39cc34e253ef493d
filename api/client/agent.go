package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/slipway-gitops/slipway/api"
)

// CreateAgent makes an agent. The answer has its registration token, which is shown once.
func (c *Client) CreateAgent(ctx context.Context, agent api.Agent, dryRun bool) (api.AgentRegistration, error) {
	return once[api.AgentRegistration](ctx, c, dry(dryRun), agent, "agents")
}

// RegisterAgent makes another registration token for an agent.
func (c *Client) RegisterAgent(ctx context.Context, id string) (api.AgentRegistration, error) {
	return once[api.AgentRegistration](ctx, c, nil, nil, "agents", id, "registration")
}

// RotateAgent has an agent make a new key pair.
func (c *Client) RotateAgent(ctx context.Context, id string) error {
	_, err := c.command(ctx, call{method: http.MethodPost, path: at("agents", id, "rotate")}, nil)
	return err
}

// RevokeAgent makes the key of an agent worth nothing and cuts its connection.
func (c *Client) RevokeAgent(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodPost, path: at("agents", id, "revoke")}, nil)
}

// AgentManifest gives what installs an agent: YAML for kubectl, or the values of the Helm chart.
func (c *Client) AgentManifest(ctx context.Context, id string, o api.InstallOptions, helm bool) ([]byte, error) {
	r := call{method: http.MethodPost, path: at("agents", id, "manifest"), body: o, accept: "application/yaml, application/problem+json"}
	if helm {
		r.query = url.Values{"format": {"helm"}}
	}
	return ask[[]byte](ctx, c, r)
}

// Mappings lists which Argo projects of an agent belong to which projects.
func (c *Client) Mappings(ctx context.Context, agent string) ([]api.Mapping, error) {
	out, err := get[api.Page[api.Mapping]](ctx, c, nil, "agents", agent, "mappings")
	return out.Items, err
}

// SetMapping says which project an Argo project of an agent belongs to.
func (c *Client) SetMapping(ctx context.Context, agent string, m api.Mapping) (api.Mapping, error) {
	return put[api.Mapping](ctx, c, nil, m, "agents", agent, "mappings", m.ArgoProject)
}

// DeleteMapping has an Argo project belong to the scope of its agent again.
func (c *Client) DeleteMapping(ctx context.Context, agent, argoProject string) error {
	return c.delete(ctx, nil, "agents", agent, "mappings", argoProject)
}
