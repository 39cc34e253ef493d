import { useMemo } from "react";
import { Ago } from "@/ui/ago";
import { KindIcon } from "@/ui/kind-icon";
import { Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { ChildLink } from "./child-link";
import { fact, type Node } from "./model";

const columns: Column<Node>[] = [
  {
    key: "kind",
    title: "Kind",
    width: "minmax(8rem, 1fr)",
    sort: "kind",
    cell: (n) => (
      <span className="flex min-w-0 items-center gap-2">
        <KindIcon kind={n.kind} />
        <span className="min-w-0 truncate">{n.kind}</span>
      </span>
    ),
  },
  {
    key: "name",
    title: "Name",
    width: "minmax(14rem, 2fr)",
    sort: "name",
    cell: (n) => (
      <span className="flex min-w-0 items-center gap-1 font-medium">
        <span className="min-w-0 truncate">{n.name}</span>
        {n.kind === "Application" && <ChildLink node={n} small />}
      </span>
    ),
  },
  {
    key: "namespace",
    title: "Namespace",
    width: "minmax(7rem, 1fr)",
    sort: "namespace",
    cell: (n) => n.namespace ?? "",
  },
  {
    key: "health",
    title: "Health",
    width: "8rem",
    sort: "health",
    cell: (n) => n.health && <Status status={n.health} />,
  },
  { key: "sync", title: "Sync", width: "8rem", sort: "sync", cell: (n) => n.sync && <Status status={n.sync} /> },
  {
    key: "fact",
    title: "State",
    width: "minmax(10rem, 1.5fr)",
    cell: (n) => <span title={n.message}>{n.message ?? fact(n)}</span>,
  },
  { key: "created", title: "Created", width: "9.5rem", sort: "created", cell: (n) => <Ago at={n.createdAt} none="" /> },
];

const collator = new Intl.Collator("en", { numeric: true });

// sorted puts nodes in the order of a field, "-" before it for the other direction. What is equal is by kind and name.
export function sorted(nodes: readonly Node[], sort: string): Node[] {
  const down = sort.startsWith("-");
  const field = down ? sort.slice(1) : sort;
  const value = (n: Node): string =>
    field === "created"
      ? (n.createdAt ?? "")
      : ((
          { kind: n.kind, name: n.name, namespace: n.namespace, health: n.health, sync: n.sync } as Record<
            string,
            string | undefined
          >
        )[field] ?? "");
  return [...nodes].sort((a, b) => {
    const by = collator.compare(value(a), value(b)) * (down ? -1 : 1);
    return by || collator.compare(a.kind, b.kind) || collator.compare(a.name, b.name);
  });
}

// ResourceList shows objects as rows: what the graph shows, for those who read rather than look.
export function ResourceList({
  nodes,
  sort,
  onSort,
  chosen,
  onOpen,
}: {
  nodes: Node[];
  sort: string;
  onSort: (sort: string) => void;
  chosen: string;
  onOpen: (id: string) => void;
}) {
  const rows = useMemo(() => sorted(nodes, sort || "kind"), [nodes, sort]);
  return (
    <div className="rounded-lg border bg-surface">
      <Table
        label="Resources"
        rows={rows}
        columns={columns}
        rowKey={(n) => n.id}
        sort={sort || "kind"}
        onSort={onSort}
        onOpen={(n) => onOpen(n.id)}
        selected={(n) => n.id === chosen}
        className="max-h-[max(26rem,calc(100dvh-17rem))]"
      />
    </div>
  );
}
