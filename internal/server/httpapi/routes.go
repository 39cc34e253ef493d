package httpapi

import "slices"

// table is all routes. Each line of it is a noun, or what is left of one; in its file every route has method, path,
// permission, audit verb and handler beside each other, and api/openapi.json lists all of them.
func table(cfg Config) []Route {
	clusters := &Clusters{cfg.Items, cfg.Commands, cfg.Events}
	find := finder{cfg, clusters}.find
	people := &People{cfg.Users, cfg.Groups, cfg.ServiceAccounts, cfg.Authn, cfg.Providers, cfg.Policies}
	sessions := &SessionRoutes{cfg.Authn, cfg.Providers}
	tokens := &TokenRoutes{cfg.Tokens, people}
	rights := &RightRoutes{cfg.Organizations, cfg.Projects, cfg.Roles, cfg.ResourceGroups, cfg.Bindings, people}
	objects := &ObjectRoutes{clusters, cfg.AgentList}
	access := &AccessRoutes{cfg.Policies, find, objects.bounds}
	commands := &CommandRoutes{clusters, find}
	agents := &AgentRoutes{
		AgentList: cfg.AgentList, Projects: cfg.Projects, Agents: cfg.Agents, Hosting: cfg.Hosting, Orders: commands,
		PublicURL: cfg.PublicURL, Image: cfg.Image, Version: cfg.Version, AgentCA: cfg.AgentCA,
	}
	settings := &SettingRoutes{clusters, cfg.AgentList}
	applications := &ApplicationRoutes{clusters, cfg.AgentList, cfg.Ledger}
	streams := &StreamRoutes{clusters}
	services := &ServiceRoutes{clusters, cfg.Services, cfg.Environments, cfg.AgentList, cfg.Linking}
	views := &ViewRoutes{cfg.Views}
	fleet := &FleetRoutes{cfg.Fleet, views}
	jobs := &JobRoutes{clusters, cfg.Jobs, cfg.Fleet}
	notifications := &NotificationRoutes{cfg.NotificationChannels, cfg.NotificationRules, cfg.Notifications}
	audits := &AuditRoutes{cfg.Audits}
	ledger := &LedgerRoutes{cfg.Ledger, cfg.Items}
	events := &EventRoutes{cfg.Events, cfg.Fleet, jobs.ownJob}
	server := &ServerRoutes{cfg.Keeper, cfg.PublicURL, cfg.Version, cfg.Hosting != nil, cfg.Demo}
	return slices.Concat(
		sessions.Routes(),
		people.Routes(),
		tokens.Routes(),
		rights.Routes(),
		access.Routes(),
		agents.Routes(),
		applications.Routes(),
		services.Routes(),
		fleet.Routes(), views.Routes(), jobs.Routes(),
		notifications.Routes(),
		objects.Routes(),
		streams.Routes(),
		settings.Routes(),
		commands.Routes(),
		audits.Routes(),
		ledger.Routes(),
		events.Routes(),
		server.Routes(),
	)
}
