import type { InvalidateQueryFilters, QueryClient } from "@tanstack/react-query";

export interface Reread {
  soon: () => void;
  stop: () => void;
}

// rereading reads queries again, wait ms after it is told to, however often that is, and no more often than each rest ms. What
// was asked for before a change may not have it: what is told while something is read is read once more after that. So
// nothing is lost, and nothing is asked for twice at a time.
export function rereading(cache: QueryClient, filters: InvalidateQueryFilters, wait: number, rest = wait): Reread {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  let reading = false;
  let again = false;
  let over = false;
  const soon = () => {
    if (reading) {
      again = true;
    } else {
      timer ??= setTimeout(() => void read(), Math.max(wait, last + rest - Date.now()));
    }
  };
  const read = async () => {
    timer = undefined;
    last = Date.now();
    reading = true;
    again = cache.isFetching(filters) > 0; // by somebody else, who may have asked too early
    await cache.invalidateQueries(filters, { cancelRefetch: false });
    reading = false;
    if (again && !over) {
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
