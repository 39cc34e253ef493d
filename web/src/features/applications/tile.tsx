import { type CSSProperties, memo } from "react";
import { cn } from "@/lib/cn";
import { repositoryName, short } from "@/lib/format";
import { Status, type Tone, toneFill, toneOf } from "@/ui/status";
import { Star } from "@/ui/star";
import { type Actions, AppLink, Flags, nameOf, RowMenu, RowSync, Stale, Time } from "./row-parts";
import type { Application } from "./window";

interface Props {
  app: Application | undefined;
  index: number;
  style: CSSProperties;
  selected: boolean;
  starred: boolean;
  actions: Actions;
  onToggle: (index: number, shift: boolean) => void;
}

// What needs nothing has no coloured edge: the others are found by theirs.
const edged = new Set<Tone>(["bad", "busy", "warn", "held"]);

// Tile is an application as a card.
export const Tile = memo(function Tile({ app, index, style, selected, starred, actions, onToggle }: Props) {
  const tone: Tone = !app || app.stale ? "idle" : toneOf(app.health);
  return (
    <li className="absolute top-0 left-0 p-1.5" style={style}>
      <div
        className={cn(
          "relative flex h-full flex-col gap-1 overflow-hidden rounded-md border bg-surface py-2 pr-2 pl-3.5",
          selected && "border-accent bg-accent-soft",
        )}
      >
        {app ? (
          <>
            {edged.has(tone) && <span aria-hidden className={cn("absolute inset-y-0 left-0 w-1", toneFill[tone])} />}
            <div className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={selected}
                aria-label={`Select ${app.name}`}
                className="size-4 shrink-0 accent-accent"
                onChange={() => undefined}
                onClick={(event) => onToggle(index, event.shiftKey)}
              />
              <AppLink app={app} className="min-w-0 flex-1 truncate" />
              <span className="-my-1 flex shrink-0">
                <Star name={app.name} on={starred} onToggle={() => actions.star(app.id)} />
                <RowSync app={app} actions={actions} />
                <RowMenu app={app} actions={actions} starred={starred} />
              </span>
            </div>
            <div className="flex items-center gap-3">
              <Status status={app.health} asOf={app.asOf} />
              <Status status={app.sync} asOf={app.asOf} />
            </div>
            <div className="truncate text-sm text-muted" title={[app.repoURL, app.path].join(" ")}>
              {repositoryName(app.repoURL)} {app.path} {short(app.revision)}
            </div>
            <div className="flex items-center gap-2 text-sm text-muted">
              <span className="min-w-0 flex-1 truncate" title={app.id}>
                {[nameOf(app.environment), nameOf(app.agent), app.argoProject].filter(Boolean).join(" · ")}
              </span>
              {app.stale && <Stale app={app} />}
              <Flags app={app} />
              <Time at={app.finishedAt} />
            </div>
          </>
        ) : (
          <div className="h-3 w-2/3 rounded bg-idle-soft" />
        )}
      </div>
    </li>
  );
});
