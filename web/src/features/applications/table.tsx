import type { Actions } from "./row-parts";
import { ArrowDown, ArrowUp } from "lucide-react";
import { Fragment, type KeyboardEvent, type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import { useFavourites } from "@/lib/favourites";
import { useSight } from "@/lib/sight";
import type { List } from "./data";
import { Row } from "./row";
import { columns, template } from "./row-columns";
import { has, type Selection } from "./selection";

export interface GridProps {
  list: List;
  selection: Selection;
  actions: Actions;
  onSeen: (first: number, last: number) => void;
  onSort: (sort: string) => void;
  onToggle: (index: number, shift: boolean) => void;
  onAll: () => void;
  stale: boolean;
}

const rowHeight = 46;

// place keeps where a list is scrolled to: to its beginning with each other filter, and otherwise where it was.
export function useBeginning(list: List, scroller: React.RefObject<HTMLDivElement | null>) {
  const was = useRef(list.filter);
  const sorted = useRef(list.sort);
  useLayoutEffect(() => {
    if (was.current !== list.filter || sorted.current !== list.sort) {
      was.current = list.filter;
      sorted.current = list.sort;
      scroller.current?.scrollTo({ top: 0 });
    }
  }, [list.filter, list.sort, scroller]);
}

// follow has a click on a link of a row go there without loading the page again; with a key held, or the middle button, the
// browser opens it elsewhere as any link.
export function follow(event: MouseEvent, actions: Actions): void {
  const id = (event.target as HTMLElement).closest<HTMLElement>("a[data-app]")?.dataset["app"];
  if (id && event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    actions.open(id);
  }
}

// A box with a background of its own is scrolled without being painted again.
export const box = "relative min-h-40 flex-1 overflow-auto bg-ground";

// ApplicationsTable shows any number of applications: only rows in sight are on the page. Arrow keys move between rows, Enter opens
// one, Space selects it, and with Shift all from the one before.
export function ApplicationsTable({ list, selection, actions, onSeen, onSort, onToggle, onAll, stale }: GridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const favourites = useFavourites();
  useBeginning(list, scroller);
  const { first, last, focus } = useSight(scroller, list.total, rowHeight, 8);
  useEffect(() => onSeen(first, last), [first, last, onSeen]);
  const key = (event: KeyboardEvent<HTMLDivElement>) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
    if (!row || event.target !== row) {
      return;
    }
    const index = Number(row.dataset["index"]);
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowHeight) - 2);
    const to: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: list.total - 1,
    };
    const app = list.row(index);
    if (to[event.key] !== undefined) {
      event.preventDefault();
      focus(Math.max(0, Math.min(list.total - 1, to[event.key] as number)));
    } else if (event.key === "Enter" && app) {
      actions.open(app.id);
    } else if (event.key === " ") {
      event.preventDefault();
      onToggle(index, event.shiftKey);
    }
  };
  const shownFocus = focused >= first && focused <= last ? focused : first;
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Applications"
      aria-multiselectable
      aria-rowcount={list.total + 1}
      aria-colcount={columns.length + 2}
      aria-busy={stale}
      data-testid="applications-table"
      data-total={list.total}
      data-filter={list.filter.search ?? ""}
      className={box}
      onClick={(event) => follow(event, actions)}
      onKeyDown={key}
      onFocus={(event) => {
        const index = (event.target as HTMLElement).closest<HTMLElement>("[data-index]")?.dataset["index"];
        if (index !== undefined) {
          setFocused(Number(index));
        }
      }}
    >
      <div role="rowgroup" className="sticky top-0 z-10 min-w-[62rem] border-b bg-surface">
        <div
          role="row"
          aria-rowindex={1}
          style={{ gridTemplateColumns: template }}
          className="grid items-center text-sm font-medium text-muted"
        >
          <div role="columnheader" className="pl-3">
            <input
              type="checkbox"
              aria-label={selection.all ? "Select none" : "Select all that match"}
              className="size-4 accent-accent"
              checked={selection.all && selection.ids.size === 0}
              ref={(box) => {
                if (box) {
                  box.indeterminate = selection.ids.size > 0;
                }
              }}
              onChange={onAll}
            />
          </div>
          {columns.map((c) => (
            <Head key={c.key} sorts={c.sorts} sort={list.sort} onSort={onSort} />
          ))}
          <div role="columnheader">
            <span className="sr-only">Actions</span>
          </div>
        </div>
      </div>
      <div role="rowgroup" className="relative min-w-[62rem]" style={{ height: list.total * rowHeight }}>
        {Array.from({ length: last - first + 1 }, (_, i) => {
          const index = first + i;
          const app = list.row(index);
          return (
            <Row
              key={index}
              app={app}
              index={index}
              start={index * rowHeight}
              height={rowHeight}
              selected={has(selection, app?.id)}
              focused={index === shownFocus}
              starred={app !== undefined && favourites.has(app.id)}
              actions={actions}
              onToggle={onToggle}
            />
          );
        })}
      </div>
    </div>
  );
}

function Head({
  sorts,
  sort,
  onSort,
}: {
  sorts: { title: string; by: string }[];
  sort: string;
  onSort: (sort: string) => void;
}) {
  const by = sort.replace(/^-/, "");
  const down = sort.startsWith("-");
  const mine = sorts.some((s) => s.by === by);
  return (
    <div
      role="columnheader"
      aria-sort={mine ? (down ? "descending" : "ascending") : "none"}
      className="truncate px-2 py-2 whitespace-nowrap"
    >
      {sorts.map((s, i) => (
        <Fragment key={s.by}>
          {i > 0 && ", "}
          <button
            type="button"
            onClick={() => onSort(by === s.by && !down ? `-${s.by}` : s.by)}
            className={cn("inline-flex items-center gap-0.5 hover:text-text", by === s.by && "text-text")}
          >
            {s.title}
            {by === s.by && (down ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
          </button>
        </Fragment>
      ))}
    </div>
  );
}
