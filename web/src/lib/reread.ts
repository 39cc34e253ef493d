import type { InvalidateQueryFilters, Query, QueryClient } from "@tanstack/react-query";

export interface Reread {
  soon: () => void;
  stop: () => void;
}

// paced does something wait ms after a call, however often it is called, no more often than each rest ms, and once at a time.
// A call in the meantime, or the action itself, has it done once more after that.
export function paced(act: () => Promise<boolean | void>, wait: number, rest = wait): Reread {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let acting = false;
  let again = false;
  let over = false;
  const soon = () => {
    if (acting) {
      again = true;
    } else {
      const left = Math.min(rest, last + rest - Date.now()); // more where the clock was set back since
      timer ??= setTimeout(() => void run(), Math.max(wait, left));
    }
  };
  const run = async () => {
    timer = undefined;
    last = Date.now();
    acting = true;
    again = false;
    const more = await act().catch(() => false); // the view that shows it reports the failure
    acting = false;
    if ((again || more) && !over) {
      soon();
    }
  };
  return {
    soon,
    stop: () => {
      over = true;
      clearTimeout(timer);
    },
  };
}

// leaving are the names of objects that a page deletes while it shows them.
const leaving = new Set<string>();
const names = (part: unknown, id: string) =>
  typeof part === "string" && (part === id || part.split("/").includes(encodeURIComponent(id)));
const left = (query: Query) => query.queryKey.some((part) => [...leaving].some((id) => names(part, id)));

// leave deletes an object and goes away from its page, in act. Events of the deletion may come before the page is gone: queries
// with the object's name in their keys, alone or in a path, are not read again until act has ended, since they would ask for what
// is not there.
export async function leave(id: string, act: () => Promise<void>): Promise<void> {
  leaving.add(id);
  try {
    await act();
  } finally {
    leaving.delete(id);
  }
}

// rereading reads queries again, at the pace of paced. What was asked for before a change may not have it: what is reported while
// something is read is read once more after that. So nothing is lost, and nothing is asked for twice at a time.
export const rereading = (cache: QueryClient, filters: InvalidateQueryFilters, wait: number, rest = wait): Reread =>
  paced(
    async () => {
      const { predicate } = filters;
      const staying = { ...filters, predicate: (query: Query) => !left(query) && (predicate?.(query) ?? true) };
      const early = cache.isFetching(staying) > 0; // by another caller, which may have asked too early
      await cache.invalidateQueries(staying, { cancelRefetch: false });
      return early;
    },
    wait,
    rest,
  );

// To count a whole fleet costs the server more than to list some rows of it. However much happens, counts are read again no more
// often than each so many ms.
const calm = 4_000;

// counts are the second words of keys of queries that count.
const counts: readonly unknown[] = ["summary", "matrix", "count"];
const counting = (query: Query) => counts.includes(query.queryKey[1]);

// rereadingCounts is that for the counts of a type of object: the first change is counted immediately.
export const rereadingCounts = (cache: QueryClient, type: string, wait: number): Reread =>
  rereading(cache, { queryKey: [type], predicate: counting }, wait, calm);

// rereadingType is that for all queries about a type of object, its counts among them.
export function rereadingType(cache: QueryClient, type: string, wait: number, rest = wait): Reread {
  const both = [
    rereading(cache, { queryKey: [type], predicate: (query) => !counting(query) }, wait, rest),
    rereadingCounts(cache, type, wait),
  ];
  return { soon: () => both.forEach((r) => r.soon()), stop: () => both.forEach((r) => r.stop()) };
}
