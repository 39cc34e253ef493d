import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useState } from "react";
import { useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count } from "@/lib/format";
import { useCommands } from "@/lib/palette";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { Card, Page } from "@/ui/page";
import { Failed, Loading } from "@/ui/states";
import { Status } from "@/ui/status";
import { type Agent, connected, differs, stateOf, useServerVersion } from "./data";
import { Commands } from "./commands";
import { EditAgent } from "./edit-agent";
import { Mappings } from "./mappings";
import { type Asked, Asks } from "./agent-asks";
import { Now } from "./agent-now";

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
  const away = connected(agent) ? undefined : "The agent is not connected. Try again when it is back.";
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
            <p className="text-muted">They appear when the agent connects.</p>
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
          Another process uses the identity of this agent, in cluster <code>{status.twin.clusterUID}</code>
          {status.twin.address && ` from ${status.twin.address}`}; it was refused <Ago at={status.twin.lastSeenAt} />.
          Stop it, or revoke this agent and install it again in the right cluster.
        </Note>
      )}
      {differs(agent, server) && (
        <Note>
          It runs version {status?.version}, the server {server}: install it again to bring it to the server's.
        </Note>
      )}
      {Boolean(status?.stale) && (
        <Note>
          {count(status?.stale ?? 0)} items are kept although the agent no longer reports them.{" "}
          <Link to="/applications" search={{ agent: agent.id, stale: "true" }} className="text-accent underline">
            Look at them
          </Link>
        </Note>
      )}
    </>
  );
}
