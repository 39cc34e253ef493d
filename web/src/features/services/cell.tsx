import { Link } from "@tanstack/react-router";
import { short } from "@/lib/format";
import { known } from "@/lib/time";
import { Ago } from "@/ui/ago";
import { Badge, StatusIcon } from "@/ui/status";
import { behind, cellOf } from "./columns";
import type { Row } from "./data";

// VersionCell is what of a service runs in an environment, since when, and how it is.
export function VersionCell({ row, environment }: { row: Row; environment: string }) {
  const cell = cellOf(row, environment);
  if (!cell) {
    return <span className="text-muted">–</span>;
  }
  const late = behind(row, environment);
  return (
    <div className="min-w-0 leading-tight">
      <div className="flex min-w-0 items-center gap-1.5">
        <StatusIcon status={cell.health} />
        {cell.sync !== "Synced" && <StatusIcon status={cell.sync} />}
        <Link
          to="/applications"
          search={{ service: row.service, ...(environment ? { environment } : {}) } as never}
          preload={false}
          title={[cell.image && `${cell.image}:${cell.tag ?? ""}`, cell.chart && `chart ${cell.chart}`, cell.commit]
            .filter(Boolean)
            .join("\n")}
          className="min-w-0 truncate font-medium hover:underline"
        >
          {short(cell.version) || "unknown"}
        </Link>
        {cell.mixed && <Badge tone="warn">mixed</Badge>}
        {late && (
          <span title={`${late.newest} runs in ${late.behind}, compared by ${late.by}`}>
            <Badge tone="held">behind {short(late.newest)}</Badge>
          </span>
        )}
      </div>
      <div className="truncate text-xs text-muted">
        {known(cell.since) ? <Ago at={cell.since} /> : "never healthy"}
        {cell.total > 0 && ` · ${cell.ready}/${cell.total} pods`}
      </div>
    </div>
  );
}
