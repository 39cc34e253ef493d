import { EllipsisVertical, RefreshCw, Star } from "lucide-react";
import { memo, useState } from "react";
import { awayWhy } from "@/lib/application";
import { cn } from "@/lib/cn";
import { repositoryName, short } from "@/lib/format";
import { clock, coarse, exact, known, span, useNow } from "@/lib/time";
import { Menu } from "@/ui/menu";
import { Badge, Status, toneOf } from "@/ui/status";
import type { Application } from "./window";

// Actions are what can be done with one application from its row.
export interface Actions {
  sync: (id: string) => void;
  refresh: (id: string) => void;
  open: (id: string) => void;
  copy: (a: Application) => void;
  star: (id: string) => void;
}

// A column of the table has cells of two lines, and can be sorted by each.
interface Column {
  key: string;
  sorts: { title: string; by: string }[];
  width: string;
}

export const columns: Column[] = [
  {
    key: "name",
    sorts: [
      { title: "Application", by: "name" },
      { title: "project", by: "argoProject" },
    ],
    width: "minmax(12rem, 2fr)",
  },
  { key: "health", sorts: [{ title: "Health", by: "attention" }], width: "7.25rem" },
  { key: "sync", sorts: [{ title: "Sync", by: "sync" }], width: "7rem" },
  { key: "version", sorts: [{ title: "Service, version", by: "service" }], width: "minmax(7.5rem, 1fr)" },
  {
    key: "environment",
    sorts: [
      { title: "Environment", by: "environment" },
      { title: "cluster", by: "destination" },
    ],
    width: "minmax(9.5rem, 1.2fr)",
  },
  { key: "source", sorts: [{ title: "Source", by: "repoURL" }], width: "minmax(8rem, 1.6fr)" },
  { key: "last", sorts: [{ title: "Operation", by: "finishedAt" }], width: "6rem" },
];

export const template = `2.25rem ${columns.map((c) => c.width).join(" ")} 4rem`;

// nameOf is an id without the scope that is before it: checkout of org.acme.checkout.
export const nameOf = (id: string | undefined): string => id?.split(".").at(-1) ?? "";

const Two = ({ one, two, title }: { one: React.ReactNode; two?: React.ReactNode; title?: string | undefined }) => (
  <div className="min-w-0 px-2 leading-tight" title={title}>
    <div className="truncate">{one || <span className="text-muted">–</span>}</div>
    {two && <div className="truncate text-xs text-muted">{two}</div>}
  </div>
);

// AppLink is a plain link, since a list makes many of them at each frame that it is scrolled by; the list itself follows it
// without loading the page anew.
export function AppLink({ app, className }: { app: Application; className?: string }) {
  return (
    <a href={hrefOf(app)} data-app={app.id} className={cn("font-medium hover:text-accent hover:underline", className)}>
      {app.name}
    </a>
  );
}

const hrefOf = (app: Application): string =>
  `/applications/${[app.agent, app.namespace, app.name].map(encodeURIComponent).join("/")}`;

// Flags are what somebody should know of an application beside how it is.
export function Flags({ app }: { app: Application }) {
  const now = useNow();
  return (
    <>
      {app.held && (
        <Badge tone="held" className="mr-1">
          Held
        </Badge>
      )}
      {known(app.driftSince) && now - Date.parse(app.driftSince) > 3_600_000 && (
        <Badge tone="warn">drift {span(now - Date.parse(app.driftSince))}</Badge>
      )}
    </>
  );
}

// Stale says of what time an application is whose state may be out of date.
export function Stale({ app }: { app: Application }) {
  const now = useNow();
  return (
    <span className="text-warn">
      {app.agentAway ? "Agent away" : "No longer reported"}
      {known(app.asOf) && `, as of ${clock(app.asOf, now)}`}
    </span>
  );
}

// Time is Ago without a picture of its own for each row: the browser shows the exact time.
export function Time({ at }: { at: string | undefined }) {
  const now = useNow(at);
  return known(at) ? (
    <time dateTime={at} title={exact(at)}>
      {coarse(at, now)}
    </time>
  ) : (
    <span className="text-muted">never</span>
  );
}

// RowSync asks for a sync of one application, from its row or tile.
export function RowSync({ app, actions }: { app: Application; actions: Actions }) {
  const why = awayWhy(app);
  return (
    <button
      type="button"
      aria-label={`Sync ${app.name}`}
      title={why ?? `Sync ${app.name}`}
      disabled={why !== undefined}
      onClick={() => actions.sync(app.id)}
      className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-idle-soft disabled:opacity-40"
    >
      <RefreshCw size={14} aria-hidden />
    </button>
  );
}

// RowMenu is a button until it is asked for.
export function RowMenu({ app, actions, starred }: { app: Application; actions: Actions; starred: boolean }) {
  const [asked, setAsked] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-label={`Actions of ${app.name}`}
      className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-idle-soft"
      {...(asked ? {} : { onClick: () => setAsked(true) })}
    >
      <EllipsisVertical size={15} aria-hidden />
    </button>
  );
  return asked ? (
    <Menu
      defaultOpen
      trigger={button}
      items={[
        { label: "Open", run: () => actions.open(app.id) },
        { label: "Sync", why: awayWhy(app), run: () => actions.sync(app.id) },
        { label: "Refresh", why: awayWhy(app), run: () => actions.refresh(app.id) },
        null,
        { label: starred ? "Remove from favourites" : "Add to favourites", run: () => actions.star(app.id) },
        { label: "Copy name", run: () => actions.copy(app) },
      ]}
    />
  ) : (
    button
  );
}

const cells: Record<string, (a: Application, starred: boolean) => React.ReactNode> = {
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
