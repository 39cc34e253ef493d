package client

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
)

// AddAgentReleases adds the versions of a signed statement of releases.
func (c *Client) AddAgentReleases(ctx context.Context, statement []byte) ([]api.AgentRelease, error) {
	out, err := post[api.Page[api.AgentRelease]](ctx, c, nil, api.AgentStatement{Statement: statement}, "agent-releases")
	return out.Items, err
}

// AgentReleases lists the versions of the agent that were added.
func (c *Client) AgentReleases(ctx context.Context) ([]api.AgentRelease, error) {
	out, err := get[api.Page[api.AgentRelease]](ctx, c, nil, "agent-releases")
	return out.Items, err
}

// AgentVersions reads which version agents should run.
func (c *Client) AgentVersions(ctx context.Context) (api.AgentVersions, error) {
	return get[api.AgentVersions](ctx, c, nil, "agent-versions")
}

// SetAgentVersions says which version agents should run.
func (c *Client) SetAgentVersions(ctx context.Context, v api.AgentVersions) (api.AgentVersions, error) {
	return put[api.AgentVersions](ctx, c, nil, v, "agent-versions")
}

// UpgradeAgents upgrades agents; with dryRun it only says which, in their order.
func (c *Client) UpgradeAgents(ctx context.Context, r api.UpgradeRequest, dryRun bool) (api.UpgradePlan, error) {
	return post[api.UpgradePlan](ctx, c, dry(dryRun), r, "agent-upgrades")
}

// AgentUpgrades lists upgrades, the newest first.
func (c *Client) AgentUpgrades(ctx context.Context) ([]api.Upgrade, error) {
	out, err := get[api.Page[api.Upgrade]](ctx, c, nil, "agent-upgrades")
	return out.Items, err
}

// AgentUpgrade reads an upgrade with its agents.
func (c *Client) AgentUpgrade(ctx context.Context, id string) (api.UpgradePlan, error) {
	return get[api.UpgradePlan](ctx, c, nil, "agent-upgrades", id)
}

// ChangeUpgrade stops an upgrade, has it go on, or takes it back.
func (c *Client) ChangeUpgrade(ctx context.Context, id string, what api.UpgradeChange) (api.Upgrade, error) {
	return post[api.Upgrade](ctx, c, nil, nil, "agent-upgrades", id, string(what))
}
