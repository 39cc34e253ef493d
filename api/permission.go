package api

import "slices"

// Permission is a right to do something with one type of object: "<type>_<verb>".
type Permission string

// Permissions. What a role grants and a token is limited to.
const (
	PermAgentView                 Permission = "agent_view"
	PermAgentEdit                 Permission = "agent_edit"
	PermAgentDelete               Permission = "agent_delete"
	PermApplicationView           Permission = "application_view"
	PermApplicationEdit           Permission = "application_edit"
	PermApplicationDelete         Permission = "application_delete"
	PermApplicationSync           Permission = "application_sync"
	PermApplicationExec           Permission = "application_exec"
	PermApplicationLogs           Permission = "application_logs"
	PermApplicationResourceAction Permission = "application_resourceaction"
	PermApplicationSetView        Permission = "applicationset_view"
	PermApplicationSetEdit        Permission = "applicationset_edit"
	PermApplicationSetDelete      Permission = "applicationset_delete"
	PermArgoProjectView           Permission = "argoproject_view"
	PermArgoProjectEdit           Permission = "argoproject_edit"
	PermArgoProjectDelete         Permission = "argoproject_delete"
	PermClusterView               Permission = "cluster_view"
	PermClusterEdit               Permission = "cluster_edit"
	PermClusterDelete             Permission = "cluster_delete"
	PermRepositoryView            Permission = "repository_view"
	PermRepositoryEdit            Permission = "repository_edit"
	PermRepositoryDelete          Permission = "repository_delete"
	PermCertView                  Permission = "cert_view"
	PermCertEdit                  Permission = "cert_edit"
	PermCertDelete                Permission = "cert_delete"
	PermGPGKeyView                Permission = "gpgkey_view"
	PermGPGKeyEdit                Permission = "gpgkey_edit"
	PermGPGKeyDelete              Permission = "gpgkey_delete"
	PermOrganizationView          Permission = "organization_view"
	PermOrganizationEdit          Permission = "organization_edit"
	PermOrganizationDelete        Permission = "organization_delete"
	PermProjectView               Permission = "project_view"
	PermProjectEdit               Permission = "project_edit"
	PermProjectDelete             Permission = "project_delete"
	PermUserView                  Permission = "user_view"
	PermUserEdit                  Permission = "user_edit"
	PermUserDelete                Permission = "user_delete"
	PermGroupView                 Permission = "group_view"
	PermGroupEdit                 Permission = "group_edit"
	PermGroupDelete               Permission = "group_delete"
	PermServiceAccountView        Permission = "serviceaccount_view"
	PermServiceAccountEdit        Permission = "serviceaccount_edit"
	PermServiceAccountDelete      Permission = "serviceaccount_delete"
	PermTokenView                 Permission = "token_view"
	PermTokenEdit                 Permission = "token_edit"
	PermTokenDelete               Permission = "token_delete"
	PermRoleView                  Permission = "role_view"
	PermRoleEdit                  Permission = "role_edit"
	PermRoleDelete                Permission = "role_delete"
	PermResourceGroupView         Permission = "resourcegroup_view"
	PermResourceGroupEdit         Permission = "resourcegroup_edit"
	PermResourceGroupDelete       Permission = "resourcegroup_delete"
	PermBindingView               Permission = "binding_view"
	PermBindingEdit               Permission = "binding_edit"
	PermBindingDelete             Permission = "binding_delete"
	PermServiceView               Permission = "service_view"
	PermServiceEdit               Permission = "service_edit"
	PermServiceDelete             Permission = "service_delete"
	PermEnvironmentView           Permission = "environment_view"
	PermEnvironmentEdit           Permission = "environment_edit"
	PermEnvironmentDelete         Permission = "environment_delete"
	PermNotificationChannelView   Permission = "notificationchannel_view"
	PermNotificationChannelEdit   Permission = "notificationchannel_edit"
	PermNotificationChannelDelete Permission = "notificationchannel_delete"
	PermNotificationRuleView      Permission = "notificationrule_view"
	PermNotificationRuleEdit      Permission = "notificationrule_edit"
	PermNotificationRuleDelete    Permission = "notificationrule_delete"
	PermJobView                   Permission = "job_view"
	PermJobEdit                   Permission = "job_edit"
	PermSavedViewEdit             Permission = "savedview_edit"
	PermAuditView                 Permission = "audit_view"
	PermSettingView               Permission = "setting_view"
	PermSettingEdit               Permission = "setting_edit"
)

// Types of objects that rights are about.
const (
	TypeAgent          = "agent"
	TypeApplication    = "application"
	TypeApplicationSet = "applicationset"
	TypeArgoProject    = "argoproject"
	TypeCluster        = "cluster"
	// TypeRepository is that of repositories and of credential templates.
	TypeRepository = "repository"
	// TypeCert is that of TLS certificates and of SSH known hosts.
	TypeCert           = "cert"
	TypeGPGKey         = "gpgkey"
	TypeOrganization   = "organization"
	TypeProject        = "project"
	TypeUser           = "user"
	TypeGroup          = "group"
	TypeServiceAccount = "serviceaccount"
	TypeToken          = "token"
	TypeRole           = "role"
	TypeResourceGroup  = "resourcegroup"
	TypeBinding        = "binding"
	TypeService        = "service"
	TypeEnvironment    = "environment"
	// TypeJob is that of bulk jobs, TypeSavedView that of filters that everyone sees.
	TypeJob       = "job"
	TypeSavedView = "savedview"
	TypeAudit     = "audit"
	// TypeNotificationChannel is where notifications go, TypeNotificationRule which of them; deliveries are their rule's.
	TypeNotificationChannel = "notificationchannel"
	TypeNotificationRule    = "notificationrule"
	TypeSetting             = "setting"
)

//nolint:gochecknoglobals // a table
var permissions = []Permission{
	PermAgentView, PermAgentEdit, PermAgentDelete,
	PermApplicationView, PermApplicationEdit, PermApplicationDelete, PermApplicationSync, PermApplicationExec,
	PermApplicationLogs, PermApplicationResourceAction,
	PermApplicationSetView, PermApplicationSetEdit, PermApplicationSetDelete,
	PermArgoProjectView, PermArgoProjectEdit, PermArgoProjectDelete,
	PermClusterView, PermClusterEdit, PermClusterDelete,
	PermRepositoryView, PermRepositoryEdit, PermRepositoryDelete,
	PermCertView, PermCertEdit, PermCertDelete,
	PermGPGKeyView, PermGPGKeyEdit, PermGPGKeyDelete,
	PermOrganizationView, PermOrganizationEdit, PermOrganizationDelete,
	PermProjectView, PermProjectEdit, PermProjectDelete,
	PermUserView, PermUserEdit, PermUserDelete,
	PermGroupView, PermGroupEdit, PermGroupDelete,
	PermServiceAccountView, PermServiceAccountEdit, PermServiceAccountDelete,
	PermTokenView, PermTokenEdit, PermTokenDelete,
	PermRoleView, PermRoleEdit, PermRoleDelete,
	PermResourceGroupView, PermResourceGroupEdit, PermResourceGroupDelete,
	PermBindingView, PermBindingEdit, PermBindingDelete,
	PermServiceView, PermServiceEdit, PermServiceDelete,
	PermEnvironmentView, PermEnvironmentEdit, PermEnvironmentDelete,
	PermNotificationChannelView, PermNotificationChannelEdit, PermNotificationChannelDelete,
	PermNotificationRuleView, PermNotificationRuleEdit, PermNotificationRuleDelete,
	PermJobView, PermJobEdit, PermSavedViewEdit,
	PermAuditView, PermSettingView, PermSettingEdit,
}

// Permissions lists all there are, by type.
func Permissions() []Permission { return slices.Clone(permissions) }

// Known is true for a permission that exists.
func (p Permission) Known() bool { return slices.Contains(permissions, p) }

// Type is the type of object that a permission is about, "application" of "application_sync".
func (p Permission) Type() string {
	for i := range len(p) {
		if p[i] == '_' {
			return string(p[:i])
		}
	}
	return string(p)
}

// Verb is what a permission allows, "sync" of "application_sync".
func (p Permission) Verb() string {
	for i := range len(p) {
		if p[i] == '_' {
			return string(p[i+1:])
		}
	}
	return ""
}
