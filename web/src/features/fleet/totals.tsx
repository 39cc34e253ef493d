import { Link } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { count, plural } from "@/lib/format";
import { type Search } from "@/lib/search";
import { Badge, labelOf, Status, toneFill, toneOf } from "@/ui/status";
import { countsOf, healths, segments, syncs } from "./figures";

// Bar is how many there are of each status, as parts of one bar; each leads to the applications that have it.
export function Bar({
  kind,
  counts,
  search,
  tall,
  old = false,
  of,
}: {
  kind: "health" | "sync";
  counts: Record<string, number>;
  search?: Search;
  tall?: boolean;
  // old is true where all of it is as an agent that is away reported it last: it is grey.
  old?: boolean;
  of: string;
}) {
  return (
    <div className={cn("flex overflow-hidden rounded", tall ? "h-7" : "h-6")}>
      {segments(counts, kind === "health" ? healths : syncs).map((s) => (
        <Link
          key={s.status}
          to="/applications"
          search={{ ...search, [kind]: s.status } as never}
          preload={false}
          title={`${labelOf(s.status)}: ${count(s.count)}`}
          aria-label={`${of}: ${plural(s.count, "application")} ${labelOf(s.status)}`}
          data-old={old || undefined}
          style={{ width: `${s.share * 100}%` }}
          className={cn(
            // However small the part is: it can be hit.
            "h-full min-w-6 border-r border-surface last:border-r-0 hover:brightness-110",
            old ? (toneOf(s.status) === "ok" ? "bg-idle-fill/40" : "bg-idle-fill") : toneFill[toneOf(s.status)],
          )}
        />
      ))}
    </div>
  );
}

function Legend({ kind, counts }: { kind: "health" | "sync"; counts: Record<string, number> }) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1">
      {(kind === "health" ? healths : syncs)
        .filter((status) => (counts[status] ?? 0) > 0)
        .map((status) => (
          <li key={status}>
            <Link
              to="/applications"
              search={{ [kind]: status } as never}
              preload={false}
              className="inline-flex items-center gap-1 hover:underline"
            >
              <Status status={status} />
              <span className="font-medium tabular-nums">{count(counts[status] ?? 0)}</span>
            </Link>
          </li>
        ))}
    </ul>
  );
}

export function Totals({ summary: s }: { summary: Schemas["FleetSummary"] }) {
  const health = countsOf(s.health);
  const sync = countsOf(s.sync);
  const fact = (label: string, n: number, search: Search, tone: "held" | "warn") =>
    n > 0 && (
      <Link to="/applications" search={search as never} preload={false} className="hover:underline">
        <Badge tone={tone}>
          {count(n)} {label}
        </Badge>
      </Link>
    );
  return (
    <section
      aria-label="All applications"
      className="grid gap-4 rounded-lg border bg-surface p-4 lg:grid-cols-[9rem_1fr_1fr]"
    >
      <div>
        <Link to="/applications" className="block text-2xl font-semibold tabular-nums hover:underline">
          {count(s.total)}
        </Link>
        <span className="text-muted">{s.total === 1 ? "application" : "applications"}</span>
        <div className="mt-1 flex flex-wrap gap-1">
          {fact("held", s.held, { held: "true" }, "held")}
          {fact("out of date", s.stale, { stale: "true" }, "warn")}
        </div>
      </div>
      <div className="space-y-2">
        <h2 className="text-sm font-medium text-muted">Health</h2>
        <Bar kind="health" counts={health} tall of="All" />
        <Legend kind="health" counts={health} />
      </div>
      <div className="space-y-2">
        <h2 className="text-sm font-medium text-muted">Sync</h2>
        <Bar kind="sync" counts={sync} tall of="All" />
        <Legend kind="sync" counts={sync} />
      </div>
    </section>
  );
}
