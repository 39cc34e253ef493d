import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Page } from "@/ui/page";
import type { Column } from "@/ui/table";
import { kindsText, latencyText, versionText } from "./cluster";
import { clusters, type SettingItem, settingOf } from "./setting";
import { Connection, SettingList } from "./setting-list";

const unknown = <span className="text-muted">unknown</span>;

const columns: Column<SettingItem>[] = [
  { key: "name", title: "Name", width: "minmax(8rem, 1fr)", cell: (i) => settingOf(i).fields.name || i.name },
  { key: "connection", title: "Connection", width: "10rem", cell: (i) => <Connection item={i} /> },
  { key: "server", title: "API server", width: "minmax(12rem, 2fr)", cell: (i) => settingOf(i).fields.server },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
  { key: "version", title: "Kubernetes", width: "6.5rem", cell: (i) => versionText(settingOf(i)) || unknown },
  {
    key: "latency",
    title: "Latency",
    width: "5.5rem",
    align: "right",
    cell: (i) => latencyText(settingOf(i)) || unknown,
  },
  { key: "kinds", title: "Kinds", width: "5.5rem", align: "right", cell: (i) => kindsText(settingOf(i)) || unknown },
  {
    key: "apps",
    title: "Applications",
    width: "7rem",
    align: "right",
    cell: (i) => settingOf(i).cluster?.applications ?? unknown,
  },
  {
    key: "checked",
    title: "Checked",
    width: "9rem",
    cell: (i) => {
      const at = settingOf(i).connection?.at;
      return known(at) ? <Ago at={at} /> : unknown;
    },
  },
];

// Clusters are those that agents deploy to, their own among them.
export default function Clusters() {
  return (
    <Page title="Clusters" about="Clusters that agents deploy to.">
      <SettingList
        kind={clusters}
        columns={columns}
        about="An agent deploys to its own cluster, in-cluster, without an entry. A further cluster needs its address and credentials; or run an agent inside it."
      />
    </Page>
  );
}
