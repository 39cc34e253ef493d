package httpapi

import (
	"slices"

	"github.com/slipway-gitops/slipway/internal/server/httpapi/account"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/application"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/fleet"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/record"
)

// table is all routes. Each line of it is a noun, or what is left of one; in its file every route has method, path,
// permission, audit verb and handler beside each other, and api/openapi.json lists all of them.
func table(cfg Config) []core.Route {
	clusters := &item.Clusters{Items: cfg.Items, Commands: cfg.Commands, Events: cfg.Events}
	find := finder{cfg, clusters}.find
	people := &account.People{
		Users: cfg.Users, Groups: cfg.Groups, ServiceAccounts: cfg.ServiceAccounts, Authn: cfg.Authn, Providers: cfg.Providers,
		Policies: cfg.Policies,
	}
	sessions := &account.SessionRoutes{Authn: cfg.Authn, Providers: cfg.Providers}
	tokens := &account.TokenRoutes{Tokens: cfg.Tokens, People: people}
	rights := &account.RightRoutes{
		Organizations: cfg.Organizations, Projects: cfg.Projects, Roles: cfg.Roles, ResourceGroups: cfg.ResourceGroups,
		Bindings: cfg.Bindings, People: people,
	}
	objects := &application.ObjectRoutes{Clusters: clusters, AgentList: cfg.AgentList}
	access := &account.AccessRoutes{Policies: cfg.Policies, Find: find, Bounds: objects.Bounds}
	commands := &fleet.CommandRoutes{Clusters: clusters, Find: find}
	agents := &fleet.AgentRoutes{
		AgentList: cfg.AgentList, Projects: cfg.Projects, Agents: cfg.Agents, Hosting: cfg.Hosting, Orders: commands,
		PublicURL: cfg.PublicURL, Image: cfg.Image, Version: cfg.Version, AgentCA: cfg.AgentCA, ReleaseKeys: cfg.ReleaseKeys,
	}
	upgrades := &fleet.UpgradeRoutes{AgentList: cfg.AgentList, Upgrades: cfg.Upgrades, Versions: cfg.AgentVersions}
	settings := &fleet.SettingRoutes{Clusters: clusters, AgentList: cfg.AgentList}
	applications := &application.Routes{Clusters: clusters, AgentList: cfg.AgentList, Deployments: cfg.Ledger}
	badges := &application.BadgeRoutes{Clusters: clusters, Keeper: cfg.Keeper}
	streams := &application.StreamRoutes{Clusters: clusters}
	services := &fleet.ServiceRoutes{
		Clusters: clusters, Services: cfg.Services, Environments: cfg.Environments, AgentList: cfg.AgentList, Linking: cfg.Linking,
	}
	views := &fleet.ViewRoutes{Views: cfg.Views}
	applicationsOfAll := &fleet.OverviewRoutes{Fleet: cfg.Fleet, Saved: views}
	jobs := &fleet.JobRoutes{Clusters: clusters, Jobs: cfg.Jobs, Fleet: cfg.Fleet}
	notifications := &record.NotificationRoutes{
		NotificationChannels: cfg.NotificationChannels, NotificationRules: cfg.NotificationRules, Notifications: cfg.Notifications,
	}
	audits := &record.AuditRoutes{Audits: cfg.Audits}
	ledger := &record.LedgerRoutes{Ledger: cfg.Ledger, Items: cfg.Items}
	events := &record.EventRoutes{Events: cfg.Events, Fleet: cfg.Fleet, OwnJob: jobs.OwnJob}
	server := &account.ServerRoutes{
		Keeper: cfg.Keeper, PublicURL: cfg.PublicURL, Version: cfg.Version, Hosts: cfg.Hosting != nil, Demo: cfg.Demo,
	}
	return slices.Concat(
		sessions.Routes(),
		people.Routes(),
		tokens.Routes(),
		rights.Routes(),
		access.Routes(),
		agents.Routes(), upgrades.Routes(),
		applications.Routes(),
		badges.Routes(),
		services.Routes(),
		applicationsOfAll.Routes(), views.Routes(), jobs.Routes(),
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
