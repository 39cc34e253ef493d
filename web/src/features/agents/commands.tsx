import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { useList } from "@/lib/entity";
import { Ago } from "@/ui/ago";
import { Card } from "@/ui/page";
import { Loaded, Loading } from "@/ui/states";
import { Badge, type Tone } from "@/ui/status";
import { type Column, Table } from "@/ui/table";

type Command = Schemas["Command"];

const tones: Record<string, Tone> = {
  done: "ok",
  pending: "idle",
  sent: "busy",
  failed: "bad",
  refused: "bad",
  expired: "warn",
  unknown: "warn",
};

const columns: Column<Command>[] = [
  { key: "at", title: "When", width: "9.5rem", cell: (c) => <Ago at={c.createdAt} /> },
  { key: "kind", title: "Command", width: "minmax(14rem,1fr)", cell: (c) => <code>{c.kind}</code> },
  { key: "object", title: "Object", width: "minmax(12rem,2fr)", cell: (c) => c.object?.id },
  { key: "by", title: "Requested by", width: "minmax(8rem,1fr)", cell: (c) => c.by.id },
  {
    key: "status",
    title: "Status",
    width: "7rem",
    cell: (c) => <Badge tone={tones[c.status] ?? "idle"}>{c.status}</Badge>,
  },
  {
    key: "message",
    title: "Message",
    width: "minmax(12rem,2fr)",
    cell: (c) =>
      (c.message || c.reason) && (
        <span className="text-muted" title={c.message}>
          {c.message || c.reason}
        </span>
      ),
  },
];

// Commands are what people requested of the agent.
export function Commands({ agent }: { agent: string }) {
  const list = useList<Command>("agent", `/api/v1/agents/${encodeURIComponent(agent)}/commands`, {});
  return (
    <Card
      flush
      title="Commands"
      actions={
        <Link to="/audit" search={{ object: agent }} className="text-sm text-accent hover:underline">
          Audit of this agent
        </Link>
      }
    >
      <Loaded query={list.query} loading={<Loading rows={3} />}>
        {(all) =>
          all.length === 0 ? (
            <p className="p-4 text-muted">No commands yet. Syncs, rollbacks and changes of settings appear here.</p>
          ) : (
            <Table
              label="Commands"
              rows={all}
              columns={columns}
              rowKey={(c) => c.id}
              className="max-h-96"
              {...(list.more ? { onEnd: list.more } : {})}
            />
          )
        }
      </Loaded>
    </Card>
  );
}
