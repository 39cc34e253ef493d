import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { send } from "@/api/client";
import { isBeside } from "@/lib/engine";
import { create, remove, useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count, plural } from "@/lib/format";
import { useCommands } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { leave } from "@/lib/reread";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { known } from "@/lib/time";
import { Ago, Lasting } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Copy } from "@/ui/copy";
import { Menu } from "@/ui/menu";
import { Card, Facts, Page } from "@/ui/page";
import { Failed, Loading } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { toast } from "@/ui/toast";
import { type Agent, connected, differs, heardEvery, stateOf, useApplications, useServerVersion } from "./data";
import { Commands } from "./commands";
import { EditAgent } from "./edit-agent";
import { Mappings } from "./mappings";

export default function AgentPage() {
  const { agent: id = "" } = useParams({ strict: false });
  const agent = useEntity(agents, id);
  if (agent.data) {
    return <Shown agent={agent.data} onReload={agent.refetch} />;
  }
  return (
    <Page title={id}>
      {agent.error ? <Failed error={agent.error} retry={() => void agent.refetch()} /> : <Loading rows={10} />}
    </Page>
  );
}

const disabled = (why: string | undefined) => (why ? { disabled: why } : {});

type Asked = "rotate" | "revoke" | "delete" | "";

function Shown({ agent, onReload }: { agent: Agent; onReload: () => Promise<unknown> }) {
  const id = agent.id ?? "";
  const navigate = useNavigate();
  const mayEdit = useMissing("agent_edit", agent.scope);
  const mayDelete = useMissing("agent_delete", agent.scope);
  const [asked, setAsked] = useState<Asked>("");
  const [search, set] = useAddress();
  const edit = () => set({ edit: "yes" }, false);
  const [reads, setReads] = useState(0);
  const status = agent.status;
  const away = connected(agent) ? undefined : "The agent is not connected: it can be asked when it is back.";
  const install = () => void navigate({ to: "/agents/connect", search: { agent: id, again: "yes" } });
  useCommands([
    {
      id: "agent-rotate",
      title: `Rotate the keys of ${agent.name}`,
      group: "Actions",
      ...disabled(mayEdit ?? away),
      run: () => setAsked("rotate"),
    },
    { id: "agent-edit", title: `Edit ${agent.name}`, group: "Actions", ...disabled(mayEdit), run: edit },
    {
      id: "agent-install",
      title: `Install ${agent.name} again`,
      group: "Actions",
      ...disabled(mayEdit),
      run: install,
    },
  ]);
  return (
    <Page
      title={agent.name}
      name={`${agent.name} · Agents`}
      about={[agent.displayName, agent.description].filter(Boolean).join(": ") || `Agent of ${agent.scope}`}
      actions={
        <>
          <Status status={stateOf(agent)} />
          <Button why={mayEdit} onClick={edit}>
            Edit…
          </Button>
          <Menu
            trigger={<Button>More</Button>}
            items={[
              { label: "Install again", why: mayEdit, run: install },
              { label: "Rotate keys", why: mayEdit ?? away, run: () => setAsked("rotate") },
              { label: "Revoke", danger: true, why: mayDelete, run: () => setAsked("revoke") },
              { label: "Delete", danger: true, why: mayDelete, run: () => setAsked("delete") },
            ]}
          />
        </>
      }
    >
      <Warnings agent={agent} />
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="Now">
          <Now agent={agent} />
        </Card>
        <Card title="Components">
          {(status?.components ?? []).length === 0 ? (
            <p className="text-muted">They are told of when it connects.</p>
          ) : (
            <ul className="space-y-1.5">
              {status?.components?.map((c) => (
                <li key={c.name} className="flex gap-3">
                  <span className="w-28 shrink-0">{c.name}</span>
                  <Status status={c.status === "Healthy" ? "Healthy" : "Degraded"} label={c.status} />
                  <span className="min-w-0 break-words text-muted">{c.message}</span>
                </li>
              ))}
            </ul>
          )}
          {(status?.unsupported ?? []).length > 0 && (
            <>
              <h3 className="mt-4 mb-1 font-medium">Unsupported commands</h3>
              <ul className="space-y-1 text-sm text-muted">
                {status?.unsupported?.map((u) => (
                  <li key={u.command}>
                    <code>{u.command}</code>: {u.message}
                  </li>
                ))}
              </ul>
            </>
          )}
        </Card>
      </div>
      <Mappings agent={agent} />
      <Commands agent={id} />
      <Asks agent={agent} asked={asked} onClose={() => setAsked("")} />
      {one(search, "edit") && (
        <EditAgent
          key={reads}
          agent={agent}
          onClose={() => set({ edit: "" }, false)}
          onReload={() => void onReload().then(() => setReads(reads + 1))}
        />
      )}
    </Page>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <div role="note" className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2">
      <TriangleAlert size={16} aria-hidden className="mt-0.5 shrink-0 text-warn" />
      <div className="min-w-0 break-words">{children}</div>
    </div>
  );
}

function Warnings({ agent }: { agent: Agent }) {
  const server = useServerVersion();
  const status = agent.status;
  return (
    <>
      {status?.message && <Note>{status.message}</Note>}
      {status?.twin && (
        <Note>
          Another process claims to be this agent, in cluster <code>{status.twin.clusterUID}</code>
          {status.twin.address && ` from ${status.twin.address}`}; it was refused <Ago at={status.twin.lastSeenAt} />.
          Stop it, or revoke this agent and install it anew where it belongs.
        </Note>
      )}
      {differs(agent, server) && (
        <Note>
          It runs version {status?.version}, the server {server}: install it again to bring it to the server's.
        </Note>
      )}
      {Boolean(status?.stale) && (
        <Note>
          {count(status?.stale ?? 0)} items are kept although the agent does not tell of them any more.{" "}
          <Link to="/applications" search={{ agent: agent.id, stale: "true" }} className="text-accent underline">
            Look at them
          </Link>
        </Note>
      )}
    </>
  );
}

function Now({ agent }: { agent: Agent }) {
  const apps = useApplications(agent.id ?? "");
  // Events tell of all that is shown here but when it was heard last, and its lag.
  useEntity(agents, agent.id, heardEvery(agent));
  const status = agent.status;
  const hosted = agent.hosted;
  return (
    <Facts
      facts={[
        [
          "State",
          <span key="s" className="inline-flex flex-wrap items-center gap-2">
            <Status status={stateOf(agent)} />
            {known(status?.since) && (
              <span>
                for <Lasting since={status.since} />
              </span>
            )}
          </span>,
        ],
        ["Last seen", <Ago key="h" at={status?.lastHeartbeatAt} />],
        [
          "Lag",
          status?.pending
            ? `${plural(status.pending, "change")}, the oldest ${(status.lagSeconds ?? 0).toFixed(1)} s old`
            : connected(agent)
              ? "none: up to date"
              : "unknown until the agent is back",
        ],
        [
          "Applications",
          apps.missing ?? (
            <Link key="a" to="/applications" search={{ agent: agent.id }} className="text-accent hover:underline">
              {apps.data ? count(apps.data.total) : "…"}
            </Link>
          ),
        ],
        ["Version", status?.version || "not known yet"],
        ["Engine", isBeside(agent) ? "Argo CD" : "Slipway"],
        ["Kubernetes", status?.kubernetes || "not known yet"],
        ["Namespace", status?.namespace || hosted?.namespace || "not known yet"],
        ["Access", agent.namespaced ? "its own namespace only" : "the whole cluster"],
        ["Scope", agent.scope],
        [
          "ID",
          <span key="i" className="inline-flex items-center gap-1">
            <code className="break-all">{agent.id}</code>
            <Copy text={agent.id ?? ""} label="Copy the ID" />
          </span>,
        ],
        [
          "Cluster",
          <code key="c" className="break-all">
            {status?.clusterUID || "not known yet"}
          </code>,
        ],
        ["Registered", <Ago key="r" at={status?.registeredAt} />],
        ...(hosted
          ? ([
              [
                "Run by",
                <span key="b">
                  the server{hosted.server && ` on ${hosted.server}`}: <Badge>{hosted.state}</Badge> {hosted.message}
                  {Boolean(hosted.restarts) && ` (${hosted.restarts} restarts)`}
                </span>,
              ],
            ] as [ReactNode, ReactNode][])
          : []),
      ]}
    />
  );
}

function Asks({ agent, asked, onClose }: { agent: Agent; asked: Asked; onClose: () => void }) {
  const id = agent.id ?? "";
  const path = `${agents.path}/${encodeURIComponent(id)}`;
  const apps = useApplications(asked === "delete" ? id : "");
  const navigate = useNavigate();
  const again = () => void queryClient.invalidateQueries({ queryKey: ["agent"] });
  return (
    <>
      <Confirm
        open={asked === "rotate"}
        onClose={onClose}
        title={`Rotate the keys of ${agent.name}`}
        action="Rotate keys"
        danger={false}
        onConfirm={async () => {
          await create({ path: `${path}/rotate` }, undefined);
          toast(`${agent.name} was asked to make new keys.`);
          again();
        }}
      >
        <p>The agent makes a new key pair and goes on with it. Nothing is interrupted.</p>
      </Confirm>
      <Confirm
        open={asked === "revoke"}
        onClose={onClose}
        title={`Revoke ${agent.name}`}
        action={`Revoke ${agent.name}`}
        typed={agent.name}
        onConfirm={async () => {
          await send("POST", `${path}/revoke`);
          toast(`${agent.name} revoked.`);
          again();
        }}
      >
        <p>
          Its key is worth nothing any more and its connection is cut at once. It goes on deploying what Git says,
          unseen; with a new registration token it can come back.
        </p>
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={onClose}
        title={`Delete ${agent.name}`}
        action={`Delete ${agent.name}`}
        typed={agent.name}
        onConfirm={async () => {
          await leave(id, async () => {
            await remove(agents, id);
            toast(`${agent.name} deleted.`);
            await navigate({ to: "/agents" });
          });
          again();
        }}
      >
        <p>
          The server forgets the agent and what it knows of it: {apps.data ? count(apps.data.total) : "its"}{" "}
          applications, its clusters and repositories, and which Argo projects are mapped. What it deployed stays, and
          so does the agent's own installation in the cluster. The ledger and the audit keep what was done.
        </p>
      </Confirm>
    </>
  );
}
