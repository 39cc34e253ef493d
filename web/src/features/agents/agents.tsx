import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus, TriangleAlert } from "lucide-react";
import { isBeside } from "@/lib/engine";
import { useList } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { useCommands } from "@/lib/palette";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { useNavigate } from "@tanstack/react-router";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { ScopeFilter, SearchBox } from "@/ui/list-filters";
import { Page } from "@/ui/page";
import { Empty, Loaded, NoneYet, NoPermission } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { Tooltip } from "@/ui/tooltip";
import { type Agent, agentCounts, connected, differs, stateOf, useApplications, useServerVersion } from "./data";

// warnings are what an operator should know of an agent, in short.
export function warnings(agent: Agent, server: string): string[] {
  const status = agent.status;
  return [
    ...(status?.twin ? ["another process uses its identity"] : []),
    ...(status?.components ?? []).filter((c) => c.status !== "Healthy").map((c) => `${c.name} is not healthy`),
    ...(status?.stale ? [`${count(status.stale)} stale`] : []),
    ...(differs(agent, server) ? [`server is ${server}`] : []),
  ];
}

// Applications is how many an agent has. The summary counts those of all agents together; of very many agents it lists only
// those with the most, and the others are asked for one by one.
function Applications({ agent }: { agent: string }) {
  const missing = useMissing("application_view");
  const summary = useQuery({ ...agentCounts, enabled: !missing }).data;
  const known = summary?.values?.find((v) => v.value === agent)?.count;
  const unlisted = summary !== undefined && known === undefined && summary.distinct > (summary.values?.length ?? 0);
  const alone = useApplications(unlisted ? agent : "");
  const total = known ?? (unlisted ? alone.data?.total : summary && 0);
  if (missing) {
    return <span title={missing}>?</span>;
  }
  return (
    <Link to="/applications" search={{ agent }} className="text-accent hover:underline">
      {total === undefined ? "…" : count(total)}
    </Link>
  );
}

// LastSeen is when an agent was heard. That it was heard again is no event: as long as it is connected, it is heard all the time.
function LastSeen({ agent }: { agent: Agent }) {
  return connected(agent) ? (
    <Tooltip text="It is connected, and sends a heartbeat every 10 s. After 25 s without one, it is disconnected.">
      <span tabIndex={0}>now</span>
    </Tooltip>
  ) : (
    <Ago at={agent.status?.lastHeartbeatAt} />
  );
}

const columns = (server: string): Column<Agent>[] => [
  {
    key: "name",
    title: "Agent",
    width: "minmax(11rem,2fr)",
    sort: "name",
    cell: (a) => (
      <>
        <Link to="/agents/$agent" params={{ agent: a.id ?? "" }} className="font-medium hover:underline">
          {a.name}
        </Link>
        <span className="ml-2 text-muted">{a.displayName || a.scope}</span>
      </>
    ),
  },
  // On a narrow screen a column of 10rem has a line of its own, which the longest state needs.
  { key: "state", title: "State", width: "10rem", cell: (a) => <Status status={stateOf(a)} /> },
  {
    key: "version",
    title: "Version",
    width: "minmax(7rem,1fr)",
    cell: (a) => a.status?.version || <span className="text-muted">none yet</span>,
  },
  {
    key: "engine",
    title: "Engine",
    width: "6rem",
    cell: (a) => (isBeside(a) ? "Argo CD" : "Slipway"),
  },
  {
    key: "apps",
    title: "Applications",
    width: "7rem",
    align: "right",
    cell: (a) => <Applications agent={a.id ?? ""} />,
  },
  {
    key: "lag",
    title: "Lag",
    width: "5rem",
    align: "right",
    cell: (a) =>
      connected(a) ? (
        `${a.status?.lagSeconds ? a.status.lagSeconds.toFixed(1) : "0"} s`
      ) : (
        <span className="text-muted">–</span>
      ),
  },
  { key: "seen", title: "Last seen", width: "8.5rem", cell: (a) => <LastSeen agent={a} /> },
  {
    key: "warnings",
    title: "Needs attention",
    width: "minmax(10rem,2fr)",
    cell: (a) => {
      const all = warnings(a, server);
      return (
        all.length > 0 && (
          <Badge tone="warn" className="max-w-full">
            <TriangleAlert size={12} aria-hidden className="shrink-0" />
            <span className="truncate">{all.join("; ")}</span>
          </Badge>
        )
      );
    },
  },
];

export default function Agents() {
  const [search, set] = useAddress();
  const navigate = useNavigate();
  const missing = useMissing("agent_view");
  const mayEdit = useMissing("agent_edit");
  const server = useServerVersion();
  const sort = one(search, "sort");
  const filter = { search: one(search, "q"), scope: one(search, "scope"), sort };
  const list = useList<Agent>("agent", agents.path, filter, !missing);
  const connect = () => void navigate({ to: "/agents/connect" });
  useCommands([
    {
      id: "connect-agent",
      title: "Connect an agent",
      group: "Actions",
      ...(mayEdit ? { disabled: mayEdit } : {}),
      run: connect,
    },
  ]);
  const button = (
    <Button look="primary" why={mayEdit} onClick={connect}>
      <Plus size={15} aria-hidden /> Connect an agent
    </Button>
  );
  const rows = list.query.data;
  const filtered = Boolean(filter.search || filter.scope);
  return (
    <Page
      title="Agents"
      about="An agent keeps a cluster in sync with Git, and dials out to this server."
      actions={
        <>
          <Button asChild>
            <Link to="/agents/upgrades">Upgrades</Link>
          </Button>
          {button}
        </>
      }
    >
      {missing ? (
        <NoPermission why={missing} />
      ) : (
        <>
          <div className="flex flex-wrap items-center gap-2">
            <SearchBox label="Search agents" />
            <ScopeFilter />
            <span role="status" className="text-sm text-muted">
              {rows && `${count(list.total)} ${list.total === 1 ? "agent" : "agents"}`}
            </span>
          </div>
          <section className="min-w-0 rounded-lg border bg-surface">
            <Loaded query={list.query}>
              {(all) =>
                all.length > 0 ? (
                  <Table
                    label="Agents"
                    rows={all}
                    columns={columns(server)}
                    rowKey={(a) => a.id ?? a.name}
                    sort={sort || "name"}
                    onSort={(next) => set({ sort: next === "name" ? "" : next })}
                    onOpen={(a) => void navigate({ to: "/agents/$agent", params: { agent: a.id ?? "" } })}
                    {...(list.more ? { onEnd: list.more } : {})}
                  />
                ) : filtered ? (
                  <Empty
                    filtered
                    title="No agent matches"
                    action={<Button onClick={() => set({ q: "", scope: "" })}>Show all</Button>}
                  >
                    Use fewer words, or show all.
                  </Empty>
                ) : (
                  <NoneYet many="agents" permission="agent_view" action={button}>
                    Install one into a cluster with one command. Its applications appear within seconds.
                  </NoneYet>
                )
              }
            </Loaded>
          </section>
        </>
      )}
    </Page>
  );
}
