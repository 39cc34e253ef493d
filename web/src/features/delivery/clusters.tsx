import { Page } from "@/ui/page";
import type { Column } from "@/ui/table";
import { clusters, type SettingItem, settingOf } from "./setting";
import { Connection, SettingList } from "./setting-list";

const columns: Column<SettingItem>[] = [
  { key: "name", title: "Name", width: "minmax(9rem, 1fr)", cell: (i) => settingOf(i).fields.name || i.name },
  { key: "server", title: "API server", width: "minmax(14rem, 2fr)", cell: (i) => settingOf(i).fields.server },
  { key: "agent", title: "Agent", width: "minmax(8rem, 1fr)", cell: (i) => i.agent },
  { key: "connection", title: "Connection", width: "minmax(9rem, 1fr)", cell: (i) => <Connection item={i} /> },
];

// Clusters are those that agents deploy to beside their own.
export default function Clusters() {
  return (
    <Page title="Clusters" about="Clusters that agents deploy to, in addition to their own.">
      <SettingList
        kind={clusters}
        columns={columns}
        about="An agent always deploys to its own cluster, which needs no entry. A further cluster needs its address and credentials; or run an agent inside it."
      />
    </Page>
  );
}
