import { type ComponentType, useEffect } from "react";
import { accessParts, type Need } from "@/lib/access";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { may, useMissing, useSession } from "@/lib/session";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { Can } from "./can";
import { Groups, ServiceAccounts, Users } from "./people";
import { Bindings, ResourceGroups, Roles } from "./rights";

interface Tab extends Partial<Need> {
  tab: string;
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
  { tab: "can", label: "Who may what", Show: Can },
];

export default function Access() {
  const [search, set] = useAddress();
  const who = useSession();
  const asked = tabs.find((t) => t.tab === one(search, "tab"));
  // Without a tab in the address it is the first that may be seen.
  const current = asked ?? tabs.find((t) => !t.permission || may(who, t.permission, t.scope)) ?? tabs[0]!;
  useEffect(() => {
    if (!asked) {
      set({ tab: current.tab });
    }
  }, [asked, current.tab, set]);
  const missing = useMissing(current.permission ?? "", current.scope);
  const { Show } = current;
  return (
    <Page title="Access" name={`${current.label} · Access`} about="Who may do what, and where.">
      <Tabs
        label="Parts of access"
        tabs={tabs.map((t) => ({ label: t.label, to: "/access", search: { tab: t.tab } }))}
      />
      {current.permission && missing ? <NoPermission why={missing} /> : <Show key={current.tab} />}
    </Page>
  );
}
