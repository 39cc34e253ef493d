package httpapi

import "github.com/slipway-gitops/slipway/api"

// Config is what the interface needs.
type Config struct {
	Base

	Users           Entities[api.User]
	Groups          Entities[api.Group]
	ServiceAccounts Entities[api.ServiceAccount]
	Organizations   Entities[api.Organization]
	Projects        Entities[api.Project]
	Roles           Entities[api.Role]
	ResourceGroups  Entities[api.ResourceGroup]
	Bindings        Entities[api.Binding]
	AgentList       Entities[api.Agent]
	Services        Entities[api.Service]
	Environments    Entities[api.Environment]
	Linking         Linking
	Fleet           Fleet
	Views           Views
	Jobs            Jobs
	Ledger          Ledger

	NotificationChannels Entities[api.NotificationChannel]
	NotificationRules    Entities[api.NotificationRule]
	Notifications        Notifications

	Tokens    Tokens
	Providers Providers
	Agents    Agents
	Hosting   Hosting // nil where the server hosts none
	Demo      bool    // the applications are those of `slipway up`
	Items     Items
	Commands  Commands

	Version string
	// Image is that of the agent, in install manifests.
	Image string
	// AgentCA is PEM: what agents need to trust the server; "" where the system's certificates do.
	AgentCA string
}

// Handler answers HTTP.
type Handler = Core

// New puts the interface together.
func New(cfg Config) (*Handler, error) { return Serve(cfg.Base, table(cfg)) }
