package httpapi

import "slices"

// table is all routes. Each line of it has method, path, permission, audit verb and handler; test/walk goes over it.
func (h *Handler) table() []Route {
	all := [][]Route{
		h.sessionRoutes(),
		h.users().routes("create"),
		{h.createUser(), h.resetPassword()},
		h.groups().routes(),
		h.serviceAccounts().routes(),
		h.tokenRoutes(),
		h.organizations().routes(),
		h.projects().routes(),
		h.roles().routes(),
		h.resourceGroups().routes(),
		h.bindings().routes(),
		h.accessRoutes(),
		h.agentRoutes(),
		h.mappingRoutes(),
		h.applicationRoutes(),
		h.services().routes(),
		h.environments().routes(),
		h.linkRoutes(),
		h.matrixRoutes(),
		h.fleetRoutes(), h.viewRoutes(), h.jobRoutes(),
		h.notificationChannels().routes(), h.notificationRules().routes(), h.notificationRoutes(),
		h.applicationObjects().writes(), h.sourceRoutes(),
		h.operationRoutes(),
		h.resourceRoutes(),
		{h.treeEventsRoute(), h.logsRoute(), h.terminalRoute()},
		h.applicationSetObjects().reads(), h.applicationSetObjects().writes(),
		h.argoProjectObjects().reads(), h.argoProjectObjects().writes(),
		h.knownHostRoutes(),
		h.commandRoutes(),
		h.auditRoutes(),
		h.ledgerRoutes(),
		h.eventRoutes(),
		h.settingsRoutes(),
	}
	for _, n := range h.settingNouns() {
		all = append(all, n.routes())
	}
	return slices.Concat(all...)
}
