import { Star } from "lucide-react";
import { memo } from "react";
import { cn } from "@/lib/cn";
import { repositoryName, short } from "@/lib/format";
import { Status, toneOf } from "@/ui/status";
import type { Application } from "./window";
import { type Actions, nameOf, AppLink, Flags, Stale, Time, RowSync, RowMenu } from "./row-parts";
import { columns, template } from "./row-columns";

const Two = ({ one, two, title }: { one: React.ReactNode; two?: React.ReactNode; title?: string | undefined }) => (
  <div className="min-w-0 px-2 leading-tight" title={title}>
    <div className="truncate">{one || <span className="text-muted">–</span>}</div>
    {two && <div className="truncate text-xs text-muted">{two}</div>}
  </div>
);

export const cells: Record<string, (a: Application, starred: boolean) => React.ReactNode> = {
  name: (a, starred) => (
    <Two
      one={
        <>
          {starred && (
            <Star size={12} role="img" aria-label="Favourite" className="mr-1.5 inline fill-current text-accent" />
          )}
          <AppLink app={a} className="mr-1.5" />
          <Flags app={a} />
        </>
      }
      two={a.stale ? <Stale app={a} /> : `${a.argoProject} · ${nameOf(a.agent)}`}
      title={a.id}
    />
  ),
  health: (a) => <Status status={a.health} asOf={a.asOf} className="px-2" />,
  sync: (a) => <Status status={a.sync} asOf={a.asOf} className="px-2" />,
  version: (a) => (
    <Two one={nameOf(a.service)} two={short(a.version)} title={[a.service, a.version].join(" ").trim()} />
  ),
  environment: (a) => (
    <Two
      one={nameOf(a.environment)}
      two={cluster(a.destination)}
      title={[a.environment, a.destination].filter(Boolean).join("\n")}
    />
  ),
  source: (a) => (
    <Two
      one={repositoryName(a.repoURL)}
      two={a.path || short(a.revision)}
      title={[a.repoURL, a.path, a.revision].filter(Boolean).join("\n")}
    />
  ),
  last: (a) => <Two one={<Time at={a.finishedAt} />} two={a.phase} title={a.message} />,
};

const cluster = (destination: string | undefined): string =>
  (destination ?? "").replace(/^https?:\/\//, "").replace(/^kubernetes\.default\.svc/, "in-cluster");

export interface RowProps {
  app: Application | undefined;
  index: number;
  start: number;
  height: number;
  selected: boolean;
  focused: boolean;
  starred: boolean;
  actions: Actions;
  onToggle: (index: number, shift: boolean) => void;
}

// Row is one application, or the room for one that is being read.
export const Row = memo(function Row(p: RowProps) {
  const { app } = p;
  return (
    <div
      role="row"
      data-index={p.index}
      aria-rowindex={p.index + 2}
      aria-selected={p.selected}
      tabIndex={p.focused ? 0 : -1}
      style={{ gridTemplateColumns: template, height: p.height, top: p.start }}
      className={cn(
        "absolute inset-x-0 grid items-center border-b outline-offset-[-2px] [contain:layout_paint] hover:bg-idle-soft/60",
        app && !app.stale && toneOf(app.health) === "bad" && "shadow-[inset_3px_0_0_var(--bad-fill)]",
        p.selected && "bg-accent-soft hover:bg-accent-soft",
      )}
    >
      <div role="gridcell" className="pl-3">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={p.selected}
          disabled={!app}
          aria-label={app ? `Select ${app.name}` : "Select"}
          className="size-4 accent-accent"
          onChange={() => undefined}
          onClick={(event) => p.onToggle(p.index, event.shiftKey)}
        />
      </div>
      {app ? (
        columns.map((c) => (
          <div key={c.key} role="gridcell" className="min-w-0">
            {cells[c.key]?.(app, p.starred)}
          </div>
        ))
      ) : (
        <div role="gridcell" className="px-2" style={{ gridColumn: `span ${columns.length}` }}>
          <div className="h-3 w-2/3 rounded bg-idle-soft" />
        </div>
      )}
      <div role="gridcell" className="whitespace-nowrap">
        {app && (
          <>
            <RowSync app={app} actions={p.actions} />
            <RowMenu app={app} actions={p.actions} starred={p.starred} />
          </>
        )}
      </div>
    </div>
  );
});
