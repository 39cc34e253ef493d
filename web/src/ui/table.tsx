import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import { useSight } from "@/lib/sight";

export interface Column<T> {
  key: string;
  title: ReactNode;
  // width is a track of a CSS grid: "8rem" or "minmax(10rem, 2fr)".
  width: string;
  cell: (row: T) => ReactNode;
  // sort is the name by which the list is sorted by this column.
  sort?: string;
  align?: "right";
  // narrow screens leave out what is not said to be shown there
  narrow?: boolean;
}

interface Props<T> {
  label: string;
  rows: T[];
  columns: Column<T>[];
  rowKey: (row: T) => string;
  // sort is the field that the list is sorted by, "-" before it for the other direction.
  sort?: string;
  onSort?: (sort: string) => void;
  onOpen?: (row: T) => void;
  onEnd?: () => void;
  rowHeight?: number;
  // height of the table, which scrolls by itself; left out: as high as its rows.
  className?: string;
  selected?: (row: T) => boolean;
}

// Table shows any number of rows: only those in sight are on the page. Arrow keys move between rows, Enter opens one.
export function Table<T>({
  label,
  rows,
  columns,
  rowKey,
  sort,
  onSort,
  onOpen,
  onEnd,
  rowHeight = 40,
  className,
  selected,
}: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const { first, last, focus } = useSight(scroller, rows.length, rowHeight, 12);
  useEffect(() => {
    if (onEnd && rows.length > 0 && last >= rows.length - 20) {
      onEnd();
    }
  }, [last, rows.length, onEnd]);
  const template = columns.map((c) => c.width).join(" ");
  const move = (event: KeyboardEvent<HTMLDivElement>, index: number) => {
    const to = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.target !== event.currentTarget) {
      return;
    }
    if (event.key === "Enter" && onOpen) {
      onOpen(rows[index] as T);
    } else if (to !== undefined && to >= 0 && to < rows.length) {
      event.preventDefault();
      focus(to);
    }
  };
  return (
    <div
      ref={scroller}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className={cn("relative max-h-[70vh] overflow-auto", className)}
    >
      {/* One box for head and rows, so that both have the same width and their columns stand below each other. */}
      <div role="presentation" className="relative min-w-max">
        <div role="rowgroup" className="sticky top-0 z-10 border-b bg-surface">
          <div
            role="row"
            style={{ gridTemplateColumns: template }}
            className="grid items-center text-sm font-medium text-muted"
          >
            {columns.map((c) => (
              <Head key={c.key} column={c} sort={sort} onSort={onSort} />
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: rows.length * rowHeight }}>
          {rows.slice(first, last + 1).map((row, i) => {
            const index = first + i;
            return (
              <div
                key={rowKey(row)}
                role="row"
                data-index={index}
                aria-rowindex={index + 2}
                tabIndex={0}
                onKeyDown={(event) => move(event, index)}
                onClick={(event) => {
                  if (
                    onOpen &&
                    !(event.target as Element).closest("a,button,input,label,select") &&
                    !getSelection()?.toString()
                  ) {
                    onOpen(row);
                  }
                }}
                style={{
                  gridTemplateColumns: template,
                  height: rowHeight,
                  transform: `translateY(${index * rowHeight}px)`,
                }}
                className={cn(
                  "absolute inset-x-0 top-0 grid items-center border-b hover:bg-idle-soft/60",
                  onOpen && "cursor-pointer",
                  selected?.(row) && "bg-accent-soft hover:bg-accent-soft",
                )}
              >
                {columns.map((c) => (
                  <div
                    key={c.key}
                    role="cell"
                    className={cn("min-w-0 truncate px-3", c.align === "right" && "text-right tabular-nums")}
                  >
                    {c.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head<T>({
  column: c,
  sort,
  onSort,
}: {
  column: Column<T>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const down = sort === `-${c.sort}`;
  const on = c.sort !== undefined && (down || sort === c.sort);
  return (
    <div
      role="columnheader"
      {...(c.sort ? { "aria-sort": on ? (down ? "descending" : "ascending") : "none" } : {})}
      className={cn("px-3 py-2", c.align === "right" && "text-right")}
    >
      {c.sort && onSort ? (
        <button
          type="button"
          onClick={() => onSort(on && !down ? `-${c.sort}` : (c.sort as string))}
          className="inline-flex items-center gap-1 hover:text-text"
        >
          {c.title}
          {on && (down ? <ArrowDown size={12} aria-hidden /> : <ArrowUp size={12} aria-hidden />)}
        </button>
      ) : (
        c.title
      )}
    </div>
  );
}
