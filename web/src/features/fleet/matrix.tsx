import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { cn } from "@/lib/cn";
import { count } from "@/lib/format";
import { one, type Search } from "@/lib/search";
import { Button } from "@/ui/button";
import { Select } from "@/ui/field";
import { Card } from "@/ui/page";
import { Loaded } from "@/ui/states";
import { StatusIcon } from "@/ui/status";
import { type By, dimensions, matrixQuery } from "./data";
import { rowsOf } from "./figures";
import { Bar } from "./totals";

const fewRows = 12;

const matrixRow =
  "grid grid-cols-[minmax(0,1fr)_5rem] items-center gap-x-3 gap-y-1 px-4 py-2 sm:grid-cols-[minmax(7rem,12rem)_5rem_1fr_1fr]";

export function Matrix() {
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
