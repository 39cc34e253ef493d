import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { cn } from "@/lib/cn";
import { useNarrow } from "@/lib/narrow";
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
}

const padding = 16; // px of a row, above and below its content
const gap = 4; // px between lines of a row on a narrow screen

// stacked is how a row looks on a narrow screen: which of its columns take a whole line, the others two to a line, and how high a
// line and the row are in px.
export function stacked(
  columns: readonly Pick<Column<unknown>, "width">[],
  rowHeight: number,
): { whole: boolean[]; line: number; height: number } {
  const whole = columns.map(({ width }, i) => i === 0 || !/^[\d.]+rem$/.test(width) || Number.parseFloat(width) >= 10);
  let lines = 0;
  let half = false; // the last line has room for one more
  for (const all of whole) {
    lines += all || !half ? 1 : 0;
    half = !all && !half;
  }
  const line = rowHeight - padding;
  return { whole, line, height: lines * (line + gap) - gap + padding };
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
  // height of the table, which scrolls on its own; left out: as high as its rows.
  className?: string;
  selected?: (row: T) => boolean;
}

// least is the width at which no column is narrower than it may be. (The browser's own max-content is more: it keeps the
// proportions of columns that grow.)
export const least = (columns: readonly Pick<Column<unknown>, "width">[]): string =>
  `${columns.reduce((sum, { width }) => sum + Number(/([\d.]+)rem/.exec(width)?.[1] ?? 0), 0)}rem`;

// whole lets the pointer read a text that is cut off.
function whole(cell: HTMLElement): void {
  cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : "";
}

// Table shows any number of rows: only those in sight are on the page. Arrow keys move between rows, Enter opens one. On a narrow
// screen the cells of a row stand below each other with their titles, and nothing scrolls sideways.
export function Table<T>({
  label,
  rows,
  columns,
  rowKey,
  sort,
  onSort,
  onOpen,
  onEnd,
  rowHeight: oneLine = 40,
  className,
  selected,
}: Props<T>) {
  const scroller = useRef<HTMLDivElement>(null);
  const stack = stacked(columns, oneLine);
  const narrow = useNarrow();
  const rowHeight = narrow ? stack.height : oneLine;
  const { first, last, focus } = useSight(scroller, rows.length, rowHeight, 12);
  useEffect(() => {
    if (onEnd && rows.length > 0 && last >= rows.length - 20) {
      onEnd();
    }
  }, [last, rows.length, onEnd]);
  const sortable = onSort !== undefined && columns.some((c) => c.sort);
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
      <div role="presentation" className="relative" style={narrow ? undefined : { minWidth: least(columns) }}>
        <div role="rowgroup" className={cn("sticky top-0 z-10 border-b bg-surface", narrow && !sortable && "sr-only")}>
          <div
            role="row"
            style={narrow ? undefined : { gridTemplateColumns: template }}
            className={cn("items-center text-sm font-medium text-muted", narrow ? "flex flex-wrap" : "grid")}
          >
            {columns.map((c) => (
              <Head key={c.key} column={c} sort={sort} onSort={onSort} hidden={narrow && !c.sort} />
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
                  ...(narrow
                    ? { gridAutoRows: stack.line, rowGap: gap, paddingBlock: padding / 2 }
                    : { gridTemplateColumns: template }),
                  height: rowHeight,
                  transform: `translateY(${index * rowHeight}px)`,
                }}
                className={cn(
                  "absolute inset-x-0 top-0 grid items-center hover:bg-idle-soft/60",
                  // What is around the table has a line of its own below the last row.
                  index < rows.length - 1 && "border-b",
                  narrow && "grid-cols-[max-content_minmax(0,1.2fr)_max-content_minmax(0,1fr)] gap-x-2 px-3",
                  onOpen && "cursor-pointer",
                  selected?.(row) && "bg-accent-soft hover:bg-accent-soft",
                )}
              >
                {columns.map((c, i) =>
                  narrow ? (
                    <Stacked key={c.key} title={i > 0 && c.title} whole={stack.whole[i] ?? false}>
                      {c.cell(row)}
                    </Stacked>
                  ) : (
                    <div
                      key={c.key}
                      role="cell"
                      onMouseEnter={(event) => whole(event.currentTarget)}
                      className={cn("min-w-0 truncate px-3", c.align === "right" && "text-right tabular-nums")}
                    >
                      {c.cell(row)}
                    </div>
                  ),
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

// Stacked is a cell on a narrow screen: its title, and what it says in the same place as in the other lines of its row.
function Stacked({ title, whole, children }: { title: ReactNode; whole: boolean; children: ReactNode }) {
  const nothing = children === undefined || children === null || children === "" || children === false;
  return (
    <div
      role="cell"
      className={cn("grid min-w-0 grid-cols-subgrid items-baseline", whole ? "col-span-4" : "col-span-2")}
    >
      {title && (
        <span aria-hidden className="text-xs text-muted">
          {title}
        </span>
      )}
      <div className={cn("min-w-0 truncate", !title ? "col-span-full" : whole && "col-span-3")}>
        {nothing ? <span className="text-muted">–</span> : children}
      </div>
    </div>
  );
}

function Head<T>({
  column: c,
  sort,
  onSort,
  hidden,
}: {
  column: Column<T>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
  // hidden from all but screen readers
  hidden: boolean;
}) {
  const down = sort === `-${c.sort}`;
  const on = c.sort !== undefined && (down || sort === c.sort);
  return (
    <div
      role="columnheader"
      {...(c.sort ? { "aria-sort": on ? (down ? "descending" : "ascending") : "none" } : {})}
      className={cn("px-3 py-2", c.align === "right" && "text-right", hidden && "sr-only")}
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
