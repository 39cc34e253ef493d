import { keepPreviousData, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { patchOn, queryClient } from "@/lib/query";
import { paced, rereading, rereadingCounts } from "@/lib/reread";
import { loosened, looser, type Summaries } from "./facets";
import { type Dimension, type Filter, queryOf } from "./filter";
import { type Application, moves, pageSize, pagesFor, patched, place } from "./window";
import { useRouter } from "@tanstack/react-router";

type Page = Schemas["PageApplication"];

// Pages out of sight are forgotten after this: scrolling through 50,000 rows keeps a few hundred.
const forget = 20_000;

export function pageQuery(filter: Filter, sort: string, page: number) {
  return {
    queryKey: ["application", "page", filter, sort, page] as const,
    gcTime: forget,
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      data(
        client.GET("/api/v1/fleet/applications", {
          params: { query: { ...queryOf(filter), sort, page, limit: pageSize } },
          signal,
        }),
      ),
  };
}

export interface List {
  // filter and sort are those that the rows belong to: those before, until the first rows of new ones are there.
  filter: Filter;
  sort: string;
  total: number;
  row: (index: number) => Application | undefined;
  loaded: boolean;
  error: unknown;
  retry: () => void;
}

// useList reads the rows in sight, wherever in the list they are; pages are the numbers of theirs.
export function useList(filter: Filter, sort: string, wanted: readonly number[]): List {
  const first = useQuery(pageQuery(filter, sort, 1));
  const shown = useRef({ filter, sort });
  if (first.data !== undefined && (shown.current.filter !== filter || shown.current.sort !== sort)) {
    shown.current = { filter, sort };
  }
  const now = shown.current;
  const last = useRef(0);
  if (now.filter === filter && now.sort === sort && first.data) {
    last.current = first.data.total;
  }
  const total = last.current;
  const pages = wanted.filter((page) => (page - 1) * pageSize < Math.max(1, total));
  const list = useQueries({
    queries: pages.map((page) => ({ ...pageQuery(now.filter, now.sort, page), enabled: total > 0 })),
    combine: (results) => results.map((r) => r.data as Page | undefined),
  });
  const byPage = useMemo(() => {
    const out = new Map<number, Application[]>();
    pages.forEach((page, i) => {
      const items = list[i]?.items;
      if (items) {
        out.set(page, items);
      }
    });
    return out;
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- pages is a new array each time, and counts by what is in it
  }, [list, pages.join()]);
  const row = useMemo(() => {
    const kept = new Map<number, Application[] | undefined>(byPage);
    return (index: number) => {
      const { page, at } = place(index);
      if (!kept.has(page)) {
        const key = pageQuery(now.filter, now.sort, page).queryKey;
        kept.set(page, queryClient.getQueryData<Page>(key)?.items ?? undefined);
      }
      return kept.get(page)?.[at];
    };
  }, [byPage, now]);
  return {
    ...now,
    total,
    row,
    loaded: first.data !== undefined || last.current > 0,
    error: first.error,
    retry: () => void first.refetch(),
  };
}

// useSeen follows which rows are in sight, some times a second, and only as far as other pages are wanted for them: what is
// scrolled past in between is not read, and nothing but the rows is painted again.
export function useSeen(total: React.RefObject<number>): [readonly number[], (first: number, last: number) => void] {
  const [pages, setPages] = useState<readonly number[]>([1]);
  const latest = useRef([0, 0]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onSeen = useCallback(
    (first: number, last: number) => {
      latest.current = [first, last];
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        const [from = 0, to = 0] = latest.current;
        const next = pagesFor(from, to, total.current);
        setPages((was) => (was.join() === next.join() ? was : next));
      }, 90);
    },
    [total],
  );
  return [pages, onSeen];
}

// rangeIds are the ids of the rows from one to another, read where they are not there yet.
export async function rangeIds(filter: Filter, sort: string, from: number, to: number): Promise<string[]> {
  const out: string[] = [];
  for (let page = place(from).page; page <= place(to).page; page++) {
    const { items } = await queryClient.ensureQueryData(pageQuery(filter, sort, page));
    const start = (page - 1) * pageSize;
    out.push(...(items ?? []).slice(Math.max(0, from - start), to - start + 1).map((a) => a.id));
  }
  return out;
}

export function summaryQuery(filter: Filter) {
  return {
    queryKey: ["application", "summary", filter] as const,
    gcTime: 60_000,
    placeholderData: keepPreviousData<Schemas["FleetSummary"]>,
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      data(client.GET("/api/v1/fleet/summary", { params: { query: queryOf(filter) }, signal })),
  };
}

// useSummaries counts what the filter leaves, and for each facet that something is chosen of, without that.
export function useSummaries(filter: Filter): { summaries: Summaries | undefined; error: unknown } {
  const all = useQuery(summaryQuery(filter));
  const dimensions = looser(filter);
  const rest = useQueries({
    queries: dimensions.map((d) => summaryQuery(loosened(filter, d))),
    combine: (results) => results.map((r) => r.data),
  });
  return useMemo(() => {
    if (!all.data) {
      return { summaries: undefined, error: all.error };
    }
    const without: Partial<Record<Dimension, Schemas["FleetSummary"]>> = {};
    dimensions.forEach((d, i) => {
      const one = rest[i];
      if (one) {
        without[d] = one;
      }
    });
    return { summaries: { all: all.data, without }, error: null };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- dimensions is a new array each time, and counts by what is in it
  }, [all.data, all.error, rest, dimensions.join()]);
}

// useNext has the code of the page that mostly comes next ready, when this one is.
export function useNext(ready: boolean): void {
  const router = useRouter();
  useEffect(() => {
    if (!ready) {
      return undefined;
    }
    const timer = setTimeout(() => {
      const params = { agent: "-", namespace: "-", name: "-" };
      void router.preloadRoute({ to: "/applications/$agent/$namespace/$name", params });
    }, 300);
    return () => clearTimeout(timer);
  }, [ready, router]);
}

const flush = 100; // how long events are gathered before rows are painted again, in ms
const again = 1_000; // at most so often are pages read again

// useLive puts what events say into the rows, and has counts and pages read again where that is not enough.
export function useLive(filter: Filter, sort: string): void {
  const cache = useQueryClient();
  const now = useRef({ filter, sort });
  now.current = { filter, sort };
  useEffect(() => {
    const changes = new Map<string, Application>();
    let flushing: ReturnType<typeof setTimeout> | undefined;
    const pages = rereading(cache, { queryKey: ["application", "page"] }, flush, again);
    const counts = rereadingCounts(cache, "application", flush);
    const strangers = paced(
      async () => {
        const { filter, sort } = now.current;
        const shown = cache.getQueryData<Page>(pageQuery(filter, sort, 1).queryKey)?.total;
        if ((await totalOf(filter)) !== shown) {
          pages.soon();
        }
      },
      flush,
      again,
    );
    const paint = () => {
      flushing = undefined;
      const known = new Set<string>();
      for (const [key, page] of cache.getQueriesData<Page>({ queryKey: ["application", "page"] })) {
        if (!page?.items) {
          continue;
        }
        const items = patched(page.items, changes);
        if (items !== page.items) {
          for (const before of page.items) {
            const after = changes.get(before.id);
            if (after) {
              known.add(before.id);
              if (moves(before, after, now.current.filter, now.current.sort)) {
                pages.soon();
              }
            }
          }
          cache.setQueryData(key, { ...page, items });
        }
      }
      // Of a row that is on no page it is not known whether it comes into the list: the new total shows it.
      if ([...changes.keys()].some((id) => !known.has(id))) {
        strangers.soon();
      }
      changes.clear();
    };
    const stop = patchOn("application", (event) => {
      if (event.data && event.object.type === "application") {
        changes.set(event.object.id, event.data as Application);
        flushing ??= setTimeout(paint, flush);
      } else {
        pages.soon();
      }
      counts.soon();
      return true;
    });
    return () => {
      stop();
      clearTimeout(flushing);
      for (const each of [pages, counts, strangers]) {
        each.stop();
      }
    };
  }, [cache]);
}

// totalOf is how many the filter leaves: all that the server counts for it.
const totalOf = async (filter: Filter): Promise<number> => {
  const query = { ...queryOf(filter), limit: 1 };
  return (await data(client.GET("/api/v1/fleet/applications", { params: { query } }))).total;
};
