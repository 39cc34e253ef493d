import { EllipsisVertical, RefreshCw } from "lucide-react";
import { useState } from "react";
import { awayWhy } from "@/lib/application";
import { cn } from "@/lib/cn";
import { clock, coarse, exact, known, span, useNow } from "@/lib/time";
import { Menu } from "@/ui/menu";
import { Badge } from "@/ui/status";
import type { Application } from "./window";

// Actions are what can be done with one application from its row.
export interface Actions {
  sync: (id: string) => void;
  refresh: (id: string) => void;
  open: (id: string) => void;
  copy: (a: Application) => void;
  star: (id: string) => void;
}

// nameOf is an id without the scope that is before it: checkout of org.acme.checkout.
export const nameOf = (id: string | undefined): string => id?.split(".").at(-1) ?? "";

// AppLink is a plain link, since a list makes many of them at each frame that it is scrolled by; the list itself follows it
// without loading the page again.
export function AppLink({ app, className }: { app: Application; className?: string }) {
  return (
    <a href={hrefOf(app)} data-app={app.id} className={cn("font-medium hover:text-accent hover:underline", className)}>
      {app.name}
    </a>
  );
}

const hrefOf = (app: Application): string =>
  `/applications/${[app.agent, app.namespace, app.name].map(encodeURIComponent).join("/")}`;

// Flags are what a user should know of an application besides its state.
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
