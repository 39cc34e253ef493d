import { notificationParts } from "@/lib/access";
import { usePart } from "@/lib/part";
import { Page, Tabs } from "@/ui/page";
import { NoPermission } from "@/ui/states";
import { Channels } from "./channels";
import { Deliveries } from "./deliveries";
import { Rules } from "./rules";

const { rules, channels } = notificationParts;

const tabs = [
  { tab: "rules", label: "Rules", ...rules, Show: Rules },
  { tab: "channels", label: "Channels", ...channels, Show: Channels },
  { tab: "deliveries", label: "Deliveries", ...rules, Show: Deliveries },
];

export default function Notifications() {
  const [current, missing] = usePart(tabs);
  const { Show } = current;
  return (
    <Page
      title="Notifications"
      name={`${current.label} · Notifications`}
      about="Rules send messages about events to channels."
    >
      <Tabs
        label="Parts of notifications"
        tabs={tabs.map((t) => ({ label: t.label, to: "/notifications", search: { tab: t.tab } }))}
      />
      {missing ? <NoPermission why={missing} /> : <Show key={current.tab} />}
    </Page>
  );
}
