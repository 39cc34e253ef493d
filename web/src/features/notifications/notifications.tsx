import { useEffect } from "react";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { Channels } from "./channels";
import { Deliveries } from "./deliveries";
import { Rules } from "./rules";

const tabs = [
  { tab: "rules", label: "Rules", permission: "notificationrule_view", Show: Rules },
  { tab: "channels", label: "Channels", permission: "notificationchannel_view", Show: Channels },
  { tab: "deliveries", label: "Deliveries", permission: "notificationrule_view", Show: Deliveries },
];

export default function Notifications() {
  const [search, set] = useAddress();
  const asked = tabs.find((t) => t.tab === one(search, "tab"));
  const current = asked ?? tabs[0]!;
  useEffect(() => {
    if (!asked) {
      set({ tab: current.tab });
    }
  }, [asked, current.tab, set]);
  const missing = useMissing(current.permission);
  const { Show } = current;
  return (
    <Page title="Notifications" name={`${current.label} · Notifications`} about="What is told, and to whom.">
      <Tabs
        label="Parts of notifications"
        tabs={tabs.map((t) => ({ label: t.label, to: "/notifications", search: { tab: t.tab } }))}
      />
      {missing ? <NoPermission why={missing} /> : <Show key={current.tab} />}
    </Page>
  );
}
