import type { ReactNode } from "react";
import type { useList } from "@/lib/entity";
import { plural, upper } from "@/lib/format";
import { Loaded } from "./states";
import { type Column, Table } from "./table";

// Listing is a list that is read page by page, with how many there are below it; empty stands where there are none.
export function Listing<T>({
  list,
  one,
  many,
  columns,
  rowKey,
  onOpen,
  empty,
}: {
  list: ReturnType<typeof useList<T>>;
  // one and many are the words for people.
  one: string;
  many: string;
  columns: Column<T>[];
  rowKey: (row: T) => string;
  onOpen: (row: T) => void;
  empty: ReactNode;
}) {
  return (
    <Loaded query={list.query}>
      {(rows) => (
        <div className="rounded-lg border bg-surface">
          {rows.length === 0 ? (
            empty
          ) : (
            <>
              <Table
                label={upper(many)}
                rows={rows}
                columns={columns}
                rowKey={rowKey}
                onOpen={onOpen}
                {...(list.more ? { onEnd: list.more } : {})}
              />
              <p className="border-t px-3 py-2 text-sm text-muted">
                {plural(Math.max(list.total, rows.length), one, many)}
              </p>
            </>
          )}
        </div>
      )}
    </Loaded>
  );
}
