import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { count } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Card, Page } from "@/ui/page";
import { Empty, Loaded, NoPermission } from "@/ui/states";
import { Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { NewUpgrade } from "./new-upgrade";
import { UpgradeDrawer } from "./upgrade-drawer";
import { stepOf, useVersions, wantedBy } from "./upgrade-data";
import { type Agent, stateOf } from "./data";

type Upgrade = Schemas["Upgrade"];

const upgradeColumns: Column<Upgrade>[] = [
  { key: "state", title: "State", width: "8rem", cell: (u) => <Status status={u.state} /> },
  {
    key: "version",
    title: "Version",
    width: "minmax(7rem,1fr)",
    cell: (u) => u.request.release || "as wanted",
  },
  { key: "step", title: "Step", width: "7rem", cell: (u) => stepOf(u) },
  { key: "done", title: "Upgraded", width: "7rem", cell: (u) => `${count(u.counts.done)} of ${count(u.counts.total)}` },
  { key: "by", title: "By", width: "minmax(7rem,1fr)", cell: (u) => u.by.id },
  { key: "at", title: "Begun", width: "9.5rem", cell: (u) => <Ago at={u.createdAt} /> },
  {
    key: "message",
    title: "Message",
    width: "minmax(12rem,2fr)",
    cell: (u) => {
      const text = u.message || u.request.reason || "";
      return <span title={text}>{text}</span>;
    },
  },
];

const fleetColumns = (versions: Schemas["AgentVersions"] | undefined): Column<Agent>[] => [
  {
    key: "name",
    title: "Agent",
    width: "minmax(10rem,2fr)",
    cell: (a) => (
      <Link to="/agents/$agent" params={{ agent: a.id ?? "" }} className="font-medium hover:underline">
        {a.name}
      </Link>
    ),
  },
  { key: "state", title: "State", width: "9rem", cell: (a) => <Status status={stateOf(a)} /> },
  { key: "runs", title: "Runs", width: "minmax(7rem,1fr)", cell: (a) => a.status?.version || "unknown" },
  {
    key: "wanted",
    title: "Wanted",
    width: "minmax(7rem,1fr)",
    cell: (a) => wantedBy(versions, a) || <span className="text-muted">no rule</span>,
  },
  {
    key: "why",
    title: "Upgrades itself",
    width: "minmax(12rem,3fr)",
    cell: (a) => {
      const why = a.status?.noUpgrade ?? "";
      return a.status?.upgrades ? "yes" : <span title={why}>{why ? `no: ${why}` : "no"}</span>;
    },
  },
];

// useUpgrades are the upgrades, the newest first. One that runs is looked at again all the time: that agents stay healthy is no event.
function useUpgrades(enabled: boolean) {
  return useQuery({
    queryKey: ["agent", "upgrades"],
    enabled,
    queryFn: ({ signal }) => data(client.GET("/api/v1/agent-upgrades", { signal })),
    select: (page) => page.items ?? [],
    refetchInterval: (query) => (query.state.data?.items?.some((u) => u.state === "running") ? 2000 : false),
  });
}

// Upgrades shows which version agents run and should run, and the upgrades that make them run it.
export default function Upgrades() {
  const [search, set] = useAddress();
  const missing = useMissing("agent_view");
  const mayEdit = useMissing("agent_edit");
  const [asking, setAsking] = useState(false);
  const upgrades = useUpgrades(!missing);
  const versions = useVersions(!missing);
  const fleet = useQuery({
    queryKey: ["agent", "fleet"],
    enabled: !missing,
    queryFn: ({ signal }) => data(client.GET("/api/v1/agents", { params: { query: { limit: 1000 } }, signal })),
    select: (page) => page.items ?? [],
  });
  const id = one(search, "upgrade");
  return (
    <Page
      title="Upgrades"
      name="Upgrades · Agents"
      about="Upgrade agents in waves: canaries first, then steps, each of which waits until its agents are healthy."
      actions={
        <Button look="primary" why={mayEdit} onClick={() => setAsking(true)}>
          <Plus size={15} aria-hidden /> Upgrade agents
        </Button>
      }
    >
      {missing ? (
        <NoPermission why={missing} />
      ) : (
        <>
          <Card title="Upgrades" flush>
            <Loaded query={upgrades}>
              {(all) =>
                all.length > 0 ? (
                  <Table
                    label="Upgrades"
                    rows={all}
                    columns={upgradeColumns}
                    rowKey={(u) => u.id ?? ""}
                    onOpen={(u) => set({ upgrade: u.id ?? "" }, false)}
                  />
                ) : (
                  <Empty title="There are no upgrades yet">
                    Add a signed release with the command line (slipway agent release add), then upgrade the agents.
                  </Empty>
                )
              }
            </Loaded>
          </Card>
          <Card title="Versions of agents" flush>
            <Loaded query={fleet}>
              {(all) =>
                all.length > 0 ? (
                  <Table
                    label="Versions of agents"
                    rows={all}
                    columns={fleetColumns(versions.data)}
                    rowKey={(a) => a.id ?? a.name}
                  />
                ) : (
                  <Empty title="There are no agents yet">
                    <Link to="/agents/connect" className="text-accent hover:underline">
                      Connect an agent
                    </Link>
                  </Empty>
                )
              }
            </Loaded>
          </Card>
        </>
      )}
      <NewUpgrade open={asking} onClose={() => setAsking(false)} onMade={(made) => set({ upgrade: made }, false)} />
      <UpgradeDrawer id={id} onClose={() => set({ upgrade: "" }, false)} />
    </Page>
  );
}
