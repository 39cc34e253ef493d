import { useMemo } from "react";
import { type App, useApp } from "@/lib/application";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { between, known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Copy } from "@/ui/copy";
import { Empty, ErrorNote, Loading } from "@/ui/states";
import { Badge, Status } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { Compare } from "./compare";
import { useLedger } from "./ledger";
import { madeOf, useCommit } from "./commit";
import { compose, type Past } from "./past";
import { Restore } from "./restore";
import { CommitName } from "./revision";
import { Rollback } from "./rollback";
import { useDetail, useMay } from "./use";

const actions: Record<string, string> = {
  sync: "Sync",
  rollback: "Rollback",
  restore: "Restore",
  "dry-run": "Dry run",
  partial: "Some objects",
  delete: "Deletion",
};

// ApplicationHistory is what was done with the application: who, what, why and how it ended.
export default function ApplicationHistory() {
  const app = useApp();
  const { detail, resource } = useDetail(app);
  const [search, set] = useAddress();
  const may = useMay(app);
  const ledger = useLedger(app);
  const all = useMemo(
    () => compose(resource, ledger.data?.pages.flatMap((p) => p.items ?? []) ?? [], detail?.unsupported),
    [resource, detail, ledger.data],
  );
  const dry = one(search, "show") === "all";
  const rows = useMemo(() => (dry ? all : all.filter((p) => p.action !== "dry-run")), [all, dry]);
  const from = rows.find((p) => p.key === one(search, "from"));
  const to = rows.find((p) => p.key === one(search, "to"));
  // The first press chooses what to compare with, the second compares, the older on the left.
  const choose = (past: Past) => {
    const other = from && !to ? from : undefined;
    if (!other || other.key === past.key) {
      set({ from: from?.key === past.key && !to ? "" : past.key, to: "" });
    } else {
      const [a, b] = other.at < past.at ? [other, past] : [past, other];
      set({ from: a.key, to: b.key }, false);
    }
  };
  const columns = useColumns(app, choose, from, may.sync, (past) =>
    set({ do: "rollback", id: String(past.deployment) }, false),
  );
  if (ledger.isPending && all.length === 0) {
    return <Loading />;
  }
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-muted">
          {from && !to ? `Choose what to compare with ${title(from)}.` : "Operations, newest first."}
        </p>
        <div className="flex flex-wrap gap-2">
          {from && !to && (
            <Button small onClick={() => set({ from: "" })}>
              Compare nothing
            </Button>
          )}
          <Button small aria-pressed={dry} onClick={() => set({ show: dry ? "" : "all" })}>
            {dry ? "Hide dry runs" : "Show dry runs"}
          </Button>
          <Button small why={may.as("restore")} onClick={() => set({ do: "restore" }, false)}>
            Restore deleted objects…
          </Button>
          <Button small why={may.sync} onClick={() => set({ do: "rollback", id: "" }, false)}>
            Roll back…
          </Button>
        </div>
      </div>
      {ledger.error != null && <ErrorNote error={ledger.error} />}
      {rows.length === 0 ? (
        <Empty title="Nothing was deployed yet">The first sync appears here.</Empty>
      ) : (
        <div className="rounded-lg border bg-surface">
          <Table
            label="History"
            rows={rows}
            columns={columns}
            rowKey={(p) => p.key}
            rowHeight={56}
            selected={(p) => p.key === from?.key || p.key === to?.key}
            onEnd={() => ledger.hasNextPage && !ledger.isFetchingNextPage && void ledger.fetchNextPage()}
          />
        </div>
      )}
      {from && to && <Compare app={app} from={from} to={to} onClose={() => set({ from: "", to: "" })} />}
      {one(search, "do") === "rollback" && <Rollback app={app} history={all} onClose={() => set({ do: "", id: "" })} />}
      {one(search, "do") === "restore" && <Restore app={app} onClose={() => set({ do: "" })} />}
    </div>
  );
}

const title = (past: Past): string =>
  past.deployment === undefined ? (actions[past.action] ?? past.action).toLowerCase() : `deployment ${past.deployment}`;

function What({ app, past }: { app: App; past: Past }) {
  // The first source is the one that people mean; the others are links.
  const made = madeOf(useCommit(app, past.revisions[0] ?? ""), past);
  return (
    <span className="block min-w-0">
      <span className="flex min-w-0 items-center gap-1.5">
        {past.revisions.map((r, i) => (
          <span key={i} className="inline-flex items-center">
            <CommitName app={app} revision={r} />
            {i === 0 && r && <Copy text={r} label="Copy the revision" />}
          </span>
        ))}
        {past.current && <Badge tone="ok">Current</Badge>}
        {past.pinned && <Badge tone="held">Pinned</Badge>}
        {past.quarantined && <Badge tone="bad">Quarantined</Badge>}
        <span className="truncate" title={made.subject}>
          {made.subject}
        </span>
      </span>
      <span className="block truncate text-sm text-muted">
        <span title={made.by}>{made.author}</span>
        {made.author && known(made.at) && ", "}
        {known(made.at) && (
          <>
            committed <Ago at={made.at} />
          </>
        )}
        {past.reason && `${made.author || known(made.at) ? " · " : ""}${past.reason}`}
      </span>
    </span>
  );
}

function useColumns(
  app: App,
  choose: (past: Past) => void,
  from: Past | undefined,
  missing: string | undefined,
  rollback: (past: Past) => void,
): Column<Past>[] {
  return [
    { key: "what", title: "Revision", width: "minmax(18rem, 3fr)", cell: (p) => <What app={app} past={p} /> },
    {
      key: "outcome",
      title: "Outcome",
      width: "8rem",
      cell: (p) => (
        <span title={p.message}>
          <Status status={p.phase} />
          <span className="block truncate text-sm text-muted">
            {p.deployment === undefined ? "" : `#${p.deployment} · `}
            {actions[p.action] ?? p.action}
          </span>
        </span>
      ),
    },
    {
      key: "who",
      title: "Started by",
      width: "8.5rem",
      cell: (p) => p.who || <span className="text-muted">automatic</span>,
    },
    {
      key: "at",
      title: "When",
      width: "9.5rem",
      cell: (p) => (
        <span>
          <Ago at={p.at} none="unknown" />
          {known(p.startedAt) && known(p.at) && (
            <span className="block text-sm text-muted">took {between(p.startedAt, p.at)}</span>
          )}
        </span>
      ),
    },
    {
      key: "counts",
      title: "Objects",
      width: "9rem",
      cell: (p) => <Counts past={p} />,
    },
    {
      key: "do",
      title: <span className="sr-only">Actions</span>,
      width: "13rem",
      cell: (p) => (
        <span className="flex justify-end gap-1.5">
          <Button
            small
            look="ghost"
            aria-label={`Compare ${title(p)}`}
            aria-pressed={p.key === from?.key}
            onClick={() => choose(p)}
          >
            Compare
          </Button>
          {p.deployment !== undefined && !p.current && (
            <Button small why={missing} aria-label={`Roll back to ${title(p)}`} onClick={() => rollback(p)}>
              Roll back…
            </Button>
          )}
        </span>
      ),
    },
  ];
}

function Counts({ past }: { past: Past }) {
  const c = past.entry?.counts;
  if (!c) {
    return <span className="text-muted">not recorded</span>;
  }
  const parts: [number, string, string][] = [
    [c.created, "+", "made"],
    [c.changed, "~", "changed"],
    [c.deleted, "−", "deleted"],
    [c.failed, "!", "failed"],
  ];
  const some = parts.filter(([n]) => n > 0);
  return some.length === 0 ? (
    <span className="text-muted">none changed</span>
  ) : (
    <span className="flex gap-2 text-sm">
      {some.map(([n, sign, word]) => (
        <span key={word} title={`${n} ${word}`}>
          <span aria-hidden>
            {sign}
            {n}
          </span>
          <span className="sr-only">
            {n} {word}
          </span>
        </span>
      ))}
    </span>
  );
}
