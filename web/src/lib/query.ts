import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/client";
import type { Event } from "@/api/event";
import { events } from "./events";
import { type Reread, rereadingType } from "./reread";

// Keys of queries begin with the type of object that they show, as events name it: ["application", "list", filter]. What an
// event of that type makes old is read again automatically; counts, by their second word, less often than lists.
const quiet = 400; // at most so often, in ms, is a list read again while events pour in

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      if (error instanceof ApiError && error.status === 401) {
        queryClient.setQueryData(["session"], null);
      }
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false, // events report what changed
      retry: (count, error) =>
        error instanceof ApiError && (error.status === 0 || error.status === 503) ? count < 3 : false,
      retryDelay: (count, error) =>
        Math.min(8_000, error instanceof ApiError && error.retryAfter ? error.retryAfter * 1_000 : 400 * 2 ** count),
    },
    mutations: { retry: false },
  },
});

// Patch puts what an event says straight into what is shown, and returns true where nothing needs to be read again.
export type Patch = (event: Event) => boolean;

const patches = new Map<string, Set<Patch>>();
const stale = new Map<string, Reread>();

// patchOn has events of a type patch what is shown, in place of reading it again. It returns what ends that.
export function patchOn(type: string, patch: Patch): () => void {
  const set = patches.get(type) ?? new Set();
  patches.set(type, set);
  set.add(patch);
  return () => set.delete(patch);
}

function invalidate(type: string): void {
  let known = stale.get(type);
  if (!known) {
    known = rereadingType(queryClient, type, quiet);
    stale.set(type, known);
  }
  known.soon();
}

// follow keeps queries at what the event stream says, until the function that it returns is called.
export function follow(): () => void {
  return events.listen((event) => {
    if (event.type === "reset") {
      void queryClient.invalidateQueries();
      return;
    }
    // With its agent, what is shown of applications becomes old, or new again.
    const turned = event.type === "agent.away" || event.type === "agent.back";
    for (const type of turned ? ["agent", "application"] : [event.object.type]) {
      let done = false;
      for (const patch of patches.get(type) ?? []) {
        done = patch(event) || done;
      }
      if (!done) {
        invalidate(type);
      }
    }
  });
}
