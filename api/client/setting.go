package client

import (
	"context"

	"github.com/slipway-gitops/slipway/api"
)

// Setting is what agents keep in Secrets and ConfigMaps of their clusters: repositories and so on. Secrets of it are
// sealed for the agent by the caller; the server cannot read them.
type Setting struct {
	c    *Client
	many string
}

// Repositories of all agents.
func (c *Client) Repositories() Setting { return Setting{c, "repositories"} }

// CredentialTemplates are credentials for all repositories whose address begins like theirs.
func (c *Client) CredentialTemplates() Setting { return Setting{c, "credential-templates"} }

// Clusters that agents deploy to.
func (c *Client) Clusters() Setting { return Setting{c, "clusters"} }

// Certificates are TLS certificates of Git servers; known hosts are listed with them.
func (c *Client) Certificates() Setting { return Setting{c, "certificates"} }

// KnownHosts are SSH keys of Git servers. They are listed with the certificates.
func (c *Client) KnownHosts() Setting { return Setting{c, "known-hosts"} }

// GPGKeys are those that commits are signed with.
func (c *Client) GPGKeys() Setting { return Setting{c, "gpg-keys"} }

// List gives a page of the server's copies.
func (s Setting) List(ctx context.Context, filter api.ItemFilter) (api.Page[api.Item], error) {
	return Objects(s).Items(ctx, filter)
}

// All gives all pages of List.
func (s Setting) All(ctx context.Context, filter api.ItemFilter) ([]api.Item, error) {
	return Objects(s).All(ctx, filter)
}

// Get reads the server's copy of one.
func (s Setting) Get(ctx context.Context, t api.Target) (api.Item, error) {
	return Objects(s).Item(ctx, t)
}

// Create has an agent make one.
func (s Setting) Create(ctx context.Context, agent string, in api.SettingWrite, dryRun bool) (api.Command, error) {
	return Objects(s).create(ctx, agent, in, dryRun)
}

// Update has an agent change one. Secrets that are not sent stay as they are.
func (s Setting) Update(ctx context.Context, t api.Target, in api.SettingWrite, dryRun bool) (api.Command, error) {
	return Objects(s).update(ctx, t, in, dryRun)
}

// Delete has an agent delete one; what applications use is refused unless it is forced.
func (s Setting) Delete(ctx context.Context, t api.Target, force, dryRun bool) error {
	return Objects(s).Delete(ctx, t, Removal{Force: force, DryRun: dryRun})
}

// Test has an agent try a connection; nothing is changed.
func (s Setting) Test(ctx context.Context, agent string, in api.SettingWrite) (api.SettingTest, error) {
	return post[api.SettingTest](ctx, s.c, nil, in, "agents", agent, s.many, "test")
}
