import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@/api/client";
import { cn } from "@/lib/cn";
import { allQuery } from "@/lib/entity";
import { count, plural, short } from "@/lib/format";
import { agents } from "@/lib/kinds";
import { one, type Search } from "@/lib/search";
import { may, useMissing, useSession } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Select } from "@/ui/field";
import { Card, Page } from "@/ui/page";
import { Loaded, Loading, NoPermission } from "@/ui/states";
import { Badge, labelOf, Status, StatusIcon, toneFill, toneOf } from "@/ui/status";
import { Attention } from "./attention";
import { type By, dimensions, matrixQuery, recentQuery, summaryQuery, useCalm } from "./data";
import { Deliveries } from "./deliveries";
import { countsOf, healths, rowsOf, segments, syncs } from "./figures";
import { FirstRun } from "./first";
import { Tour } from "./tour";

// Fleet shows at a glance what needs attention, and the state of everything.
export default function Fleet() {
  const missing = useMissing("application_view");
  return missing ? (
    <Page title="Fleet">
      <NoPermission why={missing} />
    </Page>
  ) : (
    <Seen />
  );
}

function Seen() {
  const summary = useQuery(summaryQuery);
  const mayAgents = may(useSession(), "agent_view");
  const empty = summary.data?.total === 0;
  const all = useQuery({ ...allQuery(agents), enabled: mayAgents && empty });
  useCalm();
  return (
    <Page title="Fleet">
      <Loaded query={summary} loading={<Loading rows={10} label="Reading the fleet" />}>
        {(s) =>
          empty ? (
            all.isLoading ? (
              <Loading rows={4} />
            ) : (
              <FirstRun agents={all.data ?? []} />
            )
          ) : (
            <div className="space-y-4">
              <Attention />
              <Tour />
              <Totals summary={s} />
              <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
                <div className="min-w-0 space-y-4">
                  <Matrix />
                  <Deliveries />
                </div>
                <div className="min-w-0 space-y-4">
                  <Recent />
                </div>
              </div>
            </div>
          )
        }
      </Loaded>
    </Page>
  );
}

// Bar is how many there are of each status, as parts of one bar; each leads to the applications that have it.
function Bar({
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

function Totals({ summary: s }: { summary: Schemas["FleetSummary"] }) {
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

const fewRows = 12;
const matrixRow =
  "grid grid-cols-[minmax(0,1fr)_5rem] items-center gap-x-3 gap-y-1 px-4 py-2 sm:grid-cols-[minmax(7rem,12rem)_5rem_1fr_1fr]";

function Matrix() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const by = (Object.keys(dimensions) as By[]).find((d) => d === one(search, "by")) ?? "agent";
  const all = one(search, "all") === "true";
  const set = (next: Search) =>
    void navigate({ to: "/", search: { ...search, ...next } as never, replace: true, resetScroll: false });
  const query = useQuery(matrixQuery(by));
  return (
    <Card
      flush
      title={`Health by ${dimensions[by].toLowerCase()}`}
      actions={
        <Select aria-label="By" className="w-auto" value={by} onChange={(e) => set({ by: e.target.value, all: "" })}>
          {Object.entries(dimensions).map(([value, label]) => (
            <option key={value} value={value}>
              By {label.toLowerCase()}
            </option>
          ))}
        </Select>
      }
    >
      <Loaded query={query}>
        {(m) => {
          const rows = rowsOf(m.rows ?? []);
          const shown = all ? rows : rows.slice(0, fewRows);
          return (
            <>
              <div aria-hidden className={cn(matrixRow, "border-b text-xs text-muted")}>
                <span>{dimensions[by]}</span>
                <span className="text-right">Applications</span>
                <div className="col-span-2 grid grid-cols-2 gap-3">
                  <span>Health</span>
                  <span>Sync</span>
                </div>
              </div>
              <ul className="divide-y">
                {shown.map((r) => (
                  <li key={r.value} className={matrixRow}>
                    {r.value ? (
                      <Link
                        to="/applications"
                        search={{ [by]: r.value } as never}
                        preload={false}
                        title={r.value}
                        className="min-h-6 truncate font-medium hover:underline"
                      >
                        {r.value}
                      </Link>
                    ) : (
                      <span className="text-muted">No {dimensions[by].toLowerCase()}</span>
                    )}
                    <span className="text-right tabular-nums">
                      {count(r.total)}
                      {r.held > 0 && (
                        <span
                          title={`${count(r.held)} held`}
                          className="ml-1 inline-flex items-center gap-0.5 align-bottom text-held"
                        >
                          <StatusIcon status="Held" size={12} /> {count(r.held)}
                        </span>
                      )}
                      {r.stale > 0 && (
                        <span
                          title={`${count(r.stale)} out of date`}
                          className="ml-1 inline-flex items-center gap-0.5 align-bottom text-warn"
                        >
                          <StatusIcon status="Stale" size={12} /> {count(r.stale)}
                        </span>
                      )}
                    </span>
                    {r.value ? (
                      <div className="col-span-2 grid grid-cols-2 gap-3">
                        <Bar
                          kind="health"
                          counts={r.health}
                          search={{ [by]: r.value }}
                          old={r.stale === r.total}
                          of={r.value}
                        />
                        <Bar
                          kind="sync"
                          counts={r.sync}
                          search={{ [by]: r.value }}
                          old={r.stale === r.total}
                          of={r.value}
                        />
                      </div>
                    ) : (
                      <span className="col-span-2" />
                    )}
                  </li>
                ))}
              </ul>
              {m.distinct > fewRows && (
                <div className="flex items-center gap-3 border-t px-4 py-2 text-sm text-muted">
                  <Button small onClick={() => set({ all: all ? "" : "true" })}>
                    {all ? "Show fewer" : `Show ${count(rows.length)}`}
                  </Button>
                  {m.distinct > rows.length && `of ${count(m.distinct)}, worst first`}
                </div>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}

function Recent() {
  const query = useQuery(recentQuery);
  return (
    <Card
      flush
      title="Changes in the last hour"
      actions={
        <Link to="/ledger" className="text-sm text-accent hover:underline">
          Ledger
        </Link>
      }
    >
      <Loaded query={query} loading={<Loading rows={3} />}>
        {(page) =>
          (page.items ?? []).length === 0 ? (
            <p className="px-4 py-3 text-muted">No operation ended in the last hour.</p>
          ) : (
            <ul className="divide-y">
              {(page.items ?? []).map((e) => (
                <li key={e.id} className="flex items-center gap-2 px-4 py-1.5">
                  <StatusIcon status={e.phase} />
                  <span className="min-w-0 flex-1 truncate" title={e.message}>
                    <Link
                      to="/applications/$agent/$namespace/$name/history"
                      params={{ agent: e.agent, namespace: e.namespace, name: e.name }}
                      className="hover:underline"
                    >
                      {e.name}
                    </Link>{" "}
                    <span className="text-muted">
                      {e.action} {short(e.revision)}{" "}
                      {e.actor && !e.automatic ? `by ${e.actor.replace(/^user:/, "")}` : ""}
                    </span>
                  </span>
                  <span className="text-sm text-muted">
                    <Ago at={e.finishedAt} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
