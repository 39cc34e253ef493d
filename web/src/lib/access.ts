import { may, type Whoami } from "./session";

// Need is a permission, and the scope that it has to be held at; left out: anywhere.
export interface Need {
  permission: string;
  scope?: string;
}

// accessParts are the parts of the page on access that need a permission. The rest of it, the access check, is open to all users
// about themselves.
export const accessParts = {
  users: { permission: "user_view", scope: "account" },
  groups: { permission: "group_view" },
  serviceAccounts: { permission: "serviceaccount_view" },
  roles: { permission: "role_view" },
  resourceGroups: { permission: "resourcegroup_view" },
  bindings: { permission: "binding_view" },
} satisfies Record<string, Need>;

// notificationParts are those of the page on notifications; who sees rules sees what was sent by them.
export const notificationParts = {
  rules: { permission: "notificationrule_view" },
  channels: { permission: "notificationchannel_view" },
} satisfies Record<string, Need>;

// projectParts are those of the page on projects.
export const projectParts = {
  projects: { permission: "project_view" },
  organizations: { permission: "organization_view" },
  argo: { permission: "argoproject_view" },
} satisfies Record<string, Need>;

// firstSeen is the first of the parts of a place that may be seen; where none may, the first of all, which says what is missing.
export const firstSeen = <T extends Partial<Need>>(who: Whoami | null, parts: readonly T[]): T =>
  parts.find((p) => !p.permission || may(who, p.permission, p.scope)) ?? parts[0]!;

// offered is true of a place where the signed-in user sees something.
export const offered = (who: Whoami | null, { permission, parts }: { permission?: string; parts?: Need[] }): boolean =>
  (!permission || may(who, permission)) && (!parts || parts.some((p) => may(who, p.permission, p.scope)));
