package httpapi

import (
	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/account"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/fleet"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/record"
)

// Config is what the interface needs.
type Config struct {
	core.Base

	Users           core.Entities[api.User]
	Groups          core.Entities[api.Group]
	ServiceAccounts core.Entities[api.ServiceAccount]
	Organizations   core.Entities[api.Organization]
	Projects        core.Entities[api.Project]
	Roles           core.Entities[api.Role]
	ResourceGroups  core.Entities[api.ResourceGroup]
	Bindings        core.Entities[api.Binding]
	AgentList       core.Entities[api.Agent]
	Services        core.Entities[api.Service]
	Environments    core.Entities[api.Environment]
	Linking         fleet.Linking
	Fleet           fleet.Fleet
	Views           fleet.Views
	Jobs            fleet.Jobs
	Ledger          record.Ledger

	NotificationChannels core.Entities[api.NotificationChannel]
	NotificationRules    core.Entities[api.NotificationRule]
	Notifications        record.Notifications

	Tokens    account.Tokens
	Providers account.Providers
	Agents    fleet.Agents
	Hosting   fleet.Hosting // nil where the server hosts none
	Demo      bool          // the applications are those of `slipway up`
	Items     item.Items
	Commands  item.Commands

	Version string
	// Image is that of the agent, in install manifests.
	Image string
	// AgentCA is PEM: what agents need to trust the server; "" where the system's certificates do.
	AgentCA string
	// ReleaseKeys is PEM: keys that agents trust for releases, in install manifests; "" for none.
	ReleaseKeys string

	Upgrades      fleet.Upgrades
	AgentVersions fleet.AgentVersions
}

// Handler answers HTTP.
type Handler = core.Core

// New puts the interface together.
func New(cfg Config) (*Handler, error) { return core.Serve(cfg.Base, table(cfg)) }
