import type { ComponentType } from "react";
import { accessParts } from "@/lib/access";
import { type Part, usePart } from "@/lib/part";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { Can } from "./can";
import { Bindings } from "./bindings";
import { Groups } from "./groups";
import { ResourceGroups } from "./resource-groups";
import { Roles } from "./roles";
import { ServiceAccounts } from "./service-accounts";
import { Users } from "./users";

interface Tab extends Part {
  label: string;
  Show: ComponentType;
}

const tabs: Tab[] = [
  { tab: "users", label: "Users", ...accessParts.users, Show: Users },
  { tab: "groups", label: "Groups", ...accessParts.groups, Show: Groups },
  { tab: "service-accounts", label: "Service accounts", ...accessParts.serviceAccounts, Show: ServiceAccounts },
  { tab: "roles", label: "Roles", ...accessParts.roles, Show: Roles },
  { tab: "resource-groups", label: "Resource groups", ...accessParts.resourceGroups, Show: ResourceGroups },
  { tab: "bindings", label: "Bindings", ...accessParts.bindings, Show: Bindings },
  { tab: "can", label: "Check access", Show: Can },
];

export default function Access() {
  const [current, missing] = usePart(tabs);
  const { Show } = current;
  return (
    <Page title="Access" name={`${current.label} · Access`} about="The permissions of users and programs, by scope.">
      <Tabs
        label="Parts of access"
        tabs={tabs.map((t) => ({ label: t.label, to: "/access", search: { tab: t.tab } }))}
      />
      {missing ? <NoPermission why={missing} /> : <Show key={current.tab} />}
    </Page>
  );
}
