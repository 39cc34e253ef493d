import type { Schemas } from "@/api/client";
import type { Kind } from "@/lib/entity";

export type User = Schemas["User"];
export type Group = Schemas["Group"];
export type ServiceAccount = Schemas["ServiceAccount"];
export type Role = Schemas["Role"];
export type ResourceGroup = Schemas["ResourceGroup"];
export type Binding = Schemas["Binding"];

export const users: Kind<User> = { type: "user", path: "/api/v1/users", one: "user", many: "users", account: true };
export const groups: Kind<Group> = { type: "group", path: "/api/v1/groups", one: "group", many: "groups" };
export const serviceAccounts: Kind<ServiceAccount> = {
  type: "serviceaccount",
  path: "/api/v1/service-accounts",
  one: "service account",
  many: "service accounts",
};
export const roles: Kind<Role> = { type: "role", path: "/api/v1/roles", one: "role", many: "roles" };
export const resourceGroups: Kind<ResourceGroup> = {
  type: "resourcegroup",
  path: "/api/v1/resource-groups",
  one: "resource group",
  many: "resource groups",
};
export const bindings: Kind<Binding> = {
  type: "binding",
  path: "/api/v1/bindings",
  one: "binding",
  many: "bindings",
};

// builtIn says why what comes with the server cannot be changed; undefined for all else.
export const builtIn = (value: { builtIn?: boolean }): string | undefined =>
  value.builtIn ? "It is built in and cannot be changed. Create another one." : undefined;
