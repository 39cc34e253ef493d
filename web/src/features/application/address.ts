import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { one, type Search } from "@/lib/search";

// What is open on the page is in its address: ?sync=1 is the panel for a sync, ?do=delete a dialog, and so on.

export interface Address {
  search: Search;
  get: (name: string) => string;
  // set changes some of it; "" takes a name out. A filter replaces the address, what is opened is gone back from.
  set: (change: Search, replace?: boolean) => void;
}

// useAddress is what follows "?" of the address.
export function useAddress(): Address {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = useCallback(
    (change: Search, replace = false) =>
      void navigate({
        to: ".",
        search: ((before: Search) => {
          const after: Search = { ...before, ...change };
          for (const name of Object.keys(after)) {
            if (after[name] === "" || after[name] === undefined) {
              delete after[name];
            }
          }
          return after;
        }) as never,
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  const get = useCallback((name: string) => one(search, name), [search]);
  return { search, get, set };
}

export type Part = "" | "diff" | "sync" | "history" | "why" | "parameters" | "events" | "logs" | "settings";

// partPath is the address of a part of the application's page, as the router names it.
export const partPath = (part: Part): string => `/applications/$agent/$namespace/$name${part ? `/${part}` : ""}`;
