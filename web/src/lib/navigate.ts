import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import type { Search } from "./search";

// useAddress is what follows "?" of the page's address, and how to change it. What is set to "" goes away. A change of a
// filter takes the place of the address before, so that "back" leads to another page and not through every letter.
export function useAddress(): [Search, (change: Search, replace?: boolean) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const set = useCallback(
    (change: Search, replace = true) => {
      void navigate({
        to: ".",
        search: ((before: Search) => {
          const next = { ...before, ...change };
          return Object.fromEntries(Object.entries(next).filter(([, v]) => v !== "" && v !== undefined));
        }) as never,
        replace,
        resetScroll: false,
      });
    },
    [navigate],
  );
  return [search, set];
}
